(* The paper's strategy (theory, Theorem 6): separate (Separation.v), cluster    *)
(* by one block, sweep every point to its target by one block each. At most     *)
(* (N - c) + 1 + N <= 2N blocks, and one more if zero tokens are first moved    *)
(* away as the paper does. Hence Theorem 2.4 in its mended form, with its       *)
(* 8N + 4 blocks and 54 N d parameters, by the paper's own stages.              *)
From mathcomp Require Import all_ssreflect ssralg ssrnum matrix zify.
From Hardmax Require Import Model Measure Invariance Feedforward Peeling Collapse.
From Hardmax Require Import Clustering Separation.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Strategy.
Variables (R : realFieldType) (d : nat).
Notation token := 'cV[R]_d.
Local Notation same := (same_measure R).

(* rho = 0, alpha = 1, u = 0: a translation, then every token becomes the mean  *)
(* of what attracts it                                                          *)
Definition clusters (B : rank1 R d) : bool :=
  [&& r_u B == 0, r_rho B == 0 & r_alpha B == 1].
(* identity attention: the block acts on each token alone                       *)
Definition moves (B : rank1 R d) : bool :=
  [&& r_rho B == 1, r_alpha B == 0 & r_v B == 0].

Lemma moves_ff (P : seq (ffp R d)) : all moves [seq ff_block p | p <- P].
Proof. by rewrite all_map; apply/allP => p _; rewrite /= /moves !eqxx. Qed.

(* The stages: at most k separating blocks, one that clusters, n that move.     *)
Definition staged (k n : nat) (T : seq (rank1 R d)) : Prop :=
  exists T1 B T2, [/\ T = T1 ++ B :: T2, (size T1 <= k)%N /\ all (@separates R d) T1,
                      clusters B & size T2 = n /\ all moves T2].

Lemma staged_size k n T : staged k n T -> (size T <= k + 1 + n)%N.
Proof. by case=> T1 [B [T2 [-> [le1 _] _ [<- _]]]]; rewrite size_cat /= -addnA add1n leq_add2r. Qed.

Section Sequences.
Variable N : nat.
Implicit Type Z : 'I_N -> seq token.

(* Cluster and sweep: separated sequences go to any targets by 1 + N blocks.    *)
Theorem cluster_and_sweep Z (y : 'I_N -> token) : (0 < d)%N ->
  (forall i, Z i != [::]) -> disjoint_tokens Z ->
  exists B T, [/\ clusters B, size T = N, all moves T
    & forall i, readout (run1 (B :: T) (Z i)) = y i].
Proof.
move=> d0 ne disj; pose ys := [seq y i | i <- enum 'I_N].
have [s [v [inj _ above att]]] := attraction (all_tokens Z) ys d0.
pose l i := leader v (Z i); pose x i := l i + s.
have lin i : l i \in Z i by have [] := att (Z i) (ne i) (@token_in _ _ _ Z i).
have lS i : l i \in all_tokens Z by apply: token_in (lin i).
have [|_ _ /mapP[i _ ->] /mapP[j _ ->]|P [sP hP]] :=
    @sweep R d v [seq (x i, y i) | i <- enum 'I_N].
- rewrite -map_comp map_inj_uniq ?enum_uniq // => i j /= e.
  have {}e : l i = l j by apply: inj => //; move: e; rewrite /x !dotDr => /addIr.
  apply/eqP; apply: contraT => nij; case/hasP: (disj i j nij).
  by exists (l j); [exact: lin | rewrite /= -e; exact: lin].
- by apply: (above (l i) (y j)); [exact: lS | rewrite /ys map_f ?mem_enum].
exists (leader_block s v 0 1), [seq ff_block p | p <- P]; split.
- by rewrite /clusters !eqxx.
- by rewrite size_map sP size_map size_enum_ord.
- exact: moves_ff.
move=> i; rewrite run1_cons; have [_ _ ->] := att (Z i) (ne i) (@token_in _ _ _ Z i).
rewrite run_ff /readout -map_comp (eq_map (f2 := fun=> ff_map P (x i))); last first.
  by move=> z /=; rewrite scale0r add0r scale1r.
rewrite mean_const //; apply: (hP (x i, y i)).
by apply: (map_f (fun i => (x i, y i))); rewrite mem_enum.
Qed.

(* Theorem 6. *)
Theorem paper_strategy Z (y : 'I_N -> token) : (0 < d)%N ->
  (forall i, Z i != [::]) -> distinct Z ->
  exists2 T, staged (N - ncomp Z) N T & forall i, readout (run1 T (Z i)) = y i.
Proof.
move=> d0 ne dist; have [T1 [s1 a1 disj]] := separation d0 ne dist.
have [|B [T2 [cB s2 a2 hT]]] := cluster_and_sweep y d0 _ disj.
  by move=> i; rewrite -size_eq0 size_run size_eq0.
exists (T1 ++ B :: T2); first by exists T1, B, T2.
by move=> i; rewrite run1_cat hT.
Qed.

Lemma paper_depth Z T : (0 < N)%N -> staged (N - ncomp Z) N T -> (size T <= 2 * N)%N.
Proof. by move=> N0 /staged_size; have := ncomp_gt0 Z N0; lia. Qed.

Corollary paper_strategy_bounds Z (y : 'I_N -> token) : (0 < d)%N -> (0 < N)%N ->
  (forall i, Z i != [::]) -> distinct Z ->
  exists T, [/\ (size T <= (N - ncomp Z) + 1 + N)%N /\ (size T <= 2 * N)%N,
    (params T <= 6 * (d + 1) * N)%N, (2 <= d)%N -> (params T <= 54 * N * d)%N
    & forall i, readout (run1 T (Z i)) = y i].
Proof.
move=> d0 N0 ne dist; have [T st hT] := paper_strategy y d0 ne dist.
have le2 := paper_depth N0 st; exists T; split=> //; first by split=> //; apply: staged_size.
  by apply: leq_trans (params_le T) _; nia.
by move=> d2; apply: params_54 => //; lia.
Qed.

(* The paper's preprocessing: one block translates, and no token is zero        *)
(* afterwards. The measures stay different and the graph stays the same.        *)
Definition translation (s : token) : rank1 R d := ff_block (0, 1, s).

Lemma translate s (Y : seq token) :
  apply_block (block_of (translation s)) Y = [seq z + s | z <- Y].
Proof.
rewrite -[LHS]/(run1 [seq ff_block p | p <- [:: (0, 1, s)]] Y) run_ff.
by apply: eq_map => z; rewrite /ff_map /= /ff_step /= dot0l add0r relu_pos ?ler01 // scale1r.
Qed.

Theorem preprocessing Z : (0 < d)%N -> distinct Z ->
  exists s : token, let Z' := fun i => apply_block (block_of (translation s)) (Z i) in
  [/\ forall i, {in Z' i, forall z, z != 0}, distinct Z',
      graph Z' =2 graph Z & ncomp Z' = ncomp Z].
Proof.
move=> d0 dist; pose w : token := const_mx 1.
have w0 : w != 0 by apply/eqP => /colP/(_ (Ordinal d0))/eqP; rewrite !mxE oner_eq0.
have [n hn] := avoid_line [seq (z, w) | z <- all_tokens Z].
pose s := n%:R *: w; exists s => Z'; have ZE i : Z' i = [seq z + s | z <- Z i] by apply: translate.
have gE : graph Z' =2 graph Z.
  move=> i j; rewrite /graph /share !ZE has_map; apply: eq_has => z /=.
  exact: (mem_map (@addIr _ s) (Z i) z).
split=> //.
- move=> i x; rewrite ZE => /mapP[z zi ->]; rewrite /s.
  by apply: (hn (z, w)); rewrite ?w0 ?orbT //; apply: (map_f (fun z => (z, w))); apply: token_in zi.
- move=> i j; rewrite !ZE => h; apply: dist.
  apply: (same_measure_map_inj (S := all_tokens Z)) h; try exact: token_in.
  by move=> x y _ _; apply: addIr.
by rewrite /ncomp; apply: eq_n_comp; apply: eq_connect.
Qed.

(* Theorem 6 with the preprocessing: one block more. *)
Theorem paper_strategy_preprocessed Z (y : 'I_N -> token) : (0 < d)%N ->
  (forall i, Z i != [::]) -> distinct Z ->
  exists s T, [/\ forall i, {in apply_block (block_of (translation s)) (Z i), forall z, z != 0},
    staged (N - ncomp Z) N T & forall i, readout (run1 (translation s :: T) (Z i)) = y i].
Proof.
move=> d0 ne dist; have [s [nz dist' _ <-]] := preprocessing d0 dist.
have [|T st hT] := paper_strategy y d0 _ dist'.
  by move=> i; rewrite translate; case: (Z i) (ne i).
by exists s, T.
Qed.

End Sequences.

(* Theorem 2.4, mended, by the stages of the paper: preprocessing, separation,  *)
(* clustering, sweep. N sequences, Nd of them with different measures.          *)
Section Labels.
Variables (N M : nat) (Z : 'I_N -> seq token) (c : 'I_N -> 'I_M) (S : 'I_M -> token -> Prop).
Hypothesis Z_nonempty : forall j, Z j != [::].
Hypothesis S_nonempty : forall l, exists x, S l x.

Let given := [seq Z j | j <- enum 'I_N].
Let Nd := nmeasures R given.

Theorem theorem_2_4_paper_stages : (2 <= d)%N -> (1 <= N)%N ->
  (forall i j, same (Z i) (Z j) -> c i = c j) ->
  exists s T, let T' := translation s :: T in
  [/\ forall i, {in apply_block (block_of (translation s)) (Z i), forall z, z != 0},
    exists2 k, (k <= Nd - 1)%N & staged k Nd T,
    (size T' <= 2 * N + 1)%N /\ (size T' <= 8 * N + 4)%N, (params T' <= 54 * N * d)%N
    & forall j, S (c j) (readout (run1 T' (Z j)))].
Proof.
move=> d2 N1 cons; have [x hx] := fin_all_exists S_nonempty.
pose Y (i : 'I_Nd) := nth [::] (merge R given) i.
have Yin i : Y i \in merge R given by apply: mem_nth.
have [um dm] := merge_distinct R given.
have Yne i : Y i != [::] by have /merge_sub/mapP[j _ ->] := Yin i.
have Ydist : distinct Y.
  move=> i j sij; apply/val_inj/eqP; rewrite -(nth_uniq [::] (ltn_ord i) (ltn_ord j) um).
  by apply/eqP; apply: (dm _ _ (Yin i) (Yin j)).
have rep j : exists i, same (Z j) (Y i).
  have Zin : Z j \in given by rewrite map_f ?mem_enum.
  have [X Xin sX] := merge_rep R Zin; have lt : (index X (merge R given) < Nd)%N by rewrite index_mem.
  by exists (Ordinal lt); rewrite // /Y /= nth_index.
pose t i := if [pick j | same_measureb R (Z j) (Y i)] is Some j then x (c j) else 0.
have d0 : (0 < d)%N by lia.
have [s [T [nz st hT]]] := paper_strategy_preprocessed t d0 Yne Ydist.
have NdN : (Nd <= N)%N.
  by apply: leq_trans (nmeasures_le R given) _; rewrite size_map size_enum_ord.
have Nd0 : (0 < Nd)%N by have [i _] := rep (Ordinal N1); case: i => i; apply: leq_ltn_trans.
have sT := paper_depth Nd0 st.
have s2 : (size (translation s :: T) <= 2 * N + 1)%N by rewrite /=; lia.
have s8 : (size (translation s :: T) <= 8 * N + 4)%N by lia.
exists s, T; split=> //.
- move=> j; have [i sji] := rep j; move=> z; rewrite (same_measure_mem (block_measure _ sji)).
  exact: nz.
- by exists (Nd - ncomp Y)%N => //; rewrite leq_sub2l // ncomp_gt0.
- exact: params_54.
move=> j; have [i sji] := rep j.
rewrite /run1 (transformer_measure _ sji) -/(run1 _ _) hT /t.
case: pickP => [k /same_measureP ski | none]; last first.
  by have := none j; move/same_measureP: sji => ->.
suff -> : c j = c k by apply: hx.
by apply: cons => z; rewrite sji ski.
Qed.

(* the hypotheses of Theorem 2.4 itself: no token is repeated within a sequence *)
Corollary theorem_2_4_paper_stages_distinct : (2 <= d)%N -> (1 <= N)%N ->
  (forall j, uniq (Z j)) -> (forall i j, perm_eq (Z i) (Z j) -> c i = c j) ->
  exists T, [/\ (size T <= 8 * N + 4)%N, (params T <= 54 * N * d)%N,
      exists s T' k, [/\ T = translation s :: T', (k <= Nd - 1)%N & staged k Nd T']
    & forall j, S (c j) (readout (run1 T (Z j)))].
Proof.
move=> d2 N1 uZ perm; have [|s [T [_ [k lk st] [_ s8] p54 hT]]] := theorem_2_4_paper_stages d2 N1.
  by move=> i j /(uniq_same_measure (uZ i) (uZ j)); apply: perm.
by exists (translation s :: T); split=> //; exists s, T, k.
Qed.

End Labels.
End Strategy.
