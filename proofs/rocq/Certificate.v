(* The certificate as a program: PROVED of docs/certificate.md (the label sets   *)
(* are disjoint, every output lies in the set of its label), and the counts N,  *)
(* L and P that its bounds 8N + 4 and 54 N d speak of. The second half proves   *)
(* what the answers mean, over every real field.                                *)
From Coq Require Import ZArith QArith.
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint matrix.
From mathcomp.algebra_tactics Require Import ring.
From Hardmax Require Import Model Measure Feedforward Indistinguishable.
From Hardmax Require Export Checker.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Section Program.
Local Open Scope nat_scope.
Variable d : nat.
Local Notation vec := (seq Q).
Local Notation q0 := (Qmake Z0 xH).

Definition qneg (x : Q) : Q := qmul (Qmake (-1) 1) x.
Definition vneg (x : vec) : vec := vscale (Qmake (-1) 1) x.

(* BELOW: S lies in {<u,x> <= t}. The multipliers y >= 0 serve the polyhedral    *)
(* sets; a half-space has one inequality, <-n,x> < -o.                          *)
Definition below_rows (rows : seq (vec * Q)) (u : vec) (t : Q) (y : vec) : bool :=
  let terms := zip y rows in
  [&& all (qle q0) y,
      each d Qeq_bool u (foldr vadd [::] [seq vscale p.1 p.2.1 | p <- terms])
    & qle (foldr qadd q0 [seq qmul p.1 p.2.2 | p <- terms]) t].

Definition below (S : qset) (u : vec) (t : Q) (y : vec) : bool :=
  match S with
  | QPoint p => qle (vdot u p) t
  | QBall c r =>
      let g := qadd t (qneg (vdot u c)) in
      qle q0 g && qle (qmul (qmul r r) (vdot u u)) (qmul g g)
  | QBox lo up =>
      let term k := let a := nth q0 u k in
                    qmax (qmul a (nth q0 lo k)) (qmul a (nth q0 up k)) in
      qle (foldr (fun k s => qadd (term k) s) q0 (iota 0 d)) t
  | QHalfspace n o => below_rows [:: (vneg n, qneg o)] u t y
  | QPolyhedron rows => below_rows rows u t y
  end.

