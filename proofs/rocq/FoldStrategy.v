(* The strategy fold (theory, section 13): registers are loaded by hinges, folded *)
(* to the triangle wave, and cuts take the bands of the wave to the targets.     *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint matrix rat zify.
From mathcomp.algebra_tactics Require Import ring.
From Hardmax Require Import Model Measure Feedforward Collapse Pushes Folds.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* M bands of width W above b, the last one closed: slightly wider bands, half open, *)
(* hold the same finitely many numbers.                                          *)
Lemma wider_bands (R : realFieldType) (M : nat) (b W : R) (S : seq (nat * R)) : 0 < W ->
  {in S, forall p : nat * R, [/\ (p.1 < M)%N, b + p.1%:R * W <= p.2, p.2 <= b + M%:R * W
    & p.1.+1 = M \/ p.2 < b + p.1.+1%:R * W]} ->
  exists b' W', [/\ b - W <= b', 0 < W'
    & {in S, forall p : nat * R, b' + p.1%:R * W' <= p.2 < b' + p.1.+1%:R * W'}].
Proof.
move=> W0 hS.
have [|g g0 hg] := @pos_lower R [seq b + p.1.+1%:R * W - p.2 | p <- S & p.2 < b + p.1.+1%:R * W].
  by move=> _ /mapP[p + ->]; rewrite mem_filter subr_gt0 => /andP[].
pose e := Num.min g W / M.+1%:R.
have e0 : 0 < e by rewrite divr_gt0 ?ltr0n // lt_minr g0 W0.
have M1 : (M%:R : R) < M.+1%:R by rewrite ltr_nat.
have eg : M%:R * e < g.
  rewrite /e mulrA ltr_pdivr_mulr ?ltr0n // (@le_lt_trans _ _ (g * M%:R)) ?ltr_pmul2l //.
  by rewrite mulrC; apply: ler_wpmul2r; rewrite ?ler0n // le_minl lexx.
have eW : M%:R * e <= W.
  rewrite /e mulrA ler_pdivr_mulr ?ltr0n // (@le_trans _ _ (W * M%:R)) ?(ler_wpmul2l (ltW W0) (ltW M1)) //.
  by rewrite mulrC; apply: ler_wpmul2r; rewrite ?ler0n // le_minl lexx orbT.
exists (b - (M%:R - 1) * e), (W + e); split.
- by rewrite ler_add2l ler_opp2 mulrBl mul1r ler_subl_addr (le_trans eW) // ler_addl ltW.
- by rewrite addr_gt0.
move=> p pS; have [pM lo top hi] := hS p pS; apply/andP; split.
  apply: le_trans _ lo; rewrite -subr_ge0.
  have -> : b + p.1%:R * W - (b - (M%:R - 1) * e + p.1%:R * (W + e)) = (M - p.1.+1)%:R * e.
    by rewrite natrB // -[in RHS]addn1 natrD; ring.
  by rewrite mulr_ge0 ?ler0n // ltW.
case: hi => [-> | hi].
  apply: le_lt_trans top _; rewrite -subr_gt0.
  by have -> : b - (M%:R - 1) * e + M%:R * (W + e) - (b + M%:R * W) = e by ring.
have := hg _ (map_f (fun p => b + p.1.+1%:R * W - p.2) _) => /(_ p); rewrite mem_filter hi pS => /(_ isT) gp.
rewrite -subr_gt0 (lt_le_trans _ (_ : (b + p.1.+1%:R * W - p.2) - M%:R * e <= _)) //.
  by rewrite subr_gt0 (lt_le_trans eg).
rewrite -subr_ge0.
have -> : b - (M%:R - 1) * e + p.1.+1%:R * (W + e) - p.2 - (b + p.1.+1%:R * W - p.2 - M%:R * e) =
    (1 + p.1.+1%:R) * e by ring.
by rewrite mulr_ge0 ?addr_ge0 ?ler01 ?ler0n // ltW.
Qed.

