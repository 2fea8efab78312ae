(* Separation (theory, Theorem 5; the paper's Lemma 3.5, mended): at most       *)
(* N - c blocks make N sequences with different measures pairwise disjoint,     *)
(* where c counts the connected components of the graph that joins sequences    *)
(* with a common token.                                                         *)
From mathcomp Require Import all_ssreflect ssralg ssrnum matrix.
From mathcomp.algebra_tactics Require Import ring.
From Hardmax Require Import Model Measure Feedforward Collapse Clustering TieSplitting.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

(* A graph that loses the edges between different keys, at least one of them,   *)
(* and gains none, has more components.                                         *)
Lemma more_components (T : finType) (K : eqType) (key : T -> K) (e e' : rel T) x0 y0 :
  symmetric e -> symmetric e' ->
  (forall x y, e' x y -> e x y && (key x == key y)) ->
  e x0 y0 -> key x0 != key y0 -> (n_comp e T < n_comp e' T)%N.
Proof.
move=> se se' sub e0 k0; have [ce ce'] := (sym_connect_sym se, sym_connect_sym se').
have conn x y : connect e' x y -> connect e x y.
  by apply: connect_sub => a b /sub /andP[ab _]; apply: connect1.
have keep x y : connect e' x y -> key x = key y.
  case/connectP=> p + ->; elim: p x => //= a p IH x /andP[/sub/andP[_ /eqP->]].
  exact: IH.
pose C := [set x | roots e x]; pose C' := [set x | roots e' x].
have nE f : n_comp f T = #|[set x | roots f x]|.
  by apply: eq_card => x; rewrite !inE andbT.
have back x : connect e x (fingraph.root e' x) by apply/conn/connect_root.
have CE : C = [set fingraph.root e x | x in C'].
  apply/setP => x; apply/idP/imsetP => [|[y _ ->]]; last by rewrite inE roots_root.
  rewrite inE => /eqP rx; exists (fingraph.root e' x); first by rewrite inE roots_root.
  by rewrite -[LHS]rx; apply/eqP; rewrite root_connect.
rewrite !nE -/C -/C' ltn_neqAle CE leq_imset_card andbT.
apply: contra k0 => /imset_injP inj.
rewrite (keep _ _ (connect_root e' x0)) (keep _ _ (connect_root e' y0)).
apply/eqP; congr key; apply: inj; rewrite ?inE ?roots_root //.
apply/eqP; rewrite root_connect //.
apply: connect_trans (connect_trans (connect1 e0) (back y0)).
by rewrite ce.
Qed.

Local Open Scope ring_scope.

Section Separation.
Variables (R : realFieldType) (d : nat).
Notation token := 'cV[R]_d.
Implicit Types (S K : seq token) (s k z : token) (a : R).
Local Notation same := (same_measure R).

(* The effect of a separating block on a sequence with key k.                   *)
Definition mix a s k z : token := z + a *: (k - z) + s.

(* (3.22) *)
Lemma mix_diff a s k k' z z' :
  mix a s k z - mix a s k' z' = (1 - a) *: (z - z') + a *: (k - k').
Proof.
by apply/colP => i; rewrite !mxE; ring.
Qed.

(* Some a in (0, 1) is admissible for all tokens and keys: images of different  *)
(* tokens, or of tokens with different keys, are different.                     *)
Lemma admissible S K : exists2 a, 0 < a < 1 & forall s z z' k k',
  z \in S -> z' \in S -> k \in K -> k' \in K ->
  mix a s k z = mix a s k' z' -> z = z' /\ k = k'.
Proof.
pose line (p q : token * token) : token * token :=
  (p.1 - q.1 + (p.2 - q.2), p.1 - q.1).
pose P := [seq (z, k) | z <- S, k <- K].
have [n hn] := avoid_line [seq line p q | p <- P, q <- P].
have m0 : 0 < n.+2%:R :> R by rewrite ltr0Sn.
pose a : R := n.+2%:R^-1; exists a.
  by rewrite invr_gt0 m0 invf_lt1 // ltr1n.
move=> s z z' k k' zS z'S kK k'K e.
have zero : (z - z' + (k - k')) + n%:R *: (z - z') = 0.
  have : n.+2%:R *: (mix a s k z - mix a s k' z') = 0 by rewrite e subrr scaler0.
  rewrite mix_diff scalerDr !scalerA mulrBr divff ?gt_eqF // mulr1 scale1r => <-.
  rewrite (_ : n.+2%:R = n%:R + 2%:R); last by rewrite -natrD addn2.
  by apply/colP => i; rewrite !mxE; ring.
have in2 : line (z, k) (z', k') \in [seq line p q | p <- P, q <- P].
  by apply: allpairs_f; apply: (allpairs_f pair).
have := hn _ in2; rewrite /= zero eqxx; have [e1 | _] := eqVneq (z - z') 0; last first.
  by rewrite orbT => /(_ isT).
rewrite e1 add0r orbF subr_eq0; have [e2 | _] := eqVneq k k'; last by move=> /(_ isT).
by move=> _; split=> //; apply/eqP; rewrite -subr_eq0 e1.
Qed.

Definition share (Z Z' : seq token) : bool := has (mem Z) Z'.

Section Sequences.
Variable N : nat.
Implicit Types Z : 'I_N -> seq token.

(* the graph that joins sequences with a common token, and its components       *)
Definition graph Z : rel 'I_N := fun i j => share (Z i) (Z j).
Definition ncomp Z : nat := n_comp (graph Z) 'I_N.
Definition distinct Z : Prop := forall i j, same (Z i) (Z j) -> i = j.
Definition disjoint_tokens Z : Prop := forall i j, i != j -> ~~ share (Z i) (Z j).

Lemma graph_sym Z : symmetric (graph Z).
Proof. by move=> i j; apply: has_sym. Qed.

Lemma ncomp_le Z : (ncomp Z <= N)%N.
Proof. by rewrite -[X in (_ <= X)%N]card_ord; apply: max_card. Qed.

Lemma ncomp_gt0 Z : (0 < N)%N -> (0 < ncomp Z)%N.
Proof.
move=> N0; apply/card_gt0P; exists (fingraph.root (graph Z) (Ordinal N0)).
by rewrite !inE andbT; apply/roots_root/sym_connect_sym/graph_sym.
Qed.

(* N components mean that no two sequences share a token. *)
Lemma ncomp_disjoint Z : disjoint_tokens Z -> ncomp Z = N.
Proof.
move=> disj; rewrite -[RHS]card_ord; apply: eq_card => i; rewrite !inE andbT; apply/eqP.
have /connectP[p] := connect_root (graph Z) i; elim: p i => [|j p IH] i //=.
case/andP=> eij pj lj; have [ij | /disj/negP[]] := eqVneq i j; last exact: eij.
by rewrite ij in lj *; apply: IH.
Qed.

Definition all_tokens Z : seq token := flatten [seq Z i | i <- enum 'I_N].

Lemma token_in Z i : {subset Z i <= all_tokens Z}.
Proof. by move=> z zZ; apply/flattenP; exists (Z i) => //; apply: map_f; rewrite mem_enum. Qed.

(* The step of Theorem 5. After an injective layer f and a mixture with keys,   *)
(* exactly the edges between equal keys are left, and different measures stay   *)
(* different. If an edge goes, there are more components.                       *)
Theorem separation_step Z (f : token -> token) (key : 'I_N -> token) :
  (forall i, Z i != [::]) -> distinct Z -> {in all_tokens Z &, injective f} ->
  exists2 a, 0 < a < 1 & forall s (Z' : 'I_N -> seq token),
    (forall i, Z' i = [seq mix a s (key i) (f z) | z <- Z i]) ->
    [/\ forall i, Z' i != [::], distinct Z',
        forall i j, graph Z' i j = graph Z i j && (key i == key j)
      & forall i j, graph Z i j -> key i != key j -> (ncomp Z < ncomp Z')%N].
Proof.
move=> ne dist inj; set S := all_tokens Z in inj.
have [a a01 adm] := admissible (map f S) [seq key i | i <- enum 'I_N].
exists a => // s Z' ZE.
have keyin i : key i \in [seq key i | i <- enum 'I_N] by rewrite map_f ?mem_enum.
have meet i j z z' : z \in Z i -> z' \in Z j ->
    mix a s (key i) (f z) = mix a s (key j) (f z') -> z = z' /\ key i = key j.
  move=> zi zj /(adm s) []; rewrite ?keyin ?map_f ?(token_in zi) ?(token_in zj) //.
  by move=> e ->; split=> //; apply: inj e; rewrite ?(token_in zi) ?(token_in zj).
have edge i j : graph Z' i j = graph Z i j && (key i == key j).
  rewrite /graph /share !ZE; apply/hasP/andP => [[_ /mapP[z' zj ->]] | []].
    case/mapP=> z zi /esym /(meet _ _ _ _ zi zj)[e ek]; rewrite ek eqxx; split=> //.
    by apply/hasP; exists z' => //=; rewrite -e.
  case/hasP=> z zj zi /eqP ek; exists (mix a s (key j) (f z)); first exact: map_f.
  by rewrite /= -ek; apply: (map_f (fun z => mix a s (key i) (f z))).
split=> //; first by move=> i; rewrite ZE; case: (Z i) (ne i).
  move=> i j sij; have [z zj] : exists z, z \in Z' j.
    have : Z' j != [::] by rewrite ZE; case: (Z j) (ne j).
    by case: (Z' j) => // z r _; exists z; apply: mem_head.
  have : graph Z' i j.
    by apply/hasP; exists z => //=; rewrite (same_measure_mem sij).
  rewrite edge => /andP[_ /eqP ek]; apply: dist.
  move: sij; rewrite !ZE -ek; apply: (same_measure_map_inj (S := S)).
  - move=> x y xS yS /(adm s) []; rewrite ?keyin ?map_f // => e _.
    exact: inj.
  - exact: token_in.
  - exact: token_in.
move=> i j eij kij; apply: (more_components (key := key) (graph_sym Z) (graph_sym Z') _ eij kij).
by move=> x y; rewrite edge.
Qed.

(* The blocks: rho = 1 - alpha, 0 < alpha < 1. *)
Definition separates (B : rank1 R d) : bool :=
  (r_rho B == 1 - r_alpha B) && (0 < r_alpha B < 1).

(* Case 1: the keys are the leaders. The block translates, and attends with     *)
(* A = v v^T; some a is admissible, and Lemma 3.3 gives s and v.                *)
Lemma leader_mix s v a (Y : seq token) :
  [seq (1 - a) *: (z + s) + a *: (leader v Y + s) | z <- Y] =
  [seq mix a s (leader v Y) z | z <- Y].
Proof. by apply: eq_map => z; apply/colP => i; rewrite !mxE; ring. Qed.

(* Cases 2 and 3: a layer (none in case 2), then the means as keys, v = 0.      *)
Definition mean_block (p : ffp R d) a : rank1 R d :=
  Rank1 p.1.1 p.1.2 p.2 (1 - a) a 0.

Lemma mean_mix p a (Y : seq token) : apply_block (block_of (mean_block p a)) Y =
  [seq mix a 0 (mean (map (ff_step p) Y)) (ff_step p z) | z <- Y].
Proof.
rewrite /apply_block SA_rank1 /= -map_comp; apply: eq_map => z /=.
rewrite leaders0 (eq_map (FF_rank1 _)) -/(ff_step p) FF_rank1 /= -/(ff_step p z).
by rewrite /mix addr0; apply/colP => i; rewrite !mxE; ring.
Qed.

Lemma ff_step0 z : ff_step (0 : token, 0, 0) z = z.
Proof. by rewrite /ff_step /= scaler0 addr0. Qed.

(* While two sequences share a token, some block parts a pair that did, joins   *)
(* none, and keeps different measures different.                                *)
Theorem separating_block Z i0 j0 : (0 < d)%N ->
  (forall i, Z i != [::]) -> distinct Z -> i0 != j0 -> graph Z i0 j0 ->
  exists B, let Z' := fun i => apply_block (block_of B) (Z i) in
  [/\ separates B, forall i, Z' i != [::], distinct Z',
      forall i j, graph Z' i j -> graph Z i j & (ncomp Z < ncomp Z')%N].
Proof.
move=> d0 ne dist ij0 e0; have ij i : {subset Z i <= all_tokens Z} := @token_in Z i.
have [s [v [_ _ _ att]]] := attraction (all_tokens Z) [::] d0.
have [/existsP[i /existsP[j /andP[eij kij]]] | _] := boolP
    [exists i, exists j, graph Z i j && (leader v (Z i) != leader v (Z j))].
  have [a a01 step] := 
    @separation_step Z id (fun i => leader v (Z i)) ne dist (fun _ _ _ _ e => e).
  have {}step := step s (fun i => apply_block (block_of (leader_block s v (1 - a) a)) (Z i)).
  have [|ne' dist' edge more] := step.
    move=> l; have [_ _ ->] := att (Z l) (ne l) (ij l).
    exact: leader_mix.
  exists (leader_block s v (1 - a) a) => Z'; split=> //; first by rewrite /separates eqxx.
    by move=> k l; rewrite edge => /andP[].
  exact: more eij kij.
have [p [inj split]] : exists p : ffp R d, {in all_tokens Z &, injective (ff_step p)} /\
    mean (map (ff_step p) (Z i0)) != mean (map (ff_step p) (Z j0)).
  have [tie | part] := eqVneq (mean (Z i0)) (mean (Z j0)); last first.
    exists (0, 0, 0); split; first by move=> x y _ _; rewrite !ff_step0.
    by rewrite !(eq_map ff_step0) !map_id.
  have zin i : Z i \in [seq Z i | i <- enum 'I_N] by rewrite map_f ?mem_enum.
  have [|||||p [inj split _]] := @split_tie_keep R d (all_tokens Z) [seq Z i | i <- enum 'I_N] (Z i0) (Z j0).
  - by move=> _ /mapP[i _ ->].
  - by move=> _ /mapP[i _ ->]; apply: ij.
  - exact: zin.
  - exact: zin.
  - by apply: contra ij0 => /same_measureP /dist ->.
  by exists p.
have [a a01 step] :=
  @separation_step Z (ff_step p) (fun i => mean (map (ff_step p) (Z i))) ne dist inj.
have [|ne' dist' edge more] := step 0 (fun i => apply_block (block_of (mean_block p a)) (Z i)).
  by move=> i; apply: mean_mix.
exists (mean_block p a) => Z'; split=> //; first by rewrite /separates eqxx.
  by move=> k l; rewrite edge => /andP[].
exact: more e0 split.
Qed.

(* Theorem 5. *)
Theorem separation Z : (0 < d)%N -> (forall i, Z i != [::]) -> distinct Z ->
  exists T : seq (rank1 R d), [/\ (size T <= N - ncomp Z)%N, all separates T
    & disjoint_tokens (fun i => run1 T (Z i))].
Proof.
move=> d0; have [k] := ubnP (N - ncomp Z); elim: k Z => // k IH Z lek ne dist.
have [/existsP[i /existsP[j /andP[nij eij]]] | none] :=
    boolP [exists i, exists j, (i != j) && graph Z i j]; last first.
  exists [::]; split=> // i j nij; apply: contra none => eij.
  by apply/existsP; exists i; apply/existsP; exists j; rewrite nij.
have [B [sB ne' dist' _ more]] := separating_block d0 ne dist nij eij.
set Z' := fun i => _ in ne' dist' more.
have le' := ncomp_le Z'; have [|T [sT aT dT]] := IH Z' _ ne' dist'.
  have : (N - ncomp Z' < N - ncomp Z)%N by rewrite ltn_sub2l // (leq_trans more).
  by move=> /leq_trans; apply; rewrite -ltnS.
exists (B :: T); split; rewrite /= ?sB //.
by apply: leq_ltn_trans sT _; rewrite ltn_sub2l // (leq_trans more).
Qed.

Corollary separation_depth Z : (0 < d)%N -> (0 < N)%N -> (forall i, Z i != [::]) -> distinct Z ->
  exists T : seq (rank1 R d), [/\ (size T <= N - 1)%N, all separates T
    & disjoint_tokens (fun i => run1 T (Z i))].
Proof.
move=> d0 N0 ne /(separation d0 ne)[T [sT aT dT]]; exists T; split=> //.
by apply: leq_trans sT _; rewrite leq_sub2l // ncomp_gt0.
Qed.

End Sequences.
End Separation.
