(* The empirical measure mu = (1/n) sum_l delta_{z_l} of a sequence            *)
(* (theory part A1), integrals against it, and what determines them.           *)
From mathcomp Require Import all_ssreflect ssralg ssrnum.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Measure.
Variables (R : realFieldType) (T : eqType).
Implicit Types (Z S : seq T) (z : T).

(* the mass that Z gives to the point z *)
Definition mu Z z : R := (count_mem z Z)%:R / (size Z)%:R.

Definition same_measure Z Z' : Prop := forall z, mu Z z = mu Z' z.
(* the same as a boolean; only tokens that occur need to be compared *)
Definition same_measureb Z Z' : bool := all (fun z => mu Z z == mu Z' z) (Z ++ Z').

Lemma mu_notin Z z : z \notin Z -> mu Z z = 0.
Proof. by move=> zZ; rewrite /mu (count_memPn zZ) mul0r. Qed.

Lemma mu_ge0 Z z : 0 <= mu Z z.
Proof. by rewrite /mu divr_ge0 ?ler0n. Qed.

Lemma mu_gt0 Z z : (0 < mu Z z) = (z \in Z).
Proof.
case: Z => [|a Z]; first by rewrite /mu mul0r ltxx.
by rewrite /mu pmulr_lgt0 ?invr_gt0 ?ltr0n // -has_count has_pred1.
Qed.

Lemma mu_eq0 Z z : (mu Z z == 0) = (z \notin Z).
Proof. by rewrite -mu_gt0 lt_neqAle mu_ge0 andbT negbK eq_sym. Qed.

Lemma same_measureP Z Z' : reflect (same_measure Z Z') (same_measureb Z Z').
Proof.
apply: (iffP allP) => [h z | h z _]; last by rewrite h.
have [zin | zout] := boolP (z \in Z ++ Z'); first exact/eqP/h.
by move: zout; rewrite mem_cat negb_or => /andP[z1 z2]; rewrite !mu_notin.
Qed.

Lemma same_measure_refl Z : same_measure Z Z. Proof. by []. Qed.
Lemma same_measure_sym Z Z' : same_measure Z Z' -> same_measure Z' Z.
Proof. by move=> h z; rewrite h. Qed.
Lemma same_measure_trans Z' Z Z'' :
  same_measure Z Z' -> same_measure Z' Z'' -> same_measure Z Z''.
Proof. by move=> h h' z; rewrite h h'. Qed.

Lemma same_measure_mem Z Z' : same_measure Z Z' -> Z =i Z'.
Proof. by move=> h z; rewrite -!mu_gt0 h. Qed.

Lemma same_measure_nil Z Z' : same_measure Z Z' -> (Z == [::]) = (Z' == [::]).
Proof.
move=> /same_measure_mem h.
case: Z Z' h => [|a Z] [|a' Z'] //= h; first by have := h a'; rewrite in_nil mem_head.
by have := h a; rewrite mem_head in_nil.
Qed.

(* Equal measures of non-empty sequences in whole numbers: cross-multiplied    *)
(* counts agree.                                                               *)
Lemma same_measure_counts Z Z' : Z != [::] -> Z' != [::] ->
  same_measure Z Z' <->
  (forall z, count_mem z Z * size Z' = count_mem z Z' * size Z)%N.
Proof.
move=> Z0 Z'0; have n0 (Y : seq T) : Y != [::] -> (size Y)%:R != 0 :> R.
  by case: Y => // y Y _; rewrite pnatr_eq0.
suff e z : (mu Z z == mu Z' z) =
           (count_mem z Z * size Z' == count_mem z Z' * size Z)%N.
  by split=> h z; apply/eqP; [rewrite -e h | rewrite e h].
by rewrite /mu eqr_div ?n0 // -!natrM eqr_nat.
Qed.

(* A permutation of the tokens keeps the measure; so does repeating all of     *)
(* them equally often (theory A1: (a,b) and (a,a,b,b)).                        *)
Lemma perm_same_measure Z Z' : perm_eq Z Z' -> same_measure Z Z'.
Proof. by move=> h z; rewrite /mu (perm_size h) (permP h). Qed.

Lemma repeat_same_measure Z k : same_measure (flatten (nseq k.+1 Z)) Z.
Proof.
move=> z; rewrite /mu count_flatten size_flatten /shape !map_nseq !sumn_nseq !natrM.
by rewrite -mulf_div divff ?mulr1 ?pnatr_eq0.
Qed.

Lemma const_same_measure Z z : Z != [::] -> {in Z, forall y, y = z} ->
  same_measure Z [:: z].
Proof.
case: Z => // a Z _ h; have /all_pred1P -> : all (pred1 z) (a :: Z).
  by apply/allP => y /h ->; apply: eqxx.
have -> : nseq (size (a :: Z)) z = flatten (nseq (size Z).+1 [:: z]).
  by rewrite /=; congr cons; elim: (size Z) => //= n ->.
exact: repeat_same_measure.
Qed.

(* For sequences without repeated tokens (hypothesis ii) of Theorem 2.4) equal *)
(* measures mean equal up to order.                                            *)
Lemma uniq_same_measure Z Z' :
  uniq Z -> uniq Z' -> same_measure Z Z' -> perm_eq Z Z'.
Proof. by move=> uZ uZ' /same_measure_mem; apply: uniq_perm. Qed.

(* --- integrals ------------------------------------------------------------- *)
Section Integral.
Variable (E : lmodType R).
Implicit Types (g : T -> E).

Definition integral g Z : E := (size Z)%:R^-1 *: \sum_(z <- Z) g z.

Lemma integral_mu g Z S : uniq S -> {subset Z <= S} ->
  integral g Z = \sum_(z <- S) mu Z z *: g z.
Proof.
move=> uS sub; rewrite /integral.
suff -> : \sum_(z <- Z) g z = \sum_(z <- S) (count_mem z Z)%:R *: g z.
  rewrite scaler_sumr; apply: eq_bigr => z _.
  by rewrite scalerA mulrC.
elim: Z sub => [|a Z IH] sub.
  by rewrite big_nil big1 // => z _; rewrite scale0r.
rewrite big_cons IH; last by move=> z zZ; apply: sub; rewrite inE zZ orbT.
rewrite [in RHS](eq_bigr
  (fun z => (if z == a then g z else 0) + (count_mem z Z)%:R *: g z)); last first.
  move=> z _ /=; rewrite natrD scalerDl (eq_sym a); congr (_ + _).
  by case: eqP => _; rewrite ?scale1r ?scale0r.
rewrite big_split /=; congr (_ + _).
rewrite -big_mkcond /= -big_filter filter_pred1_uniq ?big_seq1 //.
by apply: sub; rewrite mem_head.
Qed.

Lemma same_integral g Z Z' : same_measure Z Z' -> integral g Z = integral g Z'.
Proof.
move=> h; rewrite (@integral_mu _ _ (undup Z)) ?undup_uniq //; last first.
  by move=> z; rewrite mem_undup.
rewrite (@integral_mu _ Z' (undup Z)) ?undup_uniq //; last first.
  by move=> z; rewrite mem_undup (same_measure_mem h).
by apply: eq_bigr => z _; rewrite h.
Qed.

Lemma eq_integral g g' Z : {in Z, g =1 g'} -> integral g Z = integral g' Z.
Proof.
by move=> h; rewrite /integral; congr (_ *: _); rewrite !big_seq; apply: eq_bigr.
Qed.

Lemma integralD g g' Z :
  integral (fun z => g z + g' z) Z = integral g Z + integral g' Z.
Proof. by rewrite /integral big_split scalerDr. Qed.

Lemma integralZ g a Z : integral (fun z => a *: g z) Z = a *: integral g Z.
Proof. by rewrite /integral -scaler_sumr !scalerA mulrC. Qed.

Lemma integral_const (e : E) Z : Z != [::] -> integral (fun=> e) Z = e.
Proof.
move=> Z0; rewrite /integral big_const_seq count_predT iter_addr_0.
rewrite -scaler_nat scalerA mulVf ?scale1r // pnatr_eq0.
by case: Z Z0.
Qed.

End Integral.

Lemma integral_scaler (E : lmodType R) (f : T -> R) (w : E) Z :
  integral (fun z => f z *: w) Z = integral (f : T -> R^o) Z *: w.
Proof. by rewrite /integral -scaler_suml scalerA. Qed.

Lemma integral_mu_scalar (g : T -> R) Z S : uniq S -> {subset Z <= S} ->
  integral (g : T -> R^o) Z = \sum_(z <- S) mu Z z * g z.
Proof. exact: integral_mu. Qed.

(* the mass of a set *)
Lemma integral_mass (p : pred T) Z :
  integral (fun z => (p z)%:R : R^o) Z = (count p Z)%:R / (size Z)%:R.
Proof.
rewrite /integral [LHS]mulrC -natr_sum; congr (_%:R / _).
by elim: Z => [|z Z IH] /=; rewrite ?big_nil // big_cons IH.
Qed.

Lemma integral_filter (E : lmodType R) (p : pred T) (g : T -> E) Z :
  integral (fun z => if p z then g z else 0) Z =
  (size Z)%:R^-1 *: \sum_(z <- Z | p z) g z.
Proof. by rewrite /integral -big_mkcond. Qed.

(* total mass 1 *)
Lemma mu_total Z S : Z != [::] -> uniq S -> {subset Z <= S} ->
  \sum_(z <- S) mu Z z = 1.
Proof.
move=> Z0 uS sub; have := integral_const (1 : R^o) Z0.
rewrite (integral_mu _ uS sub) => <-; apply: eq_bigr => z _.
by rewrite [RHS]mulr1.
Qed.

(* --- merging sequences with the same measure (Theorem B) -------------------- *)
Fixpoint merge (Zs : seq (seq T)) : seq (seq T) :=
  if Zs is Z :: r then
    if has (same_measureb Z) r then merge r else Z :: merge r
  else [::].

(* the number of distinct empirical measures *)
Definition nmeasures Zs := size (merge Zs).

(* no two of the sequences have the same measure *)
Definition distinct_measures (Zs : seq (seq T)) : Prop :=
  uniq Zs /\ {in Zs &, forall Z Z', same_measure Z Z' -> Z = Z'}.

Lemma merge_sub Zs : {subset merge Zs <= Zs}.
Proof.
elim: Zs => //= Z r IH Y; case: ifP => _; first by rewrite inE => /IH ->; rewrite orbT.
by rewrite !inE => /orP[-> // | /IH ->]; rewrite orbT.
Qed.

Lemma nmeasures_le Zs : (nmeasures Zs <= size Zs)%N.
Proof. rewrite /nmeasures; by elim: Zs => //= Z r IH; case: ifP => _ //; apply: leq_trans IH _. Qed.

Lemma merge_rep Zs Z : Z \in Zs -> exists2 Y, Y \in merge Zs & same_measure Z Y.
Proof.
elim: Zs Z => // Y r IH Z; rewrite inE /=; case: ifP => [/hasP[X Xr /same_measureP h]|_].
  case/orP=> [/eqP-> | /IH //]; have [X' X'm h'] := IH _ Xr.
  by exists X' => //; apply: same_measure_trans h'.
case/orP=> [/eqP-> | /IH[X Xm h]]; first by exists Y; rewrite ?mem_head.
by exists X => //; rewrite inE Xm orbT.
Qed.

Lemma merge_distinct Zs : distinct_measures (merge Zs).
Proof.
elim: Zs => //= Z r [ur dr]; case: ifP => //= /hasPn h.
have hZ X : X \in merge r -> ~ same_measure Z X.
  by move=> /merge_sub /h /negP nh /same_measureP.
split; first by rewrite /= ur andbT; apply/negP => /hZ; apply.
move=> X Y; rewrite !inE => /orP[/eqP-> | Xr] /orP[/eqP-> | Yr] // same.
- by case: (hZ _ Yr same).
- by case: (hZ _ Xr (same_measure_sym same)).
exact: dr.
Qed.

End Measure.

Section Pushforward.
Variables (R : realFieldType) (T T' : eqType).

Lemma mu_map (f : T -> T') Z x :
  mu R (map f Z) x = integral (fun z => (f z == x)%:R : R^o) Z.
Proof. by rewrite integral_mass /mu count_map size_map. Qed.

Lemma same_measure_map (f : T -> T') Z Z' :
  same_measure R Z Z' -> same_measure R (map f Z) (map f Z').
Proof. by move=> h x; rewrite !mu_map (same_integral _ h). Qed.

Lemma mu_map_inj (f : T -> T') (S Z : seq T) z : {in S &, injective f} ->
  {subset Z <= S} -> z \in S -> mu R (map f Z) (f z) = mu R Z z.
Proof.
move=> inj sub zS; rewrite /mu count_map size_map; congr (_%:R / _).
by apply: eq_in_count => y /sub yS; apply/eqP/eqP => [/inj-> | ->].
Qed.

(* distinct measures stay distinct under a map that is injective on the tokens *)
Lemma same_measure_map_inj (f : T -> T') (S Z Z' : seq T) : {in S &, injective f} ->
  {subset Z <= S} -> {subset Z' <= S} ->
  same_measure R (map f Z) (map f Z') -> same_measure R Z Z'.
Proof.
move=> inj sZ sZ' h z; have [zS | zS] := boolP (z \in S).
  by rewrite -(mu_map_inj inj sZ zS) -(mu_map_inj inj sZ' zS).
by rewrite !mu_notin //; apply: contra zS; [apply: sZ' | apply: sZ].
Qed.

End Pushforward.
