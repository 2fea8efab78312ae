(* Shifts (theory, section 13): bits of a hash multiply a register by powers of  *)
(* two, so that different bits of one string reach the wave.                     *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint matrix zify.
From mathcomp.algebra_tactics Require Import ring.
From Hardmax Require Import Model Measure Feedforward Pushes Folds FoldEndings.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* Bit i of x, in [a, a + W]: whether x lies in the lower half after i folds, at *)
(* a + W / 2, a + W / 4, ... (1 stands for the lower half).                      *)
Section Bits.
Variable R : realFieldType.
Implicit Types (a W x v e p y K : R) (Ks : seq R) (q : nat).

Definition bit a W x (i : nat) (low : bool) := exists v,
  wave ((x - a) / (W / (2 ^ i)%:R)) v /\ if low then v < 2%:R^-1 else 2%:R^-1 < v.

Lemma bit0 a W x low : 0 < W -> a <= x <= a + W -> bit a W x 0 low ->
  x != a + W / 2%:R /\ (x < a + W / 2%:R) = low.
Proof.
move=> W0 /andP[lo hi] [v]; rewrite expn0 divr1 => -[w].
rewrite -(wave_small _ w); last first.
  by rewrite divr_ge0 ?subr_ge0 ?(ltW W0) //= ler_pdivr_mulr // mul1r ler_subl_addl.
case: low; first by rewrite ltr_pdivr_mulr // mulrC ltr_subl_addl => lt; rewrite lt lt_eqF.
rewrite ltr_pdivl_mulr // mulrC ltr_subr_addl => lt.
by rewrite gt_eqF // ltNge (ltW lt).
Qed.

