(* Tools: the scalar product, finite choices of numbers, and blocks whose      *)
(* attention layer is the identity (rho = 1, alpha = 0, v = 0), so that the     *)
(* block acts on each token alone.                                             *)
From mathcomp Require Import all_ssreflect ssralg ssrnum matrix poly mxpoly.
From mathcomp.algebra_tactics Require Import ring.
From Hardmax Require Import Model Measure.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Numbers.
Variable R : realFieldType.

(* a positive number below finitely many positive ones *)
Lemma pos_lower (s : seq R) : {in s, forall x, 0 < x} ->
  exists2 h, 0 < h & {in s, forall x, h <= x}.
Proof.
elim: s => [|a s IH] pos; first by exists 1.
have [|h h0 hs] := IH; first by move=> x xs; apply: pos; rewrite inE xs orbT.
have a0 : 0 < a by apply: pos; rewrite mem_head.
exists (Num.min a h); first by rewrite lt_minr a0 h0.
move=> x; rewrite inE => /orP[/eqP-> | /hs]; first by rewrite le_minl lexx.
by move=> hx; rewrite le_minl hx orbT.
Qed.

(* a number >= 1 above finitely many *)
Lemma upper_bound (s : seq R) : exists2 h, 1 <= h & {in s, forall x, x < h}.
Proof.
elim: s => [|a s [h h1 hs]]; first by exists 1.
exists (Num.max (a + 1) h); first by rewrite le_maxr h1 orbT.
move=> x; rewrite inE => /orP[/eqP-> | /hs]; first by rewrite lt_maxr ltr_addl ltr01.
by move=> hx; rewrite lt_maxr hx orbT.
Qed.

Lemma seq_argmax (T : eqType) (f : T -> R) (s : seq T) : s != [::] ->
  exists2 x, x \in s & {in s, forall y, f y <= f x}.
