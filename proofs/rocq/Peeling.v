(* Radial peeling (theory B3): any N distinct points to any N targets, one     *)
(* feed-forward layer of hidden width 1 each; and the collapse of every        *)
(* sequence to one point (theory B2).                                          *)
From mathcomp Require Import all_ssreflect ssralg ssrnum matrix.
From mathcomp.algebra_tactics Require Import ring.
From Hardmax Require Import Model Measure Feedforward.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Peeling.
Variables (R : realFieldType) (d : nat).
Notation token := 'cV[R]_d.
Notation ffp := (ffp R d).
Implicit Types (x y c : token) (F : seq token).

(* One step of a sweep: x is the point of largest <v,.>, and alone there. It     *)
(* lands on y, and no other point moves.                                        *)
Lemma sweep_step v x y F : {in F, forall q, dot v q < dot v x} ->
  exists p : ffp, ff_step p x = y /\ {in F, forall q, ff_step p q = q}.
Proof.
move=> top; have [|h h0 hF] := @pos_lower _ [seq dot v x - dot v q | q <- F].
  by move=> _ /mapP[q qF ->]; rewrite subr_gt0 top.
exists (v, h - dot v x, h^-1 *: (y - x)); rewrite /ff_step /=; split.
  have -> : dot v x + (h - dot v x) = h by ring.
  rewrite relu_pos ?ltW // scalerA divff ?gt_eqF // scale1r.
  by rewrite addrC subrK.
move=> q qF; rewrite relu_neg ?scale0r ?addr0 //.
have := hF _ (map_f (fun q => dot v x - dot v q) qF).
by rewrite -subr_ge0 -oppr_le0; congr (_ <= 0); ring.
Qed.

(* One step of peeling: x is the farthest from c, and alone there.              *)
Lemma peel_step x y c F :
  {in F, forall p, sqn (p - c) <= sqn (x - c) /\ p != x} ->
  exists p : ffp, ff_step p x = y /\ {in F, forall q, ff_step p q = q}.
Proof.
move=> far; apply: (@sweep_step (x - c)) => q qF; have [le ne] := far q qF.
have : dot (x - c) (q - c) < sqn (x - c).
  by apply: radial => //; apply: contra ne => /eqP/addIr/eqP.
by rewrite /sqn (dotBr _ q) (dotBr _ x) ltr_add2r.
Qed.

(* One after another: if one layer moves x to any y and leaves all q with far x q *)
(* alone, then so many layers bring all points to their targets.                *)
Lemma in_turn (far : token -> token -> bool) (ps : seq (token * token)) F :
  (forall x y (Q : seq token), {in Q, forall q, far x q} ->
    exists p : ffp, ff_step p x = y /\ {in Q, forall q, ff_step p q = q}) ->
  pairwise (fun p q => far p.1 q.1) ps ->
  {in ps &, forall p q, far p.1 q.2} ->
  (forall f p, f \in F -> p \in ps -> far p.1 f) ->
  exists P : seq ffp, [/\ size P = size ps,
    {in ps, forall p, ff_map P p.1 = p.2} & {in F, forall f, ff_map P f = f}].
Proof.
move=> step; elim: ps F => [|[x y] ps IH] F /=; first by move=> _ _ _; exists [::].
case/andP=> /allP first pw tgt out.
have [|p [px pF]] := step x y ([seq q.1 | q <- ps] ++ F).
  move=> q; rewrite mem_cat => /orP[/mapP[r rps ->] | qF]; first exact: first.
  exact: out q (x, y) qF (mem_head _ _).
have [|f r|P [sP hP hF]] := IH (y :: F) pw.
- by move=> r s rps sps; apply: tgt; rewrite inE ?rps ?sps orbT.
- rewrite inE => /orP[/eqP-> | fF] rps.
    by apply: (tgt r (x, y)); rewrite ?mem_head // inE rps orbT.
  by apply: out; rewrite // inE rps orbT.
exists (p :: P); split; first by rewrite /= sP.
  move=> r; rewrite inE => /orP[/eqP-> /= | rps]; first by rewrite px hF ?mem_head.
  by rewrite /= pF ?hP // mem_cat map_f.
move=> f fF; rewrite /= pF ?hF //; first by rewrite inE fF orbT.
by rewrite mem_cat fF orbT.
Qed.

Lemma peel_sorted (ps : seq (token * token)) c F :
  uniq [seq p.1 | p <- ps] ->
  pairwise (fun p q => sqn (q.1 - c) <= sqn (p.1 - c)) ps ->
  {in ps &, forall p q, sqn (q.2 - c) < sqn (p.1 - c)} ->
  (forall f p, f \in F -> p \in ps -> sqn (f - c) < sqn (p.1 - c)) ->
  exists P : seq ffp, [/\ size P = size ps,
    {in ps, forall p, ff_map P p.1 = p.2} & {in F, forall f, ff_map P f = f}].
