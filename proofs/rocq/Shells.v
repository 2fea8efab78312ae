(* Shells of any labels (theory, section 8, Theorems 6a and 6c). One block parks a  *)
(* shell at heights that say where its points go; kills and an ending that reads    *)
(* the height take every point to its target.                                     *)
From mathcomp Require Import all_ssreflect ssralg ssrnum matrix zify.
From mathcomp.algebra_tactics Require Import ring.
From Hardmax Require Import Model Measure Feedforward Collapse TieSplitting Pushes Cover.
From Hardmax Require Import GeneralPosition Facets Folds.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Parking.
Variables (R : realFieldType) (d N : nat) (k : 'I_d). (* coordinate k is the height *)
Notation token := 'cV[R]_d.
Notation up := (unit R k).
Implicit Types (z f : token) (g : 'I_N -> R) (A : {set 'I_N}) (s : seq {set 'I_N}) (B C : R).

(* a functional of the coordinates other than the height                          *)
Definition extend (u : 'cV[R]_d.-1) : token :=
  \col_i (if unlift k i is Some i' then u i' ord0 else 0).

Lemma extend_dot u z : dot (extend u) z = dot u (row' k z).
Proof.
rewrite /dot (bigD1_ord k) //= mxE unlift_none mul0r add0r.
by apply: eq_bigr => i _; rewrite !mxE liftK.
Qed.

(* One block adds max(0, t - L h) to the height, where t is a functional of the     *)
(* other coordinates and h the height above B.                                    *)
Definition gated (q : 'cV[R]_d.-1 * R) B (L : R) : ffp R d :=
  (extend q.1 - L *: up, q.2 + L * B, up).

Lemma gated_step q B (L h : R) z : z k ord0 = B -> ff_step (gated q B L) (z + h *: up) =
  z + (h + relu (dot q.1 (row' k z) + q.2 - L * h)) *: up.
Proof.
move=> zB; rewrite /ff_step /= -addrA -scalerDl; congr (_ + (_ + relu _) *: _).
rewrite dotDr dotZr !dotBl !dotZl !extend_dot !dot_unit zB !mxE !eqxx.
have -> : row' k up = 0 :> 'cV[R]_d.-1.
  by apply/colP => i; rewrite !mxE eq_sym (negPf (neq_lift _ _)).
by rewrite [dot q.1 0]dotC dot0l /= mulr1; ring.
Qed.

(* One block for a shell: the points of A stand at height B, the others, parked    *)
(* before, at B + g j, and the blocks park all of A.                              *)
Lemma park (x : 'I_N -> token) B g A s : (forall j, x j k ord0 = B) -> (forall j, 0 < g j) ->
  are_shells (fun j => row' k (x j)) A s -> exists P : seq (ffp R d), size P = size s /\
    forall j, ff_map P (x j + (if j \in A then 0 else g j) *: up) = x j + g j *: up.
Proof.
move=> xB g0; elim: s A => [|S s IH] A /=.
  by move=> ->; exists [::]; split=> // j; rewrite inE.
case=> -[sub hq] sh; have [q [qS qA]] := hq g; have [P [sP hP]] := IH _ sh.
pose t j := height (fun j => row' k (x j)) q j.
have [L _ hL] := upper_bound [seq t j / g j | j <- enum 'I_N].
exists (gated q B L :: P); split; first by rewrite /= sP.
move=> j; rewrite /= gated_step // -[RHS]hP; congr (ff_map P (_ + _ *: _)).
rewrite -/(height (fun j => row' k (x j)) q j) -/(t j) inE.
have [jS | jS] /= := boolP (j \in S).
  by rewrite (subsetP sub) // mulr0 subr0 add0r /t qS // relu_pos // ltW.
have [jA | jA] := boolP (j \in A).
  by rewrite mulr0 subr0 add0r relu_neg // ltW // qA // inE jS.
rewrite relu_neg ?addr0 // subr_le0 -ler_pdivr_mulr // ltW //.
by apply: hL; apply: map_f; rewrite mem_enum.
Qed.

(* Shells stay shells under a translation.                                        *)
Lemma shells_shift D (p p' : 'I_N -> 'cV[R]_D) c A s : (forall j, p' j = p j + c) ->
  are_shells p A s -> are_shells p' A s.
Proof.
move=> p'E; elim: s A => //= S s IH A [[sub hq] /IH sh]; split=> //; split=> // g.
have [q [qS qA]] := hq g; exists (q.1, q.2 - dot q.1 c).
have E j : height p' (q.1, q.2 - dot q.1 c) j = height p q j.
  by rewrite /height /= p'E dotDr; ring.
by split=> j jin; rewrite E; [apply: qS | apply: qA].
Qed.

(* The sequences, a direction f as in step 1 with positive entries, and shells of   *)
(* the images in E.                                                               *)
Variables (Z : 'I_N -> seq token) (f : token) (s : seq {set 'I_N}).
Hypotheses (Z_nonempty : forall j, Z j != [::]) (fk : f k ord0 = 1).
Hypothesis f_pos : forall i, 0 < f i ord0.
Notation shadows := (shadow k f (fun j => mean (Z j))).
Hypothesis sh : are_shells (fun j => row' k (shadows j)) setT s.
Notation image := (image k Z f).

(* For large B all coordinates of all images are above a given number.             *)
Lemma large_images C : exists B, [/\ C <= B, forall j, {in Z j, forall z : token, z k ord0 <= B}
  & forall j i, C <= image B j i ord0].
Proof.
have [B _ hB] := upper_bound (C :: [seq (z : token) k ord0 | z <- flatten [seq Z j | j <- enum 'I_N]]
  ++ [seq (C - mean (Z j) i ord0) / f i ord0 + mean (Z j) k ord0 | j <- enum 'I_N, i <- enum 'I_d]).
exists B; split=> [|j z zZ|j i]; first by rewrite ltW // hB ?mem_head.
  apply/ltW/hB; rewrite inE mem_cat; apply/orP; right; apply/orP; left.
  by apply: (map_f (fun z : token => z k ord0)); apply/flattenP; exists (Z j); rewrite ?map_f ?mem_enum.
have iE : image B j i ord0 = mean (Z j) i ord0 + (B - mean (Z j) k ord0) * f i ord0.
  by rewrite mxE; congr (_ + _); rewrite mxE.
rewrite iE -ler_subl_addl -ler_pdivr_mulr // ler_subr_addr; apply/ltW/hB.
rewrite inE mem_cat; apply/orP; right; apply/orP; right.
apply: (allpairs_f (fun (j : 'I_N) (i : 'I_d) =>
  (C - mean (Z j) i ord0) / f i ord0 + mean (Z j) k ord0)); exact: mem_enum.
Qed.

(* Collapse, shells and kills: point j gets any height B + g j with g j > 0, and     *)
(* any coordinates e below C, the same for all points. Q is the ending.            *)
Theorem parked C : exists B, C <= B /\ forall g (e : token) (Q : seq (ffp R d)) (t : 'I_N -> token),
  (forall j, 0 < g j) -> (forall i, i != k -> e i ord0 <= C) ->
  (forall j, ff_map Q (setr k (B + g j) e) = t j) ->
  exists T : seq (rank1 R d), [/\ size T = (1 + size s + (d - 1) + size Q)%N, uniform T
    & forall j, readout (run1 T (Z j)) = t j].
Proof.
have [B [CB low big]] := large_images C; exists B; split=> // g e Q t g0 eC hQ.
have [||P [sP hP]] := @park (image B) B g setT s _ g0; first exact: image_up.
  by apply: (shells_shift (c := row' k (B *: f))) sh => j; rewrite image_shadow raddfD.
exists (flatten_block k f B :: [seq ff_block p | p <- P ++ [seq drop e i | i <- others k] ++ Q]).
split; first by rewrite /= size_map !size_cat sP size_map size_others !addnA.
  by rewrite /= eqxx uniform_ff.
move=> j; rewrite run1_cons (flatten_image _ _ (low j)) //= run_ff /readout -map_comp.
rewrite (eq_map (f2 := fun=> t j)) => [|z /=]; first exact: mean_const.
rewrite !ff_map_cat -hQ; congr (ff_map Q _).
have := hP j; rewrite inE scale0r addr0 => ->; apply/colP => i.
have iE l : (image B j + g j *: up) l ord0 = if l == k then B + g j else image B j l ord0.
  rewrite mxE [X in _ + X]mxE [X in _ * X]mxE eqxx andbT; case: eqP => [->|_]; last by rewrite mulr0 addr0.
  by rewrite image_up // mulr1.
rewrite drops ?uniq_others // => [|l]; last first.
  by rewrite mem_others iE => lk; rewrite (negPf lk) (le_trans (eC l lk)).
by rewrite setrE mem_others iE; case: eqP.
Qed.

End Parking.
