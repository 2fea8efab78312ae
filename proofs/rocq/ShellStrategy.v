(* Theorems 6a and 6c (theory, section 8): shells and an ending. The staircase      *)
(* serves targets that agree in a coordinate; one block serves targets on a line,   *)
(* however many there are.                                                        *)
From mathcomp Require Import all_ssreflect ssralg ssrnum matrix rat zify.
From mathcomp.algebra_tactics Require Import ring.
From Hardmax Require Import Model Measure Feedforward Collapse TieSplitting Pushes Cover.
From Hardmax Require Import GeneralPosition Facets Folds Shells Basis.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Endings.
Variables (R : realFieldType) (d N : nat) (k : 'I_d).
Notation token := 'cV[R]_d.
Implicit Types (g : 'I_N -> R) (hs : seq (R * token)) (base : token).

(* A direction as in step 1, with positive entries, and S shells in E.              *)
Definition shelled (Z : 'I_N -> seq token) n := exists (f : token) (s : seq {set 'I_N}),
  [/\ f k ord0 = 1, forall i, 0 < f i ord0, size s = n
    & are_shells (fun j => row' k (shadow k f (fun j => mean (Z j)) j)) setT s].

Variables (Z : 'I_N -> seq token) (n : nat).
Hypotheses (Z_nonempty : forall j, Z j != [::]) (Z_shelled : shelled Z n).

(* Hinges in the height: t j is the base and what the hinges add at height g j.      *)
Theorem shells_hinges g hs base (t : 'I_N -> token) : (forall j, 0 < g j) ->
  {in hs, forall h : R * token, h.2 k ord0 = 0} ->
  (forall j, t j = base + \sum_(h <- hs) relu (g j - h.1) *: h.2) ->
  exists T : seq (rank1 R d), [/\ size T = (1 + n + (d - 1) + (size hs + 1))%N, uniform T
    & forall j, readout (run1 T (Z j)) = t j].
Proof.
move=> g0 flat tE; have [f [s [fk f_pos <- sh]]] := Z_shelled.
have [C _ hC] := upper_bound [seq base i ord0 | i <- enum 'I_d].
have bC i : base i ord0 <= C.
  by apply/ltW/hC; apply: (map_f (fun i => base i ord0)); rewrite mem_enum.
have [B [CB]] := parked Z_nonempty fk f_pos sh C.
pose lifted := [seq (B + h.1, h.2) | h : R * token <- hs].
move=> /(_ g base ([seq hinge k h | h <- lifted] ++ [:: drop base k]) t g0).
case=> [i _ | j | T [sT uT hT]]; first exact: bC.
  have lf : {in lifted, forall h : R * token, h.2 k ord0 = 0}.
    by move=> _ /mapP[h hin ->] /=; apply: flat.
  rewrite ff_map_cat hinges // /load big_map /= setrE eqxx.
  under eq_bigr do rewrite opprD addrACA subrr add0r.
  rewrite tE; set V := \sum_(h <- hs) _.
  have Vk : V k ord0 = 0.
    by rewrite summxE big1_seq // => h /andP[_ hin]; rewrite mxE flat ?mulr0.
  have zk : (setr k (B + g j) base + V) k ord0 = B + g j by rewrite mxE Vk addr0 setrE eqxx.
  rewrite drop_step; last by rewrite zk (le_trans (bC k)) // (le_trans CB) // ler_addl ltW.
  apply/colP => i; rewrite setrE [RHS]mxE.
  by case: eqP => [-> | /eqP ik]; rewrite ?Vk ?addr0 // mxE setrE (negPf ik).
by exists T; rewrite sT size_cat !size_map.
Qed.

(* The staircase: from 0 at heights near 1 to y l - y 0 at heights near l + 1, and    *)
(* flat there.                                                                    *)
Definition step (y : nat -> token) (l : nat) : seq (R * token) :=
  [:: (l.+1%:R + 1 / 4%:R, 2%:R *: (y l.+1 - y l)); (l.+1%:R + 3%:R / 4%:R, - 2%:R *: (y l.+1 - y l))].
Definition staircase (y : nat -> token) m := flatten [seq step y l | l <- iota 0 m].

Lemma size_staircase y m : size (staircase y m) = (2 * m)%N.
Proof.
rewrite /staircase; have key a : size (flatten [seq step y l | l <- iota a m]) = (2 * m)%N.
  by elim: m a => //= m IH a; rewrite IH; lia.
exact: key.
Qed.

Definition near (x : R) (l : nat) := l.+1%:R - 1 / 4%:R <= x <= l.+1%:R + 1 / 4%:R.

Lemma staircase_sum y m l x : near x l ->
  \sum_(h <- staircase y m) relu (x - h.1) *: h.2 = y (minn l m) - y 0%N.
Proof.
move=> /andP[lo hi]; elim: m => [|m IH]; first by rewrite big_nil minn0 subrr.
have -> : staircase y m.+1 = staircase y m ++ step y m.
  have e : iota 0 m.+1 = iota 0 m ++ [:: m] by rewrite -addn1 iotaD add0n.
  by rewrite /staircase e map_cat flatten_cat /=.
rewrite big_cat IH /= !big_cons big_nil addr0 /=; set v := y m.+1 - y m.
case: (leqP l m) => lm.
  have le : x <= m.+1%:R + 1 / 4%:R by rewrite (le_trans hi) // ler_add2r ler_nat.
  rewrite (minn_idPl (leqW lm)) relu_neg ?subr_le0 // scale0r add0r.
  rewrite relu_neg ?scale0r ?addr0 // subr_le0 (le_trans le) // ler_add2l.
  by rewrite ler_pmul2r ?invr_gt0 ?ltr0n // ler1n.
have q0 : 4%:R != 0 :> R by rewrite pnatr_eq0.
have ge : m.+1%:R + 3%:R / 4%:R <= x.
  have : 0 <= l.+1%:R - (m.+1%:R + 1) :> R by rewrite subr_ge0 -mulrSr ler_nat.
  move=> pos; apply: le_trans lo; rewrite -subr_ge0; move: pos; congr (0 <= _).
  by move: l.+1%:R m.+1%:R => a b; field.
have ge' : m.+1%:R + 1 / 4%:R <= x.
  by rewrite (le_trans _ ge) // ler_add2l ler_pmul2r ?invr_gt0 ?ltr0n // ler1n.
rewrite (minn_idPr lm) !relu_pos ?subr_ge0 // !scalerA -scalerDl.
have -> : (x - (m.+1%:R + 1 / 4%:R)) * 2%:R + (x - (m.+1%:R + 3%:R / 4%:R)) * - 2%:R = 1 by field.
by rewrite scale1r /v addrC addrA subrK.
Qed.

(* Theorem 6a: any heights g j near the ranks of the labels serve.                  *)
Theorem shells_staircase M (c : 'I_N -> 'I_M) (y : 'I_M -> token) g : (0 < M)%N ->
  (forall l l', y l k ord0 = y l' k ord0) -> (forall j, near (g j) (c j)) ->
  exists T : seq (rank1 R d), [/\ size T = (1 + n + (d - 1) + (2 * (M - 1) + 1))%N, uniform T
    & forall j, readout (run1 T (Z j)) = y (c j)].
Proof.
move=> M0 level bands; pose yn l := y (insubd (Ordinal M0) l).
have ynE (l : 'I_M) : yn l = y l by rewrite /yn valKd.
rewrite -(size_staircase yn); apply: (shells_hinges (g := g) (base := yn 0%N)) => [j|h|j].
- have /andP[lo _] := bands j; apply: lt_le_trans lo; rewrite subr_gt0.
  by rewrite ltr_pdivr_mulr ?ltr0n // -natrM ltr1n; lia.
- case/flattenP => _ /mapP[l _ ->]; rewrite !inE => /orP[] /eqP-> /=;
  by rewrite !mxE (level _ (insubd (Ordinal M0) l)) subrr mulr0.
rewrite (staircase_sum _ _ (bands j)) (minn_idPl _); last by have := ltn_ord (c j); lia.
by rewrite addrC subrK ynE.
Qed.

(* Theorem 6c, where the line is that of the vector with 0 at the height and 1 in    *)
(* every other coordinate.                                                        *)
Lemma shells_diagonal (p r : token) (tau : 'I_N -> R) : (forall i, r i ord0 = (i != k)%:R) ->
  exists T : seq (rank1 R d), [/\ size T = (1 + n + (d - 1) + 1)%N, uniform T
    & forall j, readout (run1 T (Z j)) = p + tau j *: r].
Proof.
move=> rE; have [f [s [fk f_pos <- sh]]] := Z_shelled.
have [t0 _ ht] := upper_bound [seq - tau j | j <- enum 'I_N].
have g0 j : 0 < tau j + t0.
  by rewrite addrC -ltr_subl_addr sub0r ht //; apply: (map_f (fun j => - tau j)); rewrite mem_enum.
have [C _ hC] := upper_bound (p k ord0 :: [seq p i ord0 - t0 | i <- enum 'I_d]).
have [B [CB]] := parked Z_nonempty fk f_pos sh C.
have pB : p k ord0 <= B by rewrite (le_trans _ CB) // ltW // hC ?mem_head.
pose e : token := \col_i (p i ord0 - t0 - (B - p k ord0)).
move=> /(_ (fun j => tau j + t0) e [:: (unit R k, - p k ord0, r - unit R k)] (fun j => p + tau j *: r) g0).
case=> [i ik | j | T [sT uT hT]]; last by exists T.
  rewrite mxE ler_subl_addr (le_trans (y := C)) ?ler_addl ?subr_ge0 // ltW // hC // inE.
  by apply/orP; right; apply: (map_f (fun i => p i ord0 - t0)); rewrite mem_enum.
rewrite /= /ff_step /= dot_unit setrE eqxx relu_pos; last first.
  by rewrite subr_ge0 (le_trans pB) // ler_addl ltW.
apply/colP => i; rewrite mxE setrE; set V := B + _ + _.
have -> : (V *: (r - unit R k)) i ord0 = V * ((i != k)%:R - (i == k)%:R).
  by rewrite !mxE rE eqxx andbT.
have -> : (p + tau j *: r) i ord0 = p i ord0 + tau j * (i != k)%:R by rewrite !mxE rE.
rewrite /V; case: eqP => [-> | _] /=; rewrite ?mxE; ring.
Qed.

End Endings.

Section Shelled.
Variables (R : realFieldType) (d N : nat).
Notation token := 'cV[R]_d.
Implicit Types (Z : 'I_N -> seq token) (p r : token) (tau : 'I_N -> R).
Hypothesis d1 : (1 < d)%N.

(* In general position the shells hold d - 1 points each, the last one d.           *)
Lemma shelled_general_position (k : 'I_d) Z : general_position (fun j => mean (Z j)) ->
  shelled k Z (shell_count (d - 1) N).
Proof.
move=> gp; have [f [fk f_pos gpf]] := generic_shadow k gp.
have [|s size_s sh] := shells (shadow_position fk gpf) setT; first by rewrite -subn1 subn_gt0.
by exists f, s; rewrite size_s cardsT card_ord subn1.
Qed.

Lemma other_coordinate (k : 'I_d) : exists i : 'I_d, i != k.
Proof.
have [-> | k0] := eqVneq k (Ordinal (ltnW d1)); first by exists (Ordinal d1).
by exists (Ordinal (ltnW d1)); rewrite eq_sym.
Qed.

Lemma row_shadow (k : 'I_d) (f : token) (x : 'I_N -> token) j j' : f k ord0 = 1 ->
  row' k (shadow k f x j) = row' k (shadow k f x j') ->
  x j - x j' = (x j - x j') k ord0 *: f.
Proof.
move=> fk e; have {}e : shadow k f x j = shadow k f x j'.
  apply/colP => i; case: (unliftP k i) => [i' -> | ->]; last by rewrite !mxE fk !mulr1 !subrr.
  by have /colP/(_ i') := e; rewrite !mxE.
apply/eqP; rewrite -subr_eq0; have : shadow k f x j - shadow k f x j' == 0 by rewrite e subrr.
congr (_ == 0); apply/colP => i; rewrite !mxE.
move: (x j i _) (x j' i _) (x j k _) (x j' k _) (f i _) => a a' b b' c; ring.
Qed.

(* In any position, with different means, every point is a shell.                   *)
Lemma shelled_means (k : 'I_d) Z : injective (fun j => mean (Z j)) -> shelled k Z N.
Proof.
move=> inj; have [i0 i0k] := other_coordinate k.
pose one : token := const_mx 1; pose v j j' := mean (Z j) - mean (Z j').
have [n hn] := avoid_line [seq (v j j' - v j j' k ord0 *: one, - v j j' k ord0 *: unit R i0)
  | j <- enum 'I_N, j' <- enum 'I_N].
pose f : token := one + n%:R *: unit R i0.
have fE i : f i ord0 = 1 + n%:R * (i == i0)%:R by rewrite !mxE eqxx andbT.
have fk : f k ord0 = 1 by rewrite fE eq_sym (negPf i0k) mulr0 addr0.
have [|s size_s sh] := @single_shells R d.-1 N (fun j => row' k (shadow k f (fun j => mean (Z j)) j)) setT.
  move=> j j' /(row_shadow fk) /=; rewrite -/(v j j') => e; apply/inj/eqP; rewrite -subr_eq0.
  rewrite -/(v j j'); pose q := (v j j' - v j j' k ord0 *: one, - v j j' k ord0 *: unit R i0).
  have q0 : q.1 + n%:R *: q.2 = 0.
    rewrite /= scalerA mulrN mulrC scaleNr -scalerA -addrA -opprD -scalerDr.
    by rewrite -/f {1}e subrr.
  have qin : q \in [seq (v j j' - v j j' k ord0 *: one, - v j j' k ord0 *: unit R i0)
      | j <- enum 'I_N, j' <- enum 'I_N].
    by apply/allpairsP; exists (j, j'); rewrite !mem_enum.
  have : ~~ ((q.1 != 0) || (q.2 != 0)) by apply/negP => /(hn q qin); rewrite q0 eqxx.
  case/norP => _ /negPn; rewrite /= scaleNr oppr_eq0 scaler_eq0 => /orP[/eqP vk | ].
    by rewrite e vk scale0r.
  by move=> /eqP/colP/(_ i0)/eqP; rewrite !mxE !eqxx oner_eq0.
exists f, s; split=> //; last by rewrite size_s cardsT card_ord.
by move=> i; rewrite fE (lt_le_trans ltr01) // ler_addl mulr_ge0 ?ler0n.
Qed.

(* Theorem 6a: targets that agree in coordinate k.                                 *)
Section Staircase.
Variables (M : nat) (c : 'I_N -> 'I_M) (y : 'I_M -> token) (k : 'I_d).
Hypotheses (M0 : (0 < M)%N) (level : forall l l', y l k ord0 = y l' k ord0).

Lemma staircase_shelled Z n : (forall j, Z j != [::]) -> shelled k Z n ->
  exists T : seq (rank1 R d), [/\ size T = (1 + n + (d - 1) + (2 * (M - 1) + 1))%N, uniform T
    & forall j, readout (run1 T (Z j)) = y (c j)].
Proof.
move=> Z0 sh; apply: (shells_staircase Z0 sh (g := fun j => (c j).+1%:R)) => // j.
by rewrite /near ler_subl_addr ler_addl divr_ge0 ?ler01 ?ler0n.
Qed.

Theorem staircase_general_position Z : (forall j, Z j != [::]) ->
  general_position (fun j => mean (Z j)) -> exists T : seq (rank1 R d),
  [/\ size T = (1 + shell_count (d - 1) N + (d - 1) + (2 * (M - 1) + 1))%N, uniform T
    & forall j, readout (run1 T (Z j)) = y (c j)].
Proof. by move=> Z0 gp; apply/staircase_shelled/shelled_general_position. Qed.

Theorem staircase_means Z : (forall j, Z j != [::]) -> injective (fun j => mean (Z j)) ->
  exists T : seq (rank1 R d),
  [/\ size T = (1 + N + (d - 1) + (2 * (M - 1) + 1))%N, uniform T
    & forall j, readout (run1 T (Z j)) = y (c j)].
Proof. by move=> Z0 inj; apply/staircase_shelled/shelled_means. Qed.
End Staircase.

(* Theorem 6c: targets on a line. In some basis its direction is 0 at the height and *)
(* 1 elsewhere.                                                                   *)
Lemma line_shelled (k : 'I_d) Z n p r tau : (forall j, Z j != [::]) ->
  (forall G H : 'M[R]_d, G *m H = 1%:M -> shelled k (fun j => [seq G *m z | z <- Z j]) n) ->
  exists T : seq (rank1 R d), [/\ size T = (1 + n + (d - 1) + 1)%N, uniform T
    & forall j, readout (run1 T (Z j)) = p + tau j *: r].
Proof.
move=> Z0 sh; pose diag : token := \col_i (i != k)%:R.
have diag0 : diag != 0.
  have [i ik] := other_coordinate k; apply/eqP => /colP/(_ i)/eqP.
  by rewrite !mxE ik oner_eq0.
wlog r0 : r tau / r != 0 => [hyp | ].
  have [r0 | /hyp //] := eqVneq r 0.
  have [T [sT uT hT]] := hyp diag (fun=> 0) diag0; exists T; split=> // j.
  by rewrite hT r0 !scaler0 scale0r.
have [G [H [GH Gr]]] := basis_taking r0 diag0; have HG := mulmx1C GH.
have Z0' j : [seq G *m z | z <- Z j] != [::] by case: (Z j) (Z0 j).
have [|T [sT uT hT]] := shells_diagonal Z0' (sh _ _ GH) (G *m p) (r := diag) tau.
  by move=> i; rewrite mxE.
have [T' [sT' uT' hT']] := change_basis GH uT; exists T'; split=> [||j]; rewrite ?sT' //.
by rewrite hT' hT -Gr mulmxDr -!scalemxAr !mulmxA HG !mul1mx.
Qed.

Theorem line_general_position Z p r tau : (forall j, Z j != [::]) ->
  general_position (fun j => mean (Z j)) -> exists T : seq (rank1 R d),
  [/\ size T = (1 + shell_count (d - 1) N + (d - 1) + 1)%N, uniform T
    & forall j, readout (run1 T (Z j)) = p + tau j *: r].
Proof.
move=> Z0 gp; apply: (@line_shelled (Ordinal d1)) => // G H GH.
apply: shelled_general_position => S sS l l0 e; apply: (gp S sS l l0).
have E : \sum_(j in S) l j *: mean [seq G *m z | z <- Z j] = G *m \sum_(j in S) l j *: mean (Z j).
  by rewrite mulmx_sumr; apply: eq_bigr => j _; rewrite mean_mulmx scalemxAr.
by rewrite -[LHS]mul1mx -(mulmx1C GH) -mulmxA -E e mulmx0.
Qed.

Theorem line_means Z p r tau : (forall j, Z j != [::]) -> injective (fun j => mean (Z j)) ->
  exists T : seq (rank1 R d), [/\ size T = (1 + N + (d - 1) + 1)%N, uniform T
    & forall j, readout (run1 T (Z j)) = p + tau j *: r].
Proof.
move=> Z0 inj; apply: (@line_shelled (Ordinal d1)) => // G H GH; apply: shelled_means => i j.
rewrite !mean_mulmx => /(congr1 (mulmx H)); rewrite !mulmxA (mulmx1C GH) !mul1mx; exact: inj.
Qed.

(* In any position, by K = N - #(distinct means) blocks of tie splitting more.      *)
Theorem line_any_position Z p r tau : (forall j, Z j != [::]) ->
  (forall i j, same_measure R (Z i) (Z j) -> i = j) -> exists T : seq (rank1 R d),
  [/\ (size T <= (N - nmeans [seq Z j | j <- enum 'I_N]) + (1 + N + (d - 1) + 1))%N, uniform T
    & forall j, readout (run1 T (Z j)) = p + tau j *: r].
Proof. by move=> Z0 dist; apply: after_tie_splitting => // Z' Z0' inj; apply: line_means. Qed.

End Shelled.

(* N = 200 points of the moment curve in dimension 6 with 200 targets k e_1, as the   *)
(* labels 0, ..., 199 have by default: 1 + 40 + 5 + 1 blocks.                        *)
Theorem forty_seven_blocks (i : 'I_6) : exists T : seq (rank1 rat_realFieldType 6),
  [/\ size T = 47%N, uniform T & forall j : 'I_200,
    readout (run1 T [:: moment rat_realFieldType 6 j]) = (j : nat)%:R *: unit rat_realFieldType i].
Proof.
have gp : general_position (fun j : 'I_200 => mean [:: moment rat_realFieldType 6 j]).
  move=> S sS l l0 e; apply: (moment_general_position sS l0); rewrite -[RHS]e.
  by apply: eq_bigr => j _; rewrite /mean big_seq1 invr1 scale1r.
have [T [sT uT hT]] := @line_general_position rat_realFieldType 6 200 isT
  (fun j => [:: moment rat_realFieldType 6 j]) 0 (unit _ i) (fun j => (j : nat)%:R) (fun=> isT) gp.
by exists T; split=> // j; rewrite hT add0r.
Qed.
