(* Folds (theory, section 13): what one neuron does. A hinge loads registers, a   *)
(* fold mirrors one, n folds are the triangle wave, two blocks are a cut. The     *)
(* registers are the coordinates.                                                *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint matrix zify.
From mathcomp.algebra_tactics Require Import ring.
From Hardmax Require Import Model Measure Feedforward Pushes.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* v = T(t), where T(t) = dist(t, 2Z) is the triangle wave                        *)
Section Wave.
Variable R : realFieldType.
Implicit Types (t v a x U : R).

Definition wave t v := 0 <= v <= 1 /\
  exists m : int, t = (2 * m)%:~R + v \/ t = (2 * m)%:~R - v.

Lemma even_small (m : int) : - 1 <= ((2 * m)%:~R : R) <= 1 -> m = 0.
Proof.
move=> /andP[lo hi].
have {}hi : 2 * m <= 1 by rewrite -(ler_int R).
have {}lo : - 1 <= 2 * m by rewrite -(ler_int R) mulrNz.
by lia.
Qed.

Lemma wave_small t v : 0 <= t <= 1 -> wave t v -> t = v.
Proof.
move=> /andP[t0 t1] [/andP[v0 v1] [m [e|e]]].
  have em : (2 * m)%:~R = t - v by rewrite e addrK.
  rewrite e (@even_small m) ?mulr0 ?add0r // em ler_subr_addr ler_subl_addr addrC.
  by rewrite (le_trans _ t0) ?subr_le0 //= (le_trans t1) // ler_addl.
have em : (2 * m)%:~R = t + v by rewrite e subrK.
have two : 2%:~R = 1 + 1 :> R by [].
have : (0 : int)%:~R <= ((2 * m)%:~R : R) <= 2%:~R by rewrite em addr_ge0 // two ler_add.
rewrite !ler_int => m01; have [m0 | m1] : m = 0 \/ m = 1 by lia.
  by move/esym/eqP: em; rewrite m0 mulr0 paddr_eq0 // => /andP[/eqP-> /eqP->].
have t1' : t = 1.
  by apply/eqP; rewrite eq_le t1 /= e m1 mulr1 two -addrA ler_addl subr_ge0.
by move: em; rewrite m1 mulr1 two t1' => /addrI.
Qed.

