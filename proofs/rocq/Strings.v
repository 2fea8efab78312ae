(* Strings (theory, section 13): k = 2^q strings share the hinges; folds of a hash  *)
(* say which one a point reads, and a tree of selects brings it to one register.   *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint matrix rat zify.
From mathcomp.algebra_tactics Require Import ring.
From Hardmax Require Import Model Measure Feedforward Collapse Pushes Folds FoldStrategy.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Select.
Variables (R : realFieldType) (d : nat) (h : 'I_d).
Notation token := 'cV[R]_d.
Implicit Types (z : token) (r s i : 'I_d) (ps : seq ('I_d * 'I_d)).

(* r becomes the larger one of r and s                                            *)
Definition larger (p : 'I_d * 'I_d) : ffp R d := (unit R p.2 - unit R p.1, 0, unit R p.1).

Lemma larger_step p z : ff_step (larger p) z = setr p.1 (Num.max (z p.1 ord0) (z p.2 ord0)) z.
Proof.
rewrite /ff_step /= dotBl !dot_unit addr0 /setr; congr (_ + _ *: _).
have [le | lt] := lerP (z p.1 ord0) (z p.2 ord0); first by rewrite relu_pos ?subr_ge0.
by rewrite relu_neg ?subrr // subr_le0 ltW.
Qed.

(* The registers of a level: pairs (r, s), all different.                          *)
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

(* A level of selects: h is folded at c, and for every pair (r, s) register r      *)
(* becomes s where h < c and stays where h > c. It needs s >= r where h < c.       *)
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

(* The tree for 2^k strings: V l is the string of cell l, and the point lies in     *)
(* cell j. Cell l is joined with cell 2^k - 1 - l. The order that the selects ask   *)
(* for: where the point lies in the lower half, lower cells have larger strings.    *)
Definition opposite (n l : nat) := (n.*2 - 1 - l)%N.

Lemma opposite_lt n j : (n <= j)%N -> (j < n.*2)%N -> (opposite n j < n)%N.
Proof. by rewrite /opposite; lia. Qed.

Lemma oppositeE n j : opposite n j = (n.*2 - j.+1)%N.
Proof. by rewrite /opposite; lia. Qed.

Lemma oppositeS n j : (j < n.*2)%N -> (opposite n j).+1 = (n.*2 - j)%N.
Proof. by rewrite /opposite; lia. Qed.

Lemma oppositeK n j : (j < n.*2)%N -> opposite n (opposite n j) = j.
Proof. by rewrite /opposite; lia. Qed.

Fixpoint ordered k (V : nat -> R) (j : nat) : Prop :=
  if k is k'.+1 then
    if (j < 2 ^ k')%N
    then (forall l, (l < 2 ^ k')%N -> V (opposite (2 ^ k') l) <= V l) /\ ordered k' V j
    else ordered k' (V \o opposite (2 ^ k')) (opposite (2 ^ k') j)
  else True.

(* the register in which the string ends                                          *)
Fixpoint last_register k := if k is k'.+1 then opposite (2 ^ k') (last_register k') else 0%N.

Lemma ordered_ext k V V' j : (forall l, (l < 2 ^ k)%N -> V l = V' l) -> ordered k V j -> ordered k V' j.
Proof.
elim: k V V' j => //= k IH V V' j e; rewrite expnS mul2n in e.
have n0 : (0 < 2 ^ k)%N by rewrite expn_gt0.
case: ifP => _.
  case=> o1 o2; split; last by apply: IH o2 => l lk; apply: e; lia.
  by move=> l lk; rewrite -!e ?o1 // /opposite; lia.
by apply: IH => l lk /=; apply: e; rewrite /opposite; lia.
Qed.

Theorem select_tree k (reg : nat -> 'I_d) (b W : R) (S : seq (nat * token)) : 0 < W ->
  {in [pred l | (l < 2 ^ k)%N] &, injective reg} -> (forall l, (l < 2 ^ k)%N -> reg l != h) ->
  {in S, forall p : nat * token, [/\ (p.1 < 2 ^ k)%N,
    b + p.1%:R * W < p.2 h ord0 < b + p.1.+1%:R * W & ordered k (fun l => p.2 (reg l) ord0) p.1]} ->
  exists P : seq (ffp R d), size P = (2 ^ k - 1 + k)%N /\ {in S, forall p : nat * token,
    ff_map P p.2 (reg (last_register k)) ord0 = p.2 (reg p.1) ord0}.
Proof.
move=> W0; elim: k reg S => [|k IH] reg S inj rh hS.
  by exists [::]; split=> // p /hS[]; rewrite expn0 ltnS leqn0 => /eqP->.
rewrite expnS mul2n in inj rh hS *; set n := (2 ^ k)%N in inj rh hS IH *.
have n0 : (0 < n)%N by rewrite expn_gt0.
pose c := b + n%:R * W.
have below p : p \in S -> p.2 h ord0 != c /\ (p.2 h ord0 < c) = (p.1 < n)%N.
  move=> /hS[_ /andP[lo hi] _]; have [le | gt] := leqP p.1.+1 n.
    have lt : p.2 h ord0 < c.
      by rewrite (lt_le_trans hi) // ler_add2l ler_pmul2r // ler_nat.
    by rewrite lt lt_eqF.
  have lt : c < p.2 h ord0 by rewrite (le_lt_trans _ lo) // ler_add2l ler_pmul2r // ler_nat -ltnS.
  by rewrite gt_eqF // ltNge (ltW lt).
pose ps := [seq (reg (opposite n l), reg l) | l <- iota 0 n].
have fE : firsts ps = [seq reg (opposite n l) | l <- iota 0 n] by rewrite /firsts -map_comp.
have sE : seconds ps = [seq reg l | l <- iota 0 n] by rewrite /seconds -map_comp.
have [|||||||P [sP hP]] := @select_level ps c [seq p.2 | p <- S].
- rewrite fE map_inj_in_uniq ?iota_uniq // => l l'; rewrite !mem_iota /= add0n => ln ln' /inj.
  by rewrite !inE /opposite => e; have := e _ _; lia.
- rewrite sE fE => _ /mapP[l + ->]; rewrite mem_iota /= => ln; apply/mapP => -[l'].
  by rewrite mem_iota /= => ln' /inj; rewrite !inE /opposite => e; have := e _ _; lia.
- rewrite sE map_inj_in_uniq ?iota_uniq // => l l'; rewrite !mem_iota /= => ln ln' /inj.
  by rewrite !inE => e; apply: e; lia.
- rewrite fE; apply/mapP => -[l]; rewrite mem_iota /= => ln /esym/eqP; apply/negP/rh.
  by rewrite /opposite; lia.
- by rewrite sE; apply/mapP => -[l]; rewrite mem_iota /= => ln /esym/eqP; apply/negP/rh; lia.
- by move=> _ /mapP[p /below[] ? _ ->].
- move=> _ _ /mapP[p pS ->] /mapP[l + ->] /=; rewrite mem_iota /= => ln.
  have [_ ->] := below p pS; have [_ _] := hS p pS => /= + jn; rewrite jn => -[o _].
  exact: o.
pose next (p : nat * token) := (if (p.1 < n)%N then p.1 else opposite n p.1, ff_map P p.2).
have now p l : p \in S -> (l < n)%N -> ff_map P p.2 (reg (opposite n l)) ord0 =
    if (p.1 < n)%N then p.2 (reg l) ord0 else p.2 (reg (opposite n l)) ord0.
  move=> pS ln; have [_ hp _] := hP _ (map_f snd pS); have [_ <-] := below p pS.
  by apply: (hp (reg (opposite n l), reg l)); apply: map_f; rewrite mem_iota.
have [|||Q [sQ hQ]] := IH (reg \o opposite n) [seq next p | p <- S].
- move=> l l'; rewrite !inE => ln ln' /inj; rewrite !inE /opposite => e; have := e _ _; lia.
- by move=> l ln; apply: rh; rewrite /opposite; lia.
- move=> _ /mapP[p pS ->] /=; have [jn /andP[lo hi] o] := hS p pS.
  have [_ bl] := below p pS; have [hh _ _] := hP _ (map_f snd pS); rewrite /= in hh.
  have e l : (l < n)%N -> ff_map P p.2 (reg (opposite n l)) ord0 =
      (if (p.1 < n)%N then p.2 (reg l) ord0 else p.2 (reg (opposite n l)) ord0) by apply: now.
  move: o e bl; rewrite /next /= -/n; case: (ltnP p.1 n) => jn' o e bl.
    have [_ o2] := o; split=> //; last by apply: ordered_ext o2 => l ln; rewrite e.
    by rewrite hh ltr0_norm ?subr_lt0 // opprB subKr lo hi.
  have ge : 0 <= p.2 h ord0 - c by rewrite subr_ge0 leNgt bl.
  split; [exact: opposite_lt jn' jn | | by apply: ordered_ext o => l ln; rewrite /= e].
  have E q : (q <= n.*2)%N -> c + c - (b + q%:R * W) = b + (n.*2 - q)%:R * W.
    by move=> qn; rewrite natrB // -addnn natrD /c; ring.
  have E2 : c - `|p.2 h ord0 - c| = c + c - p.2 h ord0 by rewrite ger0_norm //; ring.
  rewrite hh E2 oppositeS // oppositeE -!E //; last exact: ltnW.
  by rewrite !ltr_add2l !ltr_opp2 lo hi.
exists (P ++ Q); split; first by rewrite size_cat sP sQ size_map size_iota; lia.
move=> p pS; rewrite ff_map_cat; have := hQ _ (map_f next pS); rewrite /= => ->.
have [jl _ _] := hS p pS; case: (ltnP p.1 n) => jn; first by rewrite now // jn.
by rewrite now ?opposite_lt // ltnNge jn /= oppositeK.
Qed.

End Select.

(* k = 2^q strings: G hinges, m folds of the hash, the tree of selects, and the     *)
(* wave of the string that is left. The registers start o above the means.         *)
Section Strings.
Variables (R : realFieldType) (d N M q : nat) (x h : 'I_d) (reg : nat -> 'I_d).
Notation token := 'cV[R]_d.
Notation y := (reg (last_register q)).
Notation hash_end W := ((2 ^ q)%:R * W).

(* Loaded at z, a point of class l: h lies where m folds take it to cell j, and the *)
(* string of cell j lies in the band of class l.                                   *)
Definition string_read (b W : R) m (a U : R) n (z : token) M' (l j : nat) :=
  [/\ b <= z h ord0 <= b + (2 ^ m)%:R * hash_end W,
    exists v, wave ((z h ord0 - b) / hash_end W) v /\ j%:R < (2 ^ q)%:R * v < j.+1%:R,
    ordered q (fun i => z (reg i) ord0) j & in_band M' a U n (z (reg j) ord0) l].

Theorem fold_strings (c : 'I_N -> 'I_M) (t : 'I_M -> token) (Z : 'I_N -> seq token)
    (hs : seq (R * token)) (o : token) (b W : R) m (a U : R) n e :
  (forall i, Z i != [::]) -> (0 < M)%N -> 0 < W -> 0 < U ->
  {in hs, forall g : R * token, g.2 x ord0 = 0} ->
  {in [pred l | (l < 2 ^ q)%N] &, injective reg} -> (forall l, (l < 2 ^ q)%N -> reg l != h) ->
  (forall i, exists j, string_read b W m a U n (load x hs (mean (Z i) + o)) M (c i) j) ->
  ending y t e ->
  exists T : seq (rank1 R d),
  [/\ size T = (1 + size hs + (m + (2 ^ q - 1) + q) + n + (d - 1) + e + 1)%N, uniform T
    & forall i, readout (run1 T (Z i)) = t (c i)].
Proof.
move=> Z0 M0 W0 U0 hx inj rh /fin_all_exists[j hj] serve.
have k0 : (0 < 2 ^ q)%N by rewrite expn_gt0.
have k0' : 0 < (2 ^ q)%:R :> R by rewrite ltr0n.
pose z i := load x hs (mean (Z i) + o).
pose H := folds h b (hash_end W) m; pose z1 i := ff_map H (z i).
have zh i : exists v : R, [/\ v <= 1, (j i)%:R < (2 ^ q)%:R * v, (2 ^ q)%:R * v < (j i).+1%:R
    & z1 i = setr h (b + hash_end W * v) (z i)].
  have [hz [v [w /andP[lo hi]]] _ _] := hj i; exists v; split=> //; first by case: w => /andP[].
  by apply: triangle_wave => //; rewrite mulr_gt0.
have jq i : (j i < 2 ^ q)%N.
  have [v [v1 lo _ _]] := zh i; rewrite -(ltr_nat R) (lt_le_trans lo) //.
  by rewrite ger_pmulr.
have z1r i l : (l < 2 ^ q)%N -> z1 i (reg l) ord0 = z i (reg l) ord0.
  by move=> lq; have [v [_ _ _ ->]] := zh i; rewrite setrE (negPf (rh l lq)).
have [|P [sP hP]] := @select_tree R d h q reg b W [seq (j i, z1 i) | i <- enum 'I_N] W0 inj rh.
  move=> _ /mapP[i _ ->] /=; split=> //; last first.
    by have [_ _ + _] := hj i; apply: ordered_ext => l lq; rewrite z1r.
  have [v [_ lo hi ->]] := zh i; rewrite setrE eqxx !ltr_add2l mulrAC !ltr_pmul2r //.
  by rewrite lo hi.
pose P0 := [seq hinge x g | g <- hs] ++ (H ++ P).
have sP0 : size P0 = (size hs + (m + (2 ^ q - 1) + q))%N.
  by rewrite !size_cat size_map /H size_folds sP -!addnA.
rewrite -[(1 + size hs + _)%N]addnA -sP0.
apply: (@fold_strategy _ _ _ _ _ _ _ o a U n e Z P0 Z0 M0 U0 _ serve) => i.
rewrite !ff_map_cat hinges // -/(z i) -/(z1 i).
have := hP _ (map_f (fun i => (j i, z1 i)) (mem_enum _ i)); rewrite /= => ->.
by rewrite z1r //; have [] := hj i.
Qed.

End Strings.