Lemma bitS a W x i low : 0 < W -> bit a W x i.+1 low ->
  bit a (W / 2%:R) (a + W / 2%:R - `|x - (a + W / 2%:R)|) i low.
Proof.
move=> W0 [v [w hv]]; exists v; split=> //.
pose U := W / 2%:R / (2 ^ i)%:R; have q0 : (2 ^ i)%:R != 0 :> R by rewrite pnatr_eq0 -lt0n expn_gt0.
have -> : a + W / 2%:R = a + (2 ^ i)%:R * U by rewrite /U [_ * (_ / _)]mulrC divfK.
apply/wave_fold; first by rewrite !divr_gt0 ?ltr0n ?expn_gt0.
by have -> : U = W / (2 ^ i.+1)%:R by rewrite /U expnS natrM invfM mulrA.
Qed.

(* folds at multiples of W keep the bits                                         *)
Lemma bit_mult a W x v k i low : 0 < W -> (0 < k)%N -> wave ((x - a) / (k%:R * W)) v ->
  bit a W x i low -> bit a W (a + k%:R * W * v) i low.
Proof.
move=> W0 k0 w [v' [w' hv]]; exists v'; split=> //.
have q0 : (2 ^ i)%:R != 0 :> R by rewrite pnatr_eq0 -lt0n expn_gt0.
have {}k0 : k%:R != 0 :> R by rewrite pnatr_eq0 -lt0n.
have W' : W != 0 by rewrite gt_eqF.
have -> : (a + k%:R * W * v - a) / (W / (2 ^ i)%:R) = (k * 2 ^ i)%:R * v.
  by rewrite natrM; move: ((2 ^ i)%:R) q0 => q q0; field; rewrite W' q0.
apply: wave_mult w _; rewrite natrM; move: w'; congr (wave _ _).
by move: ((2 ^ i)%:R) q0 => q q0; field; rewrite W' k0 q0.
Qed.

(* What the digits of q make of y, with the factors Ks and what is left in p: it is *)
(* known from q and p but for the factor.                                        *)
Fixpoint shifted e Ks q p y : R := if Ks is K :: Ks' then
    if odd q then shifted e Ks' q./2 p (K * y + (K - 1) * (e * p)) else shifted e Ks' q./2 0 y
  else y.

Lemma digit0 q : digit q 0 = odd q.
Proof. by rewrite /digit divn1. Qed.

Lemma digitS q i : digit q i.+1 = digit q./2 i.
Proof. by rewrite /digit expnS divnMA divn2. Qed.

Lemma shifted_known e Ks q p : exists known, forall y,
  shifted e Ks q p y = \prod_(i < size Ks | digit q i) Ks`_i * y + known.
Proof.
elim: Ks q p => [|K Ks IH] q p; first by exists 0 => y; rewrite big_ord0 mul1r addr0.
have [C0 h0] := IH q./2 0; have [C hC] := IH q./2 p.
have E : \prod_(i < (size Ks).+1 | digit q i) (K :: Ks)`_i =
    (if odd q then K else 1) * \prod_(i < size Ks | digit q./2 i) Ks`_i.
  rewrite big_mkcond big_ord_recl digit0 [in RHS]big_mkcond; congr (_ * _).
  by apply: eq_bigr => i _; rewrite digitS.
rewrite /= E; case: (odd q); last by exists C0 => y; rewrite h0 mul1r.
exists (\prod_(i < size Ks | digit q./2 i) Ks`_i * ((K - 1) * (e * p)) + C) => y.
by rewrite hC; move: (\prod_(_ < _ | _) _) => x; ring.
Qed.

(* With the factors 2^w, 2^(2w), 2^(4w), ... the digits of q multiply y by 2^(wq). *)
Definition factors (w b : nat) : seq R := [seq (2 ^ (w * 2 ^ i))%:R | i <- iota 0 b].

Lemma shifted_window e w b q p : (q < 2 ^ b)%N -> exists known, forall y,
  shifted e (factors w b) q p y = (2 ^ (w * q))%:R * y + known.
Proof.
move=> qb; have [C hC] := shifted_known e (factors w b) q p; exists C => y; rewrite hC.
congr (_ * _ + _); rewrite /factors size_map size_iota -{2}(digits_sum qb) big_distrr /=.
rewrite expn_sum natr_prod; apply: eq_bigr => i _.
by rewrite (nth_map 0%N) ?size_iota // nth_iota.
Qed.

(* how many folds suffice after the shift                                        *)
Lemma shifted_bound e Ks q p y : 0 <= e -> 0 <= p -> 0 <= y -> {in Ks, forall K, 1 <= K} ->
  y <= shifted e Ks q p y <= \prod_(K <- Ks) K * (y + e * p).
Proof.
move=> e0; elim: Ks q p y => [|K Ks IH] q p y p0 y0 K1 /=.
  by rewrite big_nil mul1r lexx ler_addl mulr_ge0.
have K1' : 1 <= K by apply: K1; rewrite mem_head.
have {}K1 : {in Ks, forall K, 1 <= K} by move=> K' K'in; apply: K1; rewrite inE K'in orbT.
have P0 : 0 <= \prod_(K <- Ks) K.
  by rewrite big_seq prodr_ge0 // => K' /K1; apply: le_trans.
have ep : 0 <= e * p by rewrite mulr_ge0.
have y1 : y <= K * y by rewrite ler_pemull.
rewrite big_cons; case: odd.
  have more : 0 <= (K - 1) * (e * p) by rewrite mulr_ge0 // subr_ge0.
  have [lo hi] := andP (IH q./2 p _ p0 (addr_ge0 (le_trans y0 y1) more) K1).
  rewrite (le_trans _ lo) /=; last by rewrite -[X in X <= _]addr0 ler_add.
  move: hi; congr (_ <= _); move: (\prod_(_ <- _) _) => P; ring.
have [lo hi] := andP (IH q./2 0 y (lexx 0) y0 K1); rewrite lo (le_trans hi) //.
rewrite mulr0 addr0 [K * _]mulrC -mulrA ler_wpmul2l // mulrDr (le_trans y1) // ler_addl.
by rewrite mulr_ge0 // (le_trans ler01).
Qed.

Lemma shifted_range e w b q p y a U n : 0 <= e -> 0 <= p -> 0 <= a <= y -> y + e * p <= (2 ^ n)%:R * U ->
  a <= shifted e (factors w b) q p y <= a + (2 ^ (n + w * (2 ^ b - 1)))%:R * U.
Proof.
move=> e0 p0 /andP[a0 ay] top.
have [||lo hi] := andP (@shifted_bound e (factors w b) q p y e0 p0 _ _); first exact: le_trans ay.
  by move=> _ /mapP[i _ ->]; rewrite ler1n expn_gt0.
rewrite (le_trans ay lo) /= (le_trans hi) // -[X in X <= _]add0r ler_add //.
have -> : \prod_(K <- factors w b) K = (2 ^ (w * (2 ^ b - 1)))%:R.
  rewrite big_map -natr_prod -expn_sum -big_distrr /=; congr (2 ^ (w * _))%:R.
  elim: b {lo hi} => [|b IH]; first by rewrite big_nil.
  have b0 : (0 < 2 ^ b)%N by rewrite expn_gt0.
  by rewrite -(addn1 b) iotaD big_cat /= IH big_seq1 addn1 add0n expnS; lia.
by rewrite addnC expnD natrM -mulrA ler_wpmul2l ?ler0n.
Qed.

End Bits.

Section Shifts.
Variables (R : realFieldType) (d : nat) (h p y : 'I_d) (e a : R).
Hypotheses (yh : y != h) (ph : p != h) (yp : y != p) (e0 : 0 < e).
Notation token := 'cV[R]_d.
Implicit Types (z : token) (c W K : R) (Ks : seq R).

(* One bit: h is folded at c, and y becomes K y + (K - 1) e p where h < c; where *)
(* h > c, y stays and p is negative.                                             *)
Theorem shift_bit c K (S : seq token) : {in S, forall z : token, z h ord0 != c} ->
  {in S, forall z : token, 0 <= z p ord0 /\ 0 <= z y ord0} ->
  exists P : seq (ffp R d), size P = 2%N /\ {in S, forall z : token,
    [/\ ff_map P z h ord0 = c - `|z h ord0 - c|,
      ff_map P z y ord0 = if z h ord0 < c then K * z y ord0 + (K - 1) * (e * z p ord0) else z y ord0,
      if z h ord0 < c then ff_map P z p ord0 = z p ord0 else ff_map P z p ord0 <= 0
    & forall i, i \notin [:: h; p; y] -> ff_map P z i ord0 = z i ord0]}.
