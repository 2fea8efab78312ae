(* Theorem B and its corollaries: when sequences can be classified, and how    *)
(* many blocks suffice.                                                        *)
From mathcomp Require Import all_ssreflect ssralg ssrnum matrix zify.
From Hardmax Require Import Model Measure Invariance Feedforward Peeling Collapse.
From Hardmax Require Import TieSplitting.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Classification.
Variables (R : realFieldType) (d : nat).
Notation token := 'cV[R]_d.
Local Notation same := (same_measure R).

(* Sequences with pairwise different measures: tie splitting, collapse, peel.  *)
Theorem build_distinct (Zs : seq (seq token)) (y : seq token -> token) :
  {in Zs, forall Z, Z != [::]} -> distinct_measures R Zs ->
  exists T : seq (rank1 R d),
  [/\ (size T <= (size Zs - nmeans Zs) + size Zs)%N, uniform T
    & {in Zs, forall Z, readout (run1 T Z) = y Z}].
Proof.
move=> ne dist; have sub : {in Zs, forall Z, {subset Z <= flatten Zs}}.
  by move=> Z ZZs z zZ; apply/flattenP; exists Z.
have [P [sP _ um]] := split_ties ne sub dist.
pose f Z := map (ff_map P) Z.
have [||T [sT uT hT]] := @collapse_and_peel R d [seq (f Z, y Z) | Z <- Zs].
- by move=> _ /mapP[Z ZZs ->] /=; have := ne Z ZZs; case: (Z).
- by rewrite -map_comp.
exists ([seq ff_block p | p <- P] ++ T); split.
- by rewrite size_cat size_map sT size_map leq_add2r.
- by rewrite uniform_cat uniform_ff.
move=> Z ZZs; rewrite run1_cat run_ff.
exact: (hT (f Z, y Z) (map_f (fun Z => (f Z, y Z)) ZZs)).
Qed.

(* Two sequences get equal outputs from all transformers, of any widths, values *)
(* and attention matrices, if and only if their empirical measures are equal.   *)
Theorem indistinguishable_iff (Z Z' : seq token) : Z != [::] -> Z' != [::] ->
  same Z Z' <-> (forall T : seq (block R d), readout (run T Z) = readout (run T Z')).
Proof.
move=> Z0 Z'0; split=> [h T | h]; first exact: transformer_measure.
apply/same_measureP/negPn/negP => dist.
have [w w0] := nonzero_token Z0 Z'0 dist.
have neq : Z != Z'.
  by apply: contraNneq dist => <-; apply/same_measureP; apply: same_measure_refl.
