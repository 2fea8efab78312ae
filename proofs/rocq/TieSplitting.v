(* Tie splitting (theory A2, B1; the mended form of Lemma 3.4, for sequences   *)
(* of any lengths, with repeated tokens): feed-forward layers that keep the    *)
(* tokens distinct and make the means of N sequences with different measures   *)
(* pairwise distinct. At most N - 1 layers.                                    *)
From mathcomp Require Import all_ssreflect ssralg ssrnum matrix.
From mathcomp.algebra_tactics Require Import ring.
From Hardmax Require Import Model Measure Feedforward.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section TieSplitting.
Variables (R : realFieldType) (d : nat).
Notation token := 'cV[R]_d.
Implicit Types (S Z : seq token) (Zs : seq (seq token)) (u w : token) (b : R).
Local Notation same := (same_measure R).

(* the integral of sigma(<u,z> + b) against the measure of Z *)
Definition activation u b Z : R := integral (fun z => relu (dot u z + b) : R^o) Z.

Lemma mean_step u b w Z :
  mean [seq ff_step (u, b, w) z | z <- Z] = mean Z + activation u b Z *: w.
Proof. by rewrite mean_map /ff_step /= integralD integral_scaler. Qed.

(* A2: for different measures there is a half-space on which the activations   *)
(* differ. x is the point of largest <u,.> where the measures differ, and the  *)
(* half-space holds no other such point.                                       *)
Theorem split_tie S Z Z' : {subset Z <= S} -> {subset Z' <= S} ->
  ~~ same_measureb R Z Z' -> exists u b, activation u b Z != activation u b Z'.
