(* Facets and shells in general position (theory, section 8, Theorems 6a and 6c).   *)
(* A hyperplane below the points is turned about those it touches until it touches  *)
(* d of them. Tilted, it makes a shell of them: N points go in ceil(N / d) shells.   *)
From mathcomp Require Import all_ssreflect ssralg ssrnum matrix zmodp mxalgebra zify.
From Hardmax Require Import Model Measure Feedforward Pushes Transverse GeneralPosition.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Functionals.
Variables (R : realFieldType) (D N : nat).
Notation token := 'cV[R]_D.
Variable p : 'I_N -> token.
Implicit Types (A G S : {set 'I_N}) (q g : token * R) (j : 'I_N).

(* Any D + 1 of the points, or all if they are fewer, are affinely independent.  *)
Definition full_position := independent D.+1 p.

(* The affine functional x |-> <q.1, x> + q.2 at point j.                        *)
Definition height q j : R := dot q.1 (p j) + q.2.

Lemma heightD q g t j : height (q.1 + t *: g.1, q.2 + t * g.2) j = height q j + t * height g j.
Proof. by rewrite /height /= dotC dotDr dotZr !(dotC (p j)) mulrDr addrACA. Qed.

(* The points of A where it is 0.                                                *)
Definition touched q A := [set j in A | height q j == 0].

Let lifted j : 'rV[R]_(D + 1) := row_mx (p j)^T 1%:M.
Let rows S := \matrix_(i < #|S|) lifted (enum_val i).

Lemma lifted_height j (v : 'cV[R]_(D + 1)) :
  (lifted j *m v) ord0 ord0 = height (usubmx v, dsubmx v ord0 ord0) j.
Proof.
rewrite -[in LHS](vsubmxK v) mul_row_col mul1mx mxE dot_tr dotC /height.
by congr (_ + _); rewrite mxE eqxx mulr1n.
Qed.

Lemma rows_height S v i : (rows S *m v) i ord0 =
  height (usubmx v, dsubmx v ord0 ord0) (enum_val i).
Proof.
rewrite -lifted_height -[lifted _](rowK (fun i => lifted (enum_val i))).
by rewrite -/(rows S) -row_mul [RHS]mxE.
Qed.

Hypothesis gp : full_position.

Lemma rows_free S : (#|S| <= D.+1)%N -> row_free (rows S).
Proof.
move=> sS; rewrite -kermx_eq0; apply/eqP/row_matrixP => i0; rewrite row0.
have /sub_kermxP : (row i0 (kermx (rows S)) <= kermx (rows S))%MS by exact: row_sub.
move: (row _ _) => l; rewrite mulmx_sum_row => e; apply/rowP => i; rewrite [RHS]mxE.
pose L j : R := l ord0 (enum_rank_in (enum_valP i) j).
have {}e : \sum_(j in S) L j *: lifted j = 0.
  rewrite big_enum_val -[RHS]e; apply: eq_bigr => i' _.
  by rewrite /L enum_valK_in rowK.
have := gp sS (l := L) _ _ (enum_valP i); rewrite {3}/L enum_valK_in; apply.
  have := congr1 (fun r : 'rV_(D + 1) => r ord0 (rshift D ord0)) e.
  rewrite summxE [X in _ = X -> _]mxE => h; rewrite -[RHS]h; apply: eq_bigr => j _.
  by rewrite mxE row_mxEr mxE eqxx mulr1.
apply/colP => r; have := congr1 (fun z : 'rV_(D + 1) => z ord0 (lshift 1 r)) e.
rewrite !summxE [X in _ = X -> _]mxE => h; rewrite [RHS]mxE -[RHS]h; apply: eq_bigr => j _.
by rewrite mxE [in RHS]mxE row_mxEl mxE.
Qed.

(* A functional that is not 0 touches at most D points.                          *)
Lemma touched_le q A : q != (0, 0) -> (#|touched q A| <= D)%N.
Proof.
move=> q0; rewrite leqNgt; apply: contraNN q0 => lt.
pose S := [set j in take D.+1 (enum (touched q A))].
have cS : #|S| = D.+1.
  by rewrite cardsE (card_uniqP (take_uniq _ (enum_uniq _))) size_takel // -cardE.
have /row_fullP[B BA] : row_full (rows S).
  have /eqP rS : row_free (rows S) by apply: rows_free; rewrite cS.
  by apply/eqP; rewrite rS cS addn1.
pose v : 'cV[R]_(D + 1) := col_mx q.1 (q.2)%:M.
have : v = 0.
  rewrite -[v]mul1mx -BA -mulmxA; suff -> : rows S *m v = 0 by rewrite mulmx0.
  apply/colP => i; rewrite rows_height col_mxKu col_mxKd [in LHS]mxE eqxx mulr1n [RHS]mxE.
  have := enum_valP i; rewrite inE => /mem_take; rewrite mem_enum inE => /andP[_ /eqP].
  by case: (q).
rewrite /v -[0]col_mx0 => /eq_col_mx[q1 /matrixP/(_ ord0 ord0)].
by rewrite !mxE eqxx mulr1n => q2; case: (q) q1 q2 => /= ? ? -> ->.
Qed.

(* Any D + 1 points can have any values.                                         *)
Lemma interpolate S (g : 'I_N -> R) : (#|S| <= D.+1)%N ->
  exists q, {in S, forall j, height q j = g j}.
Proof.
move=> sS; have /row_freeP[B SB] := rows_free sS.
pose v := B *m \col_(i < #|S|) g (enum_val i).
exists (usubmx v, dsubmx v ord0 ord0) => j jS.
have := rows_height v (enum_rank_in jS j); rewrite enum_rankK_in // => <-.
by rewrite /v mulmxA SB mul1mx mxE enum_rankK_in.
Qed.
End Functionals.

(* Points of R^d; coordinate k is the height, the others are called E.             *)
Section Shells.
Variables (R : realFieldType) (d N : nat) (k : 'I_d).
Notation token := 'cV[R]_d.
Variable p : 'I_N -> token.
Implicit Types (A S : {set 'I_N}) (q t : token * R) (j : 'I_N) (s : seq {set 'I_N}).

(* A functional of E, as one of R^d.                                              *)
Definition extend (u : 'cV[R]_d.-1) : token :=
  \col_i (if unlift k i is Some i' then u i' ord0 else 0).

Lemma extend_dot u (z : token) : dot (extend u) z = dot u (row' k z).
Proof.
rewrite /dot (bigD1_ord k) //= mxE unlift_none mul0r add0r.
by apply: eq_bigr => i _; rewrite !mxE liftK.
Qed.

Lemma extend_level u : extend u k ord0 = 0.
Proof. by rewrite mxE unlift_none. Qed.

(* S is a shell of A: a hyperplane t = 0 touches A in S alone and from below, so     *)
(* that t falls as the height rises; and functionals have any values on S.         *)
Definition is_shell A S := [/\ S \subset A,
  exists t, [/\ t.1 k ord0 < 0, {in S, forall j, height p t j = 0}
    & {in A :\: S, forall j, height p t j < 0}]
  & forall g : 'I_N -> R, exists q, {in S, forall j, height p q j = g j}].

(* Shells of A, each of what the earlier ones left, until nothing is left.         *)
Fixpoint are_shells A s :=
  if s is B :: s' then is_shell A B /\ are_shells (A :\: B) s' else A = set0.

(* In general position, in R^d and in E, d points are a shell.                     *)
Section General.
Hypotheses (gp : full_position p) (gpE : full_position (fun j => row' k (p j))).

(* One turn: about the touched points until a new one is touched.                 *)
Lemma turn A t : t.1 k ord0 = -1 -> {in A, forall j, height p t j <= 0} ->
  (#|touched p t A| < minn d #|A|)%N ->
  exists t', [/\ t'.1 k ord0 = -1, {in A, forall j, height p t' j <= 0}
    & (#|touched p t A| < #|touched p t' A|)%N].
Proof.
move=> tk tA; rewrite leq_min => /andP[td tlt].
have [i iA hi] : exists2 i, i \in A & height p t i != 0.
  apply/exists_inP; move: tlt; rewrite ltnNge; apply: contraR.
  rewrite negb_exists_in => /forall_inP h; apply/subset_leq_card/subsetP => j jA.
  by rewrite inE jA; have := h j jA; rewrite negbK.
have [|u uT] := interpolate gpE (S := i |: touched p t A) (fun j => (j == i)%:R).
  rewrite prednK ?(leq_ltn_trans _ (ltn_ord k)) // (leq_trans _ td) //.
  by rewrite cardsU1; case: (i \notin _).
pose g : token * R := (extend u.1, u.2).
have gE j : height p g j = height (fun j => row' k (p j)) u j by rewrite /height extend_dot.
have gi : height p g i = 1 by rewrite gE uT ?setU11 // eqxx.
have gT j : j \in touched p t A -> height p g j = 0.
  move=> jT; rewrite gE uT ?inE; last by move: jT; rewrite inE => ->; rewrite orbT.
  by case: eqP jT => [-> | //]; rewrite inE (negPf hi) andbF.
pose above := [pred j | (j \in A) && (0 < height p g j)].
have P1 : above i by rewrite /= iA gi ltr01.
case: (arg_minP (P := above) (fun j => - height p t j / height p g j) P1).
move=> j0 /andP[j0A h0] least.
set x := - height p t j0 / height p g j0 in least.
have x0 : 0 <= x by apply: divr_ge0; [rewrite oppr_ge0 tA | exact: ltW].
pose t' := (t.1 + x *: g.1, t.2 + x * g.2).
have ht' j : height p t' j = height p t j + x * height p g j by apply: heightD.
exists t'; split.
- by rewrite mxE tk [X in _ + X]mxE extend_level mulr0 addr0.
- move=> j jA; rewrite ht'; case: (ltP 0 (height p g j)) => hj.
    have := least j; rewrite /= jA hj => /(_ isT).
    by rewrite ler_pdivl_mulr // -subr_le0 opprK addrC.
  by rewrite -[0]addr0 ler_add ?tA // mulr_ge0_le0.
apply: (@proper_card _ (mem (touched p t A))); apply/properP; split.
  apply/subsetP => j jT; move: (jT); rewrite !inE => /andP[-> /eqP hj].
  by rewrite ht' hj gT ?mulr0 ?addr0 ?eqxx // inE jT.
have g0 : height p g j0 != 0 by rewrite gt_eqF.
exists j0; first by rewrite inE j0A ht' /x divfK // addrN eqxx.
by apply/negP => jT; move: h0; rewrite gT ?ltxx.
Qed.

Theorem lower_facet A : exists S, is_shell A S /\ #|S| = minn d #|A|.
Proof.
have tA t : (#|touched p t A| <= #|A|)%N.
  by apply/subset_leq_card/subsetP => j; rewrite inE => /andP[].
have [t [tk tle td]] : exists t, [/\ t.1 k ord0 = -1, {in A, forall j, height p t j <= 0}
    & (minn d #|A| <= #|touched p t A|)%N].
  have : exists t, [/\ t.1 k ord0 = -1, {in A, forall j, height p t j <= 0}
      & (minn d #|A| - minn d #|A| <= #|touched p t A|)%N].
    have [C _ hC] := upper_bound [seq - p j k ord0 | j <- enum 'I_N].
    exists (- unit R k, - C); rewrite subnn; split=> //= [|j _]; first by rewrite !mxE !eqxx.
    rewrite /height /= dotC dotNr dotC dot_unit -[- C]opprK opprK subr_le0 ltW // hC //.
    by apply: (map_f (fun j => - p j k ord0)); rewrite mem_enum.
  move: {2}(minn d #|A|) => n; elim: n => [|n IH]; first by rewrite subn0.
  case=> t [tk tle le]; apply: IH.
  case: (ltnP #|touched p t A| (minn d #|A|)) => lt.
    have [t' [t'k t'A lt']] := turn tk tle lt; exists t'; split=> //.
    by move: le lt'; move: #|_| #|_| (minn _ _) => *; lia.
  by exists t; split=> //; apply: leq_trans (leq_subr _ _) lt.
have t0 : t != (0, 0).
  by apply: contra_eqN tk => /eqP->; rewrite mxE eq_sym oppr_eq0 oner_eq0.
have cT : #|touched p t A| = minn d #|A|.
  by apply/eqP; rewrite eqn_leq td andbT leq_min touched_le // tA.
exists (touched p t A); split=> //; split.
- by apply/subsetP => j; rewrite inE => /andP[].
- exists t; split=> [|j|j]; first by rewrite tk oppr_lt0 ltr01.
    by rewrite inE => /andP[_ /eqP].
  rewrite !inE => /andP[]; case: (j \in A) (tle j) => //= /(_ isT).
  by rewrite le_eqVlt; case: eqP => //= _ lt _ _.
by move=> g; apply: interpolate; rewrite ?cT // leqW // geq_minl.
Qed.

Theorem shells A : exists2 s, size s = ceil_div #|A| d & are_shells A s.
Proof.
have d0 : (0 < d)%N by apply: leq_ltn_trans (ltn_ord k).
have [n] := ubnP #|A|; elim: n A => // n IH A An.
have [-> | A0] := eqVneq A set0.
  by exists [::]; rewrite //= cards0 /ceil_div add0n divn_small // prednK.
have [S [SA cS]] := lower_facet A; have [sub _ _] := SA.
have A1 : (0 < #|A|)%N by rewrite card_gt0.
have cB : #|A :\: S| = (#|A| - minn d #|A|)%N by rewrite cardsD (setIidPr sub) cS.
have [|s size_s sB] := IH (A :\: S); first by rewrite cB; lia.
exists (S :: s) => //=; rewrite size_s cB /ceil_div.
case: (leqP d #|A|) => le.
  have -> : (#|A| + d.-1 = d + (#|A| - d + d.-1))%N by lia.
  by rewrite [RHS]divnDl // divnn d0.
rewrite subnn add0n divn_small ?prednK //.
have -> : (#|A| + d.-1 = d + #|A|.-1)%N by lia.
by rewrite divnDl // divnn d0 divn_small // prednK // ltnW.
Qed.
End General.

(* Different points in any position: the lowest one in a generic direction is a      *)
(* shell.                                                                        *)
Theorem single_shells A : injective p -> exists2 s, size s = #|A| & are_shells A s.
Proof.
move=> inj; have [u [u0 uI]] := positive_direction [seq p j | j <- enum 'I_N].
have uD i j : i != j -> dot u (p i) != dot u (p j).
  by move=> ij; apply: contraNneq ij => /uI e; apply/eqP/inj/e; apply: map_f; rewrite mem_enum.
have [n] := ubnP #|A|; elim: n A => // n IH A An.
have [-> | /set0Pn[j0 j0A]] := eqVneq A set0; first by exists [::]; rewrite ?cards0.
case: (arg_minP (P := [pred j | j \in A]) (fun j => dot u (p j)) j0A) => j /= jA least.
have cB : #|A| = #|A :\ j|.+1 by rewrite (cardsD1 j) jA.
have [|s size_s sB] := IH (A :\ j); first by rewrite -ltnS -cB.
exists ([set j] :: s); first by rewrite /= size_s -cB.
have hE c i : height p (- u, c) i = c - dot u (p i) by rewrite /height /= dotC dotNr dotC addrC.
split=> //; split; first by rewrite sub1set.
  exists (- u, dot u (p j)); split=> [|i|i]; first by rewrite mxE oppr_lt0.
    by rewrite inE => /eqP->; rewrite hE subrr.
  by rewrite !inE => /andP[ij iA]; rewrite hE subr_lt0 lt_neqAle eq_sym uD //; apply: least.
by move=> g; exists (0, g j) => i; rewrite inE => /eqP->; rewrite /height dot0l add0r.
Qed.
End Shells.

Lemma eq_shells (R : realFieldType) (d N : nat) (k : 'I_d) (p p' : 'I_N -> 'cV[R]_d) A s :
  p =1 p' -> are_shells k p A s -> are_shells k p' A s.
Proof.
move=> e; have E q j : height p' q j = height p q j by rewrite /height e.
elim: s A => //= S s IH A [[sub [t [tk tS tA]] val] sh]; split; last exact: IH.
split=> // [|g]; first by exists t; split=> // j jin; rewrite E; [apply: tS | apply: tA].
by have [q qS] := val g; exists q => j jS; rewrite E qS.
Qed.

(* The space E of the points of height 0, as the points without coordinate k: if  *)
(* the shadows are in general position, so are they in these d - 1 coordinates.   *)
Lemma shadow_position (R : realFieldType) (d N : nat) (k : 'I_d) (f : 'cV[R]_d)
    (p : 'I_N -> 'cV[R]_d) : f k ord0 = 1 -> general_position (shadow k f p) ->
  full_position (fun j => row' k (shadow k f p j)).
Proof.
move=> fk gp S; rewrite prednK ?(leq_ltn_trans _ (ltn_ord k)) // => sS l l0 e.
apply: (gp S sS l l0); apply/colP => i; rewrite summxE [RHS]mxE.
case: (unliftP k i) => [i' -> | ->].
  have /colP/(_ i') := e; rewrite summxE [X in _ = X -> _]mxE => h; rewrite -[RHS]h.
  by apply: eq_bigr => j _; rewrite mxE [RHS]mxE [in RHS]mxE.
by apply: big1 => j _; rewrite /shadow !mxE fk mulr1 subrr mulr0.
Qed.
