(* Facets and shells in general position (theory, section 8).                    *)
(* A hyperplane is turned about the points it touches until it touches D of      *)
(* them; the others stay below it. Tilted, it makes a shell of them. Repeated,    *)
(* N points go in ceil((N - 1) / D) shells.                                      *)
From mathcomp Require Import all_ssreflect ssralg ssrnum matrix zmodp mxalgebra zify.
From Hardmax Require Import Model Measure Feedforward GeneralPosition.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Facets.
Variables (R : realFieldType) (D N : nat).
Notation token := 'cV[R]_D.
Variable p : 'I_N -> token.
Implicit Types (A G S : {set 'I_N}) (q g : token * R) (j : 'I_N).

(* Any D + 1 of the points, or all if they are fewer, are affinely independent.  *)
Definition full_position := forall S, (#|S| <= D.+1)%N -> affinely_independent p S.

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

(* A functional, not 0, that vanishes on at most D given points.                 *)
Lemma vanishing G : (#|G| <= D)%N ->
  exists q, q != (0, 0) /\ {in G, forall j, height q j = 0}.
Proof.
move=> sG; have [i iA] : exists i, ~~ (row i (1%:M : 'M[R]_(D + 1)) <= rows G)%MS.
  apply/existsP; rewrite -negb_forall; apply/negP => /forallP/row_subP/mxrankS.
  by rewrite mxrank1 leqNgt (leq_ltn_trans (rank_leq_row _)) // addn1.
have [v Av vi] := outside_span iA.
exists (usubmx v, dsubmx v ord0 ord0); split.
  apply: contraNneq vi => -[u0 b0]; rewrite -[v]vsubmxK u0.
  have -> : dsubmx v = 0 by rewrite [LHS]mx11_scalar b0 raddf0.
  by rewrite col_mx0 mulmx0 mxE.
move=> j jG; have := rows_height v (enum_rank_in jG j).
by rewrite Av mxE enum_rankK_in // => <-.
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

(* One turn: about the touched points until a new one is touched.                *)
Lemma turn A q : q != (0, 0) -> {in A, forall j, height q j <= 0} ->
  (#|touched q A| < minn D #|A|)%N ->
  exists q', [/\ q' != (0, 0), {in A, forall j, height q' j <= 0}
    & (#|touched q A| < #|touched q' A|)%N].
Proof.
move=> q0 qA; rewrite leq_min => /andP[tD tA].
have [i iA hi] : exists2 i, i \in A & height q i != 0.
  apply/exists_inP; move: tA; rewrite ltnNge; apply: contraR.
  rewrite negb_exists_in => /forall_inP h; apply/subset_leq_card/subsetP => j jA.
  by rewrite inE jA; have := h j jA; rewrite negbK.
have [v [v0 vG]] : exists g, g != (0, 0) /\ {in i |: touched q A, forall j, height g j = 0}.
  by apply: vanishing; apply: leq_trans tD; rewrite cardsU1; case: (i \notin _).
have [vA | ] := boolP [forall j in A, height v j == 0].
  exists v; split=> // [j jA|]; first by rewrite (eqP (forall_inP vA j jA)).
  suff -> : touched v A = A by [].
  by apply/setP => j; rewrite inE andb_idr // => /(forall_inP vA).
rewrite negb_forall_in => /exists_inP[j1 j1A h1].
have {v0 h1 vG} [g [gG h1]] : exists g,
    {in i |: touched q A, forall j, height g j = 0} /\ 0 < height g j1.
  case: (ltrgt0P (height v j1)) h1 => // h1 _; first by exists v.
  have hN j : height (- v.1, - v.2) j = - height v j.
    by rewrite /height /= dotC dotNr dotC opprD.
  exists (- v.1, - v.2); split=> [j jG|]; last by rewrite hN oppr_gt0.
  by rewrite hN vG // oppr0.
pose above := [pred j | (j \in A) && (0 < height g j)].
have P1 : above j1 by rewrite /= j1A.
case: (arg_minP (P := above) (fun j => - height q j / height g j) P1).
move=> j0 /andP[j0A h0] least.
set t := - height q j0 / height g j0 in least.
have t0 : 0 <= t by apply: divr_ge0; [rewrite oppr_ge0 qA | exact: ltW].
pose q' := (q.1 + t *: g.1, q.2 + t * g.2).
have hq' j : height q' j = height q j + t * height g j by apply: heightD.
exists q'; split.
- have := hq' i; rewrite gG ?setU11 // mulr0 addr0 => e.
  apply: contraNneq hi => q'0; rewrite -e q'0 /height /= dotC.
  by rewrite -(scale0r 0) dotZr mul0r addr0.
- move=> j jA; rewrite hq'; case: (ltP 0 (height g j)) => hj.
    have := least j; rewrite /= jA hj => /(_ isT).
    by rewrite ler_pdivl_mulr // -subr_le0 opprK addrC.
  by rewrite -[0]addr0 ler_add ?qA // mulr_ge0_le0.
apply: (@proper_card _ (mem (touched q A))); apply/properP; split.
  apply/subsetP => j jT; move: (jT); rewrite !inE => /andP[-> /eqP hj].
  by rewrite hq' hj gG ?mulr0 ?addr0 ?eqxx // inE jT orbT.
have n0 : height g j0 != 0 by rewrite gt_eqF.
exists j0; first by rewrite inE j0A hq' /t divfK // addrN eqxx.
by apply/negP => jT; move: h0; rewrite gG ?ltxx // inE jT orbT.
Qed.

(* A facet of the points of A: a functional that is 0 at min(D, |A|) of them and  *)
(* negative at all others.                                                       *)
Definition is_facet A (s : token * R * {set 'I_N}) :=
  [/\ s.1.1 != 0, s.2 \subset A, #|s.2| = minn D #|A|,
      {in s.2, forall j, height s.1 j = 0} & {in A :\: s.2, forall j, height s.1 j < 0}].

Theorem facet A : (0 < D)%N -> A != set0 -> exists s, is_facet A s.
Proof.
move=> D0 A0; have tA q : (#|touched q A| <= #|A|)%N.
  by apply/subset_leq_card/subsetP => j; rewrite inE => /andP[].
have [q [q0 qA qD]] : exists q, [/\ q != (0, 0), {in A, forall j, height q j <= 0}
    & (minn D #|A| <= #|touched q A|)%N].
  have : exists q, [/\ q != (0, 0), {in A, forall j, height q j <= 0}
      & (minn D #|A| - minn D #|A| <= #|touched q A|)%N].
    exists (0, -1); rewrite subnn; split=> //.
      by rewrite xpair_eqE oppr_eq0 oner_eq0 andbF.
    by move=> j _; rewrite /height dot0l add0r lerN10.
  move: {2}(minn D #|A|) => n; elim: n => [|n IH]; first by rewrite subn0.
  case=> q [q0 qA le]; apply: IH.
  case: (ltnP #|touched q A| (minn D #|A|)) => lt.
    have [q' [q'0 q'A lt']] := turn q0 qA lt; exists q'; split=> //.
    by move: le lt'; move: #|_| #|_| (minn _ _) => *; lia.
  by exists q; split=> //; apply: leq_trans (leq_subr _ _) lt.
have cT : #|touched q A| = minn D #|A|.
  by apply/eqP; rewrite eqn_leq qD andbT leq_min touched_le // tA.
exists (q, touched q A); split=> //=.
- have [j] : exists j, j \in touched q A.
    by apply/set0Pn; rewrite -card_gt0 cT leq_min D0 card_gt0.
  rewrite inE => /andP[_ /eqP hj]; apply: contraNneq q0 => q1.
  by move: hj; rewrite /height q1 dot0l add0r => q2; case: (q) q1 q2 => /= ? ? -> ->.
- by apply/subsetP => j; rewrite inE => /andP[].
- by move=> j; rewrite inE => /andP[_ /eqP].
by move=> j; rewrite !inE => /andP[]; case: (j \in A) (qA j) => //= /(_ isT);
  rewrite le_eqVlt; case: eqP => //= _ lt _ _.
Qed.

(* A shell of A: some functional has any wanted values there and is negative on   *)
(* the rest of A.                                                                *)
Definition is_shell A S := S \subset A /\ forall g : 'I_N -> R, exists q,
  {in S, forall j, height q j = g j} /\ {in A :\: S, forall j, height q j < 0}.

(* Shells of A, each of what the earlier ones left, until nothing is left.         *)
Fixpoint are_shells A (s : seq {set 'I_N}) :=
  if s is B :: s' then is_shell A B /\ are_shells (A :\: B) s' else A = set0.

(* A hyperplane that touches A in S alone is tilted about S.                      *)
Lemma tilt A S t : S \subset A -> {in S, forall j, height t j = 0} ->
  {in A :\: S, forall j, height t j < 0} ->
  (forall g : 'I_N -> R, exists q, {in S, forall j, height q j = g j}) -> is_shell A S.
Proof.
move=> sub t0 neg val; split=> // g; have [q qS] := val g.
have [L L1 hL] := upper_bound [seq height q j / - height t j | j <- enum (A :\: S)].
exists (q.1 + L *: t.1, q.2 + L * t.2); split=> j jin; rewrite heightD.
  by rewrite qS // t0 // mulr0 addr0.
have tj := neg j jin; rewrite -[_ * _]opprK subr_lt0 -mulrN -ltr_pdivr_mulr ?oppr_gt0 //.
by apply: hL; apply: map_f; rewrite mem_enum.
Qed.

(* In general position any D + 1 points can have any values.                     *)
Lemma interpolate S (g : 'I_N -> R) : (#|S| <= D.+1)%N ->
  exists q, {in S, forall j, height q j = g j}.
Proof.
move=> sS; have /row_freeP[B SB] := rows_free sS.
pose v := B *m \col_(i < #|S|) g (enum_val i).
exists (usubmx v, dsubmx v ord0 ord0) => j jS.
have := rows_height v (enum_rank_in jS j); rewrite enum_rankK_in // => <-.
by rewrite /v mulmxA SB mul1mx mxE enum_rankK_in.
Qed.

(* D points a shell, and the last D + 1 at once.                                 *)
Definition shell_count n := maxn 1 (ceil_div n.-1 D).

Theorem shells A : (0 < D)%N -> exists2 s, size s = shell_count #|A| & are_shells A s.
Proof.
move=> D0; have [n] := ubnP #|A|; elim: n A => // n IH A An.
have [small | large] := leqP #|A| D.+1.
  exists [:: A]; last first.
    split; last exact: setDv.
    by apply: (@tilt A A (0, 0)) => // [j _|j|g];
      [rewrite /height dot0l addr0 | rewrite setDv inE | apply: interpolate].
  rewrite /shell_count /ceil_div; apply/esym/maxn_idPl.
  by rewrite -ltnS ltn_divLR //; lia.
have [x [_ sub cx x0 neg]] : exists x, is_facet A x.
  by apply: facet => //; rewrite -card_gt0; lia.
have cx' : #|x.2| = D by rewrite cx; apply/minn_idPl; lia.
have cB : #|A :\: x.2| = (#|A| - D)%N by rewrite cardsD (setIidPr sub) cx'.
have [|s size_s sB] := IH (A :\: x.2); first by rewrite cB; lia.
exists (x.2 :: s); last first.
  by split=> //; apply: tilt sub x0 neg _ => g; apply: interpolate; rewrite cx'.
have E m : (0 < m)%N -> shell_count m.+1 = ceil_div m D.
  by move=> m0; apply/maxn_idPr; rewrite /ceil_div divn_gt0 //; lia.
have -> : #|A| = (D + (#|A| - D.+1)).+1 by lia.
rewrite E /= ?size_s ?cB; last by lia.
have -> : (#|A| - D = (#|A| - D.+1).+1)%N by lia.
rewrite E; last by lia.
by rewrite /ceil_div -addnA [RHS]divnDl // divnn D0.
Qed.

End Facets.

(* Different points in any position: the highest one in a generic direction is a   *)
(* shell.                                                                        *)
Theorem single_shells (R : realFieldType) (D N : nat) (p : 'I_N -> 'cV[R]_D) (A : {set 'I_N}) :
  injective p -> exists2 s, size s = #|A| & are_shells p A s.
Proof.
move=> inj; have [u uI] := generic_direction [seq p j | j <- enum 'I_N].
have uD i j : i != j -> dot u (p i) != dot u (p j).
  by move=> ij; apply: contraNneq ij => /uI e; apply/eqP/inj/e; apply: map_f; rewrite mem_enum.
have [n] := ubnP #|A|; elim: n A => // n IH A An.
have [-> | /set0Pn[j0 j0A]] := eqVneq A set0; first by exists [::]; rewrite ?cards0.
case: (arg_maxP (P := [pred j | j \in A]) (fun j => dot u (p j)) j0A) => j /= jA most.
have cB : #|A| = #|A :\ j|.+1 by rewrite (cardsD1 j) jA.
have [|s size_s sB] := IH (A :\ j); first by rewrite -ltnS -cB.
exists ([set j] :: s); first by rewrite /= size_s -cB.
split=> //; apply: (@tilt _ _ _ _ _ _ (u, - dot u (p j))); rewrite ?sub1set //.
- by move=> i; rewrite inE => /eqP->; rewrite /height subrr.
- move=> i; rewrite !inE => /andP[ij iA]; rewrite /height subr_lt0 lt_neqAle uD //.
  exact: most.
by move=> g; exists (0, g j) => i; rewrite inE => /eqP->; rewrite /height dot0l add0r.
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
