(* What the answer of the checker (Evaluator.v) means.                          *)
(* checker_sound: true implies that the transformer of Model.v with these       *)
(* parameters, over any real field R (in particular over rat), sends every      *)
(* sequence into its label set. checker_exact: on well-formed input the         *)
(* converse holds too. No size, shape or arithmetic is trusted.                 *)
From Coq Require Import ZArith QArith.
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint matrix.
From mathcomp Require Import ssrZ.
From Hardmax Require Import Model Measure Invariance Feedforward.
From Hardmax Require Export Evaluator Rationals.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Local Arguments Qred : simpl never.
Local Arguments Qplus : simpl never.
Local Arguments Qmult : simpl never.

Section Meaning.
Variable R : realFieldType.
Variable d : nat.
Local Notation vec := (seq Q).
Local Notation q0 := (Qmake Z0 xH).

Local Notation z2r := (z2r R).
Local Notation q2r := (q2r R).
Local Notation q2r_le := (q2r_le R).
Local Notation q2r_lt := (q2r_lt R).
Local Notation q2r_eqb := (q2r_eqb R).

(* the vectors, blocks and sequences that the lists stand for *)
Definition v2r (x : vec) : 'cV[R]_d := \col_(i < d) q2r (nth q0 x i).
Definition s2r (Z : seq vec) : seq 'cV[R]_d := [seq v2r z | z <- Z].
Definition b2r (B : qblock) : rank1 R d :=
  Rank1 (v2r (q_u B)) (q2r (q_b B)) (v2r (q_w B))
        (q2r (q_rho B)) (q2r (q_alpha B)) (v2r (q_v B)).
Definition t2r (T : seq qblock) : seq (rank1 R d) := [seq b2r B | B <- T].

