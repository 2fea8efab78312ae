(* The other verdict (theory A1): two sequences that no transformer can tell     *)
(* apart. The boolean same_data decides it, in both directions.                  *)
From Coq Require Import ZArith QArith.
From mathcomp Require Import all_ssreflect ssralg ssrnum matrix.
From Hardmax Require Import Model Measure Invariance Classification Checker.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Indistinguishable.
Variables (R : realFieldType) (d : nat).
Local Notation vec := (seq Q).
Local Notation s2r := (s2r R d).
Local Notation v2r := (v2r R d).

Lemma eqvP (x y : vec) : each d Qeq_bool x y = (v2r x == v2r y).
Proof.
apply/(eachP d (P' := eq_op) x y (@q2r_eqb R))/eqP => [h | -> i //].
by apply/colP => i; apply/eqP.
Qed.

Lemma qcountE z Z : qcount d z Z = count_mem (v2r z) (s2r Z).
Proof.
by rewrite /qcount /Checker.s2r count_map; apply: eq_count => y /=; rewrite eqvP eq_sym.
Qed.

Theorem same_dataP Z Z' : (0 < size Z)%N -> (0 < size Z')%N ->
  reflect (same_measure R (s2r Z) (s2r Z')) (same_data d Z Z').
Proof.
move=> Z0 Z'0; have n0 Y : (0 < size Y)%N -> s2r Y != [::].
  by rewrite -(size_map v2r) lt0n size_eq0.
have sz Y : size (s2r Y) = size Y by rewrite size_map.
have counts := same_measure_counts R (n0 _ Z0) (n0 _ Z'0).
apply: (iffP allP) => [h | /counts h z _]; last by rewrite !qcountE -!sz h.
apply/counts => x.
have [/mapP[z zin ->] | xout] := boolP (x \in s2r (Z ++ Z')).
  by have /eqP := h z zin; rewrite !qcountE !sz.
by move: xout; rewrite /Checker.s2r map_cat mem_cat negb_or => /andP[/count_memPn-> /count_memPn->].
Qed.

(* true: every transformer of the paper gives both the same output              *)
Theorem same_data_sound Z Z' : (0 < size Z)%N -> (0 < size Z')%N -> same_data d Z Z' ->
  forall T : seq (block R d), readout (run T (s2r Z)) = readout (run T (s2r Z')).
Proof. by move=> Z0 Z'0 /(same_dataP Z0 Z'0) h T; apply: transformer_measure. Qed.

(* ... and only then *)
Theorem same_data_exact Z Z' : (0 < size Z)%N -> (0 < size Z')%N ->
  same_data d Z Z' <->
  (forall T : seq (block R d), readout (run T (s2r Z)) = readout (run T (s2r Z'))).
Proof.
move=> Z0 Z'0; have n0 Y : (0 < size Y)%N -> s2r Y != [::].
  by rewrite -(size_map v2r) lt0n size_eq0.
have iff := indistinguishable_iff (n0 _ Z0) (n0 _ Z'0).
by split=> [/(same_dataP Z0 Z'0)/iff | /iff/(same_dataP Z0 Z'0)].
Qed.

(* so disjoint label sets for the two cannot be reached *)
Theorem same_data_refutes Z Z' (S S' : 'cV[R]_d -> Prop) :
  (0 < size Z)%N -> (0 < size Z')%N -> same_data d Z Z' ->
  (forall x, S x -> S' x -> False) ->
  ~ exists T : seq (block R d), S (readout (run T (s2r Z))) /\ S' (readout (run T (s2r Z'))).
Proof.
move=> Z0 Z'0 h disj [T [a b]]; apply: disj a _.
by rewrite (same_data_sound Z0 Z'0 h).
Qed.

End Indistinguishable.