Proof.
move=> off pos.
have [L L1 hL] := @upper_bound R [seq (z y ord0 / e + z p ord0) / (z h ord0 - c) | z : token <- S].
pose w : token := - 2%:R *: unit R h - L *: unit R p.
pose z1 z := ff_step (unit R h, - c, w) z.
have z1E z i : z1 z i ord0 = z i ord0 + relu (z h ord0 - c) * (- 2%:R * (i == h)%:R - L * (i == p)%:R).
  by rewrite /z1 /ff_step /= dot_unit !mxE !eqxx !andbT.
exists [:: (unit R h, - c, w); (unit R y + e *: unit R p, 0, (K - 1) *: unit R y)]; split=> // z zS.
rewrite /= -/(z1 z); set f := ff_step _ _.
have fE i : f i ord0 = z1 z i ord0 +
    relu (z1 z y ord0 + e * z1 z p ord0) * ((K - 1) * (i == y)%:R).
  rewrite /f; move: (z1 z) => z'.
  by rewrite /ff_step /= dotC dotDr dotZr !(dotC z') !dot_unit addr0 !mxE eqxx andbT.
have [p0 y0] := pos z zS.
have z1h : z1 z h ord0 = c - `|z h ord0 - c|.
  rewrite z1E eqxx eq_sym (negPf ph) mulr0 subr0 mulr1.
  move: (z h ord0) => x; have [le | lt] := lerP 0 (x - c).
    by rewrite relu_pos // ger0_norm //; ring.
  by rewrite relu_neg ?ltW // ltr0_norm //; ring.
have z1y : z1 z y ord0 = z y ord0 by rewrite z1E (negPf yh) (negPf yp) !mulr0 subr0 mulr0 addr0.
have z1p : z1 z p ord0 = z p ord0 - L * relu (z h ord0 - c).
  by rewrite z1E (negPf ph) eqxx !mulr0 sub0r mulr1 mulrN mulrC.
have fp : f p ord0 = z1 z p ord0 by rewrite fE [p == y]eq_sym (negPf yp) !mulr0 addr0.
split.
- by rewrite fE [h == y]eq_sym (negPf yh) !mulr0 addr0.
- rewrite fE eqxx mulr1 z1y z1p; case: ltP => hc.
    rewrite (@relu_neg _ (_ - c)) ?subr_le0 ?ltW // mulr0 subr0 relu_pos; last first.
      by rewrite addr_ge0 // mulr_ge0 // ltW.
    by move: (z y ord0) (z p ord0) => x x'; ring.
  have pos' : 0 < z h ord0 - c by rewrite subr_gt0 lt_neqAle eq_sym off.
  have := hL _ (map_f (fun z : token => (z y ord0 / e + z p ord0) / (z h ord0 - c)) zS).
  rewrite ltr_pdivr_mulr // => /ltW le.
  rewrite (relu_pos (ltW pos')) relu_neg ?mul0r ?addr0 //.
  rewrite -[z y ord0](divfK (lt0r_neq0 e0)) [_ * e]mulrC -mulrDr pmulr_rle0 //.
  by rewrite addrA subr_le0.
- rewrite fp z1p; case: ltP => hc.
    by rewrite relu_neg ?subr_le0 ?ltW // mulr0 subr0.
  have pos' : 0 < z h ord0 - c by rewrite subr_gt0 lt_neqAle eq_sym off.
  have := hL _ (map_f (fun z : token => (z y ord0 / e + z p ord0) / (z h ord0 - c)) zS).
  rewrite ltr_pdivr_mulr // => /ltW le.
  rewrite (relu_pos (ltW pos')) subr_le0 (le_trans _ le) // ler_addr divr_ge0 // ltW //.
move=> i; rewrite !inE => /norP[ih /norP[ip iy]].
by rewrite fE z1E (negPf ih) (negPf ip) (negPf iy) !mulr0 subr0 mulr0 !addr0.
Qed.

(* p becomes max(p, 0)                                                           *)
Definition reset : ffp R d := (- unit R p, 0, unit R p).

Lemma reset_step z : ff_step reset z = setr p (Num.max (z p ord0) 0) z.
Proof.
rewrite /ff_step /= -scaleN1r dotZl dot_unit addr0 mulN1r /setr; congr (_ + _ *: _).
have [le | lt] := lerP (z p ord0) 0; first by rewrite relu_pos ?oppr_ge0 // sub0r.
by rewrite subrr relu_neg // oppr_le0 ltW.
Qed.

(* b bits, 3 b - 1 blocks                                                        *)
Theorem shifts W Ks (S : seq (nat * token)) : 0 < W -> {in Ks, forall K, 1 <= K} ->
  {in S, forall s : nat * token, [/\ a <= s.2 h ord0 <= a + W, 0 <= s.2 p ord0, 0 <= s.2 y ord0
    & forall i, (i < size Ks)%N -> bit a W (s.2 h ord0) i (digit s.1 i)]} ->
  exists P : seq (ffp R d), size P = (3 * size Ks - 1)%N /\ {in S, forall s : nat * token,
    ff_map P s.2 y ord0 = shifted e Ks s.1 (s.2 p ord0) (s.2 y ord0)
    /\ forall i, i \notin [:: h; p; y] -> ff_map P s.2 i ord0 = s.2 i ord0}.
Proof.
elim: Ks W S => [|K Ks IH] W S W0 K1 hS; first by exists [::].
pose c := a + W / 2%:R.
have low s : s \in S -> s.2 h ord0 != c /\ (s.2 h ord0 < c) = odd s.1.
  by move=> /hS[hW _ _ hb]; apply: bit0 => //; rewrite -digit0; apply: hb.
have [||P [sP hP]] := @shift_bit c K [seq s.2 | s <- S].
- by move=> _ /mapP[s /low[] ? _ ->].
- by move=> _ /mapP[s /hS[] _ ? ? _ ->].
have {}hP s : s \in S -> [/\ ff_map P s.2 h ord0 = c - `|s.2 h ord0 - c|,
    ff_map P s.2 y ord0 = if odd s.1 then K * s.2 y ord0 + (K - 1) * (e * s.2 p ord0) else s.2 y ord0,
    if odd s.1 then ff_map P s.2 p ord0 = s.2 p ord0 else ff_map P s.2 p ord0 <= 0
  & forall i, i \notin [:: h; p; y] -> ff_map P s.2 i ord0 = s.2 i ord0].
  by move=> sS; have := hP _ (map_f snd sS); have [_ ->] := low s sS.