Definition in_set (S : qset) (x : 'cV[R]_d) : Prop :=
  match S with
  | QPoint p => x = v2r p
  | QBall c r => 0 < q2r r /\ sqn (x - v2r c) < q2r r ^+ 2
  | QBox lo up => forall i, v2r lo i ord0 < x i ord0 < v2r up i ord0
  | QHalfspace n o => q2r o < dot (v2r n) x
  | QPolyhedron rows => forall r, List.In r rows -> dot (v2r r.1) x < q2r r.2
  end.

(* the property that is certified *)
Definition all_classified (T : seq qblock) (data : seq (seq vec * qset)) : Prop :=
  forall p, List.In p data -> in_set p.2 (readout (run1 (t2r T) (s2r p.1))).

(* --- vectors --------------------------------------------------------------- *)
Lemma nth_vadd x y i : q2r (nth q0 (vadd x y) i) = q2r (nth q0 x i) + q2r (nth q0 y i).
Proof.
elim: x y i => [|a x IH] [|b y] i /=; rewrite ?nth_nil ?q2r0 ?add0r ?addr0 //.
by case: i => [|i] /=; rewrite ?qaddE.
Qed.

Lemma v2rD x y : v2r (vadd x y) = v2r x + v2r y.
Proof. by apply/colP => i; rewrite !mxE nth_vadd. Qed.

Lemma v2rZ a x : v2r (vscale a x) = q2r a *: v2r x.
Proof.
apply/colP => i; rewrite !mxE; have [lt | ge] := ltnP i (size x).
  by rewrite (nth_map q0) // qmulE.
by rewrite !nth_default ?size_map // q2r0 mulr0.
Qed.

Lemma v2r_nil : v2r [::] = 0.
Proof. by apply/colP => i; rewrite !mxE nth_nil q2r0. Qed.

Lemma vdot_sum n x y : (size x <= n)%N ->
  q2r (vdot x y) = \sum_(i < n) q2r (nth q0 x i) * q2r (nth q0 y i).
Proof.
elim: n x y => [|n IH] [|a x] y //= h.
- by rewrite big_ord0 q2r0.
- by rewrite q2r0 big1 // => i _; rewrite nth_nil q2r0 mul0r.
rewrite big_ord_recl /=; case: y => [|b y] /=.
  by rewrite q2r0 mulr0 add0r big1 // => i _; rewrite mulr0.
by rewrite q2r_red q2rD q2rM (IH _ _ h).
Qed.

Lemma vdotE x y : (size x <= d)%N -> q2r (vdot x y) = dot (v2r x) (v2r y).
Proof. by move=> /vdot_sum ->; apply: eq_bigr => i _; rewrite !mxE. Qed.

Lemma vmeanE Z : v2r (vmean Z) = mean (s2r Z).
Proof.
rewrite /vmean v2rZ qinvnE /mean size_map; congr (_ *: _).
by elim: Z => [|z Z IH] /=; rewrite ?big_nil ?v2r_nil // big_cons v2rD IH.
Qed.

(* --- layers ---------------------------------------------------------------- *)
Lemma qffE B z : wf_vec d (q_u B) -> v2r (qff B z) = FF (block_of (b2r B)) (v2r z).
Proof.
move=> /eqP su; rewrite /qff q2r_lt q2r0 qaddE vdotE ?su // FF_rank1 /=.
case: ifP => [pos | /negbT]; first by rewrite v2rD v2rZ qaddE vdotE ?su // relu_pos ?ltW.
by rewrite -leNgt => neg; rewrite relu_neg // scale0r addr0.
Qed.

Lemma foldr_qmax a s t : (q2r (foldr qmax a s) <= t) = (q2r a <= t) && all (fun x => q2r x <= t) s.
Proof. by elim: s => [|x s IH] /=; rewrite ?andbT // qmaxE le_maxl IH andbCA. Qed.
Lemma foldr_qmin a s t : (t <= q2r (foldr qmin a s)) = (t <= q2r a) && all (fun x => t <= q2r x) s.
Proof. by elim: s => [|x s IH] /=; rewrite ?andbT // qminE le_minr IH andbCA. Qed.

Lemma s2r_filter (p : pred 'cV[R]_d) (q : pred vec) Z :
  (forall z, q z = p (v2r z)) -> s2r (filter q Z) = filter p (s2r Z).
Proof. by move=> e; rewrite /s2r filter_map; congr map; apply: eq_filter. Qed.

Lemma qsaE B Z : wf_vec d (q_v B) -> s2r (qsa B Z) = SA (block_of (b2r B)) (s2r Z).
Proof.
move=> /eqP sv; rewrite SA_rank1 /qsa /s2r -!map_comp.
have sc z : q2r (vdot (q_v B) z) = dot (v2r (q_v B)) (v2r z) by rewrite vdotE ?sv.
set v := v2r (q_v B) in sc *; set score := vdot (q_v B).
set s := [seq score z | z <- Z].
set top := foldr qmax _ s; set bot := foldr qmin _ s.
set m_top := if _ then _ else _; set m_bot := if _ then _ else _.
set m_all := if _ then _ else _.
apply/eq_in_map => z zZ /=; have zs : score z \in s by apply: map_f.
have hd : head q0 s \in s by case: (s) zs => // a r _; apply: mem_head.
rewrite v2rD !v2rZ; congr (_ + _ *: _).
rewrite !q2r_lt q2r0 sc.
have allE (P : pred R) : all (fun x => P (q2r x)) s = all (fun y => P (dot v y)) (s2r Z).
  by rewrite /s /s2r !all_map; apply: eq_all => y /=; rewrite -sc.
have [pos | neg | zero] := ltrgtP 0 (dot v (v2r z)).
- rewrite /m_top ifT; last by apply/hasP; exists (score z); rewrite // q2r_lt q2r0 sc.
  rewrite vmeanE; congr mean; apply: s2r_filter => y.
  rewrite q2r_le foldr_qmax -/score sc (allE (fun t => t <= dot v (v2r y))).
  rewrite (@eq_all _ _ (fun x => dot v x <= dot v (v2r y))); last first.
    by move=> x; rewrite ler_pmul2l.
  case: allP => [h|]; rewrite ?andbF ?andbT //.
  have /mapP[x xZ ->] := hd; rewrite sc; apply/esym/esym.
  by apply: h; apply: map_f.
- rewrite /m_bot ifT; last by apply/hasP; exists (score z); rewrite // q2r_lt q2r0 sc.
  rewrite vmeanE; congr mean; apply: s2r_filter => y.
  rewrite q2r_le foldr_qmin -/score sc (allE (fun t => dot v (v2r y) <= t)).
  rewrite (@eq_all _ _ (fun x => dot v (v2r y) <= dot v x)); last first.
    by move=> x; rewrite ler_nmul2l.
  case: allP => [h|]; rewrite ?andbF ?andbT //.
  have /mapP[x xZ ->] := hd; rewrite sc.
  by apply: h; apply: map_f.
rewrite /m_all ifT; last by apply/hasP; exists (score z); rewrite // q2r_eqb q2r0 sc -zero.
rewrite vmeanE; congr mean; rewrite /leaders (eq_filter (a2 := predT)) ?filter_predT // => y.
by apply/allP => x _; rewrite -zero !mul0r.
Qed.

Lemma qblock_runE B Z : wf_block d B ->
  s2r (qblock_run B Z) = apply_block (block_of (b2r B)) (s2r Z).
Proof.
case/and3P=> wu _ wv; rewrite /qblock_run.
have ffE : s2r [seq qff B z | z <- Z] = [seq FF (block_of (b2r B)) z | z <- s2r Z].
  by rewrite /s2r -!map_comp; apply: eq_map => z /=; rewrite qffE.
case: ifP => [/andP[] | _]; last by rewrite qsaE // ffE.
rewrite !q2r_eqb (_ : q2r 1 = 1) ?q2r1 // (_ : q2r 0 = 0) ?q2r0 // => /eqP e1 /eqP e0.
rewrite ffE /apply_block SA_rank1 /= e1 e0.
by rewrite -[LHS]map_id; apply: eq_map => z; rewrite scale1r scale0r addr0.
Qed.

Lemma vsameP x y : vsame x y -> v2r x = v2r y.
Proof.
case/andP=> /eqP + h; move=> e; apply/colP => i; rewrite !mxE.
elim: x y e h (i : nat) => [|a x IH] [|b y] //= [e] /andP[ab h] [|k] /=.
  by apply/eqP; rewrite -q2r_eqb.
exact: IH.
Qed.

Lemma squash_measure Z : same_measure R (s2r (squash Z)) (s2r Z).
Proof.
case: Z => // z r; rewrite /squash; case: ifP => // h.
apply: same_measure_sym; apply: const_same_measure => //= y.
rewrite inE => /orP[/eqP // | /mapP[x xr ->]].
by rewrite -(vsameP (allP h x xr)).
Qed.

(* the program computes the transformer exactly: the sequences that it carries  *)
(* have the same empirical measures as the transformer's                        *)
Theorem qrun_exact T Z : all (wf_block d) T ->
  same_measure R (s2r (qrun T Z)) (run1 (t2r T) (s2r Z)).
Proof.
elim: T Z => // B T IH Z /= /andP[wB wT]; rewrite run1_cons -qblock_runE //.
apply: (same_measure_trans (IH _ wT)); apply: run_measure.
by rewrite /qstep; case: ifP => // _; apply: squash_measure.
Qed.

Theorem readout_exact T Z : all (wf_block d) T ->
  v2r (vmean (qrun T Z)) = readout (run1 (t2r T) (s2r Z)).
Proof. by move=> wT; rewrite vmeanE; apply: readout_measure; apply: qrun_exact. Qed.

(* --- label sets ------------------------------------------------------------ *)
Lemma eachP (P : Q -> Q -> bool) (P' : rel R) x y :
  (forall a b, P a b = P' (q2r a) (q2r b)) ->
  reflect (forall i, P' (v2r x i ord0) (v2r y i ord0)) (each d P x y).
Proof.
move=> e; apply: (iffP allP) => [h i | h i].
  by rewrite !mxE -e; apply: h; rewrite mem_iota /=.
rewrite mem_iota /= => lt; have := h (Ordinal lt).
by rewrite !mxE -e.
Qed.

Lemma v2r_take x : v2r (take d x) = v2r x.
Proof. by apply/colP => i; rewrite !mxE nth_take. Qed.

Lemma qinP S x : wf_set d S -> reflect (in_set S (v2r x)) (qin d S x).
Proof.
case: S => [p | c r | lo up | n o | rows] /= w.
- apply: (iffP (eachP (P' := eq_op) _ _ q2r_eqb)) => [h | -> i //].
  by apply/colP => i; apply/eqP.
- set y := take d _; have sy : (size y <= d)%N by rewrite size_take; case: ltnP.
  have -> : v2r x - v2r c = v2r y.
    rewrite /y v2r_take v2rD v2rZ; congr (_ + _).
    have -> : q2r (Qmake (-1) 1) = -1 by rewrite /q2r /z2r /= divr1.
    by rewrite scaleN1r.
  by rewrite !q2r_lt q2r0 vdotE // qmulE; apply: andP.
- apply: (iffP andP) => [[/(eachP _ _ q2r_lt) h1 /(eachP _ _ q2r_lt) h2] i | h].
    by rewrite h1 h2.
  by split; apply/(eachP _ _ q2r_lt) => i; have /andP[] := h i.
- by rewrite q2r_lt vdotE ?(eqP w) //; apply: idP.
elim: rows w => [|r rows IH] /= w; first by constructor.
case/andP: w => /eqP sr /IH{}IH; rewrite q2r_lt vdotE ?sr //.
apply: (iffP andP) => [[h1 /IH h2] t [<- // | /h2] // | h].
by split; [apply: h; left | apply/IH => t tr; apply: h; right].
Qed.

(* --- the checker ----------------------------------------------------------- *)
Theorem checker_exact T data : wf d T data ->
  check_values d T data <-> all_classified T data.
Proof.
case/andP=> wT; rewrite /check_values /all_classified.
elim: data => [|[Z S] data IH] /=; first by split.
case/andP=> /andP[_ wS] /IH{}IH; split.
  case/andP=> /(qinP _ wS) h /IH{}IH p [<- /= | /IH //].
  by rewrite -readout_exact.
move=> h; apply/andP; split.
  by apply/(qinP _ wS); rewrite readout_exact //; apply: (h (Z, S)); left.
by apply/IH => p pd; apply: h; right.
Qed.

Theorem checker_sound T data : check d T data -> all_classified T data.
Proof. by case/and3P=> _ w; rewrite checker_exact. Qed.

(* A certificate speaks of at least one block and one sequence                  *)
(* (docs/certificate.md: L >= 1, J >= 1).                                       *)
Theorem checker_nonempty T data : check d T data -> (0 < size T)%N /\ (0 < size data)%N.
Proof. by case/and3P=> /andP[]. Qed.

End Meaning.