(* T is a function                                                               *)
Lemma wave_unique t v v' : wave t v -> wave t v' -> v = v'.
Proof.
move=> [v01 [m hm]] [w01 [m' hm']]; apply: wave_small v01 _; split=> //.
case: hm hm' => -> [] e.
- exists (m' - m); left; rewrite -[v](addKr (2 * m)%:~R) e; ring.
- exists (m' - m); right; rewrite -[v](addKr (2 * m)%:~R) e; ring.
- exists (m - m'); right; rewrite -[v](subKr (2 * m)%:~R) e; ring.
exists (m - m'); left; rewrite -[v](subKr (2 * m)%:~R) e; ring.
Qed.

(* a fold of t at a whole number keeps T(t)                                       *)
Lemma wave_mirror t v (c : int) : wave (c%:~R - `|t - c%:~R|) v <-> wave t v.
Proof.
have [le | gt] := lerP 0 (t - c%:~R).
  have E : t = c%:~R + c%:~R - (c%:~R - (t - c%:~R)) by ring.
  rewrite ger0_norm //; split=> -[v01 [m e]]; split=> //; exists (c - m).
    by case: e => e; [right | left]; rewrite E e; ring.
  by case: e => ->; [right | left]; ring.
by rewrite ltr0_norm // opprK addrC subrK.
Qed.

(* a fold of x at a + m U keeps T((x - a) / U)                                     *)
Lemma wave_fold a U x v (m : nat) : 0 < U ->
  wave ((a + m%:R * U - `|x - (a + m%:R * U)| - a) / U) v <-> wave ((x - a) / U) v.
Proof.
move=> U0; have U' : U != 0 by rewrite gt_eqF.
rewrite -(wave_mirror ((x - a) / U) v m) -!pmulrn.
have -> : (x - a) / U - m%:R = (x - (a + m%:R * U)) / U.
  by rewrite -[m%:R](mulfK U') -mulrBl mulfK // opprD addrA.
rewrite normrM normfV (gtr0_norm U0) -[X in X - _ / U](mulfK U') -mulrBl.
by rewrite [a + _]addrC addrAC addrK.
Qed.

(* T of a multiple of t is T of the multiple of T(t)                               *)
Lemma wave_mult t v v' (k : nat) : wave t v -> wave (k%:R * t) v' -> wave (k%:R * v) v'.
Proof.
rewrite !pmulrn => -[_ [m e]] [v01 [m' e']]; split=> //; case: e e' => -> [] e'.
- by exists (m' - Posz k * m); left; rewrite -[v](addKr (2 * m)%:~R) mulrDr e'; ring.
- by exists (m' - Posz k * m); right; rewrite -[v](addKr (2 * m)%:~R) mulrDr e'; ring.
- by exists (Posz k * m - m'); right; rewrite -[v](subKr (2 * m)%:~R) mulrBr e'; ring.
by exists (Posz k * m - m'); left; rewrite -[v](subKr (2 * m)%:~R) mulrBr e'; ring.
Qed.

End Wave.

Section Folds.
Variables (R : realFieldType) (d : nat).
Notation token := 'cV[R]_d.
Implicit Types (z w : token) (r i : 'I_d) (a c x U : R).

(* z with the register r set to x                                                 *)
Definition setr r x z : token := z + (x - z r ord0) *: unit R r.

Lemma setrE r x z i : setr r x z i ord0 = if i == r then x else z i ord0.
Proof.
rewrite !mxE eqxx andbT; case: eqP => [->|_]; last by rewrite mulr0 addr0.
by rewrite mulr1 addrC subrK.
Qed.

Lemma setr_id r z : setr r (z r ord0) z = z.
Proof. by rewrite /setr subrr scale0r addr0. Qed.

Lemma setr_set r x x' z : setr r x (setr r x' z) = setr r x z.
Proof. by apply/colP => i; rewrite !setrE; case: eqP. Qed.

(* a fold of r at c, that is r -> c - |r - c|                                     *)
Definition fold r c : ffp R d := (unit R r, - c, - 2%:R *: unit R r).

Lemma fold_step r c z : ff_step (fold r c) z = setr r (c - `|z r ord0 - c|) z.
Proof.
rewrite /ff_step /= dot_unit scalerA /setr; congr (_ + _ *: _).
have [le | lt] := lerP 0 (z r ord0 - c).
  by rewrite relu_pos // ger0_norm //; ring.
by rewrite relu_neg ?ltW // ltr0_norm //; ring.
Qed.

(* Folds at a + 2^(n-1) U, ..., a + 2 U, a + U take [a, a + 2^n U] to [a, a + U]   *)
(* by r -> a + U T((r - a) / U).                                                  *)
Definition folds r a U n := [seq fold r (a + (2 ^ j)%:R * U) | j <- rev (iota 0 n)].

Lemma size_folds r a U n : size (folds r a U n) = n.
Proof. by rewrite size_map size_rev size_iota. Qed.

Theorem triangle_wave r a U n z v : 0 < U -> a <= z r ord0 <= a + (2 ^ n)%:R * U ->
  wave ((z r ord0 - a) / U) v -> ff_map (folds r a U n) z = setr r (a + U * v) z.
Proof.
move=> U0; elim: n z => [|n IH] z /andP[lo hi] w.
  rewrite -(wave_small _ w); first by rewrite mulrC divfK ?gt_eqF // addrC subrK /= setr_id.
  rewrite divr_ge0 ?subr_ge0 ?(ltW U0) //= ler_pdivr_mulr // ler_subl_addl.
  by move: hi; rewrite expn0.
have -> : folds r a U n.+1 = fold r (a + (2 ^ n)%:R * U) :: folds r a U n.
  by rewrite /folds -(addn1 n) iotaD rev_cat.
rewrite /= fold_step; set c := a + _; set x := c - _.
rewrite IH ?setr_set // setrE eqxx.
  have hc : c - a = (2 ^ n)%:R * U by rewrite /c addrC addKr.
  have hi' : z r ord0 - c <= c - a.
    rewrite hc ler_subl_addr addrA (addrC _ a) -addrA -mulrDl -natrD addnn -mul2n -expnS //.
  apply/andP; split; last by rewrite -/c ler_subl_addr ler_addl.
  by rewrite ler_subr_addr addrC -ler_subr_addr ler_norml hi' opprB ler_add2r lo.
exact/wave_fold.
Qed.

(* kills from above: every register r of a list becomes t r                       *)
Definition drop (t : token) r : ffp R d := (unit R r, - t r ord0, - unit R r).

Lemma drop_step (t : token) r z : t r ord0 <= z r ord0 ->
  ff_step (drop t r) z = setr r (t r ord0) z.
Proof.
move=> le; rewrite /ff_step /= dot_unit relu_pos ?subr_ge0 // /setr scalerN -scaleNr.
by rewrite opprB.
Qed.

Lemma drops (t : token) (I : seq 'I_d) z : uniq I -> {in I, forall i, t i ord0 <= z i ord0} ->
  forall j, ff_map [seq drop t i | i <- I] z j ord0 = if j \in I then t j ord0 else z j ord0.
Proof.
elim: I z => // i I IH z /= /andP[iI uI] low j.
rewrite drop_step ?low ?mem_head // IH // => [|l lI].
  by rewrite setrE inE; case: eqP => [->|_]; rewrite ?(negPf iI).
by rewrite setrE; case: eqP => [-> // | _]; rewrite low // inE lI orbT.
Qed.

(* A cut at b: where register r is at least b, it goes down by D and v is added;  *)
(* where it lies in [b - D, b), nothing happens.                                  *)
Lemma cut r b D (v : token) (S : seq token) : 0 < D -> v r ord0 = 0 ->
  {in S, forall z, b - D <= z r ord0} ->
  exists P : seq (ffp R d), size P = 2%N /\ {in S, forall z,
    ff_map P z = if b <= z r ord0 then setr r (z r ord0 - D) z + v else z}.
Proof.
move=> D0 vr low.
have [|e0 e0_gt he] := @pos_lower R [seq b - z r ord0 | z : token <- S & z r ord0 < b].
  by move=> x /mapP[z]; rewrite mem_filter => /andP[lt _] ->; rewrite subr_gt0.
pose e := Num.min e0 (D / 2%:R); have e_gt : 0 < e by rewrite lt_minr e0_gt divr_gt0 // ltr0Sn.
pose K := D / e; have K2 : 2%:R <= K.
  by rewrite ler_pdivl_mulr // -ler_pdivl_mull ?ltr0Sn // mulrC le_minl lexx orbT.
have K1 : 0 < K - 1 by rewrite subr_gt0 (lt_le_trans _ K2) // ltr1n.
have Ke : K * e = D by rewrite divfK // gt_eqF.
pose f := b - e; pose q := K / (K - 1).
have qK : q * (K - 1) = K by rewrite divfK // gt_eqF.
exists [:: (unit R r, - f, - K *: unit R r + (K / D) *: v);
  (- q *: unit R r, q * f - D, unit R r - D^-1 *: v)]; split=> // z zS.
rewrite /= {2}/ff_step /= dot_unit; have [above | below] := lerP b (z r ord0).
  have xf : e <= z r ord0 - f.
    by rewrite /f opprB addrC -addrA ler_addl addrC subr_ge0.
  rewrite relu_pos ?(le_trans (ltW e_gt)) //; set x := z r ord0 - f in xf *.
  set z1 := z + _; have z1r : z1 r ord0 = f + x * (1 - K).
    by rewrite /z1 /x !mxE !eqxx vr /=; ring.
  rewrite /ff_step /= dotZl dot_unit z1r.
  have -> : - q * (f + x * (1 - K)) + (q * f - D) = K * x - D.
    by rewrite -[in RHS]qK; move: (q) (f) (x) (K) => q' f' x' K'; ring.
  rewrite relu_pos; last by rewrite subr_ge0 -Ke ler_pmul2l // (lt_le_trans _ K2) // ltr0Sn.
  apply/colP => i; rewrite /z1 /setr !mxE eqxx andbT.
  have D' : D != 0 by rewrite gt_eqF.
  case: eqP => [-> | _] /=; last by rewrite !mulr0n; field.
  by rewrite vr; field.
have le : z r ord0 - f <= - (e0 - e).
  have h : e0 <= b - z r ord0.
    by apply: he; apply: (map_f (fun z : token => b - z r ord0)); rewrite mem_filter below.
  by rewrite -subr_ge0; move: h; rewrite -subr_ge0; congr (0 <= _); rewrite /f; ring.
have ee : e <= e0 by rewrite le_minl lexx.
have {}le : z r ord0 - f <= 0 by rewrite (le_trans le) // oppr_le0 subr_ge0.
rewrite (relu_neg le) scale0r addr0 /ff_step /= dotZl dot_unit relu_neg ?scale0r ?addr0 //.
have -> : - q * z r ord0 + (q * f - D) = q * (f - z r ord0 - (D - e)) + (q * (D - e) - D).
  by ring.
have -> : q * (D - e) = D.
  by rewrite -{1}Ke -[X in _ - X]mul1r -mulrBl mulrA qK Ke.
rewrite subrr addr0 pmulr_rle0; last by rewrite divr_gt0 // (lt_le_trans _ K2) // ltr0Sn.
have -> : f - z r ord0 - (D - e) = b - D - z r ord0 by rewrite /f; ring.
by rewrite subr_le0 low.
Qed.

(* Blocks that do to z + s what P does to z.                                      *)
Definition shifted (s : token) (P : seq (ffp R d)) :=
  [seq (p.1.1, p.1.2 - dot p.1.1 s, p.2) | p <- P].

Lemma shiftedE s P z : ff_map (shifted s P) (z + s) = ff_map P z + s.
Proof.
elim: P z => //= p P IH z; rewrite -IH; congr ff_map; rewrite /ff_step /= dotDr.
by rewrite addrAC; congr (_ + relu _ *: _ + _); rewrite addrACA subrr addr0.
Qed.

(* Loading: the hinge (g, w) adds (x - g) w where register x is above g, w_x = 0.    *)
Definition hinge (x : 'I_d) (h : R * token) : ffp R d := (unit R x, - h.1, h.2).
Definition load (x : 'I_d) (hs : seq (R * token)) z : token :=
  z + \sum_(h <- hs) relu (z x ord0 - h.1) *: h.2.

Lemma hinges (x : 'I_d) (hs : seq (R * token)) z : {in hs, forall h : R * token, h.2 x ord0 = 0} ->
  ff_map [seq hinge x h | h <- hs] z = load x hs z.
Proof.
rewrite /load; elim: hs z => [|h hs IH] z hx; first by rewrite big_nil addr0.
rewrite /= IH => [|g gs]; last by apply: hx; rewrite inE gs orbT.
rewrite big_cons addrA {1}/ff_step /= dot_unit; congr (_ + _).
apply: eq_bigr => g _; congr (relu (_ - _) *: _).
by rewrite /ff_step /= !mxE hx ?mem_head // mulr0 addr0.
Qed.

(* Where the cuts take a point of code q that starts from t.                      *)
Fixpoint taken (cs : seq (nat * token)) (q : nat) (t : token) : token :=
  if cs is (C, v) :: cs' then if (C <= q)%N then taken cs' (q - C) (t + v) else taken cs' q t
  else t.

Lemma taken_level (y : 'I_d) (cs : seq (nat * token)) q t : {in cs, forall p : nat * token, p.2 y ord0 = 0} ->
  taken cs q t y ord0 = t y ord0.
Proof.
elim: cs q t => //= -[C v] cs IH q t h.
have hc : {in cs, forall p : nat * token, p.2 y ord0 = 0}.
  by move=> p pc; apply: h; rewrite inE pc orbT.
case: ifP => _; rewrite IH // mxE (h (C, v)) ?mem_head //; exact: addr0.
Qed.

(* Register y holds the codes as bands of width W above b, the others are those of *)
(* t. The cuts bring them to taken cs q t, and y stays above b.                    *)
Lemma cuts (y : 'I_d) (b W : R) (cs : seq (nat * token)) (S : seq (nat * token * token)) : 0 < W ->
  {in cs, forall p : nat * token, (0 < p.1)%N /\ p.2 y ord0 = 0} ->
  {in S, forall p : nat * token * token, b + p.1.1%:R * W <= p.1.2 y ord0 < b + p.1.1.+1%:R * W /\
    forall i, i != y -> p.1.2 i ord0 = p.2 i ord0} ->
  exists P : seq (ffp R d), size P = (2 * size cs)%N /\
  {in S, forall p : nat * token * token, b <= ff_map P p.1.2 y ord0 /\
    forall i, i != y -> ff_map P p.1.2 i ord0 = taken cs p.1.1 p.2 i ord0}.
Proof.
move=> W0; elim: cs S => [|[C v] cs IH] S hc hS.
  exists [::]; split=> // p /hS[/andP[lo _] e]; split=> //.
  by rewrite (le_trans _ lo) // ler_addl mulr_ge0 ?ler0n // ltW.
have [C0 vy] := hc _ (mem_head _ _); rewrite /= in C0 vy.
have [|||P [sP hP]] := @cut y (b + C%:R * W) (C%:R * W) v [seq p.1.2 | p <- S].
- by rewrite mulr_gt0 ?ltr0n.
- exact: vy.
- move=> _ /mapP[p pS ->]; rewrite addrK; have [/andP[lo _] _] := hS p pS.
  by rewrite (le_trans _ lo) // ler_addl mulr_ge0 ?ler0n // ltW.
have above p : p \in S -> (b + C%:R * W <= p.1.2 y ord0) = (C <= p.1.1)%N.
  move=> /hS[/andP[lo hi] _]; apply/idP/idP => [le | le].
    have := le_lt_trans le hi; rewrite ltr_add2l ltr_pmul2r // ltr_nat //.
  by rewrite (le_trans _ lo) // ler_add2l ler_pmul2r // ler_nat.
pose next (p : nat * token * token) :=
  if (C <= p.1.1)%N then ((p.1.1 - C)%N, ff_map P p.1.2, p.2 + v) else (p.1.1, ff_map P p.1.2, p.2).
have [||Q [sQ hQ]] := IH [seq next p | p <- S].
- by move=> p pc; apply: hc; rewrite inE pc orbT.
- move=> _ /mapP[p pS ->]; have := above p pS; have [/andP[lo hi] e] := hS p pS.
  rewrite /next; case: (leqP C) => Cp ab /=; rewrite hP ?(map_f (fun p => p.1.2)) // ab; last first.
    by rewrite lo hi.
  have E i : (setr y (p.1.2 y ord0 - C%:R * W) p.1.2 + v) i ord0 =
      if i == y then p.1.2 y ord0 - C%:R * W else (p.2 + v) i ord0.
    rewrite mxE setrE [in RHS]mxE; case: eqP => [-> | /eqP iy]; first by rewrite vy addr0.
    by rewrite e.
  split; last by move=> i iy; rewrite E (negPf iy).
  rewrite E eqxx -subSn // ler_subr_addr ltr_subl_addr -!addrA -!mulrDl -!natrD !subnK //.
    by rewrite lo hi.
  exact: leqW.
exists (P ++ Q); split; first by rewrite size_cat sP sQ mulnS.
move=> p pS; have := hQ _ (map_f next pS); rewrite ff_map_cat /next /=.
by case: ifP.
Qed.

End Folds.
