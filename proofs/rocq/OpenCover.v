(* Open label sets (theory, section 8, Theorem 6b): after one collapse near a      *)
(* point of the base class, tents carry the other classes straight into their     *)
(* label sets; no clamps, kills or line peel follow.                               *)
From mathcomp Require Import all_ssreflect ssralg ssrnum matrix rat zify.
From mathcomp.algebra_tactics Require Import ring.
From Hardmax Require Import Model Measure Feedforward Collapse TieSplitting Pushes Cover.
From Hardmax Require Import GeneralPosition Transverse.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* A label set with an inner point: it contains an open box. Open sets that are    *)
(* not empty do, since every open ball contains a box.                            *)
Section LabelSets.
Variables (R : realFieldType) (d : nat).
Notation token := 'cV[R]_d.
Implicit Types (x y : token) (r : R) (L : token -> Prop).

Definition has_interior L := exists y, exists2 r, 0 < r & forall x, box y r x -> L x.

Lemma ball_interior L y r : 0 < r -> (forall x, sqn (x - y) < r ^+ 2 -> L x) -> has_interior L.
Proof.
move=> r0 ball; have n0 : 0 < d.+1%:R :> R by rewrite ltr0n.
exists y, (r / d.+1%:R) => [|x xy]; first exact: divr_gt0.
apply: ball; set q := r / _ in xy; have q0 : 0 < q by apply: divr_gt0.
apply: le_lt_trans (_ : _ <= q ^+ 2 *+ d) _.
  rewrite /sqn /dot -[d in X in _ <= X]card_ord -sumr_const; apply: ler_sum => i _.
  by rewrite !mxE -expr2 -real_normK ?num_real // ler_expn2r ?nnegrE ?normr_ge0 ?ltW.
have rq : r = q * d.+1%:R by rewrite /q divfK // gt_eqF.
clearbody q; rewrite rq exprMn -[_ *+ d]mulr_natr ltr_pmul2l ?exprn_gt0 // -natrX ltr_nat.
by rewrite expnS expn1; nia.
Qed.

End LabelSets.

