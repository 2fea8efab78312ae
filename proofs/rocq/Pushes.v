(* Pushes (theory, section 8, step B4): half-spaces and tents raise the points   *)
(* of a class; a clamp and kills, which make heights and coordinates constant.   *)
From mathcomp Require Import all_ssreflect ssralg ssrnum matrix zify.
From mathcomp.algebra_tactics Require Import ring.
From Hardmax Require Import Model Measure Feedforward.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Pushes.
Variables (R : realFieldType) (d : nat) (k : 'I_d). (* coordinate k is the height *)
Notation token := 'cV[R]_d.
Implicit Types (x z u f a : token) (s t h b e B C : R).

Definition unit (i : 'I_d) : token := delta_mx i ord0.
Notation up := (unit k).

Lemma dot_unit i z : dot (unit i) z = z i ord0.
Proof.
rewrite /dot (bigD1 i) //= !mxE !eqxx mul1r big1 ?addr0 // => j ji.
by rewrite mxE (negPf ji) mul0r.
Qed.

(* a hyperplane t = <a,x> + b, read in the coordinates other than the height *)
Definition flat a : token := a - a k ord0 *: up.

Lemma flat_up a : dot (flat a) up = 0.
Proof. by rewrite dotC dot_unit !mxE !eqxx mulr1 subrr. Qed.

Lemma flat_dot a x : dot (flat a) x = dot a x - a k ord0 * x k ord0.
Proof. by rewrite dotBl dotZl dot_unit. Qed.

(* A push adds r * max(0, t) to the height, where t does not see the height.     *)
Definition push (p : token * R * R) : ffp R d := (p.1.1, p.1.2, p.2 *: up).
Definition level (p : token * R * R) := dot p.1.1 up = 0.
Definition rise (P : seq (token * R * R)) x : R :=
  \sum_(p <- P) p.2 * relu (dot p.1.1 x + p.1.2).

Lemma push_rise P x s : {in P, forall p, level p} ->
  ff_map [seq push p | p <- P] (x + s *: up) = x + (s + rise P x) *: up.
Proof.
elim: P s => [|p P IH] s lv; first by rewrite /rise big_nil addr0.
have [lp lP] : level p /\ {in P, forall q, level q}.
  by split=> [|q qP]; apply: lv; rewrite inE ?eqxx ?qP ?orbT.
rewrite /= /ff_step /push /= dotDr dotZr lp mulr0 addr0 scalerA -addrA -scalerDl IH //.
by rewrite /rise big_cons mulrC addrA.
Qed.

Lemma rise_cat P P' x : rise (P ++ P') x = rise P x + rise P' x.
Proof. exact: big_cat. Qed.

Lemma relu_ge0 t : 0 <= relu t.
Proof. by rewrite /relu le_maxr lexx. Qed.

(* a half-space: points where t > 0 rise by at least h, points where t <= 0 stay *)
Lemma half_space u b h (S : seq token) : 0 < h -> dot u up = 0 ->
  exists P, [/\ size P = 1%N, {in P, forall p, level p}, forall x, 0 <= rise P x,
    forall x, dot u x + b <= 0 -> rise P x = 0
  & {in S, forall x, 0 < dot u x + b -> h <= rise P x}].
Proof.
move=> h0 lu; pose ts := [seq t <- [seq dot u x + b | x <- S] | 0 < t].
have [|m m0 hm] := @pos_lower _ ts; first by move=> t; rewrite mem_filter => /andP[].
have E x : rise [:: (u, b, h / m)] x = h / m * relu (dot u x + b).
  by rewrite /rise big_seq1.
exists [:: (u, b, h / m)]; split=> //.
- by move=> p; rewrite inE => /eqP->.
- by move=> x; rewrite E mulr_ge0 ?relu_ge0 // divr_ge0 // ltW.
- by move=> x le; rewrite E relu_neg ?mulr0.
move=> x xS pos; rewrite E relu_pos ?(ltW pos) // mulrAC ler_pdivl_mulr //.
rewrite ler_pmul2l //; apply: hm; rewrite mem_filter pos /=.
exact: (map_f (fun x => dot u x + b)).
Qed.

(* the sum of a tent's three blocks *)
Definition tent e t := relu (t + e) - 2%:R * relu t + relu (t - e).

Lemma tent0 e : 0 < e -> tent e 0 = e.
Proof.
move=> e0; rewrite /tent add0r sub0r relu_pos ?ltW // (@relu_neg _ 0) //.
by rewrite mulr0 subr0 relu_neg ?addr0 // oppr_le0 ltW.
Qed.

Lemma tent_out e t : 0 < e -> e <= `|t| -> tent e t = 0.
Proof.
move=> e0; rewrite /tent; have [t0 | t0] := ger0P t => et.
  have h1 : 0 <= t + e by rewrite addr_ge0 // ltW.
  have h2 : 0 <= t - e by rewrite subr_ge0.
  by rewrite (relu_pos h1) (relu_pos t0) (relu_pos h2); ring.
have h1 : t + e <= 0 by rewrite addrC -[t]opprK subr_le0.
have h2 : t - e <= 0 by rewrite subr_le0 (le_trans (ltW t0)) // ltW.
by rewrite (relu_neg h1) (relu_neg (ltW t0)) (relu_neg h2); ring.
Qed.

Lemma tent_ge0 e t : 0 < e -> 0 <= tent e t.
Proof.
move=> e0; have [et | te] := lerP e `|t|; first by rewrite tent_out.
move: te; rewrite /tent; have [t0 | t0] := ger0P t => te.
  have h1 : 0 <= t + e by rewrite addr_ge0 // ltW.
  have h2 : t - e <= 0 by rewrite subr_le0 ltW.
  rewrite (relu_pos h1) (relu_pos t0) (relu_neg h2) addr0.
  by have -> : t + e - 2%:R * t = e - t; [ring | rewrite subr_ge0 ltW].
by rewrite (relu_neg (ltW t0)) mulr0 subr0 addr_ge0 ?relu_ge0.
Qed.

(* a tent: points where t = 0 rise by at least h, and finitely many points A      *)
(* where t != 0 stay                                                             *)
Lemma tent_push u b h (A : seq token) : 0 < h -> dot u up = 0 ->
  {in A, forall x, dot u x + b != 0} ->
  exists P, [/\ size P = 3%N, {in P, forall p, level p}, forall x, 0 <= rise P x,
    {in A, forall x, rise P x = 0} & forall x, dot u x + b = 0 -> h <= rise P x].
Proof.
move=> h0 lu off; have [|e e0 he] := @pos_lower _ [seq `|dot u x + b| | x <- A].
  by move=> _ /mapP[x xA ->]; rewrite normr_gt0 off.
pose r := h / e; pose P := [:: (u, b + e, r); (u, b, - (2%:R * r)); (u, b - e, r)].
have E x : rise P x = r * tent e (dot u x + b).
  rewrite /rise !big_cons big_nil /= /tent -!(addrA (dot u x)).
  have key (q1 q2 q3 : R) : r * q1 + (- (2%:R * r) * q2 + (r * q3 + 0)) =
      r * (q1 - 2%:R * q2 + q3) by clear; move: r => q; ring.
  exact: key.
have r0 : 0 <= r by rewrite divr_ge0 // ltW.
exists P; split=> //.
- by move=> p; rewrite !inE => /or3P[] /eqP->.
- by move=> x; rewrite E mulr_ge0 // tent_ge0.
- by move=> x xA; rewrite E tent_out ?mulr0 //; apply: he;
    exact: (map_f (fun x => `|dot u x + b|)).
by move=> x t0; rewrite E t0 tent0 // /r divfK ?gt_eqF.
Qed.

(* One class: half-spaces Hs and tents Ts push all of its points X up by at least *)
(* h, move the points A that are to be avoided not at all, and lower none.        *)
Lemma class_pushes (Hs Ts : seq (token * R)) h (X A : seq token) : 0 < h ->
  {in Hs ++ Ts, forall p, dot p.1 up = 0} ->
  {in Hs & A, forall p x, dot p.1 x + p.2 <= 0} ->
  {in Ts & A, forall p x, dot p.1 x + p.2 != 0} ->
  {in X, forall x, has (fun p => 0 < dot p.1 x + p.2) Hs || has (fun p => dot p.1 x + p.2 == 0) Ts} ->
  exists P, [/\ size P = (size Hs + 3 * size Ts)%N, {in P, forall p, level p},
    forall x, 0 <= rise P x, {in A, forall x, rise P x = 0}
  & {in X, forall x, h <= rise P x}].
Proof.
move=> h0; elim: Hs X => [|[u b] Hs IH] X.
  elim: Ts X => [|[u b] Ts IH] X lv hA tA cov.
    exists [::]; split=> //; first by move=> x; rewrite /rise big_nil.
      by move=> x _; rewrite /rise big_nil.
    by move=> x /cov.
  have sub p : p \in Ts -> p \in (u, b) :: Ts by move=> pT; rewrite inE pT orbT.
  have [||P [sP lP P0 PA Pt]] := @tent_push u b h A h0.
  - by apply: (lv (u, b)); rewrite inE eqxx.
  - by move=> x xA; apply: (tA (u, b)); rewrite // inE eqxx.
  have [||||Q [sQ lQ Q0 QA QX]] := IH [seq x <- X | dot u x + b != 0].
  - by move=> p /sub; apply: lv.
  - by [].
  - by move=> p x /sub; apply: tA.
  - move=> x; rewrite mem_filter => /andP[t0 /cov] /=.
    by rewrite (negPf t0).
  exists (P ++ Q); split.
  - by rewrite size_cat sP sQ mulnS.
  - by move=> p; rewrite mem_cat => /orP[/lP | /lQ].
  - by move=> x; rewrite rise_cat addr_ge0.
  - by move=> x xA; rewrite rise_cat PA // QA // addr0.
  move=> x xX; rewrite rise_cat; have [/eqP t0 | t0] := boolP (dot u x + b == 0).
    by rewrite -[h]addr0 ler_add // Pt.
  by rewrite -[h]add0r ler_add // QX // mem_filter t0.
move=> lv hA tA cov.
have sub p : p \in Hs -> p \in (u, b) :: Hs by move=> pT; rewrite inE pT orbT.
have [|P [sP lP P0 PA Pt]] := @half_space u b h X h0.
  by apply: (lv (u, b)); rewrite inE eqxx.
have [||||Q [sQ lQ Q0 QA QX]] := IH [seq x <- X | ~~ (0 < dot u x + b)].
- by move=> p pin; apply: lv; rewrite inE pin orbT.
- by move=> p x /sub; apply: hA.
- by [].
- move=> x; rewrite mem_filter => /andP[t0 /cov] /=.
  by rewrite (negPf t0).
exists (P ++ Q); split.
- by rewrite size_cat sP sQ.
- by move=> p; rewrite mem_cat => /orP[/lP | /lQ].
- by move=> x; rewrite rise_cat addr_ge0.
- move=> x xA; rewrite rise_cat QA // addr0 PA //.
  by apply: (hA (u, b)); rewrite // inE eqxx.
move=> x xX; rewrite rise_cat; have [t0 | t0] := boolP (0 < dot u x + b).
  by rewrite -[h]addr0 ler_add // Pt.
by rewrite -[h]add0r ler_add // QX // mem_filter t0.
Qed.

(* the clamp: heights become min(height, B + h) *)
Definition clamp B h : ffp R d := (up, - (B + h), - up).

Lemma clamp_min B h x s : x k ord0 = B ->
  ff_step (clamp B h) (x + s *: up) = x + Num.min s h *: up.
Proof.
move=> xB; rewrite /ff_step /= dot_unit !mxE !eqxx mulr1 xB scalerN -addrA -scalerBl.
congr (_ + _ *: up); have -> : B + s - (B + h) = s - h by ring.
have [le | lt] := lerP s h; first by rewrite relu_neg ?subr0 // subr_le0.
by rewrite relu_pos ?subr_ge0 ?(ltW lt) //; ring.
Qed.

(* the coordinates other than k *)
Definition others := [seq i <- enum 'I_d | i != k].

Lemma mem_others i : (i \in others) = (i != k).
Proof. by rewrite mem_filter mem_enum andbT. Qed.

Lemma uniq_others : uniq others.
Proof. by rewrite filter_uniq // enum_uniq. Qed.

Lemma size_others : size others = (d - 1)%N.
Proof.
have -> : others = rem k (enum 'I_d) by rewrite rem_filter ?enum_uniq.
by rewrite size_rem ?mem_enum // size_enum_ord subn1.
Qed.

(* kills: the coordinates of a list become - C *)
Definition kill C (i : 'I_d) : ffp R d := (unit i, C, - unit i).

Lemma kills C (I : seq 'I_d) z : uniq I -> {in I, forall i, - C <= z i ord0} ->
  forall j, ff_map [seq kill C i | i <- I] z j ord0 = if j \in I then - C else z j ord0.
Proof.
elim: I z => // i I IH z /= /andP[iI uI] low j.
have step l : ff_step (kill C i) z l ord0 = if l == i then - C else z l ord0.
  rewrite /ff_step /= dot_unit relu_pos; last first.
    by rewrite -[C]opprK subr_ge0 low // inE eqxx.
  rewrite !mxE eqxx andbT; case: eqP => [->|_]; last by rewrite mulr0n oppr0 mulr0 addr0.
  by rewrite mulr1n mulrN1 opprD addrA subrr add0r.
rewrite IH // ?inE => [|l lI]; last first.
  rewrite step; case: eqP lI => [-> | _] lI; first by rewrite lI in iI.
  by apply: low; rewrite inE lI orbT.
rewrite step; case: eqP => [-> | _] //=.
by rewrite (negPf iI).
Qed.

End Pushes.