Proof.
elim: s => // a [|b s] IH _; first by exists a; rewrite ?mem_head // => y; rewrite inE => /eqP->.
have [//|x xs hx] := IH; have [le | lt] := lerP (f a) (f x).
  by exists x => [|y]; rewrite inE ?xs ?orbT // => /orP[/eqP-> | /hx].
exists a => [|y]; rewrite ?mem_head // inE => /orP[/eqP-> // | /hx le].
exact: le_trans le (ltW lt).
Qed.

(* a natural number that is a root of none of finitely many non-zero polynomials *)
Lemma nonroot (p : {poly R}) : p != 0 -> exists n : nat, p.[n%:R] != 0.
Proof.
move=> p0; pose rs := [seq i%:R | i <- iota 0 (size p)] : seq R.
have [/hasP[_ /mapP[n _ ->] ht] | /hasPn h] := boolP (has (fun t => p.[t] != 0) rs).
  by exists n.
have ars : all (root p) rs by apply/allP => t /h; rewrite negbK.
have urs : uniq rs.
  by rewrite map_inj_uniq ?iota_uniq // => i j /eqP; rewrite eqr_nat => /eqP.
by have := max_poly_roots p0 ars urs; rewrite size_map size_iota ltnn.
Qed.

Lemma nonroots (ps : seq {poly R}) :
  exists n : nat, {in ps, forall p, p != 0 -> p.[n%:R] != 0}.
Proof.
have [|t ht] := @nonroot (\prod_(p <- ps | p != 0) p).
  by rewrite prodf_seq_neq0; apply/allP => p _; apply/implyP.
exists t => p pps p0; move: ht; rewrite horner_prod prodf_seq_neq0.
by move=> /allP/(_ p pps); rewrite p0.
Qed.

Lemma uniq_map_inj (T T' : eqType) (f : T -> T') (s : seq T) :
  uniq (map f s) -> {in s &, injective f}.
Proof.
elim: s => //= a s IH /andP[ha us] x y; rewrite !inE.
case/orP=> [/eqP-> | xs] /orP[/eqP-> | ys] // e.
- by case/negP: ha; rewrite e map_f.
- by case/negP: ha; rewrite -e map_f.
exact: IH.
Qed.

(* a list, reordered: first the items whose value occurs again later, then one *)
(* item for each value                                                         *)
Lemma representatives (T T' : eqType) (f : T -> T') (s : seq T) :
  exists e b, [/\ perm_eq s (e ++ b), uniq (map f b)
                & size b = size (undup (map f s))].
Proof.
elim: s => [|a s [e [b [p ub sb]]]]; first by exists [::], [::].
have [fa | fa] := boolP (f a \in map f s).
  by exists (a :: e), b; rewrite /= fa perm_cons.
exists e, (a :: b); split; last by rewrite /= (negPf fa) /= sb.
  by rewrite perm_sym perm_catC /= perm_cons perm_catC perm_sym.
rewrite /= ub andbT; apply: contra fa => /mapP[x xb ->]; apply: map_f.
by rewrite (perm_mem p) mem_cat xb orbT.
Qed.

End Numbers.

Section Vectors.
Variables (R : realFieldType) (d : nat).
Notation token := 'cV[R]_d.
Implicit Types (x y z u w : token) (a b : R).

Lemma dotC x y : dot x y = dot y x.
Proof. by apply: eq_bigr => i _; rewrite mulrC. Qed.
Lemma dotDr x y z : dot x (y + z) = dot x y + dot x z.
Proof. by rewrite /dot -big_split; apply: eq_bigr => i _; rewrite mxE mulrDr. Qed.
Lemma dotZr a x y : dot x (a *: y) = a * dot x y.
Proof. by rewrite dotC dotZl dotC. Qed.
Lemma dotNr x y : dot x (- y) = - dot x y.
Proof. by rewrite -scaleN1r dotZr mulN1r. Qed.
Lemma dotBr x y z : dot x (y - z) = dot x y - dot x z.
Proof. by rewrite dotDr dotNr. Qed.
Lemma dotBl x y z : dot (x - y) z = dot x z - dot y z.
Proof. by rewrite dotC dotBr !(dotC z). Qed.
Lemma dot0l x : dot 0 x = 0.
Proof. by rewrite -(scale0r 0) dotZl mul0r. Qed.

Definition sqn x : R := dot x x.

Lemma sqn_ge0 x : 0 <= sqn x.
Proof. by apply: sumr_ge0 => i _; rewrite -expr2 sqr_ge0. Qed.

Lemma sqn_eq0 x : (sqn x == 0) = (x == 0).
Proof.
apply/eqP/eqP => [|->]; last exact: dot0l.
move=> /psumr_eq0P h; apply/colP => i; rewrite mxE.
have /eqP := h (fun j _ => sqr_ge0 (x j ord0)) i isT.
by rewrite -expr2 sqrf_eq0 => /eqP.
Qed.

Lemma sqn_gt0 x : (0 < sqn x) = (x != 0).
Proof. by rewrite lt_neqAle sqn_ge0 andbT eq_sym sqn_eq0. Qed.

Lemma sqnZ a x : sqn (a *: x) = a ^+ 2 * sqn x.
Proof. by rewrite /sqn dotZl dotZr mulrA. Qed.

(* the Cauchy-Schwarz step of radial peeling (theory B3) *)
Lemma radial x y : sqn y <= sqn x -> y != x -> dot x y < sqn x.
Proof.
move=> le ne; have : 0 < sqn (x - y) by rewrite sqn_gt0 subr_eq0 eq_sym.
rewrite /sqn dotBr !dotBl -!/(sqn _) (dotC y x) => h.
rewrite -(ltr_pmul2l (ltr0Sn R 1)) -subr_gt0.
apply: lt_le_trans h _; rewrite -subr_ge0.
have -> : 2%:R * sqn x - 2%:R * dot x y -
   (sqn x - dot x y - (dot x y - sqn y)) = sqn x - sqn y by ring.
by rewrite subr_ge0.
Qed.

(* a direction that tells finitely many tokens apart: the moment curve *)
Lemma positive_direction (S : seq token) :
  exists u : token, (forall i, 0 < u i ord0) /\ {in S &, injective (dot u)}.
Proof.
pose P (z : token) := rVpoly z^T.
have hP t z : (P z).[t] = dot (\col_(i < d) t ^+ i) z.
  rewrite /P horner_poly; apply: eq_bigr => i _.
  by rewrite valK !mxE mulrC.
have [n ht] := nonroots ('X :: [seq P (z.1 - z.2) | z <- allpairs pair S S]).
have n0 : 0 < n%:R :> R.
  by rewrite lt_def ler0n andbT -[n%:R]hornerX ht ?mem_head ?polyX_eq0.
exists (\col_(i < d) n%:R ^+ i); split=> [i|x y xS yS e]; first by rewrite mxE exprn_gt0.
apply/eqP; rewrite -subr_eq0.
apply: contraTT isT => ne; have := ht (P (x - y)).
rewrite hP dotBr e subrr eqxx; apply.
  by rewrite in_cons; apply/orP; right; apply/mapP; exists (x, y) => //; apply: allpairs_f.
apply: contra ne => /eqP e0; rewrite -[x - y]trmxK -[(x - y)^T]rVpolyK -/(P _) e0.
by rewrite raddf0 trmx0.
Qed.

Lemma generic_direction (S : seq token) : exists u, {in S &, injective (dot u)}.
Proof. by have [u [_ uI]] := positive_direction S; exists u. Qed.

(* all but finitely many points of a line avoid finitely many conditions *)
Lemma avoid_line (s : seq (token * token)) :
  exists n : nat, {in s, forall p, (p.1 != 0) || (p.2 != 0) -> p.1 + n%:R *: p.2 != 0}.
Proof.
pose f (p : token * token) : {poly R} :=
  if [pick i | (p.1 i ord0 != 0) || (p.2 i ord0 != 0)] is Some i
  then (p.1 i ord0)%:P + p.2 i ord0 *: 'X else 0.
have [n ht] := nonroots (map f s).
exists n => p ps h; have := ht (f p) (map_f f ps); rewrite /f.
case: pickP => [i hi | none].
  set q := (_ + _ : {poly R}); have q0 : q != 0.
    apply: contraTN hi => /eqP /polyP e; have := e 0%N; have := e 1%N.
    rewrite !coef0 !coefD !coefC !coefZ !coefX /= mulr0 mulr1 addr0 add0r => -> ->.
    by rewrite eqxx.
  move=> /(_ q0); rewrite /q hornerD hornerC hornerZ hornerX.
  by apply: contraNN => /eqP /matrixP /(_ i ord0); rewrite !mxE mulrC => ->.
have z0 (x : token) : (forall i, x i ord0 = 0) -> x = 0.
  by move=> e; apply/colP => i; rewrite e mxE.
have zz i : (p.1 i ord0 = 0) * (p.2 i ord0 = 0).
  by have /norP[/negPn/eqP-> /negPn/eqP->] := negbT (none i).
have e1 : p.1 = 0 by apply: z0 => i; rewrite zz.
have e2 : p.2 = 0 by apply: z0 => i; rewrite zz.
by rewrite e1 e2 eqxx in h.
Qed.

End Vectors.

Section Feedforward.
Variables (R : realFieldType) (d : nat).
Notation token := 'cV[R]_d.
Implicit Types (z u w : token) (b : R).

(* parameters (u, b, w) of a feed-forward layer of hidden width 1 *)
Definition ffp := (token * R * token)%type.
Definition ff_step (p : ffp) z := z + relu (dot p.1.1 z + p.1.2) *: p.2.
Definition ff_map (P : seq ffp) z := foldl (fun z p => ff_step p z) z P.
Definition ff_block (p : ffp) : rank1 R d := Rank1 p.1.1 p.1.2 p.2 1 0 0.

Lemma ff_map_cat P P' z : ff_map (P ++ P') z = ff_map P' (ff_map P z).
Proof. exact: foldl_cat. Qed.

Lemma relu_pos (t : R) : 0 <= t -> relu t = t.
Proof. by move=> h; rewrite /relu; apply/max_idPr. Qed.
Lemma relu_neg (t : R) : t <= 0 -> relu t = 0.
Proof. by move=> h; rewrite /relu; apply/max_idPl. Qed.

Lemma run_ff P Z : run1 [seq ff_block p | p <- P] Z = [seq ff_map P z | z <- Z].
Proof.
elim: P Z => [|p P IH] Z; first by rewrite map_id.
rewrite /= run1_cons IH /apply_block SA_rank1 /= -!map_comp.
apply: eq_map => z /=; rewrite scale1r scale0r addr0; congr (ff_map P _).
exact: (FF_rank1 (ff_block p)).
Qed.

Lemma mean_map (f : token -> token) Z : mean (map f Z) = integral f Z.
Proof. by rewrite /mean size_map big_map. Qed.

Lemma mean_const (e : token) (Z : seq token) : Z != [::] -> mean [seq e | _ <- Z] = e.
Proof. by move=> Z0; rewrite mean_map integral_const. Qed.

End Feedforward.
