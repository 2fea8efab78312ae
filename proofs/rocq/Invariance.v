(* Theory A1: every layer and the readout see a sequence only through its      *)
(* empirical measure; in particular they do not see the order. This holds for  *)
(* any hidden width and any V and A, not only for the blocks of Remark 2.7.    *)
From mathcomp Require Import all_ssreflect ssralg ssrnum matrix.
From Hardmax Require Import Model Measure.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Invariance.
Variables (R : realFieldType) (d : nat).
Notation token := 'cV[R]_d.
Implicit Types (Z : seq token) (B : block R d) (T : seq (block R d)).
Local Notation same := (same_measure R).

Lemma mean_integral Z : mean Z = integral (id : token -> token) Z.
Proof. by []. Qed.

(* the readout (2.2) *)
Theorem readout_measure Z Z' : same Z Z' -> readout Z = readout Z'.
Proof. by move=> h; apply: same_integral h. Qed.

(* the mean over the maximisers, ties averaged over positions *)
Lemma mean_filter (p : pred token) Z : Z != [::] ->
  mean (filter p Z) = (integral (fun z => (p z)%:R : R^o) Z)^-1 *:
                      integral (fun z => if p z then z else 0) Z.
Proof.
move=> Z0; have s0 : (size Z)%:R != 0 :> R by rewrite pnatr_eq0; case: Z Z0.
rewrite integral_mass integral_filter scalerA -big_filter /mean size_filter.
by rewrite invf_div mulrAC divff // mul1r.
Qed.

