(* Selects (theory, section 13): folds of a hash say which one of k registers a  *)
(* point reads, and a tree of selects brings it to one register.                 *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint matrix zify.
From mathcomp.algebra_tactics Require Import ring.
From Hardmax Require Import Model Measure Feedforward Pushes Folds.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Select.
Variables (R : realFieldType) (d : nat) (h : 'I_d).
Notation token := 'cV[R]_d.
Implicit Types (z : token) (r s i : 'I_d) (ps : seq ('I_d * 'I_d)).

(* r becomes the larger one of r and s                                           *)
Definition larger (p : 'I_d * 'I_d) : ffp R d := (unit R p.2 - unit R p.1, 0, unit R p.1).

Lemma larger_step p z : ff_step (larger p) z = setr p.1 (Num.max (z p.1 ord0) (z p.2 ord0)) z.
Proof.
rewrite /ff_step /= dotBl !dot_unit addr0 /setr; congr (_ + _ *: _).
have [le | lt] := lerP (z p.1 ord0) (z p.2 ord0); first by rewrite relu_pos ?subr_ge0.
by rewrite relu_neg ?subrr // subr_le0 ltW.
Qed.

(* The registers of a level: pairs (r, s), all different.                        *)
Definition firsts ps := [seq p.1 | p <- ps].
Definition seconds ps := [seq p.2 | p <- ps].

Lemma largers ps z : uniq (firsts ps) -> {in seconds ps, forall s, s \notin firsts ps} ->
  {in ps, forall p : 'I_d * 'I_d, ff_map [seq larger p | p <- ps] z p.1 ord0 = Num.max (z p.1 ord0) (z p.2 ord0)}
  /\ forall i, i \notin firsts ps -> ff_map [seq larger p | p <- ps] z i ord0 = z i ord0.
Proof.
elim: ps z => //= p ps IH z /andP[p1 u1] out.
have sub s : s \in seconds ps -> s \notin firsts ps.
  by move=> sps; have := out s; rewrite inE sps orbT => /(_ isT); rewrite inE => /norP[].
have p2 : p.2 \notin p.1 :: firsts ps by apply: out; rewrite mem_head.
have [hp ho] := IH (ff_step (larger p) z) u1 sub; split.
  move=> q; rewrite inE => /orP[/eqP-> | qps]; first by rewrite ho // larger_step setrE eqxx.
  have q1 : q.1 != p.1 by apply: contraNneq p1 => <-; apply: map_f.
  have q2 : q.2 != p.1.
    have := out q.2; rewrite inE (map_f snd) // orbT => /(_ isT).
    by rewrite inE => /norP[].
  by rewrite hp // larger_step !setrE (negPf q1) (negPf q2).
by move=> i; rewrite inE => /norP[ip ips]; rewrite ho // larger_step setrE (negPf ip).
Qed.

(* A level of selects: h is folded at c, and for every pair (r, s) register r    *)
(* becomes s where h < c and stays where h > c. It needs s >= r where h < c.     *)
Theorem select_level ps (c : R) (S : seq token) :
  uniq (firsts ps) -> {in seconds ps, forall s, s \notin firsts ps} -> uniq (seconds ps) ->
  h \notin firsts ps -> h \notin seconds ps ->
  {in S, forall z : token, z h ord0 != c} ->
  {in S & ps, forall (z : token) (p : 'I_d * 'I_d), z h ord0 < c -> z p.1 ord0 <= z p.2 ord0} ->
  exists P : seq (ffp R d), size P = (1 + size ps)%N /\ {in S, forall z : token,
    [/\ ff_map P z h ord0 = c - `|z h ord0 - c|,
      {in ps, forall p : 'I_d * 'I_d, ff_map P z p.1 ord0 = if z h ord0 < c then z p.2 ord0 else z p.1 ord0}
    & forall i, i \notin h :: firsts ps ++ seconds ps -> ff_map P z i ord0 = z i ord0]}.
Proof.
move=> u1 out u2 h1 h2 off ord.
have [L L1 hL] := @upper_bound R
  [seq (z p.2 ord0 - z p.1 ord0) / (z h ord0 - c) | z : token <- S, p : 'I_d * 'I_d <- ps].
pose w : token := - 2%:R *: unit R h - L *: \sum_(p <- ps) unit R p.2.
have sumE i : (\sum_(p <- ps) unit R p.2 : token) i ord0 = (i \in seconds ps)%:R.
  rewrite summxE /seconds; elim: ps u2 {u1 out h1 h2 ord hL w} => [|p ps IH] /=; first by rewrite big_nil.
  move=> /andP[p2 u2]; rewrite big_cons IH // inE mxE eqxx andbT.
  by case: eqP => [-> | _]; rewrite ?(negPf p2) ?addr0 ?add0r.
pose z1 z := ff_step (unit R h, - c, w) z.
have z1E z i : z1 z i ord0 = z i ord0 + relu (z h ord0 - c) *
    (- 2%:R * (i == h)%:R - L * (i \in seconds ps)%:R).
  by rewrite /z1 /ff_step /= dot_unit !mxE sumE eqxx andbT.
exists ((unit R h, - c, w) :: [seq larger p | p <- ps]); split; first by rewrite /= size_map.
move=> z zS; have [hp ho] := largers (z1 z) u1 out; rewrite /= -/(z1 z).
split=> [|p pps|i]; last first.
- rewrite inE mem_cat => /norP[ih /norP[i1 i2]]; rewrite ho // z1E (negPf ih) (negPf i2).
  by rewrite !mulr0 subr0 mulr0 addr0.
- have p1h : (p.1 == h) = false by apply: contraNF h1 => /eqP <-; apply: map_f.
  have p2h : (p.2 == h) = false by apply: contraNF h2 => /eqP <-; apply: map_f.
  have p12 : (p.1 \in seconds ps) = false.
    by apply/negP => /out; rewrite map_f.
  rewrite hp // !z1E p1h p2h p12 (map_f snd) // !mulr0 subr0 mulr0 addr0 mulr1 sub0r mulrN.
  case: ltP => lt; first by rewrite relu_neg ?subr_le0 ?ltW // mul0r subr0; apply/max_idPr/ord.
  have pos : 0 < z h ord0 - c by rewrite subr_gt0 lt_neqAle eq_sym off.
  rewrite relu_pos ?ltW //; apply/max_idPl; rewrite ler_subl_addl -ler_subl_addr.
  rewrite mulrC -ler_pdivr_mulr // ltW // hL //.
  exact: (allpairs_f (fun (z : token) p => (z p.2 ord0 - z p.1 ord0) / (z h ord0 - c))).
rewrite ho // z1E eqxx (negPf h2) mulr0 subr0 mulr1.
have [le | lt] := lerP 0 (z h ord0 - c); first by rewrite relu_pos // ger0_norm //; ring.
by rewrite relu_neg ?ltW // ltr0_norm //; ring.
Qed.

(* The tree for k strings: V l is the string of cell l, and the point lies in cell j. *)
(* A fold in the middle of 2 n cells, n = ceil(k / 2), joins cell l with cell    *)
(* 2 n - 1 - l; if k is odd, cell 0 has no partner. The order that the selects ask *)
(* for: where the point lies in the lower half, lower cells have larger strings. *)
Definition opposite (k l : nat) := ((uphalf k).*2 - 1 - l)%N.
Definition partner (k l : nat) := if (opposite k l < k)%N then opposite k l else l.

Fixpoint ordered q k (V : nat -> R) (j : nat) : Prop :=
  if q is q'.+1 then
    if (j < uphalf k)%N
    then (forall l, (l < uphalf k)%N -> V (partner k l) <= V l) /\ ordered q' (uphalf k) V j
    else ordered q' (uphalf k) (V \o partner k) (opposite k j)
  else True.

(* the register in which the string ends, after q folds, k <= 2^q                *)
Fixpoint last_register q k :=
  if q is q'.+1 then partner k (last_register q' (uphalf k)) else 0%N.

Lemma halves k : (k <= (uphalf k).*2 <= k.+1)%N.
Proof. by rewrite uphalf_half; have := odd_double_half k; lia. Qed.

Lemma partner_lt k l : (l < uphalf k)%N -> (partner k l < k)%N.
Proof. by rewrite /partner; case: ifP => // _; have := halves k; lia. Qed.

Lemma partner_inj k : {in [pred l | (l < uphalf k)%N] &, injective (partner k)}.
Proof.
move=> l l'; rewrite !inE /partner /opposite; have := halves k.
by case: ifP => _; case: ifP => _; lia.
Qed.

Lemma last_register_lt q k : (0 < k)%N -> (k <= 2 ^ q)%N -> (last_register q k < k)%N.
Proof.
elim: q k => [|q IH] k k0 /=; first by [].
by rewrite expnS mul2n => kq; apply/partner_lt/IH; rewrite ?uphalf_gt0 // leq_uphalf_double.
Qed.

Lemma ordered_ext q k V V' j : (forall l, (l < k)%N -> V l = V' l) -> ordered q k V j -> ordered q k V' j.
Proof.
elim: q k V V' j => //= q IH k V V' j e; have nk l : (l < uphalf k)%N -> (l < k)%N.
  by have := halves k; lia.
case: ifP => _; last by apply: IH => l ln; apply/e/partner_lt.
case=> o1 o2; split; last by apply: IH o2 => l /nk/e.
by move=> l ln; rewrite -!e ?o1 ?partner_lt // nk.
Qed.

(* The order exists: a rank of the strings, the last fold's bit first, so that it is *)
(* enough that strings of higher rank are larger.                                *)
Fixpoint rank q k l := if q is q'.+1 then
    if (l < uphalf k)%N then (rank q' (uphalf k) l).*2.+1 else (rank q' (uphalf k) (opposite k l)).*2
  else 0%N.

Lemma rank_inj q k : (k <= 2 ^ q)%N -> {in [pred l | (l < k)%N] &, injective (rank q k)}.
Proof.
elim: q k => [|q IH] k kq l l'; rewrite !inE; first by move: kq; rewrite expn0; lia.
have [nk _] := andP (halves k); rewrite -leq_uphalf_double in nk.
have {}kq : (uphalf k <= 2 ^ q)%N by rewrite leq_uphalf_double -mul2n -expnS.
move=> lk lk' /=; have := IH _ kq; move: (rank q (uphalf k)) => f inj.
have opp j : (uphalf k <= j)%N -> (j < k)%N -> (opposite k j < uphalf k)%N.
  by rewrite /opposite; have := halves k; lia.
case: ltnP => ln; case: ltnP => ln' e.
- by apply: inj; rewrite ?inE //; lia.
- by lia.
- by lia.
have : opposite k l = opposite k l' by apply: inj; rewrite ?inE ?opp //; lia.
by rewrite /opposite; have := halves k; lia.
Qed.

Lemma rank_ordered q k (V : nat -> R) j : (k <= 2 ^ q)%N -> (j < k)%N ->
  {in [pred l | (l < k)%N] &, forall l l', (rank q k l < rank q k l')%N -> V l <= V l'} ->
  ordered q k V j.
Proof.
elim: q k V j => //= q IH k V j kq jk mono; have := halves k => /andP[nk nk'].
have {}kq : (uphalf k <= 2 ^ q)%N by rewrite leq_uphalf_double -mul2n -expnS.
have lk l : (l < uphalf k)%N -> (l < k)%N by lia.
have oppK l : (l < uphalf k)%N -> (opposite k l < k)%N -> opposite k (opposite k l) = l /\ (uphalf k <= opposite k l)%N.
  by rewrite /opposite; lia.
have rk l : (l < uphalf k)%N -> partner k l != l -> (partner k l < uphalf k)%N = false /\
    opposite k (partner k l) = l.
  rewrite /partner; case: ifP => [ok ln _ | _ _]; last by rewrite eqxx.
  by have [-> ge] := oppK l ln ok; rewrite ltnNge ge.
case: ltnP => jn; [split=> [l ln|] | ].
- have [-> // | ne] := eqVneq (partner k l) l; have [p1 p2] := rk l ln ne.
  by apply: mono; rewrite ?inE ?partner_lt ?lk //= p1 p2 ln.
- apply: IH => // l l'; rewrite !inE => ln ln' lt; apply: mono; rewrite ?inE ?lk //= ln ln'; lia.
apply: IH => [//||l l']; first by rewrite /opposite; lia.
rewrite !inE => ln ln' lt; apply: mono; rewrite ?inE ?partner_lt //=.
have [-> | ne] := eqVneq (partner k l) l; have [-> | ne'] := eqVneq (partner k l') l'.
- by rewrite ln ln'; lia.
- by have [-> ->] := rk l' ln' ne'; rewrite ln; lia.
- by have [-> ->] := rk l ln ne; rewrite ln'; lia.
by have [-> ->] := rk l ln ne; have [-> ->] := rk l' ln' ne'; lia.
Qed.

Theorem select_tree q k (reg : nat -> 'I_d) (b W : R) (S : seq (nat * token)) : 0 < W -> (k <= 2 ^ q)%N ->
  {in [pred l | (l < k)%N] &, injective reg} -> (forall l, (l < k)%N -> reg l != h) ->
  {in S, forall p : nat * token, [/\ (p.1 < k)%N,
    b + p.1%:R * W < p.2 h ord0 < b + p.1.+1%:R * W & ordered q k (fun l => p.2 (reg l) ord0) p.1]} ->
  exists P : seq (ffp R d), size P = (k - 1 + q)%N /\ {in S, forall p : nat * token,
    [/\ ff_map P p.2 (reg (last_register q k)) ord0 = p.2 (reg p.1) ord0,
      exists2 v, wave ((p.2 h ord0 - b) / W) v & ff_map P p.2 h ord0 = b + W * v
    & forall i, i != h -> (forall l, (l < k)%N -> i != reg l) -> ff_map P p.2 i ord0 = p.2 i ord0]}.
Proof.
move=> W0; elim: q k reg S => [|q IH] k reg S kq inj rh hS.
  exists [::]; split=> [|p pS]; first by move: kq => /=; rewrite expn0; lia.
  have [j /andP[lo hi] _] := hS p pS; have j0 : p.1 = 0%N by apply/eqP; rewrite -leqn0 -ltnS (leq_trans j).
  rewrite j0 mul0r addr0 mul1r in lo hi; split=> //=; first by rewrite j0.
  exists ((p.2 h ord0 - b) / W); last by rewrite mulrC divfK ?gt_eqF // addrC subrK.
  split; last by exists 0; left; rewrite mulr0 add0r.
  rewrite divr_ge0 ?subr_ge0 ?(ltW lo) ?(ltW W0) //=.
  by rewrite ler_pdivr_mulr // mul1r ler_subl_addl ltW.
have := halves k; set n := uphalf k => /andP[nk nk'].
have {}kq : (n <= 2 ^ q)%N by rewrite leq_uphalf_double -mul2n -expnS.
have opp l : opposite k l = (n.*2 - 1 - l)%N by [].
have [opp_lt oppE oppS oppK] : [/\ forall l, (n <= l)%N -> (l < k)%N -> (opposite k l < n)%N,
    forall l, opposite k l = (n.*2 - l.+1)%N, forall l, (l < k)%N -> (opposite k l).+1 = (n.*2 - l)%N
  & forall l, (l < k)%N -> partner k (opposite k l) = l].
  by split=> l *; rewrite /partner ?opp; last case: ifP; rewrite ?opp; lia.
pose c := b + n%:R * W.
have below p : p \in S -> p.2 h ord0 != c /\ (p.2 h ord0 < c) = (p.1 < n)%N.
  move=> /hS[_ /andP[lo hi] _]; have [le | gt] := leqP p.1.+1 n.
    have lt : p.2 h ord0 < c.
      by rewrite (lt_le_trans hi) // ler_add2l ler_pmul2r // ler_nat.
    by rewrite lt lt_eqF.
  have lt : c < p.2 h ord0 by rewrite (le_lt_trans _ lo) // ler_add2l ler_pmul2r // ler_nat -ltnS.
  by rewrite gt_eqF // ltNge (ltW lt).
pose low := iota (n.*2 - k) (k - n).
have lowE l : (l \in low) = (n.*2 - k <= l < n)%N by rewrite mem_iota; lia.
pose ps := [seq (reg (opposite k l), reg l) | l <- low].
have fE : firsts ps = [seq reg (opposite k l) | l <- low] by rewrite /firsts -map_comp.
have sE : seconds ps = [seq reg l | l <- low] by rewrite /seconds -map_comp.
have [|||||||P [sP hP]] := @select_level ps c [seq p.2 | p <- S].
- rewrite fE map_inj_in_uniq ?iota_uniq // => l l'; rewrite !lowE => ln ln' /inj.
  by rewrite !inE !opp => e; have := e _ _; lia.
- rewrite sE fE => _ /mapP[l + ->]; rewrite lowE => ln; apply/mapP => -[l'].
  by rewrite lowE => ln' /inj; rewrite !inE opp => e; have := e _ _; lia.
- rewrite sE map_inj_in_uniq ?iota_uniq // => l l'; rewrite !lowE => ln ln' /inj.
  by rewrite !inE => e; apply: e; lia.
- rewrite fE; apply/mapP => -[l]; rewrite lowE => ln /esym/eqP; apply/negP/rh.
  by rewrite opp; lia.
- by rewrite sE; apply/mapP => -[l]; rewrite lowE => ln /esym/eqP; apply/negP/rh; lia.
- by move=> _ /mapP[p /below[] ? _ ->].
- move=> _ _ /mapP[p pS ->] /mapP[l + ->] /=; rewrite lowE => ln.
  have [_ ->] := below p pS; have [_ _] := hS p pS => /=; rewrite -/n => + jn; rewrite jn => -[o _].
  have := o l; rewrite /partner ifT; first by apply; lia.
  by rewrite opp; lia.
pose next (p : nat * token) := (if (p.1 < n)%N then p.1 else opposite k p.1, ff_map P p.2).
have now p l : p \in S -> (l < n)%N -> ff_map P p.2 (reg (partner k l)) ord0 =
    if (p.1 < n)%N then p.2 (reg l) ord0 else p.2 (reg (partner k l)) ord0.
  move=> pS ln; have [_ hp ho] := hP _ (map_f snd pS); have [_ <-] := below p pS.
  rewrite /partner; case: ifP => lk.
    apply: (hp (reg (opposite k l), reg l)); apply: (map_f (fun l => (reg (opposite k l), reg l))).
    by move: lk; rewrite lowE opp; lia.
  rewrite if_same ho // inE negb_or rh /=; last by lia.
  rewrite mem_cat fE sE; apply/norP; split; apply/mapP => -[l']; rewrite lowE => ln' /inj.
    by rewrite !inE opp => e; move: lk; rewrite opp; have := e _ _; lia.
  by rewrite !inE => e; move: lk; rewrite opp; have := e _ _; lia.
have [|||Q [sQ hQ]] := IH n (reg \o partner k) [seq next p | p <- S] kq.
- by move=> l l' ln ln' /inj e; apply: (partner_inj ln ln'); apply: e; rewrite inE partner_lt.
- by move=> l ln; apply/rh/partner_lt.
- move=> _ /mapP[p pS ->] /=; have [jk /andP[lo hi] o] := hS p pS.
  have [_ bl] := below p pS; have [hh _ _] := hP _ (map_f snd pS); rewrite /= in hh.
  have e l : (l < n)%N -> ff_map P p.2 (reg (partner k l)) ord0 =
      (if (p.1 < n)%N then p.2 (reg l) ord0 else p.2 (reg (partner k l)) ord0) by apply: now.
  move: o e bl; rewrite /next /= -/n; case: (ltnP p.1 n) => jn o e bl.
    have [_ o2] := o; split=> //; last by apply: ordered_ext o2 => l ln; rewrite e.
    by rewrite hh ltr0_norm ?subr_lt0 // opprB subKr lo hi.
  have ge : 0 <= p.2 h ord0 - c by rewrite subr_ge0 leNgt bl.
  split; [exact: opp_lt | | by apply: ordered_ext o => l ln; rewrite /= e].
  have E j : (j <= n.*2)%N -> c + c - (b + j%:R * W) = b + (n.*2 - j)%:R * W.
    by move=> jn'; rewrite natrB // -addnn natrD /c; ring.
  have E2 : c - `|p.2 h ord0 - c| = c + c - p.2 h ord0 by rewrite ger0_norm //; ring.
  have jn2 : (p.1 < n.*2)%N by apply: leq_trans jk nk.
  by rewrite hh E2 oppS // oppE -!E ?(ltnW jn2) // !ltr_add2l !ltr_opp2 lo hi.
exists (P ++ Q); split; first by rewrite size_cat sP sQ size_map size_iota; lia.
move=> p pS; rewrite ff_map_cat; have [/= -> [v w ->] ho] := hQ _ (map_f next pS).
have [jk _ _] := hS p pS; have [hh _ ho1] := hP _ (map_f snd pS); split.
- case: (ltnP p.1 n) => jn; first by rewrite now // jn.
  by rewrite now ?opp_lt // ltnNge jn /= oppK.
- by exists v => //; move: w; rewrite /= hh; apply: (proj1 (wave_fold _ _ _ _ _)).
move=> i ih ir; rewrite ho ?ho1 //.
  rewrite inE (negPf ih) mem_cat fE sE /=; apply/norP; split; apply/mapP => -[l].
    by rewrite lowE => ln /eqP; apply/negP/ir; rewrite opp; lia.
  by rewrite lowE => ln /eqP; apply/negP/ir; lia.
by move=> l ln; apply/ir/partner_lt.
Qed.

End Select.

