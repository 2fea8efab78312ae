(* The cover construction (theory, section 8, step B4), in any position: depth   *)
(* follows the labels. Class c is pushed up by H_c half-spaces and T_c tents,    *)
(* then clamped; L = 1 + sum over c != 0 of (H_c + 3 T_c) + (M - 1) + (d - 1) + M. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum matrix zify.
From mathcomp.algebra_tactics Require Import ring.
From Hardmax Require Import Model Measure Feedforward Peeling Collapse TieSplitting Pushes.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Cover.
Variables (R : realFieldType) (d N M : nat) (k : 'I_d).
Notation token := 'cV[R]_d.
Notation up := (unit R k).
Variables (Z : 'I_N -> seq token) (c : 'I_N -> 'I_M) (y : 'I_M -> token).
Hypothesis Z_nonempty : forall j, Z j != [::].

(* A direction f with f_k = 1; half-spaces and tents for each class, along f.     *)
Implicit Types (B : R) (j : 'I_N) (l m : nat).
Variables (f : token) (Hs Ts : nat -> seq (token * R)).
Hypothesis f_up : f k ord0 = 1.
Hypothesis along : forall l, {in Hs l ++ Ts l, forall p, dot p.1 f = 0}.
(* They avoid the means of lower classes, ... *)
Hypothesis Hs_avoid : forall j l, (c j < l)%N ->
  {in Hs l, forall p, dot p.1 (mean (Z j)) + p.2 <= 0}.
Hypothesis Ts_avoid : forall j l, (c j < l)%N ->
  {in Ts l, forall p, dot p.1 (mean (Z j)) + p.2 != 0}.
(* ... and each mean of class c != 0 lies in a half-space or on a tent's plane.   *)
Hypothesis covered : forall j, (0 < c j)%N ->
  has (fun p => 0 < dot p.1 (mean (Z j)) + p.2) (Hs (c j)) ||
  has (fun p => dot p.1 (mean (Z j)) + p.2 == 0) (Ts (c j)).

(* step 1, one block: every token goes to height B, then to the mean              *)
Definition flatten_block (B : R) : rank1 R d := Rank1 (- up) B f 0 1 0.
Definition image (B : R) (j : 'I_N) : token := mean (Z j) + (B - mean (Z j) k ord0) *: f.

Lemma flatten_image B j : {in Z j, forall z : token, z k ord0 <= B} ->
  apply_block (block_of (flatten_block B)) (Z j) = [seq image B j | _ <- Z j].
Proof.
move=> low; rewrite /apply_block SA_rank1 /= -map_comp; apply: eq_map => z /=.
rewrite leaders0 scale0r add0r scale1r mean_map.
transitivity (integral (fun z : token => z + (B - z k ord0) *: f) (Z j)).
  apply: eq_integral => x xZ; rewrite FF_rank1 /= -scaleN1r dotZl dot_unit mulN1r.
  by rewrite relu_pos (addrC (- _)) // subr_ge0 low.
rewrite integralD /image; congr (_ + _).
rewrite (@integral_scaler R _ _ (fun z : token => B - z k ord0)); congr (_ *: _).
rewrite /integral sumrB big_const_seq count_predT iter_addr_0 /mean mxE summxE.
rewrite scalerBr; congr (_ - _).
by rewrite -scaler_nat scalerA mulVf ?scale1r // pnatr_eq0 size_eq0 Z_nonempty.
Qed.

Lemma image_up B j : image B j k ord0 = B.
Proof. by rewrite !mxE f_up mulr1 addrC subrK. Qed.

Lemma image_dot B j a b : dot a f = 0 ->
  dot (flat k a) (image B j) + (b + a k ord0 * B) = dot a (mean (Z j)) + b.
Proof.
by move=> af; rewrite flat_dot image_up dotDr dotZr af mulr0 addr0; ring.
Qed.

(* step 2: classes 1, ..., m one after another; afterwards class l <= m is at     *)
(* height exactly B + l                                                           *)
Definition pushes m := (\sum_(1 <= l < m) (size (Hs l) + 3 * size (Ts l) + 1))%N.

Lemma classes B m : exists P : seq (ffp R d), size P = pushes m.+1 /\
  forall j, exists s : R, [/\ 0 <= s, ff_map P (image B j) = image B j + s *: up
    & (c j < m.+1)%N -> s = (c j)%:R].
Proof.
elim: m => [|m [P [sP IH]]].
  exists [::]; split; first by rewrite /pushes big_geq.
  move=> j; exists 0; split; rewrite ?scale0r ?addr0 //.
  by rewrite ltnS leqn0 => /eqP->.
pose lift (p : token * R) := (flat k p.1, p.2 + p.1 k ord0 * B).
pose X := [seq image B j | j <- enum 'I_N & c j == m.+1 :> nat].
pose A := [seq image B j | j <- enum 'I_N & (c j < m.+1)%N].
have al p : p \in Hs m.+1 ++ Ts m.+1 -> dot p.1 f = 0 by apply: along.
have [|||||Q [sQ lQ Q0 QA QX]] :=
    @class_pushes R d k (map lift (Hs m.+1)) (map lift (Ts m.+1)) m.+1%:R X A.
- by rewrite ltr0n.
- by move=> q; rewrite -map_cat => /mapP[p _ ->]; apply: flat_up.
- move=> _ _ /mapP[p pH ->] /mapP[j + ->]; rewrite mem_filter => /andP[lt _] /=.
  by rewrite image_dot ?al ?mem_cat ?pH //; apply: Hs_avoid lt _ pH.
- move=> _ _ /mapP[p pT ->] /mapP[j + ->]; rewrite mem_filter => /andP[lt _] /=.
  by rewrite image_dot ?al ?mem_cat ?pT ?orbT //; apply: Ts_avoid lt _ pT.
- move=> _ /mapP[j + ->]; rewrite mem_filter => /andP[/eqP cj _].
  have := @covered j; rewrite cj !has_map => /(_ isT) /orP[] /hasP[p pin hp].
    apply/orP; left; apply/hasP; exists p => //=.
    by rewrite image_dot ?al ?mem_cat ?pin.
  apply/orP; right; apply/hasP; exists p => //=.
  by rewrite image_dot ?al ?mem_cat ?pin ?orbT.
exists (P ++ ([seq push k p | p <- Q] ++ [:: clamp k B m.+1%:R])); split.
  rewrite !size_cat size_map sP sQ !size_map /pushes [in RHS]big_nat_recr //=.
move=> j; have [s [s0 hs hc]] := IH j.
have jin : j \in enum 'I_N by rewrite mem_enum.
exists (Num.min (s + rise Q (image B j)) m.+1%:R); split.
- by rewrite le_minr ler0n addr_ge0.
- rewrite !ff_map_cat hs push_rise //= clamp_min //; exact: image_up.
rewrite ltnS leq_eqVlt => /orP[/eqP cj | lt].
  rewrite cj; apply/min_idPr; rewrite -[m.+1%:R]add0r ler_add //.
  by apply: QX; apply: map_f; rewrite mem_filter cj eqxx.
rewrite hc // QA ?addr0; last by apply: map_f; rewrite mem_filter lt.
by apply/min_idPl; rewrite ler_nat ltnW.
Qed.

(* Theory, section 8, in any position and with K = 0.                             *)
Theorem cover : (0 < M)%N -> exists T : seq (rank1 R d),
  [/\ size T = (1 + \sum_(1 <= l < M) (size (Hs l) + 3 * size (Ts l)) + (M - 1) + (d - 1) + M)%N,
    uniform T & forall j, readout (run1 T (Z j)) = y (c j)].
Proof.
move=> M0.
have [B B1 hB] := @upper_bound R ([seq (z : token) k ord0 | z <- flatten [seq Z j | j <- enum 'I_N]]
                                  ++ [seq y l k ord0 | l <- enum 'I_M]).
have [P [sP hP]] := classes B M.-1.
rewrite prednK // in sP hP.
have low j : {in Z j, forall z : token, z k ord0 <= B}.
  move=> z zZ; apply/ltW/hB; rewrite mem_cat; apply/orP; left.
  apply: (map_f (fun z : token => z k ord0)).
  by apply/flattenP; exists (Z j) => //; apply: map_f; rewrite mem_enum.
have [C C1 hC] := @upper_bound R [seq - image B p.1 p.2 ord0 | p <- [seq (j, i) | j <- enum 'I_N, i <- enum 'I_d]].
have imC j i : - C <= image B j i ord0.
  rewrite ler_oppl ltW // hC //; apply/mapP; exists (j, i) => //.
  by apply: allpairs_f; rewrite mem_enum.
pose q (l : nat) : token := \col_i (if i == k then B + l%:R else - C).
have qk l : q l k ord0 = B + l%:R by rewrite mxE eqxx.
have [||Q [sQ hQ]] := @sweep R d up [seq (q (l : 'I_M), y l) | l <- enum 'I_M].
- rewrite -map_comp map_inj_uniq ?enum_uniq // => l l' /=.
  rewrite !dot_unit !qk => /addrI /eqP; rewrite eqr_nat => /eqP.
  exact: val_inj.
- move=> _ _ /mapP[l _ ->] /mapP[l' _ ->] /=; rewrite !dot_unit qk.
  apply: lt_le_trans (_ : B <= _); last by rewrite ler_addl ler0n.
  apply: hB; rewrite mem_cat; apply/orP; right.
  by apply: (map_f (fun l : 'I_M => y l k ord0)); rewrite mem_enum.
exists (flatten_block B :: [seq ff_block p | p <- P ++ ([seq kill C i | i <- others k] ++ Q)]).
split.
- rewrite /= size_map !size_cat sP sQ !size_map -enumT size_enum_ord size_others /pushes big_split /=.
  rewrite sum_nat_const_nat muln1.
  by move: (\sum_(1 <= l < M) _)%N => n; lia.
- by rewrite /= eqxx uniform_ff.
move=> j; have [s [_ hs hc]] := hP j.
rewrite run1_cons (flatten_image (low j)).
rewrite run_ff /readout -map_comp.
rewrite (eq_map (f2 := fun=> y (c j))) => [|z /=]; first exact: mean_const.
rewrite !ff_map_cat hs hc //.
have -> : ff_map [seq kill C i | i <- others k] (image B j + (c j)%:R *: up) = q (c j).
  have up_others i : i \in others k -> up i ord0 = 0.
    by rewrite mem_others => ik; rewrite mxE (negPf ik).
  apply/colP => i; rewrite kills ?uniq_others //; last first.
    by move=> l lk; rewrite mxE [(_ *: up) _ _]mxE up_others // mulr0 addr0.
  rewrite [RHS]mxE mem_others; case: eqP => [-> | _] //=.
  by rewrite mxE image_up [(_ *: up) _ _]mxE [up _ _]mxE !eqxx mulr1.
exact: (hQ (q (c j), y (c j)) (map_f (fun l : 'I_M => (q l, y l)) (mem_enum _ _))).
Qed.

End Cover.

(* The same for any sequences with different measures: tie splitting first, then   *)
(* a tent for every sequence of the classes c != 0. K = N - #(distinct means).      *)
Section AnyPosition.
Variables (R : realFieldType) (d N M : nat).
Notation token := 'cV[R]_d.
Variables (c : 'I_N -> 'I_M) (y : 'I_M -> token).
Implicit Types (Z : 'I_N -> seq token).

Definition class_size (l : nat) := #|[set j | c j == l :> nat]|.

Lemma unit_other (i k : 'I_d) : i != k -> unit R i k ord0 = 0.
Proof. by move=> ik; rewrite mxE eq_sym (negPf ik). Qed.

(* distinct means: some direction tells them apart, and one tent serves each       *)
Lemma cover_means Z : (forall j, Z j != [::]) -> (1 < d)%N -> (0 < M)%N ->
  injective (fun j => mean (Z j)) ->
  exists T : seq (rank1 R d),
  [/\ size T = (1 + \sum_(1 <= l < M) 3 * class_size l + (M - 1) + (d - 1) + M)%N,
    uniform T & forall j, readout (run1 T (Z j)) = y (c j)].
Proof.
move=> Z_nonempty d1 M0 inj; pose k : 'I_d := Ordinal (ltnW d1); pose i : 'I_d := Ordinal d1.
have ik : i != k by [].
have [g gI] := generic_direction ((0 : token) :: unit R i :: [seq mean (Z j) | j <- enum 'I_N]).
have jin j : j \in enum 'I_N by rewrite mem_enum.
have gm j j' : j != j' -> dot g (mean (Z j)) != dot g (mean (Z j')).
  move=> ne; apply: contra ne => /eqP /gI e; apply/eqP/inj/e;
  by rewrite !inE (map_f (fun j => mean (Z j))) ?jin ?orbT.
have gi : g i ord0 != 0.
  apply/eqP => g0; have : unit R i = 0.
    apply: gI; rewrite ?inE ?eqxx ?orbT //.
    by rewrite dotC dot_unit g0 dotC dot0l.
  by move/colP/(_ i)/eqP; rewrite !mxE !eqxx oner_eq0.
pose f : token := unit R k - (g k ord0 / g i ord0) *: unit R i.
have gf : dot g f = 0.
  by rewrite dotBr dotZr ![dot g _]dotC !dot_unit divfK // subrr.
have fk : f k ord0 = 1.
  rewrite -dot_unit dotBr dotZr !dot_unit (unit_other ik) mulr0 subr0.
  by rewrite mxE !eqxx.
pose Ts l := [seq (g, - dot g (mean (Z j))) | j <- enum 'I_N & c j == l :> nat].
have [|||||T [sT uT hT]] := @cover R d N M k Z c y Z_nonempty f (fun=> [::]) Ts fk.
- by move=> l _ /mapP[j _ ->].
- by [].
- move=> j l lt _ /mapP[j' + ->]; rewrite mem_filter => /andP[/eqP cj' _] /=.
  by rewrite subr_eq0 gm //; apply: contraTneq lt => ->; rewrite cj' ltnn.
- move=> j _; apply/orP; right; apply/hasP; exists (g, - dot g (mean (Z j))).
    apply: (map_f (fun j : 'I_N => (g, - dot g (mean (Z j))))).
    by rewrite mem_filter eqxx jin.
  by rewrite /= subrr.
- exact: M0.
exists T; split=> //; rewrite sT; congr (_ + _ + _ + _ + _)%N.
apply: eq_bigr => l _; congr (3 * _)%N; rewrite /class_size size_map size_filter.
by rewrite -sum1_count big_enum_cond -sum1_card; apply: eq_bigl => j; rewrite !inE.
Qed.

(* Tie splitting in front of any construction for different means.                *)
Lemma after_tie_splitting Z (L : 'I_N -> token -> Prop) n : (forall j, Z j != [::]) ->
  (forall i j, same_measure R (Z i) (Z j) -> i = j) ->
  (forall Z', (forall j, Z' j != [::]) -> injective (fun j => mean (Z' j)) ->
    exists T : seq (rank1 R d),
    [/\ size T = n, uniform T & forall j, L j (readout (run1 T (Z' j)))]) ->
  exists T : seq (rank1 R d),
  [/\ (size T <= (N - nmeans [seq Z j | j <- enum 'I_N]) + n)%N, uniform T
    & forall j, L j (readout (run1 T (Z j)))].
Proof.
move=> Z_nonempty dist build; pose Zs := [seq Z j | j <- enum 'I_N].
have ne : {in Zs, forall Y, Y != [::]} by move=> _ /mapP[j _ ->].
have sub : {in Zs, forall Y, {subset Y <= flatten Zs}}.
  by move=> Y YZ z zY; apply/flattenP; exists Y.
have distZ : distinct_measures R Zs.
  split; first by rewrite map_inj_uniq ?enum_uniq // => i j e; apply: dist; rewrite e.
  by move=> _ _ /mapP[i _ ->] /mapP[j _ ->] /dist->.
have [P [sP _ um]] := split_ties ne sub distZ.
have inj : injective (fun j => mean (map (ff_map P) (Z j))).
  move=> i j e; have := uniq_map_inj um; rewrite -/Zs => mI.
  have jin l : Z l \in Zs by apply: map_f; rewrite mem_enum.
  by apply: dist; rewrite (mI _ _ (jin i) (jin j) e).
have [|T [sT uT hT]] := build _ _ inj; first by move=> j; case: (Z j) (Z_nonempty j).
exists ([seq ff_block p | p <- P] ++ T); split.
- by rewrite size_cat size_map sT leq_add2r -[X in (_ <= X - _)%N](size_enum_ord N) -(size_map Z).
- by rewrite uniform_cat uniform_ff.
by move=> j; rewrite run1_cat run_ff.
Qed.

(* Theory, section 8: any position.                                              *)
Theorem cover_any_position Z : (forall j, Z j != [::]) -> (1 < d)%N -> (0 < M)%N ->
  (forall i j, same_measure R (Z i) (Z j) -> i = j) ->
  exists T : seq (rank1 R d),
  [/\ (size T <= (N - nmeans [seq Z j | j <- enum 'I_N])
          + (1 + \sum_(1 <= l < M) 3 * class_size l + (M - 1) + (d - 1) + M))%N,
    uniform T & forall j, readout (run1 T (Z j)) = y (c j)].
Proof.
move=> Z_nonempty d1 M0 dist.
by apply: (after_tie_splitting (L := fun j x => x = y (c j))) => // Z' ne inj; apply: cover_means.
Qed.

End AnyPosition.
