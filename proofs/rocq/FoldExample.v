(* Small models of the strategy fold, over the rationals.                          *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint matrix rat zify.
From Hardmax Require Import Model Measure Feedforward Collapse Pushes Folds FoldStrategy FoldEndings Strings.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* One string: the points (0, 0), (1, 0), (2, 0), (3, 0) with the classes 0, 1,     *)
(* 1, 0 and the targets (5, 7) and (-2, 7). One hinge of slope 3/4 and two folds    *)
(* read all four labels.                                                          *)
Section OneString.
Notation Q := rat_realFieldType.
Let x : 'I_2 := ord0.
Let y : 'I_2 := ord_max.
Definition four (i : 'I_4) : seq 'cV[Q]_2 := [:: (i : nat)%:R *: unit Q x].
Definition xor (i : 'I_4) : 'I_2 := if (i == 1%N :> nat) || (i == 2%N :> nat) then ord_max else ord0.
Definition two (q : 'I_2) : 'cV[Q]_2 :=
  \col_i (if i == y then 7%:R else if q == ord0 then 5%:R else - 2%:R).

Theorem fold_example : exists T : seq (rank1 Q 2),
  [/\ size T = 8%N, uniform T & forall i, readout (run1 T (four i)) = two (xor i)].
Proof.
have serve : ending y two 2 by apply: serve_level => // q q'; rewrite !mxE eqxx.
have [||i|T [sT uT hT]] := @fold_one_string Q 2 4 2 y xor two x
  [:: (0, (3%:R / 4%:R) *: unit Q y)] 0 1 2 2 four _ isT ltr01 _ _ serve.
- by [].
- by move=> h; rewrite inE => /eqP->; rewrite !mxE mulr0.
- have -> : load x [:: (0, (3%:R / 4%:R) *: unit Q y)] (mean (four i)) y ord0 = (i : nat)%:R * (3%:R / 4%:R).
    rewrite /load big_seq1 /mean big_seq1 invr1 scale1r !mxE /= mulr0 add0r subr0 !mulr1.
    by rewrite relu_pos ?ler0n.
  case: i => [[|[|[|[|//]]]] lt]; rewrite /in_band /=; split=> //.
  + by exists 0; split=> //; split=> //; exists 0; left.
  + by exists (3%:R / 4%:R); split=> //; split=> //; exists 0; left.
  + by exists (2%:R / 4%:R); split=> //; split=> //; exists 1; right.
  + by exists (1%:R / 4%:R); split=> //; split=> //; exists 1; left.
by exists T; split; rewrite // sT.
Qed.
End OneString.

(* Two strings: the addresses 0, 1, 2, 3 with the classes 0, 1,  *)
(* 1, 0; even ones read one string, odd ones the other. One hinge, no hash folds,  *)
(* one fold and one select, three folds of the wave.                               *)
Section TwoStrings.
Notation Q := rat_realFieldType.
Let x : 'I_4 := inord 0.
Let h : 'I_4 := inord 1.
Let s0 : 'I_4 := inord 2.
Let s1 : 'I_4 := inord 3.
Let reg (l : nat) := if l == 0%N then s0 else s1.

Definition point (i : 'I_4) : 'cV[Q]_4 :=
  (i : nat)%:R *: unit Q x + (if odd i then 3%:R / 2%:R else 1 / 2%:R) *: unit Q h.
Definition goal (q : 'I_2) : 'cV[Q]_4 :=
  \col_i (if i == s1 then 7%:R else if q == ord0 then 5%:R else - 2%:R).

Theorem strings_example : exists T : seq (rank1 Q 4),
  [/\ size T = 13%N, uniform T & forall i, readout (run1 T [:: point i]) = goal (xor i)].
Proof.
have lev : forall q q' : 'I_2, goal q s1 ord0 = goal q' s1 ord0 by move=> q q'; rewrite !mxE eqxx.
have serve : ending s1 goal 2 by apply: serve_level.
pose w : 'cV[Q]_4 := (1 / 4%:R) *: unit Q s0 + (3%:R / 4%:R) *: unit Q s1.
pose o : 'cV[Q]_4 := 4%:R *: unit Q s0.
have ne (a b : nat) : (a < 4)%N -> (b < 4)%N -> (inord a == inord b :> 'I_4) = (a == b).
  by move=> a4 b4; rewrite -val_eqE /= !inordK.
have zE i r : load x [:: (0, w)] (mean [:: point i] + o) r ord0 =
    point i r ord0 + o r ord0 + (i : nat)%:R * w r ord0.
  rewrite /load big_seq1 /mean big_seq1 invr1 scale1r [LHS]mxE [X in X + _]mxE; congr (_ + _).
  rewrite mxE; congr (_ * _).
  have -> : (point i + o) x ord0 = (i : nat)%:R.
    by rewrite !mxE /x /h /s0 !ne //= mulr1 !mulr0 !addr0.
  by rewrite subr0 relu_pos ?ler0n.
have [||l l'|||T [sT uT hT]] := @fold_strings Q 4 4 2 1 x h reg xor goal (fun i => [:: point i])
  [:: (0, w)] o 0 1 0 0 1 3 2 _ isT ltr01 ltr01 _ _ _ _ serve.
- by [].
- by move=> g; rewrite inE => /eqP-> /=; rewrite !mxE /x /s0 /s1 !ne //= !mulr0 addr0.
- case: l l' => [|[|//]] [|[|//]] //= _ _ /eqP; by rewrite /reg /= /s0 /s1 ne.
- by move=> l _; rewrite /reg /s0 /s1 /h; case: (l == 0%N); rewrite ne.
- move=> i; exists (odd i : nat); rewrite /string_read /in_band /= /opposite /reg /=.
  have hE : load x [:: (0, w)] (mean [:: point i] + o) h ord0 = if odd i then 3%:R / 2%:R else 1 / 2%:R.
    by rewrite zE !mxE /x /h /s0 /s1 !ne //= !mulr0 !add0r !addr0 mulr1 ?mulr0 ?addr0.
  have h0 : load x [:: (0, w)] (mean [:: point i] + o) s0 ord0 = 4%:R + (i : nat)%:R * (1 / 4%:R).
    by rewrite zE !mxE /x /h /s0 /s1 !ne //= !mulr0 !add0r !mulr1 addr0.
  have h1 : load x [:: (0, w)] (mean [:: point i] + o) s1 ord0 = (i : nat)%:R * (3%:R / 4%:R).
    by rewrite zE !mxE /x /h /s0 /s1 !ne //= !mulr0 !add0r !mulr1.
  case: i hE h0 h1 => [[|[|[|[|//]]]] lt] /= hE h0 h1; rewrite ?hE ?h0 ?h1; split=> //.
  + by exists (1 / 4%:R); split=> //; split=> //; exists 0; left.
  + by split=> // -[|l] //= _; rewrite h0 h1.
  + by split=> //; exists 0; split=> //; split=> //; exists 2%:Z; left.
  + by exists (3%:R / 4%:R); split=> //; split=> //; exists 0; left.
  + by split=> //; exists (3%:R / 4%:R); split=> //; split=> //; exists 0; left.
  + by exists (1 / 4%:R); split=> //; split=> //; exists 0; left.
  + by split=> // -[|l] //= _; rewrite h0 h1.
  + by split=> //; exists (1 / 2%:R); split=> //; split=> //; exists 2%:Z; left.
  + by exists (3%:R / 4%:R); split=> //; split=> //; exists 0; left.
  + by split=> //; exists (1 / 4%:R); split=> //; split=> //; exists 1; left.
by exists T; split; rewrite // sT.
Qed.
End TwoStrings.