(* Tents that move groups of points by one vector g.                              *)
Section Moves.
Variables (R : realFieldType) (d N M : nat) (c : 'I_N -> 'I_M).
Notation token := 'cV[R]_d.
Implicit Types (p : 'I_N -> token) (g u x o : token) (b e r : R) (n : nat).

(* A tent along g moves the points of a hyperplane t = 0 by exactly g, and         *)
(* finitely many points where t != 0 not at all.                                  *)
Lemma tent_move u b g (A : seq token) : dot u g = 0 -> exists P : seq (ffp R d),
  [/\ size P = 3%N, {in A, forall x, dot u x + b != 0 -> ff_map P x = x}
    & forall x, dot u x + b = 0 -> ff_map P x = x + g].
Proof.
move=> ug; have [|e e0 he] := @pos_lower _ [seq t <- [seq `|dot u x + b| | x <- A] | 0 < t].
  by move=> t; rewrite mem_filter => /andP[].
pose P : seq (ffp R d) :=
  [:: (u, b + e, e^-1 *: g); (u, b, (- (2%:R * e^-1)) *: g); (u, b - e, e^-1 *: g)].
have E x : ff_map P x = x + (tent e (dot u x + b) / e) *: g.
  rewrite /P /= /ff_step /= !dotDr !dotZr ug !mulr0 !addr0 !scalerA -!addrA -!scalerDl.
  rewrite !addrA /tent; congr (_ + _ *: g).
  by move: (relu _) (relu _) (relu _) e^-1 => q1 q2 q3 q4; ring.
exists P; split=> // x; last by move=> t0; rewrite E t0 tent0 // divff ?gt_eqF // scale1r.
move=> xA t0; rewrite E tent_out ?mul0r ?scale0r ?addr0 //; apply: he.
by rewrite mem_filter normr_gt0 t0 (map_f (fun x => `|dot u x + b|)).
Qed.

(* Disjoint groups of fewer than n points, each moved by g by one tent.            *)
Lemma groups_move n g p (gs : seq (seq 'I_N)) : transverse n g p ->
  uniq (flatten gs) -> {in gs, forall s, (size s < n)%N} ->
  exists P : seq (ffp R d), size P = (3 * size gs)%N /\
    forall j, ff_map P (p j) = p j + (j \in flatten gs)%:R *: g.
Proof.
elim: gs p => [|s gs IH] p tp.
  by exists [::]; split=> // j; rewrite /= scale0r addr0.
rewrite /= cat_uniq => /and3P[us /hasPn disj ugs] small.
have [|[u b] [/= ug on off]] := transverse_plane (G := [set j in s]) tp.
  by rewrite cardsE (leq_ltn_trans (card_size s)) // small ?mem_head.
have [P [sP still moved]] := tent_move b [seq p j | j <- enum 'I_N] ug.
have step j : ff_map P (p j) = p j + (j \in s)%:R *: g.
  have [js | js] := boolP (j \in s); first by rewrite moved ?scale1r // on ?inE.
  by rewrite scale0r addr0 still ?map_f ?mem_enum ?off ?inE.
have [|Q [sQ hQ]] := IH _ (transverse_along (t := fun j => (j \in s)%:R) tp) ugs.
  by move=> s' s'gs; apply: small; rewrite inE s'gs orbT.
exists (P ++ Q); split=> [|j]; first by rewrite size_cat sP sQ mulnS.
rewrite ff_map_cat step hQ -addrA -scalerDl mem_cat.
have [jgs | _] := boolP (j \in flatten gs); last by rewrite orbF addr0.
have : j \notin s by apply: disj.
by move=> /negPf->; rewrite add0r.
Qed.

(* Classes one after another. When the turn of class l comes, its y_l is moved     *)
(* inside its box to some q_l so that q_l - o is parallel to no span of n points,  *)
(* where they stand now. The tents move class l by q_l - o. The projections along  *)
(* q_l - o do not change, so any n points are affinely independent again.          *)
Lemma class_moves n o (y : 'I_M -> token) r (cs : seq 'I_M) p :
  (1 < n <= d)%N -> 0 < r -> independent n p -> uniq cs ->
  exists (P : seq (ffp R d)) (q : 'I_M -> token),
  [/\ size P = (\sum_(l <- cs) 3 * ceil_div (class_size c l) (n - 1))%N,
    forall l, box (y l) r (q l)
  & forall j, ff_map P (p j) = p j + (c j \in cs)%:R *: (q (c j) - o)].
Proof.
move=> /andP[n1 nd] r0; have n0 : (0 < n - 1)%N by rewrite subn_gt0.
have d0 : (0 < d)%N by apply: leq_trans nd; apply: ltnW.
elim: cs p => [|l cs IH] p ip.
  exists [::], y; split=> [|l i|j]; first by rewrite big_nil.
    by rewrite subrr normr0.
  by rewrite scale0r addr0.
rewrite /= => /andP[lcs ucs].
have [x xb tp] := transverse_choice o (y l) d0 nd ip r0.
pose class := [seq j <- enum 'I_N | c j == l].
have [||P [sP hP]] := groups_move (gs := groups (n - 1) class) tp.
- by rewrite flatten_groups // filter_uniq // enum_uniq.
- by move=> s /groups_small le; rewrite (leq_ltn_trans le) // subn1 prednK // ltnW.
have {}hP j : ff_map P (p j) = p j + (c j == l)%:R *: (x - o).
  by rewrite hP flatten_groups // mem_filter mem_enum andbT.
have [Q [q [sQ qb hQ]]] := IH _
  (transverse_independent (transverse_along (t := fun j => (c j == l)%:R) tp)) ucs.
exists (P ++ Q), (fun m => if m == l then x else q m); split.
- rewrite size_cat sP sQ big_cons size_groups; congr (3 * ceil_div _ _ + _)%N.
  rewrite size_filter -sum1_count big_enum_cond /class_size -sum1_card.
  by apply: eq_bigl => j; rewrite !inE.
- by move=> m; case: eqP => [-> | _].
move=> j; rewrite ff_map_cat hP hQ inE -addrA; congr (_ + _).
have [-> | _] := eqVneq (c j) l; last by rewrite scale0r add0r.
by rewrite (negPf lcs) scale0r addr0.
Qed.

End Moves.

(* Theory, Theorem 6b.                                                            *)
Section OpenCover.
Variables (R : realFieldType) (d N M : nat).
Notation token := 'cV[R]_d.
Variables (c : 'I_N -> 'I_M) (L : 'I_M -> token -> Prop) (base : 'I_M).
Hypothesis L_interior : forall l, has_interior (L l).
Implicit Types (Z : 'I_N -> seq token) (n : nat).

(* 3 blocks for each tent: class l takes ceil(N_l / (n - 1)), the base none.      *)
Definition open_tents n := (\sum_(l < M | l != base) 3 * ceil_div (class_size c l) (n - 1))%N.

Lemma open_cover_means n Z : (1 < n <= d)%N -> (forall j, Z j != [::]) ->
  independent n (fun j => mean (Z j)) -> exists T : seq (rank1 R d),
  [/\ size T = (1 + open_tents n)%N, uniform T & forall j, L (c j) (readout (run1 T (Z j)))].
Proof.
move=> nd Z0 ip.
have /fin_all_exists[Y hY] l : exists q : token * R, 0 < q.2 /\ forall x, box q.1 q.2 x -> L l x.
  by have [y [r r0 h]] := L_interior l; exists (y, r).
have [|h h0 hr] := @pos_lower R [seq (Y l).2 | l <- enum 'I_M].
  by move=> _ /mapP[l _ ->]; have [] := hY l.
pose e := h / 2%:R; have e0 : 0 < e by rewrite divr_gt0 ?ltr0n.
have inside l (x : token) : (forall i, `|x i ord0 - (Y l).1 i ord0| < e + e) -> L l x.
  move=> hx; have [_ hL] := hY l; apply: hL => i; apply: lt_le_trans (hx i) _.
  have -> : e + e = h by rewrite /e; field; rewrite ?pnatr_eq0.
  by apply: hr; apply: (map_f (fun l => (Y l).2)); rewrite mem_enum.
have [H H1 hH] := @upper_bound R
  [seq `|mean (Z w.1) w.2 ord0| | w <- [seq (j, i) | j <- enum 'I_N, i <- enum 'I_d]].
have H0 : 0 < H by apply: lt_le_trans H1.
pose lam := e / H; have lam0 : 0 < lam by apply: divr_gt0.
pose o := (Y base).1; pose p j := lam *: mean (Z j) + o.
have near j i : `|p j i ord0 - o i ord0| < e.
  rewrite !mxE addrK normrM gtr0_norm // /lam mulrAC ltr_pdivr_mulr // ltr_pmul2l //.
  apply: hH; apply/mapP; exists (j, i); last by rewrite [in RHS]mxE.
  by apply: allpairs_f; rewrite mem_enum.
have indp : independent n p.
  move=> S sS t t0; under eq_bigr do rewrite scalerDr scalerA mulrC -scalerA.
  rewrite big_split -scaler_sumr -scaler_suml t0 scale0r /= addr0 => /eqP.
  by rewrite scaler_eq0 gt_eqF //= => /eqP; apply: ip.
pose cs := [seq l <- index_enum (ordinal_finType M) | l != base].
have [|P [q [sP qb hP]]] :=
    @class_moves R d N M c n o (fun l => (Y l).1) e cs p nd e0 indp.
  by rewrite filter_uniq // index_enum_uniq.
exists (collapse_block (lam^-1 *: o) lam :: [seq ff_block w | w <- P]); split.
- by rewrite /= size_map sP big_filter.
- by rewrite /= eqxx uniform_ff.
move=> j; rewrite run1_cons collapse // run_ff -map_comp /readout.
have -> : lam *: (mean (Z j) + lam^-1 *: o) = p j.
  by rewrite scalerDr scalerKV // gt_eqF.
rewrite (eq_map (f2 := fun=> ff_map P (p j))) // mean_const // hP.
rewrite mem_filter mem_index_enum andbT; apply: inside => i.
have [-> | cj] := eqVneq (c j) base.
  by rewrite scale0r addr0; apply: lt_trans (near j i) _; rewrite ltr_addl.
have E (x1 x2 x3 x4 : token) : (x1 + (x2 - x3)) i ord0 - x4 i ord0 =
    (x1 i ord0 - x3 i ord0) + (x2 i ord0 - x4 i ord0).
  rewrite !mxE; move: (x1 _ _) (x2 _ _) (x3 _ _) (x4 _ _) => a1 a2 a3 a4.
  by rewrite [RHS]addrACA !addrA.
rewrite scale1r E; apply: le_lt_trans (ler_norm_add _ _) _.
by apply: ltr_add; [exact: near | exact: qb].
Qed.

(* After any K layers, if then any n of the means are affinely independent. For     *)
(* n = d this is general position; for n = 2 it says that the means are distinct.  *)
Theorem open_cover_after n (P : seq (ffp R d)) Z : (1 < n <= d)%N -> (forall j, Z j != [::]) ->
  independent n (fun j => mean (map (ff_map P) (Z j))) -> exists T : seq (rank1 R d),
  [/\ size T = (size P + 1 + open_tents n)%N, uniform T
    & forall j, L (c j) (readout (run1 T (Z j)))].
Proof.
move=> nd Z0 ip; have [|T [sT uT hT]] := open_cover_means nd _ ip.
  by move=> j; case: (Z j) (Z0 j).
exists ([seq ff_block w | w <- P] ++ T); split; first by rewrite size_cat size_map sT addnA.
  by rewrite uniform_cat uniform_ff.
by move=> j; rewrite run1_cat run_ff.
Qed.

(* The means in general position: any d of them, or all if they are fewer.        *)
Theorem open_cover Z : (1 < d)%N -> (forall j, Z j != [::]) ->
  general_position (fun j => mean (Z j)) -> exists T : seq (rank1 R d),
  [/\ size T = (1 + open_tents d)%N, uniform T & forall j, L (c j) (readout (run1 T (Z j)))].
Proof. by move=> d1 Z0 gp; apply: open_cover_means => //; rewrite d1 leqnn. Qed.

Lemma distinct_independent (p : 'I_N -> token) : injective p -> independent 2 p.
Proof.
move=> inj S sS l + + j jS; rewrite !(big_setD1 j jS) /=.
have [-> | [i iS]] := set_0Vmem (S :\ j); first by rewrite !big_set0 addr0.
have -> : S :\ j = [set i].
  apply/eqP; rewrite eq_sym eqEcard sub1set iS cards1.
  by move: sS; rewrite (cardsD1 j S) jS.
rewrite !big_set1 addrC => /eqP; rewrite addr_eq0 => /eqP ->.
rewrite scaleNr -scalerBr => /eqP; rewrite scaler_eq0 subr_eq0 => /orP[/eqP // | /eqP /inj ji].
by move: iS; rewrite ji !inE eqxx.
Qed.

(* Any position, sequences with different measures: tie splitting first, then one   *)
(* tent for every sequence outside the base. K = N - #(distinct means).           *)
Theorem open_cover_any_position Z : (1 < d)%N -> (forall j, Z j != [::]) ->
  (forall i j, same_measure R (Z i) (Z j) -> i = j) -> exists T : seq (rank1 R d),
  [/\ (size T <= (N - nmeans [seq Z j | j <- enum 'I_N]) + 1
          + \sum_(l < M | l != base) 3 * class_size c l)%N,
    uniform T & forall j, L (c j) (readout (run1 T (Z j)))].
Proof.
move=> d1 Z0 dist; rewrite -addnA.
apply: (after_tie_splitting (L := fun j x => L (c j) x)) => // Z' Z0' inj.
have [|T [sT uT hT]] := open_cover_means (n := 2) _ Z0' (distinct_independent inj).
  by rewrite d1.
exists T; split=> //; rewrite sT; congr (_ + _)%N.
by apply: eq_bigr => l _; rewrite /ceil_div addn0 divn1.
Qed.

End OpenCover.

(* Points on the moment curve are in general position, so the theorem is about      *)
(* something: any labels, any label sets with inner points.                       *)
Theorem open_cover_moments N d M (c : 'I_N -> 'I_M) (base : 'I_M)
    (L : 'I_M -> 'cV[rat]_d -> Prop) : (1 < d)%N -> (forall l, has_interior (L l)) ->
  exists T : seq (rank1 rat_realFieldType d),
  [/\ size T = (1 + open_tents c base d)%N, uniform T
    & forall j, L (c j) (readout (run1 T [:: moment rat_realFieldType d j]))].
Proof.
move=> d1 Li; apply: open_cover => // S sS l l0 e.
apply: (moment_general_position sS l0); rewrite -[RHS]e; apply: eq_bigr => j _.
by rewrite /mean big_seq1 invr1 scale1r.
Qed.
