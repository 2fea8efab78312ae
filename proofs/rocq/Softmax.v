(* Theory B2 and D3: where A = 0 every score is 0, so any attention whose       *)
(* weights are a function g of the score, g(<A z_i, z_l>) / sum_k g(<A z_i,     *)
(* z_k>), agrees with hardmax. Softmax at inverse temperature tau is            *)
(* g(t) = exp(tau t). The transformers of Theorem B have A = 0 throughout, so   *)
(* one and the same transformer classifies under hardmax and under softmax at   *)
(* every temperature; and softmax layers, too, see only the measure.            *)
From mathcomp Require Import all_ssreflect ssralg ssrnum matrix.
From Hardmax Require Import Model Measure Invariance Feedforward Collapse Classification.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Softmax.
Variables (R : realFieldType) (d : nat).
Notation token := 'cV[R]_d.
Implicit Types (Z : seq token) (B : block R d) (T : seq (block R d)) (g : R -> R).
Local Notation same := (same_measure R).

(* sum_l g(<A z, z_l>) z_l / sum_l g(<A z, z_l>) *)
Definition attend g (M : 'M[R]_d) (z : token) Z : token :=
  (\sum_(x <- Z) g (dot (M *m z) x))^-1 *: \sum_(x <- Z) g (dot (M *m z) x) *: x.

Definition soft_SA g B Z := [seq rho B *: z + V B *m attend g (A B) z Z | z <- Z].
Definition soft_block g B Z := soft_SA g B [seq FF B z | z <- Z].
Definition soft_run g T Z := foldl (fun Z B => soft_block g B Z) Z T.

(* the "only if" direction: measures again *)
Lemma attend_measure g M z Z Z' : same Z Z' -> attend g M z Z = attend g M z Z'.
Proof.
move=> h; have [/eqP Z0 | Z0] := boolP (Z == [::]).
  by have := same_measure_nil h; rewrite Z0 eqxx => /esym/eqP->.
have Z'0 : Z' != [::] by rewrite -(same_measure_nil h).
have e Y : Y != [::] -> attend g M z Y =
    (integral (fun x => g (dot (M *m z) x) : R^o) Y)^-1 *:
    integral (fun x => g (dot (M *m z) x) *: x) Y.
  move=> Y0; have s0 : (size Y)%:R != 0 :> R by rewrite pnatr_eq0; case: Y Y0.
  have -> : integral (fun x => g (dot (M *m z) x) : R^o) Y =
            (size Y)%:R^-1 * \sum_(x <- Y) g (dot (M *m z) x) by [].
  by rewrite /attend /integral scalerA invfM invrK mulrAC divff // mul1r.
by rewrite !e // !(same_integral _ h).
Qed.

Theorem soft_SA_measure g B Z Z' : same Z Z' -> same (soft_SA g B Z) (soft_SA g B Z').
Proof.
move=> h; have -> : soft_SA g B Z' =
    [seq rho B *: z + V B *m attend g (A B) z Z | z <- Z'].
  by apply: eq_map => z; rewrite (attend_measure _ _ _ h).
exact: same_measure_map.
Qed.

Theorem soft_run_measure g T Z Z' : same Z Z' -> same (soft_run g T Z) (soft_run g T Z').
Proof.
elim: T Z Z' => //= B T IH Z Z' h; apply: IH.
exact/soft_SA_measure/FF_measure.
Qed.

(* A = 0: uniform weights *)
Lemma attend_uniform g z Z : g 0 != 0 -> attend g 0 z Z = mean Z.
Proof.
move=> g0; rewrite /attend.
have e x : dot (0 *m z) x = 0 by rewrite mul0mx dot0l.
rewrite (eq_bigr (fun=> g 0)) => [|x _]; last by rewrite e.
rewrite [X in _ *: X](eq_bigr (fun x => g 0 *: x)) => [|x _]; last by rewrite e.
rewrite -scaler_sumr scalerA big_const_seq count_predT iter_addr_0 -mulr_natl.
by rewrite invfM mulfVK.
Qed.

Lemma maximisers_uniform z Z : maximisers (0 : 'M[R]_d) z Z = Z.
Proof.
rewrite /maximisers (eq_filter (a2 := predT)) ?filter_predT // => x.
by apply/allP => y _; rewrite mul0mx !dot0l.
Qed.

Theorem soft_is_hard g B Z : g 0 != 0 -> A B = 0 -> soft_block g B Z = apply_block B Z.
Proof.
move=> g0 A0; apply: eq_map => z.
by rewrite A0 attend_uniform // maximisers_uniform.
Qed.

Theorem soft_run_is_run1 g (T : seq (rank1 R d)) Z : g 0 != 0 -> uniform T ->
  soft_run g [seq block_of p | p <- T] Z = run1 T Z.
Proof.
move=> g0; elim: T Z => // p T IH Z /= /andP[/eqP v0 uT].
by rewrite soft_is_hard ?IH //= v0 mul0mx.
Qed.

(* Theorem B for hardmax and for all such attentions at once *)
Section Points.
Variables (N M : nat) (Z : 'I_N -> seq token).
Hypothesis Z_nonempty : forall j, Z j != [::].
Variables (c : 'I_N -> 'I_M) (y : 'I_M -> token).
Hypothesis y_inj : injective y.

Theorem softmax_sufficient : (0 < N)%N ->
  (forall i j, same (Z i) (Z j) -> c i = c j) ->
  exists T : seq (rank1 R d),
  [/\ (size T <= 2 * Nd Z - 1)%N,
      forall j, readout (run1 T (Z j)) = y (c j)
    & forall g, g 0 != 0 -> forall j,
        readout (soft_run g [seq block_of p | p <- T] (Z j)) = y (c j)].
Proof.
move=> N0 /(classification_depth Z_nonempty y N0)[T [sT uT h]].
by exists T; split=> // g g0 j; rewrite soft_run_is_run1.
Qed.

Theorem softmax_iff g : g 0 != 0 ->
  (exists T : seq (block R d), forall j, readout (soft_run g T (Z j)) = y (c j)) <->
  (forall i j, same (Z i) (Z j) -> c i = c j).
Proof.
move=> g0; split=> [[T h] i j sij | cons].
  apply: y_inj; rewrite -!h; apply: readout_measure.
  exact: soft_run_measure.
have [N0 | N0] := posnP N; first exists [::] => j.
  by have : (j < 0)%N by rewrite -[X in (_ < X)%N]N0 ltn_ord.
have [T [_ _ h]] := softmax_sufficient N0 cons.
by exists [seq block_of p | p <- T]; apply: h.
Qed.

End Points.

End Softmax.