(* An entry of `separation`: two labels by their places, the hyperplane, the     *)
(* multipliers of both sets.                                                    *)
Record hyperplane := Hyperplane {
  h_first : nat;  h_second : nat;
  h_normal : vec;  h_offset : Q;  h_y : vec;  h_y' : vec }.

Definition is_point (S : qset) : bool := if S is QPoint _ then true else false.

Definition separated (S S' : qset) (h : hyperplane) : bool :=
  let u := h_normal h in
  [&& wf_vec d u, has (fun a => ~~ Qeq_bool a q0) u, ~~ (is_point S && is_point S'),
      below S u (h_offset h) (h_y h) & below S' (vneg u) (qneg (h_offset h)) (h_y' h)].

(* Two points are compared with each other; every other pair needs an entry.    *)
Definition apart (S S' : qset) : bool :=
  if (S, S') is (QPoint p, QPoint p') then ~~ each d Qeq_bool p p' else false.

Definition no_set : qset := QPolyhedron [::].
Definition check_disjoint (labels : seq qset) (seps : seq hyperplane) : bool :=
  all (fun l => all (fun k =>
    let S := nth no_set labels k in let S' := nth no_set labels l in
    apart S S' ||
    has (fun h => [&& h_first h == k, h_second h == l & separated S S' h]) seps)
  (iota 0 l)) (iota 0 (size labels)).

(* a sequence with its set, in place of the number of its label *)
Definition with_sets (labels : seq qset) (data : seq (seq vec * nat)) : seq (seq vec * qset) :=
  [seq (p.1, nth no_set labels p.2) | p <- data].

Definition check_proved (labels : seq qset) (seps : seq hyperplane) (T : seq qblock)
    (data : seq (seq vec * nat)) : bool :=
  [&& check d T (with_sets labels data), all (fun p => p.2 < size labels) data
    & check_disjoint labels seps].

(* P: the entries of u, b, w, rho, alpha, v that are not zero *)
Definition qnonzero (x : vec) : nat := count (fun a => ~~ Qeq_bool a q0) x.
Definition qparams (T : seq qblock) : nat :=
  sumn [seq qnonzero (q_u B) + qnonzero (q_w B) + qnonzero (q_v B)
            + qnonzero [:: q_b B; q_rho B; q_alpha B] | B <- T].

(* N: the number of distinct empirical measures. Most pairs differ in the mean. *)
Fixpoint qmerged (s : seq (vec * seq vec)) : nat :=
  if s is p :: r then
    let rest := qmerged r in
    if has (fun q => if each d Qeq_bool p.1 q.1 then same_data d p.2 q.2 else false) r
    then rest else rest.+1
  else 0.
Definition qmeasures (data : seq (seq vec * nat)) : nat :=
  qmerged [seq (vmean p.1, p.1) | p <- data].

Definition check_counts (T : seq qblock) (data : seq (seq vec * nat)) (n l p : nat) : bool :=
  [&& all (fun p => wf_sequence d p.1) data, all (wf_block d) T,
      qmeasures data == n, size T == l & qparams T == p].

Definition check_bounds (n l p : nat) : bool := (l <= 8 * n + 4) && (p <= 54 * n * d).

End Program.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Local Arguments Qred : simpl never.
Local Arguments Qplus : simpl never.
Local Arguments Qmult : simpl never.

Section Meaning.
Variables (R : realFieldType) (d : nat).
Local Notation vec := (seq Q).
Local Notation q0 := (Qmake Z0 xH).
Local Notation q2r := (q2r R).
Local Notation v2r := (v2r R d).
Local Notation s2r := (s2r R d).
Local Notation in_set := (@in_set R d).

(* --- docs/certificate.md, section 1 ----------------------------------------- *)
Definition CLASSIFIED (labels : seq qset) (T : seq qblock) (data : seq (seq vec * nat)) : Prop :=
  (0 < size data)%N /\ forall p, List.In p data ->
    [/\ (0 < size p.1)%N, (p.2 < size labels)%N
      & in_set (nth no_set labels p.2) (readout (run1 (t2r R d T) (s2r p.1)))].
Definition DISJOINT (labels : seq qset) : Prop :=
  forall k l x, (k < size labels)%N -> (l < size labels)%N ->
    in_set (nth no_set labels k) x -> in_set (nth no_set labels l) x -> k = l.
Definition PROVED labels T data : Prop :=
  [/\ (0 < size T)%N, CLASSIFIED labels T data & DISJOINT labels].

(* the number of distinct empirical measures, of blocks, of non-zero parameters *)
Definition measures (data : seq (seq vec * nat)) : nat := nmeasures R [seq s2r p.1 | p <- data].
Definition parameters (T : seq qblock) : nat := params (t2r R d T).

(* --- numbers ------------------------------------------------------------------ *)
Lemma q2r_m1 : q2r (Qmake (-1) 1) = -1.
Proof. by rewrite /Rationals.q2r /z2r /= divr1. Qed.
Lemma qnegE x : q2r (qneg x) = - q2r x.
Proof. by rewrite /qneg qmulE q2r_m1 mulN1r. Qed.
Lemma vnegE x : v2r (vneg x) = - v2r x.
Proof. by rewrite /vneg v2rZ q2r_m1 scaleN1r. Qed.

Lemma dotNl (x y : 'cV[R]_d) : dot (- x) y = - dot x y.
Proof. by rewrite dotC dotNr dotC. Qed.
Lemma dotDl (x y z : 'cV[R]_d) : dot (x + y) z = dot x z + dot y z.
Proof. by rewrite dotC dotDr !(dotC z). Qed.

(* --- BELOW -------------------------------------------------------------------- *)
Lemma cauchy_schwarz (x y : 'cV[R]_d) : dot x y ^+ 2 <= sqn x * sqn y.
Proof.
have [y0 | y0] := eqVneq y 0.
  by rewrite y0 (dotC x 0) dot0l expr0n /= mulr_ge0 ?sqn_ge0.
have p : 0 < sqn y by rewrite sqn_gt0.
have := sqn_ge0 (sqn y *: x - dot x y *: y).
rewrite {1}/sqn !(dotBr, dotBl, dotZl, dotZr) -!/(sqn _) (dotC y x).
set a := dot x y; set b := sqn y in p *; set c := sqn x.
have -> : b * (b * c - a * a) - a * (b * a - a * b) = b * (c * b - a ^+ 2) by ring.
by rewrite pmulr_rge0 // subr_ge0.
Qed.

Lemma terms_sound rows y x : all (qle q0) y ->
  (forall r, List.In r rows -> dot (v2r r.1) x < q2r r.2) ->
  let F := foldr vadd [::] [seq vscale p.1 p.2.1 | p <- zip y rows] in
  let G := foldr qadd q0 [seq qmul p.1 p.2.2 | p <- zip y rows] in
  dot (v2r F) x <= q2r G /\ (v2r F != 0 -> dot (v2r F) x < q2r G).
Proof.
elim: rows y => [|r rows IH] [|a y] /=;
  try by rewrite v2r_nil dot0l q2r0 eqxx.
case/andP; rewrite (q2r_le R) (q2r0 R) => a0 y0 inS.
have [|le lt] := IH y y0; first by move=> r' rin; apply: inS; right.
have lr := inS r (or_introl erefl).
rewrite v2rD v2rZ qaddE qmulE dotDl dotZl.
have [-> | an0] := eqVneq (q2r a) 0; first by rewrite scale0r !mul0r !add0r.
have ap : 0 < q2r a by rewrite lt_neqAle eq_sym an0.
have l : q2r a * dot (v2r r.1) x < q2r a * q2r r.2 by rewrite ltr_pmul2l.
have lt' := ltr_le_add l le.
by split=> [|_]; first exact: ltW.
Qed.

Lemma below_rows_sound rows u t y x : below_rows d rows u t y ->
  (forall r, List.In r rows -> dot (v2r r.1) x < q2r r.2) ->
  dot (v2r u) x <= q2r t /\ (v2r u != 0 -> dot (v2r u) x < q2r t).
Proof.
case/and3P=> y0; rewrite (eqvP R) (q2r_le R) => /eqP-> gt inS.
have [le lt] := terms_sound y0 inS.
by split=> [|/lt h]; [apply: le_trans le gt | apply: lt_le_trans h gt].
Qed.

Lemma below_sound S u t y x : wf_vec d u -> below d S u t y -> in_set S x ->
  dot (v2r u) x <= q2r t /\ (~~ is_point S -> v2r u != 0 -> dot (v2r u) x < q2r t).
Proof.
move=> /eqP su; case: S => [p | c r | lo up | n o | rows] /=.
- by rewrite (q2r_le R) (@vdotE R d) ?su // => le ->.
- rewrite !(q2r_le R) (q2r0 R) !qmulE !qaddE qnegE !(@vdotE R d) ?su // -/(sqn _).
  set g := q2r t - _ => /andP[g0 rg] [r0 xc].
  have e : dot (v2r u) x = dot (v2r u) (x - v2r c) + dot (v2r u) (v2r c).
    by rewrite dotBr subrK.
  have lt : v2r u != 0 -> dot (v2r u) x < q2r t.
    move=> u0; rewrite e -ltr_subr_addr -/g ltNge; apply/negP => ga.
    have : dot (v2r u) (x - v2r c) ^+ 2 < g * g.
      apply: le_lt_trans (cauchy_schwarz _ _) _; apply: lt_le_trans rg.
      by rewrite mulrC ltr_pmul2r ?sqn_gt0.
    by rewrite ltNge expr2 ler_pmul.
  split=> [|_ //]; have [u0 | /lt/ltW //] := eqVneq (v2r u) 0.
  by move: g0; rewrite /g u0 !dot0l subr0.
- rewrite (q2r_le R) => le inS; pose term k :=
    qmax (qmul (nth q0 u k) (nth q0 lo k)) (qmul (nth q0 u k) (nth q0 up k)).
  pose m (i : 'I_d) := q2r (term i).
  have sumE : q2r (foldr (fun k s => qadd (term k) s) q0 (iota 0 d)) = \sum_(i < d) m i.
    rewrite -(big_mkord xpredT (fun k => q2r (term k))) /index_iota subn0.
    elim: (iota 0 d) => [|k s IH] /=; first by rewrite big_nil q2r0.
    by rewrite big_cons qaddE IH.
  have mE i : m i = Num.max (v2r u i ord0 * v2r lo i ord0) (v2r u i ord0 * v2r up i ord0).
    by rewrite /m /term qmaxE !qmulE !mxE.
  have lei i : v2r u i ord0 * x i ord0 <= m i.
    rewrite mE le_maxr; have /andP[a b] := inS i.
    have [p | n | <-] := ltrgtP 0 (v2r u i ord0); last by rewrite !mul0r lexx.
      by rewrite (ler_pmul2l p) [X in _ || X]ler_pmul2l // (ltW b) orbT.
    by rewrite (ler_nmul2l n) (ltW a).
  have {}le : \sum_(i < d) m i <= q2r t by rewrite -sumE.
  split; first by apply: le_trans le; apply: ler_sum => i _; apply: lei.
  move=> _ u0; apply: lt_le_trans le.
  have [i ui] : exists i, v2r u i ord0 != 0.
    apply/existsP; apply: contraNT u0; rewrite negb_exists => /forallP h.
    by apply/eqP/colP => i; rewrite [RHS]mxE; apply/eqP; have := h i; rewrite negbK.
  rewrite /dot (bigD1 i) //= [X in _ < X](bigD1 i) //=; apply: ltr_le_add; last first.
    by apply: ler_sum => j _; apply: lei.
  rewrite mE lt_maxr; have /andP[a b] := inS i.
  have [p | n | e] := ltrgtP 0 (v2r u i ord0); last by rewrite -e eqxx in ui.
    by rewrite [X in _ || X]ltr_pmul2l // b orbT.
  by rewrite ltr_nmul2l // a.
- move=> /below_rows_sound h lt; have [|le lt'] := h x; last by split.
  by move=> r [<- /=|//]; rewrite vnegE qnegE dotNl ltr_opp2.
by move=> /below_rows_sound h /h[le lt]; split.
Qed.

Lemma separated_sound S S' h x : separated d S S' h -> in_set S x -> in_set S' x -> False.
Proof.
case/and5P=> wu u0 np b b' xS xS'.
have wn : wf_vec d (vneg (h_normal h)) by rewrite /wf_vec size_map.
have {}u0 : v2r (h_normal h) != 0.
  case/hasP: u0 => a /(nthP q0)[k kd <-]; rewrite (q2r_eqb R) (q2r0 R); apply: contra => /eqP/colP.
  rewrite (eqP wu) in kd => /(_ (Ordinal kd)); rewrite !mxE /= => ->.
  exact: eqxx.
have [le lt] := below_sound wu b xS; have [le' lt'] := below_sound wn b' xS'.
move: le' lt'; rewrite vnegE qnegE dotNl oppr_eq0 ler_opp2 ltr_opp2 => le' lt'.
case/nandP: np => [/lt/(_ u0) l | /lt'/(_ u0) l].
  by have := lt_le_trans l le'; rewrite ltxx.
by have := lt_le_trans l le; rewrite ltxx.
Qed.

Theorem disjoint_sound labels seps : check_disjoint d labels seps -> DISJOINT labels.
Proof.
have ex (A : Type) (P : pred A) (s : seq A) : has P s -> exists a, P a.
  by elim: s => //= a s IH /orP[Pa | /IH]; first by exists a.
move=> /allP h; have lt k l x : (k < l)%N -> (l < size labels)%N ->
    in_set (nth no_set labels k) x -> in_set (nth no_set labels l) x -> False.
  move=> kl lM; have /h/allP/(_ k) : l \in iota 0 (size labels) by rewrite mem_iota.
  rewrite mem_iota kl => /(_ isT) /= /orP[|/ex[s /and3P[_ _ sep]]]; last exact: separated_sound sep.
  rewrite /apart; case: (nth no_set labels k) => // p; case: (nth no_set labels l) => // p' ne /= -> e.
  by move: ne; rewrite (eqvP R) e eqxx.
move=> k l x kM lM xk xl; have [kl | lk | //] := ltngtP k l.
  by case: (lt k l x).
by case: (lt l k x).
Qed.

Theorem proved_sound labels seps T data :
  check_proved d labels seps T data -> PROVED labels T data.
Proof.
case/and3P=> c inL sep; have [T0 D0] := checker_nonempty c; have cl := checker_sound R c.
have [_ /andP[_ wfD] _] := and3P c.
split=> //; last exact: disjoint_sound sep.
split=> [|p pin]; first by move: D0; rewrite size_map.
have pS : List.In (p.1, nth no_set labels p.2) (with_sets labels data).
  exact: (List.in_map (fun p => (p.1, nth no_set labels p.2))).
have pos (A : Type) (P : pred A) (s : seq A) a : all P s -> List.In a s -> P a.
  by elim: s => //= b s IH /andP[Pb /IH{}IH] [<- | /IH].
split; last exact: cl pS.
  by have /andP[/andP[]] := pos _ _ _ _ wfD pS.
exact: (pos _ (fun p => (p.2 < size labels)%N) _ _ inL pin).
Qed.

(* --- the counts ----------------------------------------------------------------- *)
Lemma qnonzeroE x : wf_vec d x -> nonzero (v2r x) = qnonzero x.
Proof.
move=> /eqP sx; rewrite /nonzero cardsE cardE /enum_mem size_filter -enumT /=.
rewrite (@eq_count _ _ (preim val (fun k => ~~ Qeq_bool (nth q0 x k) q0))); last first.
  by move=> i; rewrite -[LHS]/(v2r x i ord0 != 0) mxE /= (q2r_eqb R) (q2r0 R).
rewrite -count_map val_enum_ord -sx /qnonzero -[in RHS](take_size x).
by rewrite -(map_nth_iota0 q0 (leqnn (size x))) count_map.
Qed.

Theorem parameters_exact T : all (wf_block d) T -> parameters T = qparams T.
Proof.
rewrite /parameters /params /qparams; elim: T => //= B T IH /andP[/and3P[wu ww wv] /IH{}IH].
rewrite IH /nparams /= !qnonzeroE //; congr (_ + _)%N.
by rewrite /qnonzero /= !(q2r_eqb R) (q2r0 R) addn0 !addnA.
Qed.

Theorem measures_exact data : all (fun p => wf_sequence d p.1) data ->
  measures data = qmeasures d data.
Proof.
rewrite /measures /qmeasures /nmeasures; elim: data => //= p r IH /andP[/andP[p0 _] wr].
rewrite -(IH wr); set same := has _ [seq s2r q.1 | q <- r]; set qsame := has _ _.
suff -> : same = qsame by case: qsame.
rewrite /same /qsame {IH same qsame} !has_map; elim: r wr => //= q r IH /andP[/andP[qne _] wr].
rewrite IH //; congr (_ || _); rewrite (eqvP R) !vmeanE.
have e : same_measureb R (s2r p.1) (s2r q.1) = same_data d p.1 q.1.
  by apply: (sameP (@same_measureP R _ _ _)); apply: (@same_dataP R d _ _ p0 qne).
case: eqP => [_ | ne]; first exact: e.
by apply/same_measureP => /same_integral h; apply/ne/h.
Qed.

Theorem counts_sound T data n l p : check_counts d T data n l p ->
  [/\ measures data = n, size T = l & parameters T = p].
Proof.
case/and5P=> wD wT /eqP en /eqP el /eqP ep.
by rewrite measures_exact // parameters_exact.
Qed.

Theorem bounds_sound T data n l p : check_counts d T data n l p -> check_bounds d n l p ->
  (size T <= 8 * measures data + 4)%N /\ (parameters T <= 54 * measures data * d)%N.
Proof. by move=> /counts_sound[-> -> ->] /andP[]. Qed.

End Meaning.