case: Ks K1 hS IH => [|K' Ks] K1 hS IH.
  exists P; split=> // s /hP[_ -> _ ho]; split=> //=.
pose z1 (s : nat * token) := ff_step reset (ff_map P s.2).
have z1E s i : z1 s i ord0 = if i == p then Num.max (ff_map P s.2 p ord0) 0 else ff_map P s.2 i ord0.
  by rewrite /z1 reset_step setrE.
have W2 : 0 < W / 2%:R by rewrite divr_gt0 ?ltr0n.
have [||Q [sQ hQ]] := IH (W / 2%:R) [seq (s.1./2, z1 s) | s <- S] W2.
- by move=> q qK; apply: K1; rewrite inE qK orbT.
- move=> _ /mapP[s sS ->] /=; have [eh ey ep _] := hP s sS; have [/andP[lo hi] p0 y0 hb] := hS s sS.
  rewrite !z1E [h == p]eq_sym (negPf ph) (negPf yp) eqxx le_maxr lexx orbT eh ey; split=> //.
  + apply/andP; split; last by rewrite -/c ler_subl_addr ler_addl.
    rewrite ler_subr_addr addrC -ler_subr_addr ler_norml.
    have -> : c - a = W / 2%:R by rewrite /c addrC addKr.
    have E : W / 2%:R + W / 2%:R = W by field.
    by rewrite /c ler_subr_addr ler_subl_addr addrCA addNr addr0 lo addrCA E hi.
  + case: (odd s.1) => //; rewrite addr_ge0 ?mulr_ge0 ?subr_ge0 ?(ltW e0) //.
      by rewrite (le_trans ler01) ?K1 ?mem_head.
    by rewrite K1 ?mem_head.
  by move=> i ik; rewrite -digitS; apply: bitS => //; apply: hb.
exists (P ++ reset :: Q); split; first by rewrite size_cat /= sQ sP /=; lia.
move=> s sS; rewrite ff_map_cat /= -/(z1 s); have [/= -> ho] := hQ _ (map_f (fun s => (s.1./2, z1 s)) sS).
have [_ ey ep oth] := hP s sS; split; last first.
  move=> i out; have ip : (i == p) = false.
    by apply/negP => /eqP e'; rewrite e' !inE eqxx orbT in out.
  by rewrite ho // z1E ip oth.
rewrite !z1E (negPf yp) eqxx ey; case: (odd s.1) ep => ep; last by have /max_idPr-> := ep.
by rewrite ep; have [_ /max_idPl-> _ _] := hS s sS.
Qed.

End Shifts.