Proof.
move=> ups pw tgt out.
pose far (x q : token) := (sqn (q - c) <= sqn (x - c)) && (q != x).
have less x q : sqn (q - c) < sqn (x - c) -> far x q.
  by move=> lt; rewrite /far (ltW lt) /=; apply: contraTneq lt => ->; rewrite ltxx.
apply: (@in_turn far).
- move=> x y Q all; apply: (@peel_step x y c) => q qQ.
  by have /andP[] := all q qQ.
- elim: ps ups pw {tgt out} => //= p ps IH /andP[pps ups] /andP[/allP le pw].
  rewrite IH // andbT; apply/allP => q qps; rewrite /far le //=.
  by apply: contra pps => /eqP <-; rewrite map_f.
- by move=> p q pps qps; apply: less; apply: tgt.
by move=> f p fF pps; apply: less; apply: out.
Qed.

(* The whole cloud: the points p.1 are distinct and farther from c than every   *)
(* target p.2 and every parked point; they land on their targets and the        *)
(* parked points stay.                                                         *)
Theorem peeling (ps : seq (token * token)) c F :
  uniq [seq p.1 | p <- ps] ->
  {in ps &, forall p q, sqn (q.2 - c) < sqn (p.1 - c)} ->
  (forall f p, f \in F -> p \in ps -> sqn (f - c) < sqn (p.1 - c)) ->
  exists P : seq ffp, [/\ size P = size ps,
    {in ps, forall p, ff_map P p.1 = p.2} & {in F, forall f, ff_map P f = f}].
Proof.
move=> ups tgt out; pose r (p q : token * token) := sqn (q.1 - c) <= sqn (p.1 - c).
have mem := mem_sort r ps.
have [||||P [sP hP hF]] := @peel_sorted (sort r ps) c F.
- by rewrite (perm_uniq (perm_map _ (permEl (perm_sort r ps)))).
- rewrite -sorted_pairwise; last by move=> a b e ab bc; apply: le_trans bc ab.
  by apply: sort_sorted => a b; apply: le_total.
- by move=> p q; rewrite !mem; apply: tgt.
- by move=> f p fF; rewrite mem; apply: out.
exists P; split; rewrite ?sP ?size_sort // => p pps.
by apply: hP; rewrite mem.
Qed.

(* The sweep: the points p.1 lie at different heights <v,.>, above every target *)
(* p.2 and every parked point. They go to their targets, the highest first, and *)
(* the parked points stay.                                                      *)
Lemma sweep_sorted v (ps : seq (token * token)) F :
  pairwise (fun p q => dot v q.1 < dot v p.1) ps ->
  {in ps &, forall p q, dot v q.2 < dot v p.1} ->
  (forall f p, f \in F -> p \in ps -> dot v f < dot v p.1) ->
  exists P : seq ffp, [/\ size P = size ps,
    {in ps, forall p, ff_map P p.1 = p.2} & {in F, forall f, ff_map P f = f}].
Proof.
by apply: (@in_turn (fun x q => dot v q < dot v x)) => x y Q; apply: sweep_step.
Qed.

Theorem sweep v (ps : seq (token * token)) :
  uniq [seq dot v p.1 | p <- ps] -> {in ps &, forall p q, dot v q.2 < dot v p.1} ->
  exists P : seq ffp, size P = size ps /\ {in ps, forall p, ff_map P p.1 = p.2}.
Proof.
move=> ups tgt; pose r (p q : token * token) := dot v q.1 <= dot v p.1.
have mem := mem_sort r ps.
have [|p q|//|P [sP hP _]] := @sweep_sorted v (sort r ps) [::].
- have : uniq [seq dot v p.1 | p <- sort r ps].
    by rewrite (perm_uniq (perm_map _ (permEl (perm_sort r ps)))).
  have : pairwise r (sort r ps).
    rewrite -sorted_pairwise; last by move=> a b e ab bc; apply: le_trans bc ab.
    by apply: sort_sorted => a b; apply: le_total.
  elim: (sort r ps) => //= p s IH /andP[/allP le pw] /andP[ps' us]; rewrite IH // andbT.
  apply/allP => q qs; have rpq := le q qs; rewrite /= lt_neqAle [_ <= _]rpq andbT.
  by apply: contra ps' => /eqP <-; apply: (map_f (fun q => dot v q.1)).
- by rewrite !mem; apply: tgt.
exists P; split; rewrite ?sP ?size_sort // => p pps.
by apply: hP; rewrite mem.
Qed.

End Peeling.