Lemma maximisers_measure M z Z Z' : same Z Z' ->
  mean (maximisers M z Z) = mean (maximisers M z Z').
Proof.
move=> h; have e0 := same_measure_nil h.
have [/eqP Z0 | Z0] := boolP (Z == [::]).
  by rewrite Z0 eqxx in e0; rewrite Z0; have /eqP-> := esym e0.
have Z'0 : Z' != [::] by rewrite -e0.
rewrite /maximisers; set p := fun x => all _ Z.
have -> : [seq x <- Z' | all (fun y => dot (M *m z) y <= dot (M *m z) x) Z'] =
          filter p Z'.
  by apply: eq_filter => x; apply/esym/eq_all_r/same_measure_mem.
by rewrite !mean_filter // !(same_integral _ h).
Qed.

(* the layers: (2.3), (2.4) and a block *)
Theorem FF_measure B Z Z' : same Z Z' -> same (map (FF B) Z) (map (FF B) Z').
Proof. exact: same_measure_map. Qed.

Lemma SA_map B Z Z' : same Z Z' ->
  SA B Z' = [seq rho B *: z + V B *m mean (maximisers (A B) z Z) | z <- Z'].
Proof. by move=> h; apply: eq_map => z; rewrite (maximisers_measure _ _ h). Qed.

Theorem SA_measure B Z Z' : same Z Z' -> same (SA B Z) (SA B Z').
Proof. by move=> h; rewrite (SA_map _ h); apply: same_measure_map. Qed.

Theorem block_measure B Z Z' : same Z Z' -> same (apply_block B Z) (apply_block B Z').
Proof. by move=> h; apply/SA_measure/FF_measure. Qed.

Theorem run_measure T Z Z' : same Z Z' -> same (run T Z) (run T Z').
Proof. by elim: T Z Z' => //= B T IH Z Z' h; apply: IH; apply: block_measure. Qed.

Theorem transformer_measure T Z Z' : same Z Z' ->
  readout (run T Z) = readout (run T Z').
Proof. by move=> h; apply/readout_measure/run_measure. Qed.

(* Order: every layer commutes with permutations of the tokens, and the        *)
(* readout forgets them.                                                       *)
Theorem FF_perm B Z Z' : perm_eq Z Z' -> perm_eq (map (FF B) Z) (map (FF B) Z').
Proof. exact: perm_map. Qed.

Theorem SA_perm B Z Z' : perm_eq Z Z' -> perm_eq (SA B Z) (SA B Z').
Proof.
by move=> h; rewrite (SA_map _ (perm_same_measure R h)); apply: perm_map.
Qed.

Theorem block_perm B Z Z' : perm_eq Z Z' -> perm_eq (apply_block B Z) (apply_block B Z').
Proof. by move=> h; apply/SA_perm/FF_perm. Qed.

Theorem run_perm T Z Z' : perm_eq Z Z' -> perm_eq (run T Z) (run T Z').
Proof. by elim: T Z Z' => //= B T IH Z Z' h; apply: IH; apply: block_perm. Qed.

Theorem readout_perm Z Z' : perm_eq Z Z' -> readout Z = readout Z'.
Proof. by move=> h; apply/readout_measure/perm_same_measure. Qed.

Theorem transformer_perm T Z Z' : perm_eq Z Z' ->
  readout (run T Z) = readout (run T Z').
Proof. by move=> h; apply/readout_perm/run_perm. Qed.

(* position by position: token i of the output does not depend on the order of *)
(* the others                                                                  *)
Theorem SA_equivariant B Z Z' (f : nat -> nat) : perm_eq Z Z' ->
  (forall i, (i < size Z')%N -> (f i < size Z)%N /\ nth 0 Z' i = nth 0 Z (f i)) ->
  forall i, (i < size Z')%N -> nth 0 (SA B Z') i = nth 0 (SA B Z) (f i).
Proof.
move=> h hf i lti; have [ltf e] := hf i lti.
by rewrite (SA_map _ (perm_same_measure R h)) /SA !(nth_map 0) ?e.
Qed.

(* The "only if" direction, and A1: Theorem 2.4 cannot hold as printed.        *)
Theorem same_measure_same_label (L : eqType) T Z Z' (c c' : L) (y : L -> token) :
  injective y -> same Z Z' ->
  readout (run T Z) = y c -> readout (run T Z') = y c' -> c = c'.
Proof. by move=> inj h e e'; apply: inj; rewrite -e -e' (transformer_measure T h). Qed.

Theorem order_is_invisible (a b : token) : a != b ->
  [/\ [:: a; b] != [:: b; a], uniq [:: a; b], uniq [:: b; a]
    & forall T, readout (run T [:: a; b]) = readout (run T [:: b; a])].
Proof.
move=> ab; split; first by rewrite eqseq_cons (negPf ab).
- by rewrite /= inE ab.
- by rewrite /= inE eq_sym ab.
by move=> T; apply: transformer_perm; rewrite (perm_catC [:: a] [:: b]).
Qed.

(* Theorem 2.4 as printed, without any bound on the number of blocks, for label *)
(* sets that are non-empty.                                                     *)
Definition theorem_2_4_as_printed : Prop :=
  forall (N M : nat) (S : 'I_M -> token -> Prop) (Z : 'I_N -> seq token) (c : 'I_N -> 'I_M),
    (forall l, exists x, S l x) -> (forall l l' x, S l x -> S l' x -> l = l') ->
    (forall j, Z j != [::]) -> injective Z -> (forall j, uniq (Z j)) ->
    exists T, forall j, S (c j) (readout (run T (Z j))).

Theorem theorem_2_4_as_printed_fails : (0 < d)%N -> ~ theorem_2_4_as_printed.
Proof.
move=> d0 thm; pose a : token := 0; pose b : token := const_mx 1.
have ab : a != b.
  by apply/eqP => /colP/(_ (Ordinal d0))/eqP; rewrite !mxE eq_sym oner_eq0.
have [ne ua ub out] := order_is_invisible ab.
pose Z (i : 'I_2) := if i == ord0 then [:: a; b] else [:: b; a].
pose p (i : 'I_2) := if i == ord0 then a else b.
have one (i : 'I_2) : i != ord0 -> i = Ordinal (isT : (1 < 2)%N).
  by case: i => [[|[|]] // lt] _; apply: val_inj.
have inj (E : eqType) (x y : E) : x != y ->
    injective (fun i : 'I_2 => if i == ord0 then x else y).
  move=> xy i j /=; case: (altP (i =P ord0)) => [-> | /one->];
    case: (altP (j =P ord0)) => [-> | /one->] // e; by rewrite ?e -?e eqxx in xy.
have [||||| T h] := thm 2%N 2%N (fun l x => x = p l) Z id.
- by move=> l; exists (p l).
- by move=> l l' x -> /(inj _ _ _ ab).
- by move=> j; rewrite /Z; case: ifP.
- exact: inj.
- by move=> j; rewrite /Z; case: ifP.
have := h ord0; have := h (Ordinal (isT : (1 < 2)%N)); rewrite /Z /p /= out => -> e.
by rewrite e eqxx in ab.
Qed.

Theorem repeated_tokens_fail (a b : token) T :
  readout (run T [:: a; b; a; b]) = readout (run T [:: a; b]).
Proof. exact/transformer_measure/(@repeat_same_measure _ _ [:: a; b] 1). Qed.

End Invariance.