Section FoldStrategy.
Variables (R : realFieldType) (d N M : nat) (y : 'I_d).
Notation token := 'cV[R]_d.
Implicit Types (i : 'I_N) (z s : token).
(* the class of each sequence, and the targets                                   *)
Variables (c : 'I_N -> 'I_M) (t : 'I_M -> token).

(* Register y of a point is folded to the band of its class q: q/M <= T < (q + 1)/M, *)
(* and T = 1 belongs to the last class.                                          *)
Definition in_band (a U : R) (n : nat) (x : R) (q : nat) := a <= x <= a + (2 ^ n)%:R * U /\
  exists v, wave ((x - a) / U) v /\ q%:R <= M%:R * v /\ (M%:R * v < q.+1%:R \/ q.+1 = M).

(* An ending: cuts, none of which moves register y, take the bands to places; y is *)
(* killed; then blocks F take the places to the targets. It has e blocks, without *)
(* the kill.                                                                     *)
Definition ending (e : nat) := exists base cs (F : seq (ffp R d)),
  [/\ {in cs, forall p : nat * token, (0 < p.1)%N /\ p.2 y ord0 = 0},
    forall q : 'I_M, ff_map F (taken cs q base) = t q & e = (2 * size cs + size F)%N].

(* coordinates D that are the same number on all points, so that they need no kill *)
Definition constant (D : {set 'I_d}) (p : 'I_N -> token) :=
  y \notin D /\ {in D, forall r i j, p i r ord0 = p j r ord0}.

(* n folds, the kills, the cuts, the kill of y, and what the ending adds         *)
Lemma read_out (a U : R) n e (D : {set 'I_d}) (p : 'I_N -> token) : (0 < M)%N -> 0 < U ->
  (forall i, in_band a U n (p i y ord0) (c i)) -> constant D p -> ending e ->
  exists s P, size P = (n + (d - 1 - #|D|) + e + 1)%N /\ forall i, ff_map P (p i + s) = t (c i).
Proof.
move=> M0 U0 band [yD pD] [base [cs [F [cs0 csE ->]]]].
have [v0 v0E] : exists v0 : token, forall i, {in D, forall r, p i r ord0 = v0 r ord0}.
  case: (pickP 'I_N) => [i0 _ | none]; first by exists (p i0) => i r rD; apply: pD.
  by exists 0 => i; have := none i.
have [C C1 hC] := @upper_bound R [seq - p j.1 j.2 ord0 | j <- [seq (i, r) | i <- enum 'I_N, r <- enum 'I_d]].
have pC i r : 0 <= p i r ord0 + C.
  rewrite -ler_subl_addl sub0r ltW // hC //; apply/mapP; exists (i, r) => //.
  by apply: allpairs_f; rewrite mem_enum.
pose b := base y ord0 + U.
pose s : token := \col_r (if r == y then b - a
  else if r \in D then base r ord0 - v0 r ord0 else C + base r ord0).
pose I := enum (~: (y |: D)).
have uI : uniq I by apply: enum_uniq.
have sI : size I = (d - 1 - #|D|)%N.
  by rewrite -cardE cardsCs setCK card_ord cardsU1 yD; lia.
pose z1 i := ff_map (folds y b U n ++ [seq drop base r | r <- I]) (p i + s).
have psy i : (p i + s) y ord0 = p i y ord0 + (b - a) by rewrite !mxE eqxx.
have z1E i v r : wave ((p i y ord0 - a) / U) v ->
    z1 i r ord0 = if r == y then b + U * v else base r ord0.
  move=> w; have [/andP[lo hi] _] := band i; rewrite /z1 ff_map_cat (triangle_wave (v := v)) //.
  - rewrite drops // => [|r']; rewrite mem_enum in_setC in_setU1.
      rewrite setrE; case: eqP => //= /eqP ry; case: ifPn => // /negbNE rD.
      by rewrite !mxE (negPf ry) rD (v0E i r rD) addrC subrK.
    by case/norP=> ry rD; rewrite setrE (negPf ry) !mxE (negPf ry) (negPf rD) addrA ler_addr.
  - rewrite psy; apply/andP; split; first by rewrite addrCA ler_addl subr_ge0.
    by rewrite addrCA ler_add2l ler_subl_addl.
  by have -> : (p i + s) y ord0 - b = p i y ord0 - a by rewrite psy; ring.
have z1r i r : r != y -> z1 i r ord0 = base r ord0.
  by move=> ry; have [_ [v [w _]]] := band i; rewrite (z1E i v r w) (negPf ry).
have M0' : 0 < M%:R :> R by rewrite ltr0n.
have UM : M%:R * (U / M%:R) = U by rewrite mulrC divfK // gt_eqF.
have [||b' [W [bb W0 hW]]] := @wider_bands R M b (U / M%:R) [seq ((c i : nat), z1 i y ord0) | i <- enum 'I_N].
- exact: divr_gt0.
- move=> _ /mapP[i _ ->] /=; have [_ [v [w [lo hi]]]] := band i; have [/andP[_ v1] _] := w.
  rewrite (z1E i v y w) eqxx UM !ler_add2l ltr_add2l !mulrA ler_pdivr_mulr // ltr_pdivl_mulr //.
  rewrite -mulrA (mulrC U) ler_pmul2r // ltr_pmul2r // (mulrC v) lo ger_pmulr //; split=> //.
  by case: hi; [right | left].
have [||P [sP hP]] := @cuts R d y b' W cs [seq ((c i : nat), z1 i, base) | i <- enum 'I_N] W0.
- exact: cs0.
- move=> _ /mapP[i _ ->] /=; split; last exact: z1r.
  exact: hW (map_f (fun i => ((c i : nat), z1 i y ord0)) (mem_enum _ i)).
exists s, (folds y b U n ++ [seq drop base r | r <- I] ++ P ++ drop base y :: F); split.
  by rewrite !size_cat size_folds size_map sI sP /=; lia.
move=> i; rewrite catA ff_map_cat -/(z1 i) ff_map_cat /=.
have [/= lo hr] := hP _ (map_f (fun i => ((c i : nat), z1 i, base)) (mem_enum _ i)).
rewrite drop_step -?csE; last first.
  rewrite (le_trans _ lo) // (le_trans _ bb) // /b -addrA ler_addl subr_ge0.
  by rewrite ler_pdivr_mulr // ler_pmulr // ler1n.
congr ff_map; apply/colP => r; rewrite setrE.
by case: eqP => [-> | /eqP ry]; [rewrite taken_level // => q /cs0[] | rewrite hr].
Qed.

(* The collapse, any blocks P0 that bring register y to the bands, and the reading *)
(* of the bands. The registers start o above the means.                          *)
Theorem fold_strategy (o : token) (a U : R) n e (Z : 'I_N -> seq token) (P0 : seq (ffp R d)) D :
  (forall i, Z i != [::]) -> (0 < M)%N -> 0 < U ->
  (forall i, in_band a U n (ff_map P0 (mean (Z i) + o) y ord0) (c i)) ->
  constant D (fun i => ff_map P0 (mean (Z i) + o)) -> ending e ->
  exists T : seq (rank1 R d),
  [/\ size T = (1 + size P0 + n + (d - 1 - #|D|) + e + 1)%N, uniform T
    & forall i, readout (run1 T (Z i)) = t (c i)].
Proof.
move=> Z_nonempty M0 U0 band hD serve; have [s [P [sP hP]]] := read_out M0 U0 band hD serve.
exists (collapse_block (o + s) 1 :: [seq ff_block p | p <- shifted s P0 ++ P]); split.
- by rewrite /= size_map size_cat sP /shifted size_map !addnA add1n.
- by rewrite /= eqxx uniform_ff.
move=> i; rewrite run1_cons collapse // run_ff /readout -map_comp.
rewrite (eq_map (f2 := fun=> t (c i))) => [|z /=].
  by apply: mean_const; case: (Z i) (Z_nonempty i).
by rewrite scale1r addrA ff_map_cat shiftedE hP.
Qed.

(* coordinates D that no hinge writes and that are the same number on all means  *)
Definition unused (hs : seq (R * token)) (Z : 'I_N -> seq token) (D : {set 'I_d}) :=
  {in D, forall r, {in hs, forall g : R * token, g.2 r ord0 = 0}
    /\ forall i j, mean (Z i) r ord0 = mean (Z j) r ord0}.

Lemma load_unused (x r : 'I_d) (hs : seq (R * token)) z : {in hs, forall g : R * token, g.2 r ord0 = 0} ->
  load x hs z r ord0 = z r ord0.
Proof.
by move=> hr; rewrite mxE summxE big1_seq ?addr0 // => g /= ghs; rewrite mxE hr ?mulr0.
Qed.

(* One string: G hinges in the address x load y.                                 *)
Theorem fold_one_string (x : 'I_d) (hs : seq (R * token)) (a U : R) n e Z (D : {set 'I_d}) :
  (forall i, Z i != [::]) -> (0 < M)%N -> 0 < U -> {in hs, forall h : R * token, h.2 x ord0 = 0} ->
  (forall i, in_band a U n (load x hs (mean (Z i)) y ord0) (c i)) ->
  y \notin D -> unused hs Z D -> ending e ->
  exists T : seq (rank1 R d),
  [/\ size T = (1 + size hs + n + (d - 1 - #|D|) + e + 1)%N, uniform T
    & forall i, readout (run1 T (Z i)) = t (c i)].
Proof.
move=> Z0 M0 U0 hx band yD hD serve; rewrite -(size_map (hinge x)).
apply: (@fold_strategy 0 _ _ _ _ _ _ _ Z0 M0 U0 _ _ serve) => [i|].
  by rewrite addr0 hinges //; apply: band.
split=> // r rD i j; have [hr Zr] := hD r rD.
by rewrite !addr0 !hinges // !load_unused.
Qed.

End FoldStrategy.

(* Loading: with slopes beta_g from x_g on, register r of a point of group g is what *)
(* it was + a number that depends on g alone + beta_g (x - x_g).                 *)
Section Loading.
Variables (R : realFieldType) (d : nat) (x : 'I_d).
Notation token := 'cV[R]_d.
Implicit Types (g : R * token) (gs : seq (R * token)).

Definition slopes gs := pairmap (fun p q : R * token => (q.1, q.2 - p.2)) (0, 0) gs.

Lemma load_group gs g gs' : exists known : token, forall z : token,
  {in gs, forall h : R * token, h.1 <= z x ord0} -> g.1 <= z x ord0 ->
  {in gs', forall h : R * token, z x ord0 <= h.1} ->
  load x (slopes (gs ++ g :: gs')) z = z + (known + (z x ord0 - g.1) *: g.2).
Proof.
rewrite /slopes /load; pose f (p q : R * token) := (q.1, q.2 - p.2); rewrite -/f.
have key p : exists known : token, forall X : R,
    {in gs, forall h : R * token, h.1 <= X} -> g.1 <= X ->
    {in gs', forall h : R * token, X <= h.1} ->
    \sum_(h <- pairmap f p (gs ++ g :: gs')) relu (X - h.1) *: h.2 =
    known + (X - g.1) *: g.2 - (X - p.1) *: p.2; last first.
  by have [known hk] := key (0, 0); exists known => z h1 h2 h3; rewrite hk //= scaler0 subr0.
elim: gs p => [|q gs IH] p /=.
  exists ((g.1 - p.1) *: p.2) => X _ gX out; rewrite big_cons big1_seq ?addr0 /=; last first.
    move=> h hin; rewrite relu_neg ?scale0r // subr_le0.
    suff : h.1 \in [seq q.1 | q <- gs'] by case/mapP => q qin ->; apply: out.
    elim: gs' (g) hin {out} => //= q s IHs g'; rewrite inE => /orP[/eqP-> | /IHs]; rewrite ?mem_head //.
    by rewrite inE => ->; rewrite orbT.
  rewrite relu_pos ?subr_ge0 // scalerBr; apply/colP => i; rewrite !mxE; ring.
have [known hk] := IH q; exists ((q.1 - p.1) *: p.2 + known) => X hX gX out.
rewrite big_cons hk //=; last by move=> h hin; apply: hX; rewrite inE hin orbT.
rewrite relu_pos ?subr_ge0 ?hX ?mem_head // scalerBr.
apply/colP => i; rewrite !mxE. move: (q.2 i _) (p.2 i _) (known i _) (g.2 i _) (q.1) (p.1) (g.1) => b1 b2 b3 b4 b5 b6 b7; ring.
Qed.

Lemma slopes_flat gs : {in gs, forall h : R * token, h.2 x ord0 = 0} ->
  {in slopes gs, forall h : R * token, h.2 x ord0 = 0}.
Proof.
rewrite /slopes; have : ((0, 0) : R * token).2 x ord0 = 0 by rewrite mxE.
elim: gs (0, 0) => //= g gs IH p p0 hg h; rewrite inE => /orP[/eqP-> | hin] /=.
  by rewrite !mxE p0 hg ?mem_head // subr0.
by apply: (IH g) hin; [apply: hg; rewrite mem_head | move=> q qin; apply: hg; rewrite inE qin orbT].
Qed.

End Loading.
