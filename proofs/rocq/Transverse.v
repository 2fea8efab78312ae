(* Directions g that are parallel to no affine span of n of the points (theory,    *)
(* Theorem 6b): every box holds one, points that move along g keep the property,   *)
(* and a hyperplane parallel to g passes through any n - 1 points alone.           *)
From mathcomp Require Import all_ssreflect ssralg ssrnum matrix zmodp mxalgebra zify.
From mathcomp.algebra_tactics Require Import ring.
From Hardmax Require Import Model Measure Feedforward.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Transverse.
Variables (R : realFieldType) (d N : nat).
Notation token := 'cV[R]_d.
Implicit Types (p : 'I_N -> token) (S G : {set 'I_N}) (g v x y z o : token).
Implicit Types (l : 'I_N -> R) (a b r : R).

(* The points p j, j in S, are affinely independent.                             *)
Definition affinely_independent p S := forall l,
  \sum_(j in S) l j = 0 -> \sum_(j in S) l j *: p j = 0 -> {in S, forall j, l j = 0}.

(* If r is not in the span of the rows of A, then a linear form vanishes on these *)
(* and not on r.                                                                 *)
Lemma outside_span m n (A : 'M[R]_(m, n)) (r : 'rV_n) : ~~ (r <= A)%MS ->
  exists2 v : 'cV_n, A *m v = 0 & (r *m v) ord0 ord0 != 0.
Proof.
rewrite submxE => ne; have [j hj] : exists j, (r *m cokermx A) ord0 j != 0.
  apply/existsP; apply: contraR ne; rewrite negb_exists => /forallP h.
  by apply/eqP/rowP => j; rewrite [RHS]mxE; apply/eqP; rewrite -[_ == _]negbK.
have colE m' (B : 'M[R]_(m', n)) : B *m col j (cokermx A) = col j (B *m cokermx A).
  by apply/colP => i; rewrite !mxE; apply: eq_bigr => i' _; rewrite mxE.
exists (col j (cokermx A)); rewrite colE; last by rewrite mxE.
by rewrite mulmx_coker; apply/colP => i; rewrite !mxE.
Qed.

(* Any n of the points, or all if they are fewer, are affinely independent.       *)
(* So general position is independence at level d.                                *)
Definition independent n p := forall S, (#|S| <= n)%N -> affinely_independent p S.

(* They are so even after the projection along g. For g != 0 this says: any n of  *)
(* the points are affinely independent, and g is not parallel to their span.      *)
Definition transverse n g p := forall S, (#|S| <= n)%N -> forall l a,
  \sum_(j in S) l j = 0 -> \sum_(j in S) l j *: p j = a *: g -> {in S, forall j, l j = 0}.

Lemma transverse_independent n g p : transverse n g p -> independent n p.
Proof. by move=> tp S sS l l0 e; apply: (tp S sS l 0) => //; rewrite scale0r. Qed.

(* Points that move along g keep their projections.                              *)
Lemma transverse_along n g p (t : 'I_N -> R) :
  transverse n g p -> transverse n g (fun j => p j + t j *: g).
Proof.
move=> tp S sS l a l0 e; apply: (tp S sS l (a - \sum_(j in S) l j * t j)) => //.
rewrite scalerBl -e scaler_suml; under [X in _ = X - _]eq_bigr do rewrite scalerDr scalerA.
by rewrite big_split addrK.
Qed.

(* Fewer than d vectors are orthogonal to some v != 0.                            *)
Lemma orthogonal m (w : 'I_m -> token) : (m < d)%N ->
  exists2 v, v != 0 & forall i, dot v (w i) = 0.
Proof.
move=> md; pose A : 'M[R]_(m, d) := \matrix_i (w i)^T.
have [i iA] : exists i, ~~ (row i (1%:M : 'M[R]_d) <= A)%MS.
  apply/existsP; rewrite -negb_forall; apply/negP => /forallP/row_subP/mxrankS.
  by rewrite mxrank1 leqNgt (leq_ltn_trans (rank_leq_row A)).
have [v Av vi] := outside_span iA.
exists v; first by apply: contraNneq vi => ->; rewrite mulmx0 mxE.
move=> s; have := congr1 (row s) Av; rewrite row_mul rowK row0 dot_tr dotC.
by move=> /matrixP/(_ ord0 ord0); rewrite !mxE eqxx mulr1n.
Qed.

(* Any d of the points lie on a hyperplane; v is its normal.                      *)
Lemma span_normal p S : (0 < d)%N -> (#|S| <= d)%N -> exists2 v, v != 0 &
  forall l, \sum_(j in S) l j = 0 -> dot v (\sum_(j in S) l j *: p j) = 0.
Proof.
move=> d0 sS; have [S0 | [j0 j0S]] := set_0Vmem S.
  have [//|v v0 _] := @orthogonal 0 (fun=> 0).
  by exists v => // l _; rewrite S0 big_set0 dotC dot0l.
have [|v v0 hv] := @orthogonal #|S :\ j0| (fun i => p (enum_val i) - p j0).
  by move: sS; rewrite (cardsD1 j0) j0S.
exists v => // l l0.
have -> : \sum_(j in S) l j *: p j = \sum_(j in S) l j *: (p j - p j0).
  under [RHS]eq_bigr do rewrite scalerBr.
  by rewrite sumrB -scaler_suml l0 scale0r subr0.
apply: (big_ind (fun z => dot v z = 0)) => [|z z' e e'|j jS]; first by rewrite dotC dot0l.
  by rewrite dotDr e e' addr0.
have [-> | jj0] := eqVneq j j0; first by rewrite subrr scaler0 dotC dot0l.
have jin : j \in S :\ j0 by rewrite !inE jj0.
by have := hv (enum_rank_in jin j); rewrite enum_rankK_in // dotZr => ->; rewrite mulr0.
Qed.

(* The open box of half-width r about y.                                         *)
Definition box y r x := forall i, `|x i ord0 - y i ord0| < r.

(* Finitely many hyperplanes do not cover a box.                                 *)
Lemma box_avoid y r (hs : seq (token * R)) : 0 < r -> {in hs, forall h, h.1 != 0} ->
  exists2 x, box y r x & {in hs, forall h, dot h.1 x + h.2 != 0}.
Proof.
move=> r0 hs0; have [g gI] := generic_direction ((0 : token) :: [seq h.1 | h <- hs]).
have [H H1 hH] := @upper_bound R [seq `|g i ord0| | i <- enum 'I_d].
have H0 : 0 < H by apply: lt_le_trans H1.
pose e := r / H; have e0 : 0 < e by apply: divr_gt0.
pose al (h : token * R) := dot h.1 y + h.2.
have [n hn] := @avoid_line R 1 [seq ((al h + e * dot h.1 g)%:M, (al h)%:M) | h <- hs].
have n0 : 0 < n.+1%:R :> R by rewrite ltr0n.
exists (y + (e / n.+1%:R) *: g).
  move=> i; rewrite !mxE addrAC subrr add0r normrM gtr0_norm ?divr_gt0 //.
  have gi : `|g i ord0| < H by apply: hH; apply: (map_f (fun i => `|g i ord0|)); rewrite mem_enum.
  rewrite mulrAC ltr_pdivr_mulr //; apply: lt_le_trans (_ : r <= _); last first.
    by rewrite ler_pmulr // ler1n.
  by rewrite /e mulrAC ltr_pdivr_mulr // ltr_pmul2l.
move=> h hin; have hg : dot h.1 g != 0.
  apply: contra (hs0 h hin) => /eqP hg; apply/eqP/gI; rewrite ?mem_head //.
    by rewrite inE map_f ?orbT.
  by rewrite dotC hg dotC dot0l.
have := hn _ (map_f _ hin) => /=.
have M0 (t : R) : (t%:M == 0 :> 'M[R]_1) = (t == 0).
  by apply/eqP/eqP => [/matrixP/(_ ord0 ord0)|->]; rewrite ?raddf0 // !mxE eqxx mulr1n.
rewrite scale_scalar_mx -raddfD /= !M0 => h1.
have {}h1 : al h + e * dot h.1 g + n%:R * al h != 0.
  apply: h1; have [-> | _] := eqVneq (al h) 0; last by rewrite orbT.
  by rewrite add0r orbF mulf_neq0 // gt_eqF.
apply: contra h1 => /eqP t0; apply/eqP.
rewrite -[RHS](mulr0 n.+1%:R) -t0 dotDr dotZr /al; move: (gt_eqF n0).
have -> : n.+1%:R = n%:R + 1 :> R by rewrite mulrSr.
move: (n%:R : R) (dot _ y) (dot _ g) h.2 => m q1 q2 q3 /negbT m0.
by field.
Qed.

(* In every box there is x with x - o parallel to no span of n of the points.     *)
Lemma transverse_choice n p o y r : (0 < d)%N -> (n <= d)%N -> independent n p -> 0 < r ->
  exists2 x, box y r x & transverse n (x - o) p.
Proof.
move=> d0 nd ip r0.
have /fin_all_exists[v hv] S : exists v : token, v != 0 /\ ((#|S| <= d)%N ->
    forall l, \sum_(j in S) l j = 0 -> dot v (\sum_(j in S) l j *: p j) = 0).
  have [sS | _] := leqP #|S| d; first by have [v v0 h] := span_normal p d0 sS; exists v.
  by have [//|v v0 _] := @orthogonal 0 (fun=> 0); exists v.
have [|x xb hx] := @box_avoid y r [seq (v S, - dot (v S) o) | S <- enum {set 'I_N}] r0.
  by move=> _ /mapP[S _ ->] /=; have [] := hv S.
exists x => // S sS l a l0 e; have [_ vS] := hv S.
have off : dot (v S) (x - o) != 0.
  rewrite dotBr; apply: (hx (v S, _)).
  by apply: (map_f (fun S => (v S, - dot (v S) o))); rewrite mem_enum.
have /eqP := vS (leq_trans sS nd) l l0; rewrite e dotZr mulf_eq0 (negPf off) orbF.
by move=> /eqP a0; apply: (ip S sS l l0); rewrite e a0 scale0r.
Qed.

(* One linear form that vanishes on the rows of A and on none of finitely many    *)
(* rows outside their span.                                                       *)
Lemma common_form m n (A : 'M[R]_(m, n)) (rs : seq 'rV[R]_n) :
  {in rs, forall s, ~~ (s <= A)%MS} ->
  exists2 v : 'cV[R]_n, A *m v = 0 & {in rs, forall s, s *m v != 0}.
Proof.
elim: rs => [|s rs IH] out; first by exists 0; rewrite ?mulmx0.
have [|v Av hv] := IH; first by move=> t trs; apply: out; rewrite inE trs orbT.
have [w Aw sw] := outside_span (out s (mem_head _ _)).
have [t ht] := avoid_line [seq (q *m v, q *m w) | q <- s :: rs].
exists (v + t%:R *: w); first by rewrite mulmxDr -scalemxAr Av Aw scaler0 addr0.
move=> q qin; rewrite mulmxDr -scalemxAr; apply: (ht (q *m v, q *m w)).
  exact: (map_f (fun q => (q *m v, q *m w))).
move: qin; rewrite inE => /orP[/eqP-> | /hv -> //].
by apply/orP; right; apply: contraNneq sw => /= ->; rewrite mxE.
Qed.

(* A hyperplane parallel to g passes through any n - 1 or fewer of the points and  *)
(* misses all others.                                                             *)
Lemma transverse_plane n g p G : transverse n g p -> (#|G| < n)%N ->
  exists q : token * R, [/\ dot q.1 g = 0, {in G, forall j, dot q.1 (p j) + q.2 = 0}
  & forall j, j \notin G -> dot q.1 (p j) + q.2 != 0].
Proof.
move=> tp sG; pose P z a : 'rV[R]_(d + 1) := row_mx z^T a%:M.
pose Q j : 'rV[R]_(d + 1) := if j \in G then P (p j) 1 else 0.
pose A := col_mx (\matrix_j Q j) (P g 0).
have [|V AV off] := @common_form _ _ A [seq P (p i) 1 | i <- enum 'I_N & i \notin G].
  move=> _ /mapP[i + ->]; rewrite mem_filter => /andP[iG _].
  apply/negP => /submxP[D]; rewrite -[D]hsubmxK mul_row_col mulmx_sum_row.
  rewrite [rsubmx D]mx11_scalar mul_scalar_mx; move: (lsubmx D) (rsubmx D ord0 ord0) => t b.
  move=> e; have {}e : P (p i) 1 = \sum_(j in G) t ord0 j *: P (p j) 1 + b *: P g 0.
    rewrite e; congr (_ + _); rewrite [RHS]big_mkcond; apply: eq_bigr => j _.
    by rewrite rowK /Q; case: ifP => _; rewrite ?scaler0.
  pose l j : R := if j == i then - 1 else t ord0 j.
  have sum (V : lmodType R) (h : 'I_N -> V) :
      \sum_(j in i |: G) l j *: h j = \sum_(j in G) t ord0 j *: h j - h i.
    rewrite big_setU1 //= {1}/l eqxx scaleN1r addrC; congr (_ - _).
    by apply: eq_bigr => j jG; rewrite /l; case: eqP => // ji; rewrite -ji jG in iG.
  have := tp (i |: G) _ l (- b) _ _ i; rewrite setU11 cardsU1 iG add1n => /(_ sG).
  have -> : \sum_(j in i |: G) l j = 0.
    under eq_bigr do rewrite -[l _]mulr1.
    rewrite (sum _ (fun=> 1 : R^o)); under eq_bigr do rewrite [_ *: _]mulr1.
    apply/eqP; rewrite subr_eq0; apply/eqP.
    have := congr1 (fun s : 'rV_(d + 1) => rsubmx s ord0 ord0) e.
    rewrite /P linearD linear_sum row_mxKr /= linearZ /= row_mxKr raddf0 scaler0 addr0.
    rewrite summxE mxE eqxx mulr1n => ->; apply: eq_bigr => j _.
    by rewrite linearZ /= row_mxKr !mxE eqxx mulr1.
  rewrite sum; have -> : \sum_(j in G) t ord0 j *: p j - p i = - b *: g.
    have := congr1 (fun s : 'rV_(d + 1) => (lsubmx s)^T) e.
    rewrite /P linearD linear_sum row_mxKl /= linearZ /= row_mxKl linearD linear_sum /= trmxK.
    rewrite linearZ /= trmxK => ->; rewrite opprD addrA.
    under [X in _ - X - _]eq_bigr do rewrite linearZ /= row_mxKl linearZ /= trmxK.
    by rewrite subrr add0r scaleNr.
  move=> /(_ erefl erefl isT); rewrite /l eqxx => /eqP.
  by rewrite oppr_eq0 oner_eq0.
have PV z a : (P z a *m V) ord0 ord0 = dot (usubmx V) z + a * dsubmx V ord0 ord0.
  by rewrite -[in LHS](vsubmxK V) mul_row_col dot_tr dotC mul_scalar_mx !mxE eqxx mulr1n.
exists (usubmx V, dsubmx V ord0 ord0); split=> /=.
- have := congr1 dsubmx AV; rewrite /A mul_col_mx col_mxKd => /matrixP/(_ ord0 ord0).
  by rewrite PV mul0r addr0 !mxE.
- move=> j jG; have := congr1 usubmx AV; rewrite /A mul_col_mx col_mxKu => /(congr1 (row j)).
  by rewrite row_mul rowK /Q jG => /matrixP/(_ ord0 ord0); rewrite PV mul1r !mxE.
move=> j jG; have := off (P (p j) 1); rewrite (map_f (fun i => P (p i) 1)); last first.
  by rewrite mem_filter jG mem_enum.
move=> /(_ isT); apply: contra => /eqP e0; apply/eqP/matrixP => s s'.
by rewrite !ord1 PV mul1r e0 mxE.
Qed.

End Transverse.
