(* Parking (theory, section 8, Theorems 6a and 6c). One block parks a shell of any   *)
(* labels at heights that say where its points go; kills make the other coordinates  *)
(* equal.                                                                         *)
From mathcomp Require Import all_ssreflect ssralg ssrnum matrix zify.
From mathcomp.algebra_tactics Require Import ring.
From Hardmax Require Import Model Measure Feedforward Collapse Pushes GeneralPosition Facets Folds.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Parking.
Variables (R : realFieldType) (d N : nat) (k : 'I_d). (* coordinate k is the height *)
Notation token := 'cV[R]_d.
Notation up := (unit R k).
Implicit Types (z : token) (x : 'I_N -> token) (g : 'I_N -> R) (A : {set 'I_N}) (s : seq {set 'I_N}).

Lemma setr_height x (q : token * R) (h : R) j :
  dot q.1 (setr k h (x j)) + q.2 = height x q j + q.1 k ord0 * (h - x j k ord0).
Proof. by rewrite /setr dotDr dotZr [dot _ up]dotC dot_unit /height; ring. Qed.

(* One block for a shell: those of A wait where they are, the others are parked at   *)
(* height B + g j. If B is large, a block parks the next shell and moves no other.   *)
Lemma park_shell x A S : is_shell k x A S -> exists C : R, forall (B : R) g,
  C <= B -> (forall j, 0 < g j) -> exists b : ffp R d, forall j,
  ff_step b (if j \in A then x j else setr k (B + g j) (x j)) =
    if j \in A :\: S then x j else setr k (B + g j) (x j).
Proof.
move=> [sub [t [tk tS tA]] val].
have [C _ hC] := upper_bound ([seq x j k ord0 | j <- enum 'I_N]
  ++ [seq x j k ord0 + height x t j / - t.1 k ord0 | j <- enum 'I_N]).
have [xC tC] : (forall j, x j k ord0 < C) /\ forall j, x j k ord0 + height x t j / - t.1 k ord0 < C.
  split=> j; apply: hC; rewrite mem_cat; apply/orP; [left | right].
    by apply: (map_f (fun j => x j k ord0)); rewrite mem_enum.
  by apply: (map_f (fun j => x j k ord0 + height x t j / - t.1 k ord0)); rewrite mem_enum.
exists C => B g CB g0; have [q qS] := val (fun j => B + g j - x j k ord0).
pose at_ j := if j \in A then x j else setr k (B + g j) (x j).
pose T j : R := dot t.1 (at_ j) + t.2; pose Q j : R := dot q.1 (at_ j) + q.2.
have parked j : j \notin A -> T j < 0.
  move=> jA; rewrite /T /at_ (negPf jA) setr_height -[_ * _]opprK -mulNr subr_lt0.
  rewrite mulrC -ltr_pdivr_mulr ?oppr_gt0 // ltr_subr_addl (lt_le_trans (tC j)) // (le_trans CB) //.
  by rewrite ler_addl ltW.
have TS j : j \in S -> T j = 0 by move=> jS; rewrite /T /at_ (subsetP sub) //; apply: tS.
have QS j : j \in S -> Q j = B + g j - x j k ord0.
  by move=> jS; rewrite /Q /at_ (subsetP sub) //; apply: qS.
have TN j : j \notin S -> T j < 0.
  move=> jS; have [jA | /parked //] := boolP (j \in A).
  by rewrite /T /at_ jA; apply: tA; rewrite inE jS.
have [L _ hL] := upper_bound [seq Q j / - T j | j <- enum 'I_N].
exists (q.1 + L *: t.1, q.2 + L * t.2, up) => j; rewrite -/(at_ j) /ff_step /=.
have -> : dot (q.1 + L *: t.1) (at_ j) + (q.2 + L * t.2) = Q j + L * T j.
  by rewrite dotC dotDr dotZr !(dotC (at_ j)) /Q /T mulrDr addrACA.
have [jS | jS] := boolP (j \in S).
  rewrite inE jS TS // QS // mulr0 addr0 /at_ (subsetP sub) // relu_pos //.
  by rewrite subr_ge0 ltW // (lt_le_trans (xC j)) // (le_trans CB) // ler_addl ltW.
rewrite relu_neg ?scale0r ?addr0 ?inE ?jS //.
rewrite -[_ * _]opprK subr_le0 -mulrN -ler_pdivr_mulr ?oppr_gt0 ?TN // ltW //.
by apply: hL; apply: (map_f (fun j => Q j / - T j)); rewrite mem_enum.
Qed.

Lemma park x A s : are_shells k x A s -> exists C : R, forall (B : R) g,
  C <= B -> (forall j, 0 < g j) -> exists P : seq (ffp R d), size P = size s /\
  forall j, ff_map P (if j \in A then x j else setr k (B + g j) (x j)) = setr k (B + g j) (x j).
Proof.
elim: s A => [|S s IH] A /=.
  by move=> ->; exists 0 => B g _ _; exists [::]; split=> // j; rewrite inE.
case=> /park_shell[C hC] /IH[C' hC']; exists (Num.max C C') => B g.
rewrite le_maxl => /andP[CB C'B] g0; have [b hb] := hC B g CB g0.
have [P [sP hP]] := hC' B g C'B g0; exists (b :: P); split=> [|j]; first by rewrite /= sP.
by rewrite /= hb hP.
Qed.

(* Collapse, shells and kills: point j gets any height B + g j with g j > 0, and     *)
(* any other coordinates e, the same for all points. Q is the ending.              *)
Theorem parked (Z : 'I_N -> seq token) s (C : R) : (forall j, Z j != [::]) ->
  are_shells k (fun j => mean (Z j)) setT s -> exists B : R, C <= B /\
  forall g (e : token) (Q : seq (ffp R d)) (t : 'I_N -> token), (forall j, 0 < g j) ->
  (forall j, ff_map Q (setr k (B + g j) e) = t j) ->
  exists T : seq (rank1 R d), [/\ size T = (1 + size s + (d - 1) + size Q)%N, uniform T
    & forall j, readout (run1 T (Z j)) = t j].
Proof.
move=> Z0 /park[C' hC']; exists (Num.max C C'); rewrite le_maxr lexx; split=> // g e Q t g0 hQ.
set B := Num.max C C' in hQ *; have [|P [sP hP]] := hC' B g _ g0; first by rewrite le_maxr lexx orbT.
have [D D1 hD] := upper_bound [seq e p.2 ord0 - mean (Z p.1) p.2 ord0
  | p <- [seq (j, i) | j <- enum 'I_N, i <- enum 'I_d]].
have eD j i : e i ord0 <= mean (Z j) i ord0 + D.
  rewrite -ler_subl_addl ltW // hD //; apply/mapP; exists (j, i) => //.
  by apply: allpairs_f; rewrite mem_enum.
pose o : token := \col_i (if i == k then 0 else D).
exists (collapse_block o 1 :: [seq ff_block p | p <- shifted o P ++ [seq drop e i | i <- others k] ++ Q]).
split; first by rewrite /= size_map !size_cat /shifted !size_map sP size_others !addnA.
  by rewrite /= eqxx uniform_ff.
move=> j; rewrite run1_cons collapse // run_ff /readout -map_comp scale1r.
rewrite (eq_map (f2 := fun=> t j)) => [|z /=]; first exact: mean_const.
rewrite !ff_map_cat shiftedE -hQ; congr (ff_map Q _).
have := hP j; rewrite inE => ->; apply/colP => i.
have iE l : (setr k (B + g j) (mean (Z j)) + o) l ord0 =
    if l == k then B + g j else mean (Z j) l ord0 + D.
  by rewrite mxE setrE [o _ _]mxE; case: eqP => // _; rewrite addr0.
rewrite drops ?uniq_others // => [|l]; last by rewrite mem_others iE => /negPf ->.
by rewrite setrE mem_others iE; case: eqP.
Qed.

End Parking.