Proof.
move=> sZ sZ' ne; have [u inj] := generic_direction S; exists u.
pose D := [seq z <- undup S | mu R Z z != mu R Z' z].
have D0 : D != [::].
  case/allPn: ne => z zZ neq; rewrite -has_filter; apply/hasP; exists z => //.
  by rewrite mem_undup; move: zZ; rewrite mem_cat => /orP[/sZ | /sZ'].
have [x xD xmax] := seq_argmax (dot u) D0.
have DS z : z \in D -> z \in S by rewrite mem_filter mem_undup => /andP[].
have [|h h0 hD] := @pos_lower _ [seq dot u x - dot u z | z <- D & z != x].
  move=> _ /mapP[z + ->]; rewrite mem_filter => /andP[zx zD].
  rewrite subr_gt0 lt_neqAle xmax // andbT; apply: contra zx => /eqP e.
  by apply/eqP/inj => //; apply: DS.
exists (h - dot u x); rewrite /activation.
rewrite !(@integral_mu_scalar R _ _ _ (undup S)) ?undup_uniq //; last first.
- by move=> z /sZ; rewrite mem_undup.
- by move=> z /sZ'; rewrite mem_undup.
rewrite -subr_eq0 -sumrB (bigD1_seq x) ?undup_uniq ?mem_undup ?DS //=.
rewrite big1_seq => [|z /andP[zx zS]].
  rewrite addr0 -mulrBl [dot u x + _]addrC subrK relu_pos ?ltW //.
  rewrite mulf_eq0 (gt_eqF h0) orbF subr_eq0.
  by move: xD; rewrite mem_filter => /andP[].
have [zD | zD] := boolP (z \in D); last first.
  by move: zD; rewrite mem_filter zS andbT negbK => /eqP ->; rewrite subrr.
rewrite relu_neg ?mulr0 ?subrr //.
have /hD : dot u x - dot u z \in [seq dot u x - dot u z | z <- D & z != x].
  by apply: (map_f (fun z => dot u x - dot u z)); rewrite mem_filter zx.
by rewrite -subr_ge0 -oppr_le0; congr (_ <= 0); ring.
Qed.

(* In dimension 0 there is only one probability measure. *)
Lemma nonzero_token Z Z' : Z != [::] -> Z' != [::] -> ~~ same_measureb R Z Z' ->
  exists w : token, w != 0.
Proof.
move=> Z0 Z'0 ne; case: d Z Z' Z0 Z'0 ne => [|d'] Z Z' Z0 Z'0 ne; last first.
  by exists (const_mx 1); apply/eqP => /colP/(_ ord0)/eqP; rewrite !mxE oner_eq0.
case/negP: ne; apply/same_measureP => z.
have h (Y : seq 'cV[R]_0) : Y != [::] -> mu R Y z = 1.
  move=> Y0; rewrite -(@mu_total R _ Y [:: z]) ?big_seq1 // => y _.
  by rewrite inE [y]flatmx0 [z]flatmx0.
by rewrite !h.
Qed.

(* B1, one layer: it parts the given tie, parts nothing that was apart, and    *)
(* keeps the tokens distinct.                                                  *)
Theorem split_tie_keep S Zs Y Y' :
  {in Zs, forall Z, Z != [::]} -> {in Zs, forall Z, {subset Z <= S}} ->
  Y \in Zs -> Y' \in Zs -> ~~ same_measureb R Y Y' ->
  exists p : ffp R d,
  [/\ {in S &, injective (ff_step p)},
      mean (map (ff_step p) Y) != mean (map (ff_step p) Y')
    & {in Zs &, forall Z Z', mean Z != mean Z' ->
        mean (map (ff_step p) Z) != mean (map (ff_step p) Z')}].
Proof.
move=> ne sub YZ Y'Z dist.
have [u [b act]] := split_tie (sub _ YZ) (sub _ Y'Z) dist.
have [w w0] := nonzero_token (ne _ YZ) (ne _ Y'Z) dist.
pose tok z z' := (z - z', (relu (dot u z + b) - relu (dot u z' + b)) *: w).
pose sqs Z Z' := (mean Z - mean Z', (activation u b Z - activation u b Z') *: w).
have [n ht] := avoid_line ([seq tok z z' | z <- S, z' <- S]
                           ++ [seq sqs Z Z' | Z <- Zs, Z' <- Zs]).
set t : R := n%:R in ht.
have key Z Z' : Z \in Zs -> Z' \in Zs ->
    (mean Z != mean Z') || (activation u b Z != activation u b Z') ->
    mean (map (ff_step (u, b, t *: w)) Z) != mean (map (ff_step (u, b, t *: w)) Z').
  move=> ZZ Z'Z h; rewrite !mean_step.
  have := ht (sqs Z Z'); rewrite mem_cat (allpairs_f sqs ZZ Z'Z) orbT => /(_ isT).
  rewrite /sqs /= scaler_eq0 !subr_eq0 (negPf w0) orbF => /(_ h).
  apply: contra => /eqP e.
  by rewrite scalerBl scalerBr !scalerA !(mulrC t) addrACA -opprD -![(_ * t) *: w]scalerA e subrr.
exists (u, b, t *: w); split; first 1 last.
- by apply: key => //; rewrite act orbT.
- by move=> Z Z' ZZ Z'Z h; apply: key => //; rewrite h.
move=> z z' zS z'S e; apply/eqP; rewrite -subr_eq0.
apply: contraTT isT => zz; have := ht (tok z z').
rewrite mem_cat (allpairs_f tok zS z'S) => /(_ isT); rewrite /= zz => /(_ isT).
case/negP; rewrite scalerBl scalerBr !scalerA !(mulrC t) addrACA -opprD -![(_ * t) *: w]scalerA.
by rewrite subr_eq0; apply/eqP.
Qed.

Lemma ff_map_rcons P p (z : token) : ff_map (rcons P p) z = ff_step p (ff_map P z).
Proof. by rewrite -cats1 ff_map_cat. Qed.

(* One layer for each sequence of the list e, if the means over the list b     *)
(* are distinct from the start.                                                *)
Lemma split_ties_cat S (e b : seq (seq token)) :
  {in e ++ b, forall Z, Z != [::]} -> {in e ++ b, forall Z, {subset Z <= S}} ->
  distinct_measures R (e ++ b) -> uniq [seq mean Z | Z <- b] ->
  exists P : seq (ffp R d),
  [/\ (size P <= size e)%N, {in S &, injective (ff_map P)}
    & uniq [seq mean (map (ff_map P) Z) | Z <- e ++ b]].
Proof.
move=> ne sub dist ub; elim: e ne sub dist => [|Z e IH] ne sub.
  by exists [::]; split=> //=; rewrite (eq_map (f2 := @mean R d)) // => Y; rewrite map_id.
case=> /= /andP[Zr ur] dr.
set r := e ++ b in ne sub Zr ur dr IH *.
have rin Y : Y \in r -> Y \in Z :: r by move=> Yr; rewrite inE Yr orbT.
have [|||P [sP inj um]] := IH.
- by move=> Y /rin; apply: ne.
- by move=> Y /rin; apply: sub.
- by split=> // Y Y' /rin Yin /rin; apply: dr.
pose m Y := mean (map (ff_map P) Y).
have [tie | notie] := boolP (m Z \in map m r); last first.
  exists P; split=> //; first exact: leq_trans sP (leqnSn _).
  by rewrite /= um andbT.
case/mapP: tie => Y Yr mZY.
pose push X := map (ff_map P) X.
have Zin : Z \in Z :: r by rewrite mem_head.
have Yin := rin _ Yr.
have [||||| p [pinj psplit pkeep]] :=
    @split_tie_keep (push S) (map push (Z :: r)) (push Z) (push Y).
- by move=> _ /mapP[X Xin ->]; have := ne X Xin; case: (X).
- move=> _ /mapP[X Xin ->] _ /mapP[x xX ->].
  by apply: map_f; apply: sub xX.
- exact: map_f.
- exact: map_f.
- apply/negP => /same_measureP h; case/negP: Zr.
  suff -> : Z = Y by [].
  apply: dr => //.
  by apply: same_measure_map_inj h; [exact: inj | exact: sub | exact: sub].
pose m' X := mean (map (ff_map (rcons P p)) X).
have m'E X : m' X = mean (map (ff_step p) (push X)).
  by rewrite /m' /push -map_comp; congr mean; apply: eq_map => z; apply: ff_map_rcons.
have keep : {in Z :: r &, forall X X', m' X = m' X' -> m X = m X'}.
  move=> X X' Xin X'in; rewrite !m'E => eX; apply/eqP; apply: contraTT isT => nm.
  have := pkeep (push X) (push X') (map_f push Xin) (map_f push X'in) nm.
  by rewrite eX eqxx.
have minj := uniq_map_inj um.
exists (rcons P p); split; first by rewrite size_rcons.
  move=> x y xS yS; rewrite !ff_map_rcons => /pinj eP.
  by apply: inj => //; apply: eP; exact: map_f.
rewrite -/m' /= -/m'; apply/andP; split.
  apply/mapP => -[X Xr eX].
  have eXY : X = Y by apply: minj => //; exact: etrans (esym (keep _ _ Zin (rin _ Xr) eX)) mZY.
  by case/eqP: psplit; rewrite -!m'E -eXY; exact: eX.
rewrite map_inj_in_uniq; first exact: map_uniq um.
by move=> X X' Xr X'r eX; apply: minj => //; apply: keep (rin _ Xr) (rin _ X'r) eX.
Qed.

(* B1: at most N - (number of distinct means) layers; none if the means are    *)
(* distinct already.                                                           *)
Definition nmeans Zs := size (undup [seq mean Z | Z <- Zs]).

Theorem split_ties S Zs :
  {in Zs, forall Z, Z != [::]} -> {in Zs, forall Z, {subset Z <= S}} ->
  distinct_measures R Zs ->
  exists P : seq (ffp R d),
  [/\ (size P <= size Zs - nmeans Zs)%N, {in S &, injective (ff_map P)}
    & uniq [seq mean (map (ff_map P) Z) | Z <- Zs]].
Proof.
move=> ne sub [u dist].
have [e [b [perm ub sb]]] := representatives (@mean R d) Zs.
have mem Z : (Z \in e ++ b) = (Z \in Zs) by rewrite (perm_mem perm).
have [|||//|P [sP inj um]] := @split_ties_cat S e b.
- by move=> Z; rewrite mem; apply: ne.
- by move=> Z; rewrite mem; apply: sub.
- split; first by rewrite -(perm_uniq perm).
  by move=> Z Z'; rewrite !mem; apply: dist.
exists P; split=> //; last by rewrite (perm_uniq (perm_map _ perm)).
by rewrite /nmeans -sb (perm_size perm) size_cat addnK.
Qed.

End TieSplitting.
