(* General position (theory, section 8): tents for d - 1 points at a time.       *)
(* Class c takes at most ceil(N_c / (d - 1)) tents and no half-space.            *)
From mathcomp Require Import all_ssreflect ssralg ssrnum matrix zmodp mxalgebra poly rat zify.
From Hardmax Require Import Model Measure Feedforward Collapse Pushes Cover Transverse.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section GeneralPosition.
Variables (R : realFieldType) (d N : nat).
Notation token := 'cV[R]_d.
Implicit Types (p : 'I_N -> token) (S G : {set 'I_N}) (f : token) (l : 'I_N -> R).

(* Any d of the points, or all if they are fewer, are affinely independent.      *)
Definition general_position p := independent d p.

(* The points moved along f to height 0, that is to E.                            *)
Definition shadow k f p j : token := p j - p j k ord0 *: f.

(* They are the images under step 1, up to one translation.                       *)
Lemma image_shadow k f (Z : 'I_N -> seq token) B j :
  image k Z f B j = shadow k f (fun i => mean (Z i)) j + B *: f.
Proof. by rewrite /image /shadow scalerBl -addrA (addrC (B *: f)). Qed.

(* If the shadows are in general position, then f is parallel to no span of d of    *)
(* the points.                                                                   *)
Lemma shadow_transverse k f p : f k ord0 = 1 -> general_position (shadow k f p) ->
  transverse d f p.
Proof.
move=> fk gp S sS l a l0 e; apply: (gp S sS l l0).
have ea : \sum_(j in S) l j * p j k ord0 = a.
  have := congr1 (fun z : token => z k ord0) e; rewrite [RHS]mxE fk mulr1 => <-.
  by rewrite summxE; apply: eq_bigr => j _; rewrite mxE.
rewrite /shadow; under eq_bigr do rewrite scalerBr scalerA.
by rewrite sumrB -scaler_suml e ea subrr.
Qed.

(* One tent: a hyperplane along f through at most d - 1 of the points that        *)
(* misses all others.                                                            *)
Lemma tent_plane k f p G : f k ord0 = 1 -> general_position (shadow k f p) ->
  (#|G| < d)%N -> exists q : token * R, [/\ dot q.1 f = 0,
    {in G, forall j, dot q.1 (p j) + q.2 = 0}
  & forall j, j \notin G -> dot q.1 (p j) + q.2 != 0].
Proof. by move=> fk gp; apply/transverse_plane/(shadow_transverse fk). Qed.

(* If the means are in general position, so are their shadows along some f.      *)
Lemma generic_shadow k p : general_position p ->
  exists f, f k ord0 = 1 /\ general_position (shadow k f p).
Proof.
move=> gp; have d0 : (0 < d)%N by apply: leq_ltn_trans (ltn_ord k).
have /fin_all_exists[v hv] (S : {set 'I_N}) : exists v : token, v != 0 /\
    ((#|S| <= d)%N -> forall l, \sum_(j in S) l j = 0 -> dot v (\sum_(j in S) l j *: p j) = 0).
  have [sS | _] := leqP #|S| d; first by have [v v0 hv] := span_normal p d0 sS; exists v.
  have [|v v0 _] := @span_normal R d N p set0 d0; first by rewrite cards0.
  by exists v.
have [g [g_pos gI]] := positive_direction ((0 : token) :: [seq v S | S <- enum {set 'I_N}]).
have g0 S : dot (v S) g != 0.
  have [v0 _] := hv S; apply: contra v0 => /eqP vg; apply/eqP/gI; rewrite ?mem_head //.
    by rewrite in_cons map_f ?orbT // mem_enum.
  by rewrite dotC vg dotC dot0l.
have gk : g k ord0 != 0 by rewrite gt_eqF.
exists ((g k ord0)^-1 *: g); split; first by rewrite mxE mulVf.
move=> S sS l l0; rewrite /shadow; set f := _ *: g => e.
have {}e : \sum_(j in S) l j *: p j = (\sum_(j in S) l j * p j k ord0) *: f.
  apply/eqP; rewrite -subr_eq0 -[X in _ == X]e; apply/eqP.
  under [in RHS]eq_bigr do rewrite scalerBr scalerA.
  by rewrite sumrB -scaler_suml.
have [_ vS] := hv S.
have h0 : \sum_(j in S) l j * p j k ord0 = 0.
  have := vS sS l l0.
  by rewrite e !dotZr => /eqP; rewrite !mulf_eq0 invr_eq0 (negPf gk) (negPf (g0 _)) !orbF => /eqP.
by move: e; rewrite h0 scale0r; apply: gp.
Qed.
End GeneralPosition.

(* Any m items in groups of at most n: ceil(m / n) groups.                       *)
Definition ceil_div (m n : nat) := ((m + n.-1) %/ n)%N.

Definition groups (T : Type) n (s : seq T) := reshape (nseq (ceil_div (size s) n) n) s.

Lemma size_groups (T : Type) n (s : seq T) : size (groups n s) = ceil_div (size s) n.
Proof. by rewrite size_reshape size_nseq. Qed.

Lemma groups_small (T : eqType) n (s : seq T) : {in groups n s, forall g, (size g <= n)%N}.
Proof.
rewrite /groups; move: (ceil_div _ _) => q g; elim: q s => [|q IH] s //=.
by rewrite inE => /orP[/eqP-> | /IH //]; rewrite size_take; case: ltnP.
Qed.

Lemma flatten_groups (T : Type) n (s : seq T) : (0 < n)%N -> flatten (groups n s) = s.
Proof.
move=> n0; apply: reshapeKr; rewrite sumn_nseq /ceil_div mulnC.
have := ltn_ceil (size s + n.-1) n0; rewrite mulSn.
by move: (_ %/ _ * _)%N => q; lia.
Qed.

(* Theory, section 8, in general position and with K = 0: T_c = ceil(N_c / (d - 1)) *)
(* and H_c = 0.                                                                  *)
Section CoverGeneralPosition.
Variables (R : realFieldType) (d N M : nat).
Notation token := 'cV[R]_d.
Variables (c : 'I_N -> 'I_M) (y : 'I_M -> token) (Z : 'I_N -> seq token).
Hypotheses (Z_nonempty : forall j, Z j != [::]) (d1 : (1 < d)%N) (M0 : (0 < M)%N).

Definition tents_depth :=
  (1 + \sum_(1 <= l < M) 3 * ceil_div (class_size c l) (d - 1) + (M - 1) + (d - 1) + M)%N.

(* f as in step 1, and the images of the means in E in general position          *)
Theorem cover_along (k : 'I_d) (f : token) : f k ord0 = 1 ->
  general_position (shadow k f (fun j => mean (Z j))) ->
  exists T : seq (rank1 R d),
  [/\ size T = tents_depth, uniform T & forall j, readout (run1 T (Z j)) = y (c j)].
Proof.
move=> fk gp; have n0 : (0 < d - 1)%N by rewrite subn_gt0.
have /fin_all_exists[q hq] (G : {set 'I_N}) : exists q : token * R, (#|G| < d)%N ->
    [/\ dot q.1 f = 0, {in G, forall j, dot q.1 (mean (Z j)) + q.2 = 0}
      & forall j, j \notin G -> dot q.1 (mean (Z j)) + q.2 != 0].
  case: (ltnP #|G| d) => sG; last by exists (0, 0).
  by have [q hq] := tent_plane fk gp sG; exists q.
pose class l := [seq j <- enum 'I_N | c j == l :> nat].
pose Ts l := [seq q [set j in g] | g <- groups (d - 1) (class l)].
have small l g : g \in groups (d - 1) (class l) -> (#|[set j in g]| < d)%N.
  move=> /groups_small gd; rewrite cardsE (leq_ltn_trans (card_size g)) //.
  by rewrite (leq_ltn_trans gd) // subn1 prednK // ltnW.
have inside l g j : g \in groups (d - 1) (class l) -> j \in g -> c j = l :> nat.
  move=> gg jg; have : j \in class l.
    by rewrite -(flatten_groups (class l) n0); apply/flattenP; exists g.
  by rewrite mem_filter => /andP[/eqP].
have [|||||T [sT uT hT]] := @cover R d N M k Z c y Z_nonempty f (fun=> [::]) Ts fk.
- by move=> l _ /mapP[g gg ->]; have [] := hq _ (small _ _ gg).
- by [].
- move=> j l lt _ /mapP[g gg ->]; have [_ _ off] := hq _ (small _ _ gg).
  by apply: off; rewrite inE; apply: contraTN lt => /(inside _ _ _ gg) ->; rewrite ltnn.
- move=> j _; apply/orP; right.
  have : j \in class (c j) by rewrite mem_filter eqxx mem_enum.
  rewrite -{1}(flatten_groups (class (c j)) n0) => /flattenP[g gg jg].
  apply/hasP; exists (q [set j in g]); first exact: (map_f (fun g : seq 'I_N => q [set j in g])).
  by have [_ on _] := hq _ (small _ _ gg); rewrite on ?inE.
- exact: M0.
exists T; split=> //; rewrite sT /tents_depth; congr (_ + _ + _ + _ + _)%N.
apply: eq_bigr => l _; rewrite add0n size_map size_groups /class_size; congr (3 * ceil_div _ _)%N.
by rewrite size_filter -sum1_count big_enum_cond -sum1_card; apply: eq_bigl => j; rewrite !inE.
Qed.

(* the means in general position: any d of them, or all if they are fewer        *)
Theorem cover_general_position : general_position (fun j => mean (Z j)) ->
  exists T : seq (rank1 R d),
  [/\ size T = tents_depth, uniform T & forall j, readout (run1 T (Z j)) = y (c j)].
Proof.
move=> gp; pose k : 'I_d := Ordinal (ltnW d1).
by have [f [fk gpf]] := generic_shadow k gp; apply: cover_along fk gpf.
Qed.

End CoverGeneralPosition.

(* Points on the moment curve are in general position, in any number and any      *)
(* dimension; so the theorem is about something.                                 *)
Section Moments.
Variables (R : realFieldType) (d N : nat).

Definition moment (j : 'I_N) : 'cV[R]_d := \col_i j%:R ^+ i.+1.

Lemma moment_position (S : {set 'I_N}) : (#|S| <= d.+1)%N -> affinely_independent moment S.
Proof.
move=> sS l l0 lm i iS; pose e := enum (S :\ i).
pose P : {poly R} := \prod_(j <- [seq j%:R | j : 'I_N <- e]) ('X - j%:P).
have sP : (size P <= d.+1)%N.
  by rewrite /P size_prod_XsubC size_map -cardE; move: sS; rewrite (cardsD1 i) iS.
have moments r : (r <= d)%N -> \sum_(j in S) l j * j%:R ^+ r = 0.
  case: r => [_|r rd]; first by under eq_bigr do rewrite expr0 mulr1.
  have := congr1 (fun z : 'cV[R]_d => z (Ordinal rd) ord0) lm; rewrite summxE [RHS]mxE => s0.
  by rewrite -[RHS]s0; apply: eq_bigr => j _; rewrite !mxE.
have sum0 : \sum_(j in S) l j * P.[j%:R] = 0.
  under eq_bigr do rewrite (horner_coef_wide _ sP) mulr_sumr.
  rewrite exchange_big big1 //= => r _; under eq_bigr do rewrite mulrCA.
  by rewrite -mulr_sumr moments ?mulr0 // -ltnS.
move: sum0; rewrite (big_setD1 i) //= big1 ?addr0 => [/eqP|j jS]; last first.
  have : root P j%:R by rewrite root_prod_XsubC (map_f (fun j : 'I_N => j%:R)) // mem_enum.
  by move=> /rootP->; rewrite mulr0.
rewrite mulf_eq0 => /orP[/eqP // | ]; rewrite -rootE root_prod_XsubC => /mapP[j je /eqP].
by rewrite eqr_nat => /eqP/val_inj ij; move: je; rewrite mem_enum -ij !inE eqxx.
Qed.

Lemma moment_general_position : general_position moment.
Proof. by move=> S /leqW; apply: moment_position. Qed.

End Moments.

Theorem cover_moments N d M (c : 'I_N -> 'I_M) (y : 'I_M -> 'cV[rat]_d) :
  (1 < d)%N -> (0 < M)%N -> exists T : seq (rank1 rat_realFieldType d),
  [/\ size T = tents_depth d c, uniform T
    & forall j, readout (run1 T [:: moment rat_realFieldType d j]) = y (c j)].
Proof.
move=> d1 M0; apply: cover_general_position => // S sS l l0 e.
apply: (moment_general_position sS l0); rewrite -[RHS]e; apply: eq_bigr => j _.
by rewrite /mean big_seq1 invr1 scale1r.
Qed.
