(* Small models of the strategy fold, over the rationals.                        *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint matrix rat zify.
From Hardmax Require Import Model Measure Feedforward Collapse Pushes Folds FoldStrategy FoldEndings.
From Hardmax Require Import Selects Shifts Strings.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* T(t) = v, checked by computation                                              *)
Definition wave_check (t v : rat) (m : int) := (0 <= v <= 1) && ((t == (2 * m)%:~R + v) || (t == (2 * m)%:~R - v)).

Lemma wave_at t v m : wave_check t v m = true -> wave t v.
Proof. by case/andP=> v01 /orP[]/eqP e; split=> //; exists m; [left | right]. Qed.

Lemma band_at M q v m (a U x : rat) n :
  [&& a <= x <= a + (2 ^ n)%:R * U, wave_check ((x - a) / U) v m & q%:R <= M%:R * v < q.+1%:R] = true ->
  in_band M a U n x q.
Proof. by case/and3P=> xa /wave_at w /andP[lo hi]; split=> //; exists v; do !split=> //; left. Qed.

(* One string: the points (0, 0), (1, 0), (2, 0), (3, 0) with the classes 0, 1,  *)
(* 1, 0 and the targets (5, 7) and (-2, 7). One hinge of slope 3/4 and two folds *)
(* read all four labels.                                                         *)
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
have [||i|||T [sT uT hT]] := @fold_one_string Q 2 4 2 y xor two x
  [:: (0, (3%:R / 4%:R) *: unit Q y)] 0 1 2 2 four set0 _ isT ltr01 _ _ _ _ serve.
- by [].
- by move=> h; rewrite inE => /eqP->; rewrite !mxE mulr0.
- have -> : load x [:: (0, (3%:R / 4%:R) *: unit Q y)] (mean (four i)) y ord0 = (i : nat)%:R * (3%:R / 4%:R).
    rewrite /load big_seq1 /mean big_seq1 invr1 scale1r !mxE /= mulr0 add0r subr0 !mulr1.
    by rewrite relu_pos ?ler0n.
  case: i => [[|[|[|[|i]]]] lt]; last by case: (notF lt).
  + by apply: (@band_at 2 0 0 0).
  + by apply: (@band_at 2 1 (3%:R / 4%:R) 0).
  + by apply: (@band_at 2 1 (2%:R / 4%:R) 1).
  + by apply: (@band_at 2 0 (1%:R / 4%:R) 1).
- by rewrite in_set0.
- by move=> r; rewrite in_set0.
by exists T; split; rewrite // sT cards0.
Qed.
End OneString.

(* Three strings and one bit of shift: six points with the addresses 0, ..., 5, three *)
(* classes and targets on no line. The hash says that point i reads string i mod 3, *)
(* which is doubled for i = 0, 2, 4. One hinge gives the strings the slopes 1/4, 1/2, *)
(* 1/3; they start at 6, 3, 0.                                                   *)
Section ThreeStrings.
Notation Q := rat_realFieldType.
Let x : 'I_5 := @Ordinal 5 0 isT.
Let h : 'I_5 := @Ordinal 5 1 isT.
Let reg (l : nat) : 'I_5 := inord l.+2.
Notation vec l := (\col_(r < 5) nth (0 : Q) l r).