have [||T [_ _ hT]] := @build_distinct [:: Z; Z'] (fun Y => if Y == Z then 0 else w).
- by move=> Y; rewrite !inE => /orP[] /eqP->.
- split; first by rewrite /= inE neq.
  move=> Y Y'; rewrite !inE => /orP[] /eqP-> /orP[] /eqP-> // /same_measureP e.
    by case/negP: dist.
  case/negP: dist; apply/same_measureP/same_measure_sym.
  exact/same_measureP.
have := h [seq block_of p | p <- T]; rewrite -!/(run1 T _) !hT ?inE ?eqxx ?orbT //.
by rewrite eq_sym (negPf neq) => e; rewrite -e eqxx in w0.
Qed.

Lemma nmeans_eq (Zs Zs' : seq (seq token)) :
  map (@mean R d) Zs =i map (@mean R d) Zs' -> nmeans Zs = nmeans Zs'.
Proof. by move=> h; apply: perm_size; apply: perm_undup. Qed.

Lemma nmeans_le (Zs : seq (seq token)) : (nmeans Zs <= size Zs)%N.
Proof. by rewrite /nmeans -(size_map (@mean R d)) size_undup. Qed.

Lemma nmeans_gt0 (Zs : seq (seq token)) : Zs != [::] -> (0 < nmeans Zs)%N.
Proof.
case: Zs => // Z Zs _; rewrite /nmeans lt0n size_eq0.
apply/negP => /eqP e; have := mem_undup [seq mean Z | Z <- Z :: Zs] (mean Z).
by rewrite e in_nil mem_head.
Qed.

Lemma nmeans_merge (Zs : seq (seq token)) : nmeans (merge R Zs) = nmeans Zs.
Proof.
apply: nmeans_eq => m; apply/mapP/mapP => -[Z Zin ->].
  by exists Z => //; apply: (merge_sub Zin).
by have [Y Ym sY] := merge_rep R Zin; exists Y => //; apply: same_integral.
Qed.

(* With A = 0 a block has at most 2d + 3 non-zero parameters. *)
Lemma params_uniform (T : seq (rank1 R d)) : uniform T ->
  (params T <= (2 * d + 3) * size T)%N.
Proof.
have n0 : nonzero (0 : token) = 0%N.
  by rewrite /nonzero; apply: eq_card0 => i; rewrite !inE mxE eqxx.
elim: T => // p T IH /= /andP[/eqP v0 /IH{}IH]; rewrite /params /= mulnS.
apply: leq_add IH; rewrite /nparams v0 n0 addn0.
have := nonzero_le (r_u p); have := nonzero_le (r_w p).
by case: (r_b p != 0); case: (r_rho p != 0); case: (r_alpha p != 0) => /=; lia.
Qed.

Variables (N M : nat) (Z : 'I_N -> seq token).
Hypothesis Z_nonempty : forall j, Z j != [::].

(* the given sequences as a list; Nd of them have different measures, and they  *)
(* have Nm different means                                                      *)
Definition given := [seq Z j | j <- enum 'I_N].
Definition Nd := nmeasures R given.
Definition Nm := nmeans given.

Lemma given_in j : Z j \in given.
Proof. by apply: map_f; rewrite mem_enum. Qed.

Lemma Nd_le : (Nd <= N)%N.
Proof. by apply: leq_trans (nmeasures_le R given) _; rewrite size_map size_enum_ord. Qed.

Lemma Nm_gt0 : (0 < N)%N -> (0 < Nm)%N.
Proof.
by move=> N0; apply: nmeans_gt0; rewrite -size_eq0 size_map size_enum_ord -lt0n.
Qed.

(* The "if" direction: any assignment of target points that gives equal points  *)
(* to equal measures is realised by (Nd - Nm) + Nd blocks, Nd - Nm of them for   *)
(* tie splitting, one for the collapse and Nd - 1 for peeling; A = 0 in all.     *)
Theorem build (y : 'I_N -> token) :
  (forall i j, same (Z i) (Z j) -> y i = y j) ->
  exists T : seq (rank1 R d),
  [/\ (size T <= (Nd - Nm) + Nd)%N, uniform T & forall j, readout (run1 T (Z j)) = y j].
Proof.
move=> cons; have mne : {in merge R given, forall Y, Y != [::]}.
  by move=> Y /merge_sub /mapP[j _ ->].
pose t Y := if [pick j | same_measureb R (Z j) Y] is Some j then y j else 0.
have [T [sT uT hT]] := build_distinct t mne (merge_distinct R given).
exists T; split=> //; first by move: sT; rewrite nmeans_merge.
move=> j; have [Y Yin sY] := merge_rep R (given_in j).
rewrite /run1 (transformer_measure _ sY) -/(run1 T Y) (hT _ Yin) /t.
case: pickP => [i /same_measureP si | none]; last first.
  by have := none j; move/same_measureP: sY => ->.
by apply: cons => z; rewrite si sY.
Qed.

(* 2 Nd - 1 blocks in any case *)
Lemma depth_bound : (0 < N)%N -> ((Nd - Nm) + Nd <= 2 * Nd - 1)%N.
Proof. by move=> /Nm_gt0; lia. Qed.

Lemma depth_bound_N : ((Nd - Nm) + Nd <= 2 * N - 1)%N.
Proof.
have [N0 | /depth_bound] := posnP N; last by have := Nd_le; lia.
by have := Nd_le; lia.
Qed.

(* Theorem B for label sets. The labels' sets are non-empty and disjoint; the   *)
(* transformer on the left is any transformer of the paper (any hidden widths, *)
(* any V and A); the one built has rank-one blocks with A = 0.                  *)
Section Sets.
Variables (c : 'I_N -> 'I_M) (S : 'I_M -> token -> Prop).
Hypothesis S_nonempty : forall l, exists x, S l x.
Hypothesis S_disjoint : forall l l' x, S l x -> S l' x -> l = l'.

Definition consistent := forall i j, same (Z i) (Z j) -> c i = c j.
Definition classifies (T : seq (block R d)) := forall j, S (c j) (readout (run T (Z j))).
Definition classifies1 (T : seq (rank1 R d)) := forall j, S (c j) (readout (run1 T (Z j))).

Theorem classification_necessary T : classifies T -> consistent.
Proof.
move=> cl i j sij; apply: S_disjoint (cl i) _.
by rewrite (transformer_measure T sij).
Qed.

Theorem classification_sufficient : consistent ->
  exists T, [/\ (size T <= (Nd - Nm) + Nd)%N, uniform T & classifies1 T].
Proof.
move=> cons; have [x hx] := fin_all_exists S_nonempty.
have [|T [sT uT hT]] := @build (fun j => x (c j)).
  by move=> i j /cons ->.
by exists T; split=> // j; rewrite hT.
Qed.

Theorem classification_sets_iff : (exists T, classifies T) <-> consistent.
Proof.
split=> [[T] | /classification_sufficient[T [_ _ h]]].
  exact: classification_necessary.
by exists [seq block_of p | p <- T].
Qed.

Theorem classification_sets_depth : consistent <->
  exists T, [/\ (size T <= 2 * N - 1)%N, uniform T & classifies1 T].
Proof.
split=> [/classification_sufficient[T [sT uT h]] | [T [_ _ h]]].
  by exists T; split=> //; apply: leq_trans sT depth_bound_N.
exact: (@classification_necessary [seq block_of p | p <- T]).
Qed.

End Sets.

(* Theorem B for distinct point labels. *)
Section Points.
Variables (c : 'I_N -> 'I_M) (y : 'I_M -> token).
Hypothesis y_inj : injective y.

Let S l x := x = y l.
Let S_nonempty l : exists x, S l x. Proof. by exists (y l). Qed.
Let S_disjoint l l' x : S l x -> S l' x -> l = l'.
Proof. by rewrite /S => -> /y_inj. Qed.

Theorem classification_iff :
  (exists T : seq (rank1 R d), forall j, readout (run1 T (Z j)) = y (c j)) <->
  (forall i j, same (Z i) (Z j) -> c i = c j).
Proof.
split=> [[T h] | /(classification_sufficient S_nonempty)[T [_ _ h]]]; last by exists T.
exact: (@classification_necessary c S S_disjoint [seq block_of p | p <- T]).
Qed.

Theorem classification_iff_general :
  (exists T : seq (block R d), forall j, readout (run T (Z j)) = y (c j)) <->
  (forall i j, same (Z i) (Z j) -> c i = c j).
Proof. exact: (classification_sets_iff c S_nonempty S_disjoint). Qed.

(* 2 N - 1, where N counts the distinct measures *)
Theorem classification_depth : (0 < N)%N ->
  (forall i j, same (Z i) (Z j) -> c i = c j) ->
  exists T : seq (rank1 R d),
  [/\ (size T <= 2 * Nd - 1)%N, uniform T & forall j, readout (run1 T (Z j)) = y (c j)].
Proof.
move=> N0 /(classification_sufficient S_nonempty)[T [sT uT h]].
by exists T; split=> //; apply: leq_trans sT (depth_bound N0).
Qed.

(* Theorem B in one statement. *)
Theorem theorem_B : (0 < N)%N ->
  (forall i j, same (Z i) (Z j) -> c i = c j) <->
  (exists T : seq (rank1 R d),
   [/\ (size T <= (Nd - Nm) + Nd)%N /\ (size T <= 2 * Nd - 1)%N,
       (params T <= (2 * d + 3) * size T)%N, uniform T
     & forall j, readout (run1 T (Z j)) = y (c j)]).
Proof.
move=> N0; split=> [/(classification_sufficient S_nonempty)[T [sT uT h]] | [T [_ _ _ h]]].
  exists T; split=> //; last exact: params_uniform.
  by split=> //; apply: leq_trans sT (depth_bound N0).
exact: (@classification_necessary c S S_disjoint [seq block_of p | p <- T]).
Qed.

(* N blocks if the means of distinct measures are distinct *)
Theorem classification_depth_means : Nm = Nd ->
  (forall i j, same (Z i) (Z j) -> c i = c j) ->
  exists T : seq (rank1 R d),
  [/\ (size T <= Nd)%N, uniform T & forall j, readout (run1 T (Z j)) = y (c j)].
Proof.
move=> e /(classification_sufficient S_nonempty)[T [sT uT h]].
by exists T; split=> //; move: sT; rewrite e subnn.
Qed.

End Points.

(* The paper's Theorem 2.4 under its corrected hypothesis: i) sequences that    *)
(* are permutations of one another have the same label; ii) no token is         *)
(* repeated within a sequence. (With ii) equal measures are permutations, so    *)
(* i) cannot be weakened.) 8N + 4 blocks and 54 N d non-zero parameters.        *)
Theorem theorem_2_4_mended (c : 'I_N -> 'I_M) (S : 'I_M -> token -> Prop) :
  (2 <= d)%N -> (1 <= N)%N -> (forall l, exists x, S l x) ->
  (forall j, uniq (Z j)) ->
  (forall i j, perm_eq (Z i) (Z j) -> c i = c j) ->
  exists T : seq (rank1 R d),
  [/\ (size T <= 8 * N + 4)%N, (params T <= 54 * N * d)%N
    & forall j, S (c j) (readout (run1 T (Z j)))].
Proof.
move=> d2 N1 S0 uZ perm; have [|T [sT _ h]] := @classification_sufficient c S S0.
  by move=> i j /(uniq_same_measure (uZ i) (uZ j)); apply: perm.
have sT' : (size T <= 8 * N + 4)%N by have := leq_trans sT depth_bound_N; lia.
by exists T; split=> //; apply: params_54.
Qed.

(* The same with repeated tokens allowed (Remark 2.6). *)
Theorem theorem_2_4_mended_repeated (c : 'I_N -> 'I_M) (S : 'I_M -> token -> Prop) :
  (2 <= d)%N -> (1 <= N)%N -> (forall l, exists x, S l x) ->
  (forall i j, same (Z i) (Z j) -> c i = c j) ->
  exists T : seq (rank1 R d),
  [/\ (size T <= 8 * N + 4)%N, (params T <= 54 * N * d)%N
    & forall j, S (c j) (readout (run1 T (Z j)))].
Proof.
move=> d2 N1 S0 cons; have [T [sT _ h]] := classification_sufficient S0 cons.
have sT' : (size T <= 8 * N + 4)%N by have := leq_trans sT depth_bound_N; lia.
by exists T; split=> //; apply: params_54.
Qed.

End Classification.
