(* The architecture of the paper (arXiv 2502.02270v1, Section 2.2), over an    *)
(* arbitrary real field R and in arbitrary dimension d.                        *)
(*                                                                             *)
(*   token        : 'cV[R]_d                 sequence : seq of tokens          *)
(*   FF B z       : the feed-forward layer (2.3), any hidden width             *)
(*   SA B Z       : the hardmax self-attention layer (2.4), any V and A        *)
(*   apply_block  : TB = SA o FF             run T Z : the transformer (2.5)   *)
(*   readout      : the mean of the output tokens (2.2)                        *)
(*   rank1        : the blocks of Remark 2.7: hidden width 1, V = alpha I,     *)
(*                  A = v v^T; block_of p is the block that p stands for       *)
From mathcomp Require Import all_ssreflect ssralg ssrnum matrix zify.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Model.
Variables (R : realFieldType) (d : nat).
Implicit Types (z x y : 'cV[R]_d) (Z : seq 'cV[R]_d).

Definition dot n (x y : 'cV[R]_n) : R := \sum_i x i ord0 * y i ord0.
Definition mean Z : 'cV[R]_d := (size Z)%:R^-1 *: \sum_(z <- Z) z.
Definition relu (t : R) : R := Num.max 0 t.

(* A block: the parameters of one FF layer and of one SA layer. *)
Record block := Block {
  hidden : nat;
  W : 'M[R]_(d, hidden);  U : 'M[R]_(hidden, d);  bias : 'cV[R]_hidden;
  rho : R;  V : 'M[R]_d;  A : 'M[R]_d }.

(* (2.3) FF(z) = z + W sigma(U z + b), sigma = max(0, .) *)
Definition FF (B : block) z := z + W B *m map_mx relu (U B *m z + bias B).

(* (2.4a) the positions that attract z, as the subsequence of Z they hold:     *)
(* a token that occurs twice is there twice.                                   *)
Definition maximisers (M : 'M[R]_d) z Z :=
  [seq x <- Z | all (fun y => dot (M *m z) y <= dot (M *m z) x) Z].

(* (2.4b,c) the mean runs over those positions, each with the same weight.     *)
Definition SA (B : block) Z :=
  [seq rho B *: z + V B *m mean (maximisers (A B) z Z) | z <- Z].

Definition apply_block (B : block) Z := SA B [seq FF B z | z <- Z].
(* (2.5); the first block of the list acts first. *)
Definition run (T : seq block) Z := foldl (fun Z B => apply_block B Z) Z T.
(* (2.2) *)
Definition readout := mean.

Lemma run_cat T T' Z : run (T ++ T') Z = run T' (run T Z).
Proof. by rewrite /run foldl_cat. Qed.

Lemma size_apply_block B Z : size (apply_block B Z) = size Z.
Proof. by rewrite /apply_block /SA !size_map. Qed.

Lemma size_run T Z : size (run T Z) = size Z.
Proof. by elim: T Z => //= B T IH Z; rewrite IH size_apply_block. Qed.

(* The paper writes (2.4) with indices. These are its formulas, letter by      *)
(* letter, and SA_paper shows that SA is given by them.                        *)
Definition C_paper (M : 'M[R]_d) Z (i : 'I_(size Z)) : {set 'I_(size Z)} :=
  [set j : 'I_(size Z) | [forall l : 'I_(size Z),
     dot (M *m nth 0 Z i) (nth 0 Z l) <= dot (M *m nth 0 Z i) (nth 0 Z j)]].
Definition Lambda_paper (M : 'M[R]_d) Z (i l : 'I_(size Z)) : R :=
  if l \in C_paper M i then (#|C_paper M i|%:R)^-1 else 0.

Lemma mem_C_paper M Z (i j : 'I_(size Z)) :
  (j \in C_paper M i) =
  all (fun y => dot (M *m nth 0 Z i) y <= dot (M *m nth 0 Z i) (nth 0 Z j)) Z.
Proof.
rewrite inE; apply/forallP/allP => [h y yZ | h l]; last by apply: h; rewrite mem_nth.
have lt : (index y Z < size Z)%N by rewrite index_mem.
by have := h (Ordinal lt); rewrite /= nth_index.
Qed.

Lemma sum_positions (I : zmodType) Z (F : 'cV[R]_d -> I) P :
  \sum_(z <- Z | P z) F z = \sum_(l < size Z | P (nth 0 Z l)) F (nth 0 Z l).
Proof. by rewrite (big_nth 0) big_mkord. Qed.

Lemma SA_paper (B : block) Z (i : 'I_(size Z)) :
  nth 0 (SA B Z) i =
  rho B *: nth 0 Z i + V B *m \sum_(l < size Z) Lambda_paper (A B) i l *: nth 0 Z l.
Proof.
rewrite /SA (nth_map 0) //; congr (_ + _ *m _).
rewrite /mean /maximisers size_filter big_filter.
set p := fun x => all _ Z.
have card : #|C_paper (A B) i| = count p Z.
  rewrite -sum1_card -sum1_count (big_nth 0) big_mkord.
  by apply: eq_bigl => j; rewrite mem_C_paper.
rewrite sum_positions scaler_sumr big_mkcond; apply: eq_bigr => l _.
by rewrite /Lambda_paper mem_C_paper card /p; case: ifP; rewrite ?scale0r.
Qed.

(* Remark 2.7 *)
Record rank1 := Rank1 {
  r_u : 'cV[R]_d;  r_b : R;  r_w : 'cV[R]_d;
  r_rho : R;  r_alpha : R;  r_v : 'cV[R]_d }.

Definition block_of (p : rank1) : block :=
  @Block 1 (r_w p) (r_u p)^T (r_b p)%:M (r_rho p) (r_alpha p)%:M (r_v p *m (r_v p)^T).

Definition run1 (T : seq rank1) Z := run [seq block_of p | p <- T] Z.

Lemma run1_cat T T' Z : run1 (T ++ T') Z = run1 T' (run1 T Z).
Proof. by rewrite /run1 map_cat run_cat. Qed.

Lemma run1_cons p T Z : run1 (p :: T) Z = run1 T (apply_block (block_of p) Z).
Proof. by []. Qed.

Lemma dot_tr n (x y : 'cV[R]_n) : x^T *m y = (dot x y)%:M.
Proof.
by apply/matrixP => i j; rewrite !ord1 !mxE eqxx mulr1n; apply: eq_bigr => k _; rewrite mxE.
Qed.

Lemma mulmx_1x1 n (x : 'cV[R]_n) (a : R) : x *m a%:M = a *: x.
Proof. by rewrite mul_mx_scalar. Qed.

Lemma map_relu_scalar (a : R) : map_mx relu (a%:M : 'M_1) = (relu a)%:M.
Proof. by apply/matrixP => i j; rewrite !ord1 !mxE !eqxx !mulr1n. Qed.

(* FF(z) = z + w max(0, <u,z> + b) *)
Lemma FF_rank1 p z :
  FF (block_of p) z = z + relu (dot (r_u p) z + r_b p) *: r_w p.
Proof.
rewrite /FF /= dot_tr -raddfD /=; congr (_ + _).
by rewrite map_relu_scalar mulmx_1x1.
Qed.

(* the score <A z, y> is <v,z><v,y> *)
Lemma dotZl n (a : R) (x y : 'cV[R]_n) : dot (a *: x) y = a * dot x y.
Proof. by rewrite /dot mulr_sumr; apply: eq_bigr => i _; rewrite mxE mulrA. Qed.

Lemma score_rank1 v z y : dot (v *m v^T *m z) y = dot v z * dot v y.
Proof. by rewrite -mulmxA dot_tr mulmx_1x1 dotZl. Qed.

Definition leaders v z Z :=
  [seq x <- Z | all (fun y => dot v z * dot v y <= dot v z * dot v x) Z].

Lemma SA_rank1 p Z :
  SA (block_of p) Z =
  [seq r_rho p *: z + r_alpha p *: mean (leaders (r_v p) z Z) | z <- Z].
Proof.
apply: eq_map => z /=; rewrite mul_scalar_mx; congr (_ + _ *: mean _).
apply: eq_filter => x; apply: eq_all => y.
by rewrite !score_rank1.
Qed.

(* Number of non-zero parameters (paper, "Complexity of the construction"):    *)
(* u, w, v, b, rho, alpha.                                                     *)
Definition nonzero n (x : 'cV[R]_n) : nat := #|[set i | x i ord0 != 0]|.
Definition nparams (p : rank1) : nat :=
  (nonzero (r_u p) + nonzero (r_w p) + nonzero (r_v p)
   + (r_b p != 0%R) + (r_rho p != 0%R) + (r_alpha p != 0%R))%N.
Definition params (T : seq rank1) : nat := sumn [seq nparams p | p <- T].

Lemma nonzero_le n (x : 'cV[R]_n) : (nonzero x <= n)%N.
Proof. by rewrite /nonzero -[X in (_ <= X)%N]card_ord max_card. Qed.

Lemma nparams_le p : (nparams p <= 3 * d + 3)%N.
Proof.
rewrite /nparams mulSn mulSn mul1n -!addnA.
by do 3![apply: leq_add; first exact: nonzero_le]; do 3![case: eqP => _]; rewrite ?leqnn.
Qed.

Lemma params_le T : (params T <= (3 * d + 3) * size T)%N.
Proof.
elim: T => // p T IH; rewrite /params /= mulnS.
exact: leq_add (nparams_le p) IH.
Qed.

(* 54 N d (Part A): where 8N+4 blocks bound the depth *)
Lemma params_54 T N : (2 <= d)%N -> (1 <= N)%N -> (size T <= 8 * N + 4)%N ->
  (params T <= 54 * N * d)%N.
Proof.
move=> d2 N1 sT; apply: leq_trans (params_le T) _.
apply: leq_trans (leq_mul (leqnn _) sT) _.
nia.
Qed.

End Model.
