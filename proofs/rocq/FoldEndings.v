(* Endings of the strategy fold (theory, section 13): how many blocks behind the *)
(* kills take the bands to the targets. Cuts alone serve targets that agree in the *)
(* coordinate of y; with M - 1 blocks that peel a line, any targets.             *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint matrix zify.
From mathcomp.algebra_tactics Require Import ring.
From Hardmax Require Import Model Measure Feedforward Peeling Collapse Pushes Folds FoldStrategy.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Endings.
Variables (R : realFieldType) (d M : nat) (y : 'I_d).
Notation token := 'cV[R]_d.
Implicit Types (b : token) (v w : nat -> token) (t : 'I_M -> token).

(* One cut for each class but the first; one for each binary digit of the class. *)
Definition class_cuts w m := [seq (q, w q) | q <- rev (iota 1 m)].
Definition digit_cuts v m := [seq ((2 ^ j)%N, v j) | j <- rev (iota 0 m)].

Lemma class_cutsS w m : class_cuts w m.+1 = (m.+1, w m.+1) :: class_cuts w m.
Proof. by rewrite /class_cuts -(addn1 m) iotaD rev_cat add1n addn1. Qed.

Lemma digit_cutsS v m : digit_cuts v m.+1 = ((2 ^ m)%N, v m) :: digit_cuts v m.
Proof. by rewrite /digit_cuts -(addn1 m) iotaD rev_cat. Qed.

Lemma taken_classes w m q b : (q <= m)%N ->
  taken (class_cuts w m) q b = if q == 0%N then b else b + w q.
Proof.
elim: m q b => [|m IH] q b; first by rewrite leqn0 => ->.
rewrite class_cutsS /= leq_eqVlt => /orP[/eqP-> | lt]; last by rewrite leqNgt lt /= IH.
by rewrite leqnn subnn IH.
Qed.

(* digit j of q                                                                  *)
Definition digit (q j : nat) := odd (q %/ 2 ^ j).

Lemma digit_big (T : Type) (idx : T) (op : Monoid.law idx) (F : nat -> T) m q : (q < 2 ^ m.+1)%N ->
  \big[op/idx]_(j < m.+1 | digit q j) F j = if (2 ^ m <= q)%N
  then op (\big[op/idx]_(j < m | digit (q - 2 ^ m) j) F j) (F m)
  else \big[op/idx]_(j < m | digit q j) F j.
Proof.
rewrite expnS mul2n -addnn big_mkcond big_ord_recr -big_mkcond /= => lt.
have [h | h] := leqP (2 ^ m) q; last by rewrite [digit q m]/digit divn_small //= Monoid.mulm1.
have e : q = (1 * 2 ^ m + (q - 2 ^ m))%N by rewrite mul1n subnKC.
have -> : digit q m by rewrite /digit e divnMDl ?expn_gt0 // divn_small ?ltn_subLR.
congr (op _ _); apply: eq_bigl => j; rewrite {1}e /digit mul1n.
have -> : (2 ^ m = 2 ^ (m - j.+1).+1 * 2 ^ j)%N by rewrite -expnD; congr (_ ^ _)%N; have := ltn_ord j; lia.
by rewrite divnMDl ?expn_gt0 // oddD expnS mul2n odd_double.
Qed.

Lemma taken_digits v m q b : (q < 2 ^ m)%N ->
  taken (digit_cuts v m) q b = b + \sum_(j < m | digit q j) v j.
Proof.
elim: m q b => [|m IH] q b lt; first by rewrite big_ord0 addr0.
rewrite digit_cutsS digit_big //=; rewrite expnS mul2n -addnn in lt.
have [h | h] := leqP (2 ^ m) q; last by rewrite IH.
by rewrite IH ?ltn_subLR // -addrA (addrC (v m)).
Qed.

Lemma digits_sum m q : (q < 2 ^ m)%N -> (\sum_(j < m | digit q j) 2 ^ j)%N = q.
Proof.
elim: m q => [|m IH] q lt; first by rewrite big_ord0; case: q lt.
rewrite (digit_big _ (fun j => 2 ^ j)%N) //; rewrite expnS mul2n -addnn in lt.
have [h | h] := leqP (2 ^ m) q; last by rewrite IH.
by rewrite IH ?ltn_subLR //= subnK.
Qed.

(* one cut for each class but the first, onto band 0                             *)
Lemma serve_level t : (0 < M)%N -> (forall q q', t q y ord0 = t q' y ord0) ->
  ending y t (2 * (M - 1)).
Proof.
move=> M0 lev; pose base := t (Ordinal M0).
pose w q := if insub q is Some q' then t q' - base else 0.
exists base, (class_cuts w (M - 1)), [::]; split; last by rewrite size_map size_rev size_iota addn0.
  move=> p /mapP[q]; rewrite mem_rev mem_iota => /andP[q0 _] -> /=.
  by rewrite q0 /w; case: insubP => [q' _ _|_]; rewrite !mxE ?(lev q' (Ordinal M0)) ?subrr.
move=> q /=; have qM : (q <= M - 1)%N by have := ltn_ord q; lia.
rewrite taken_classes // /w valK; case: eqP => [q0 | _]; last by rewrite addrC subrK.
by congr t; apply: val_inj.
Qed.

(* one cut for each binary digit: t_q = b + the sum of its digits' vectors       *)
Lemma serve_digits t b v m : (M <= 2 ^ m)%N -> (forall j, v j y ord0 = 0) ->
  (forall q : 'I_M, t q = b + \sum_(j < m | digit q j) v j) -> ending y t (2 * m).
Proof.
move=> Mm vy tE; exists b, (digit_cuts v m), [::].
rewrite size_map size_rev size_iota addn0; split=> // [p /mapP[j _ ->] | q] /=.
  by rewrite expn_gt0.
by rewrite taken_digits ?tE // (leq_trans (ltn_ord q)).
Qed.

Lemma serve_line t b (v : token) m : (M <= 2 ^ m)%N -> v y ord0 = 0 ->
  (forall q, t q = b + q%:R *: v) -> ending y t (2 * m).
Proof.
move=> Mm vy tE; apply: (@serve_digits t b (fun j => (2 ^ j)%:R *: v) m) => // [j | q].
  by rewrite mxE vy mulr0.
by rewrite tE -scaler_suml -natr_sum digits_sum // (leq_trans (ltn_ord q)).
Qed.

(* blocks F behind an ending                                                     *)
Lemma serve_then t (pl : 'I_M -> token) e (F : seq (ffp R d)) : ending y pl e ->
  (forall q, ff_map F (pl q) = t q) -> ending y t (e + size F).
Proof.
move=> [base [cs [F0 [cs0 csE ->]]]] hF; exists base, cs, (F0 ++ F).
by rewrite size_cat addnA; split=> // q; rewrite ff_map_cat csE.
Qed.

(* One block more where coordinate y of the targets is an affine function of another *)
(* coordinate i: the ending serves the targets with one number in coordinate y.  *)
Lemma serve_affine t (i : 'I_d) (al be : R) e : i != y ->
  (forall q, t q y ord0 = al * t q i ord0 + be) ->
  (forall x, ending y (fun q => setr y x (t q)) e) -> ending y t e.+1.
Proof.
move=> iy aff all.
have [C C1 hC] := @upper_bound R [seq - t q i ord0 | q <- enum 'I_M].
rewrite -addn1; apply: (@serve_then t _ _ [:: (unit R i, C, al *: unit R y)] (all (be - al * C))) => q.
rewrite /= /ff_step /= dot_unit setrE (negPf iy) relu_pos; last first.
  rewrite -ler_subl_addl sub0r ltW // hC //.
  by apply: (map_f (fun q => - t q i ord0)); rewrite mem_enum.
apply/colP => r; rewrite [LHS]mxE setrE !mxE eqxx andbT.
case: eqP => [-> | _] /=; last by rewrite !mulr0 addr0.
by rewrite aff; move: (t q i _) => x; ring.
Qed.

Lemma serve_affine_level t (i : 'I_d) (al be : R) : (0 < M)%N -> i != y ->
  (forall q, t q y ord0 = al * t q i ord0 + be) -> ending y t (2 * (M - 1)).+1.
Proof.
move=> M0 iy aff; apply: serve_affine iy aff _ => x; apply: serve_level => // q q'.
by rewrite !setrE eqxx.
Qed.

Lemma serve_affine_line t (i : 'I_d) b (v : token) m : (M <= 2 ^ m)%N -> i != y -> v i ord0 != 0 ->
  (forall q, t q = b + q%:R *: v) -> ending y t (2 * m).+1.
Proof.
move=> Mm iy vi tE; pose al := v y ord0 / v i ord0.
apply: (@serve_affine t i al (b y ord0 - al * b i ord0)) => // [q | x].
  rewrite tE !mxE -[X in _ * X](divfK vi) -/al; move: (b y _) (b i _) (v i _) => x x' x''; ring.
apply: (@serve_line _ (setr y x b) (setr y 0 v)) => // [|q]; first by rewrite setrE eqxx.
apply/colP => r; have sumE (z1 z2 : token) : (z1 + q%:R *: z2) r ord0 = z1 r ord0 + q%:R * z2 r ord0.
  by rewrite !mxE.
by rewrite sumE !setrE tE sumE; case: eqP => _; rewrite ?mulr0 ?addr0.
Qed.

(* Any targets: the digits write the class into a register r, onto a long line, and *)
(* M - 1 blocks peel the points on that line. Class 0 is on its target at once.  *)
Lemma serve_peel t (r : 'I_d) m : (0 < M)%N -> r != y -> (M <= 2 ^ m)%N ->
  ending y t (2 * m + (M - 1)).
Proof.
move=> M0 ry Mm; pose q0 := Ordinal M0; pose c := t q0.
have [L L1 hL] := @upper_bound R [seq sqn (t q - c) | q <- enum 'I_M].
have L0 : 0 < L by apply: lt_le_trans L1.
pose pl (q : nat) : token := c + q%:R *: (L *: unit R r).
have plE q : sqn (pl q - c) = (q%:R * L) ^+ 2.
  by rewrite /pl addrC addKr scalerA sqnZ /sqn dot_unit mxE !eqxx mulr1.
have far (q q' : 'I_M) : q != q0 -> sqn (t q' - c) < sqn (pl q - c).
  move=> qq0; have {}qq0 : (0 < q)%N by rewrite lt0n.
  apply: lt_le_trans (hL _ (map_f (fun q => sqn (t q - c)) (mem_enum _ q'))) _; rewrite plE expr2.
  have qL : L <= q%:R * L by rewrite ler_pmull // ler1n.
  by rewrite (le_trans qL) // ler_pmull ?(lt_le_trans L0) // (le_trans L1).
have [|||F [sF hF hc]] := @peeling R d [seq (pl q, t q) | q : 'I_M <- others q0] c [:: c].
- rewrite -map_comp map_inj_uniq ?uniq_others // => q q' /= /addrI e.
  have := congr1 (fun z : token => z r ord0) e; rewrite !mxE !eqxx mulr1.
  by move=> /(mulIf (lt0r_neq0 L0))/eqP; rewrite eqr_nat => /eqP/val_inj.
- by move=> _ _ /mapP[q + ->] /mapP[q' _ ->] /=; rewrite mem_others => /far h; apply: h.
- move=> f p; rewrite inE => /eqP-> /mapP[q + ->] /=; rewrite mem_others => /far h.
  exact: (h q0).
have -> : (M - 1)%N = size F by rewrite sF size_map size_others.
apply: (@serve_then t (fun q : 'I_M => pl q)) => [|q].
  apply: (@serve_line _ c (L *: unit R r)) => //; rewrite !mxE (eq_sym y) (negPf ry) mulr0 //.
have [-> | qq0] := eqVneq q q0; first by rewrite /pl scale0r addr0 hc ?mem_head.
by apply: (hF (pl q, t q)); apply: (map_f (fun q : 'I_M => (pl q, t q))); rewrite mem_others.
Qed.

Lemma serve_any t : (0 < M)%N -> (1 < d)%N -> ending y t (2 * up_log 2 M + (M - 1)).
Proof.
move=> M0 d1; have [r ry] : exists r : 'I_d, r != y.
  have [e | ne] := eqVneq (Ordinal d1) y; last by exists (Ordinal d1).
  by exists (Ordinal (ltnW d1)); rewrite -e.
exact: serve_peel M0 ry (up_logP _ _).
Qed.

Lemma serve_two t : M = 2%N -> (1 < d)%N -> ending y t 3.
Proof.
move=> M2 d1; have M0 : (0 < M)%N by rewrite M2.
have := serve_any t M0 d1; have -> // : (2 * up_log 2 M + (M - 1) = 3)%N by rewrite M2.
Qed.

(* The strategy with any targets, d >= 2.                                        *)
Theorem fold_any_targets N (c : 'I_N -> 'I_M) t (Z : 'I_N -> seq token) (o : token) (a U : R) n
    (P0 : seq (ffp R d)) (D : {set 'I_d}) :
  (1 < d)%N -> (forall i, Z i != [::]) -> (0 < M)%N -> 0 < U ->
  (forall i, in_band M a U n (ff_map P0 (mean (Z i) + o) y ord0) (c i)) ->
  constant y D (fun i => ff_map P0 (mean (Z i) + o)) ->
  exists T : seq (rank1 R d),
  [/\ size T = (1 + size P0 + n + (d - 1 - #|D|) + (2 * up_log 2 M + (M - 1)) + 1)%N, uniform T
    & forall i, readout (run1 T (Z i)) = t (c i)].
Proof. by move=> d1 Z0 M0 U0 band hD; apply: fold_strategy band hD (serve_any t M0 d1). Qed.

End Endings.