Definition hash (i : nat) : Q := (i %% 3)%:R + (if (i < 3)%N then 1 / 4%:R else 3%:R / 4%:R).
Definition six (i : 'I_6) : seq 'cV[Q]_5 := [:: vec [:: (i : nat)%:R; hash i]].
Definition class (i : 'I_6) : 'I_3 := inord (nth 0%N [:: 0; 1; 2; 2; 0; 1]%N i).
Definition target (q : 'I_3) : 'cV[Q]_5 := \col_(r < 5) (q ^ r)%:R.
Definition string (i l : nat) : Q :=
  nth 0 [:: 6%:R + i%:R * (1 / 4%:R); 3%:R + i%:R * (1 / 2%:R); i%:R * (1 / 3%:R)] l.
Definition start : 'cV[Q]_5 := vec [:: 0; 0; 6%:R; 3%:R].
Definition slope : 'cV[Q]_5 := vec [:: 0; 0; 1 / 4%:R; 1 / 2%:R; 1 / 3%:R].

(* one of the six points after another, by computation                           *)
Ltac each i := by clear -i; case: i => [[|[|[|[|[|[|i]]]]]] lt]; [..|by case: (notF lt)]; vm_compute.

Theorem strings_example : exists T : seq (rank1 Q 5),
  [/\ size T = 23%N, uniform T & forall i, readout (run1 T (six i)) = target (class i)].
Proof.
have reg_val l : (l < 3)%N -> reg l = l.+2 :> nat by move=> l3; rewrite inordK.
have zE (i : 'I_6) r : load x [:: (0, slope)] (mean (map (ff_map [::]) (six i)) + start) r ord0 =
    nth 0 [:: (i : nat)%:R; hash i; 6%:R + (i : nat)%:R * (1 / 4%:R); 3%:R + (i : nat)%:R * (1 / 2%:R);
      (i : nat)%:R * (1 / 3%:R)] r.
  rewrite /load big_seq1 /mean big_seq1 invr1 scale1r !mxE /= addr0 subr0 relu_pos ?ler0n //.
  case: r => [[|[|[|[|[|r]]]]] lt] /=; rewrite ?mulr0 ?addr0 ?add0r //.
have [||||l l' l3 l3'|l l3|i|||T [sT uT hT]] := @fold_windows Q 5 6 3 2 3 x h reg class target six [::]
  [:: (0, slope)] start 0 1 0 1 1 1 0 1 4 set0 _ isT ltr01 ltr01 ltr01 erefl.
- by [].
- by move=> g; rewrite inE => /eqP-> /=; rewrite mxE.
- by [].
- by [].
- by move=> /(congr1 val) /=; rewrite !reg_val // => -[].
- by rewrite -!val_eqE /= reg_val.
- exists (i %% 3)%N, (~~ odd i : nat).
  have sE l : (l < 3)%N -> load x [:: (0, slope)] (mean (map (ff_map [::]) (six i)) + start) (reg l) ord0 =
      string i l by move=> l3; rewrite zE reg_val //; case: l l3 => [|[|[|]]].
  have hE : load x [:: (0, slope)] (mean (map (ff_map [::]) (six i)) + start) h ord0 = hash i by rewrite zE.
  have xE : load x [:: (0, slope)] (mean (map (ff_map [::]) (six i)) + start) x ord0 = (i : nat)%:R by rewrite zE.
  rewrite /string_read hE xE sE ?ltn_mod // /class; split.
  + each i.
  + exists (hash i / 3%:R); split; last first.
      each i.
    apply: (@wave_at _ _ 0).
    each i.
  + apply: (@ordered_ext Q 2 3 (string i)) => [l l3|]; first by rewrite sE.
    have /allP chk : all (fun l => all (fun l' => (rank 2 3 l < rank 2 3 l')%N ==> (string i l <= string i l'))
        (iota 0 3)) (iota 0 3) = true.
      each i.
    apply: rank_ordered; rewrite ?ltn_mod // => l l'; rewrite !inE => l3 l3'.
    have /chk/allP/(_ l')/[!mem_iota] : l \in iota 0 3 by rewrite mem_iota.
    by move=> /(_ l3')/implyP.
  + case=> // _; split.
    * exists (if odd i then 3%:R / 4%:R else 1 / 4%:R); split.
        apply: (@wave_at _ _ (nth 0 [:: 0; 1; 1; 0; 1; 1] i)).
        each i.
      by rewrite digit0; case: i {sE hE xE} => [[|[|[|[|[|[|i]]]]]] lt]; [..|by case: (notF lt)]; vm_compute.
    * by rewrite ler0n.
    each i.
  rewrite inordK; last each i.
  apply: (@band_at _ _ (nth 0 [:: 0; 1 / 2%:R; 2%:R / 3%:R; 3%:R / 4%:R; 0; 1 / 3%:R] i)
    (nth 0 [:: 6; 2; 2; 3; 7; 1] i)).
  each i.
- by move=> r; rewrite in_set0.
- by move=> r; rewrite in_set0.
by exists T; split; rewrite // sT cards0.
Qed.
End ThreeStrings.
