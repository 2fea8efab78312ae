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

(* The means go in n shells.                                                      *)
Definition shelled (Z : 'I_N -> seq token) n :=
  exists s : seq {set 'I_N}, size s = n /\ are_shells k (fun j => mean (Z j)) setT s.

Variables (Z : 'I_N -> seq token) (n : nat).
Hypotheses (Z_nonempty : forall j, Z j != [::]) (Z_shelled : shelled Z n).

(* Hinges in the height: t j is the base and what the hinges add at height g j.      *)
Theorem shells_hinges g hs base (t : 'I_N -> token) : (forall j, 0 < g j) ->
  {in hs, forall h : R * token, h.2 k ord0 = 0} ->
  (forall j, t j = base + \sum_(h <- hs) relu (g j - h.1) *: h.2) ->
  exists T : seq (rank1 R d), [/\ size T = (1 + n + (d - 1) + (size hs + 1))%N, uniform T
    & forall j, readout (run1 T (Z j)) = t j].
Proof.
move=> g0 flat tE; have [s [<- sh]] := Z_shelled.
have [B [CB]] := parked (base k ord0) Z_nonempty sh.
pose lifted := [seq (B + h.1, h.2) | h : R * token <- hs].
move=> /(_ g base ([seq hinge k h | h <- lifted] ++ [:: drop base k]) t g0).
case=> [j | T [sT uT hT]]; last by exists T; rewrite sT size_cat !size_map.
have lf : {in lifted, forall h : R * token, h.2 k ord0 = 0}.
  by move=> _ /mapP[h hin ->] /=; apply: flat.
rewrite ff_map_cat hinges // /load big_map /= setrE eqxx.
under eq_bigr do rewrite opprD addrACA subrr add0r.
rewrite tE; set V := \sum_(h <- hs) _.
have Vk : V k ord0 = 0.
  by rewrite summxE big1_seq // => h /andP[_ hin]; rewrite mxE flat ?mulr0.
have zk : (setr k (B + g j) base + V) k ord0 = B + g j by rewrite mxE Vk addr0 setrE eqxx.
rewrite drop_step; last by rewrite zk (le_trans CB) // ler_addl ltW.
apply/colP => i; rewrite setrE [RHS]mxE.
by case: eqP => [-> | /eqP ik]; rewrite ?Vk ?addr0 // mxE setrE (negPf ik).
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
move=> rE; have [s [<- sh]] := Z_shelled.
have [t0 _ ht] := upper_bound [seq - tau j | j <- enum 'I_N].
have g0 j : 0 < tau j + t0.
  by rewrite -ltr_subl_addl sub0r ht //; apply: (map_f (fun j => - tau j)); rewrite mem_enum.
have [B [pB]] := parked (p k ord0) Z_nonempty sh.
pose e : token := \col_i (p i ord0 - t0 - (B - p k ord0)).
move=> /(_ (fun j => tau j + t0) e [:: (unit R k, - p k ord0, r - unit R k)] (fun j => p + tau j *: r) g0).
case=> [j | T [sT uT hT]]; last by exists T.
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
Notation in_basis G Z := (fun j => [seq G *m z | z <- Z j]).

Lemma full_position_basis (G H : 'M[R]_d) Z : G *m H = 1%:M ->
  full_position (fun j => mean (Z j)) -> full_position (fun j => mean (in_basis G Z j)).
Proof.
move=> GH gp S sS l l0 e; apply: (gp S sS l l0).
have E : \sum_(j in S) l j *: mean (in_basis G Z j) = G *m \sum_(j in S) l j *: mean (Z j).
  by rewrite mulmx_sumr; apply: eq_bigr => j _; rewrite mean_mulmx scalemxAr.
by rewrite -[LHS]mul1mx -(mulmx1C GH) -mulmxA -E e mulmx0.
Qed.

(* In general position, in a basis that keeps the height and all of E, shells hold d  *)
(* points each.                                                                   *)
Lemma shelled_general_position (k : 'I_d) Z : full_position (fun j => mean (Z j)) ->
  exists G H : 'M[R]_d, [/\ G *m H = 1%:M, forall z : token, (G *m z) k ord0 = z k ord0,
    forall z : token, z k ord0 = 0 -> G *m z = z & shelled k (in_basis G Z) (ceil_div N d)].
Proof.
move=> gp; have [|f [fk gpf]] := @generic_shadow R d N k (fun j => mean (Z j)).
  by move=> S sS; apply: gp; apply: leqW.
pose e : token := f - unit R k; pose A : 'M[R]_d := e *m (unit R k)^T.
have AE (z : token) : A *m z = z k ord0 *: e by rewrite -mulmxA dot_tr dot_unit mulmx_1x1.
have ek : e k ord0 = 0 by rewrite !mxE fk !eqxx subrr.
have AA : A *m A = 0 by rewrite {2}/A mulmxA AE ek scale0r mul0mx.
have GE z : (1%:M - A) *m z = z - z k ord0 *: e by rewrite mulmxBl mul1mx AE.
have GH : (1%:M - A) *m (1%:M + A) = 1%:M.
  by rewrite mulmxDr mulmx1 mulmxBl mul1mx AA subr0 subrK.
exists (1%:M - A), (1%:M + A); split=> // [z | z zk |].
- by rewrite GE !mxE fk !eqxx subrr mulr0 subr0.
- by rewrite GE zk scale0r subr0.
have [|s size_s sh] := shells (k := k) (full_position_basis GH gp) _ setT; last first.
  by exists s; rewrite size_s cardsT card_ord.
have E j : row' k (mean (in_basis (1%:M - A) Z j)) = row' k (shadow k f (fun j => mean (Z j)) j).
  rewrite mean_mulmx GE; apply/colP => i; rewrite !mxE; congr (_ - _ * _).
  by rewrite eq_sym (negPf (neq_lift _ _)) subr0.
move=> S sS l l0 h; apply: (shadow_position fk gpf sS l0).
by rewrite -[RHS]h; apply: eq_bigr => j _; rewrite E.
Qed.

(* In any position, with different means, every point is a shell.                   *)
Lemma shelled_means (k : 'I_d) Z : injective (fun j => mean (Z j)) -> shelled k Z N.
Proof.
by move=> inj; have [s size_s sh] := single_shells k setT inj; exists s; rewrite size_s cardsT card_ord.
Qed.

(* Theorem 6a: targets that agree in coordinate k.                                 *)
Section Staircase.
Variables (M : nat) (c : 'I_N -> 'I_M) (y : 'I_M -> token) (k : 'I_d).
Hypotheses (M0 : (0 < M)%N) (level : forall l l', y l k ord0 = y l' k ord0).

Lemma rank_near j : near ((c j).+1%:R : R) (c j).
Proof. by rewrite /near ler_subl_addr ler_addl divr_ge0 ?ler01 ?ler0n. Qed.

Theorem staircase_general_position Z : (forall j, Z j != [::]) ->
  full_position (fun j => mean (Z j)) -> exists T : seq (rank1 R d),
  [/\ size T = (1 + ceil_div N d + (d - 1) + (2 * (M - 1) + 1))%N, uniform T
    & forall j, readout (run1 T (Z j)) = y (c j)].
Proof.
move=> Z0 /(shelled_general_position k)[G [H [GH Gk _ sh]]].
have Z0' j : in_basis G Z j != [::] by case: (Z j) (Z0 j).
have [|T [sT uT hT]] := shells_staircase Z0' sh (y := fun l => G *m y l) M0 _ rank_near.
  by move=> l l'; rewrite !Gk.
have [T' [sT' uT' hT']] := change_basis GH uT; exists T'; split=> [||j]; rewrite ?sT' //.
by rewrite hT' hT mulmxA (mulmx1C GH) mul1mx.
Qed.

Theorem staircase_means Z : (forall j, Z j != [::]) -> injective (fun j => mean (Z j)) ->
  exists T : seq (rank1 R d),
  [/\ size T = (1 + N + (d - 1) + (2 * (M - 1) + 1))%N, uniform T
    & forall j, readout (run1 T (Z j)) = y (c j)].
Proof. by move=> Z0 /(shelled_means k) sh; apply: (shells_staircase Z0 sh M0 level rank_near). Qed.
End Staircase.

(* Theorem 6c: targets on a line. In some basis its direction is 0 at the height and *)
(* 1 elsewhere.                                                                   *)
Hypothesis d1 : (1 < d)%N.
Let k : 'I_d := Ordinal d1.

Lemma line_shelled Z n p r tau : (forall j, Z j != [::]) ->
  (forall G H : 'M[R]_d, G *m H = 1%:M -> exists G' H' : 'M[R]_d, [/\ G' *m H' = 1%:M,
    forall z : token, z k ord0 = 0 -> G' *m z = z & shelled k (in_basis (G' *m G) Z) n]) ->
  exists T : seq (rank1 R d), [/\ size T = (1 + n + (d - 1) + 1)%N, uniform T
    & forall j, readout (run1 T (Z j)) = p + tau j *: r].
Proof.
move=> Z0 bases; pose diag : token := \col_i (i != k)%:R.
have diag0 : diag != 0.
  by apply/eqP => /colP/(_ (Ordinal (ltnW d1)))/eqP; rewrite !mxE oner_eq0.
wlog r0 : r tau / r != 0 => [hyp | ].
  have [r0 | /hyp //] := eqVneq r 0.
  have [T [sT uT hT]] := hyp diag (fun=> 0) diag0; exists T; split=> // j.
  by rewrite hT r0 !scaler0 scale0r.
have [G [H [GH Gr]]] := basis_taking r0 diag0; have [G' [H' [GH' Gk sh]]] := bases G H GH.
have GGH : G' *m G *m (H *m H') = 1%:M by rewrite mulmxA -(mulmxA G') GH mulmx1.
have GGr : G' *m G *m r = diag by rewrite -mulmxA Gr Gk // mxE eqxx.
have Z0' j : in_basis (G' *m G) Z j != [::] by case: (Z j) (Z0 j).
have [|T [sT uT hT]] := shells_diagonal Z0' sh (G' *m G *m p) (r := diag) tau.
  by move=> i; rewrite mxE.
have [T' [sT' uT' hT']] := change_basis GGH uT; exists T'; split=> [||j]; rewrite ?sT' //.
by rewrite hT' hT -GGr mulmxDr -!scalemxAr !(mulmxA (H *m H') (G' *m G)) (mulmx1C GGH) !mul1mx.
Qed.

Theorem line_general_position Z p r tau : (forall j, Z j != [::]) ->
  full_position (fun j => mean (Z j)) -> exists T : seq (rank1 R d),
  [/\ size T = (1 + ceil_div N d + (d - 1) + 1)%N, uniform T
    & forall j, readout (run1 T (Z j)) = p + tau j *: r].
Proof.
move=> Z0 gp; apply: line_shelled => // G H GH.
have [G' [H' [GH' _ Gk [s [sN sh]]]]] := shelled_general_position k (full_position_basis GH gp).
exists G', H'; split=> //; exists s; split=> //; apply: eq_shells sh => j.
by rewrite !mean_mulmx mulmxA.
Qed.

Theorem line_means Z p r tau : (forall j, Z j != [::]) -> injective (fun j => mean (Z j)) ->
  exists T : seq (rank1 R d), [/\ size T = (1 + N + (d - 1) + 1)%N, uniform T
    & forall j, readout (run1 T (Z j)) = p + tau j *: r].
Proof.
move=> Z0 inj; apply: line_shelled => // G H GH; exists 1%:M, 1%:M; rewrite !mul1mx; split=> //.
  by move=> z _; rewrite mul1mx.
apply: shelled_means => i j; rewrite !mean_mulmx => /(congr1 (mulmx H)).
by rewrite !mulmxA (mulmx1C GH) !mul1mx; apply: inj.
Qed.

(* In any position, by K = N - #(distinct means) blocks of tie splitting more.      *)
Theorem line_any_position Z p r tau : (forall j, Z j != [::]) ->
  (forall i j, same_measure R (Z i) (Z j) -> i = j) -> exists T : seq (rank1 R d),
  [/\ (size T <= (N - nmeans [seq Z j | j <- enum 'I_N]) + (1 + N + (d - 1) + 1))%N, uniform T
    & forall j, readout (run1 T (Z j)) = p + tau j *: r].
Proof.
move=> Z0 dist; apply: (after_tie_splitting (L := fun j x => x = p + tau j *: r)) => // Z' Z0' inj.
exact: line_means.
Qed.

End Shelled.

(* N = 200 points of the moment curve in dimension 6 with 200 targets k e_i, as the   *)
(* labels 0, ..., 199 have by default: 1 + 34 + 5 + 1 blocks.                        *)
Theorem forty_one_blocks (i : 'I_6) : exists T : seq (rank1 rat_realFieldType 6),
  [/\ size T = 41%N, uniform T & forall j : 'I_200,
    readout (run1 T [:: moment rat_realFieldType 6 j]) = (j : nat)%:R *: unit rat_realFieldType i].
Proof.
have gp : full_position (fun j : 'I_200 => mean [:: moment rat_realFieldType 6 j]).
  move=> S sS l l0 e; apply: (moment_position sS l0); rewrite -[RHS]e.
  by apply: eq_bigr => j _; rewrite /mean big_seq1 invr1 scale1r.
have [T [sT uT hT]] := @line_general_position rat_realFieldType 6 200 isT
  (fun j => [:: moment rat_realFieldType 6 j]) 0 (unit _ i) (fun j => (j : nat)%:R) (fun=> isT) gp.
by exists T; split=> // j; rewrite hT add0r.
Qed.
