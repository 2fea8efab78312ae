(* Collapse (theory B2): one block takes every sequence to a single point; and *)
(* with radial peeling: sequences with distinct means are classified by N      *)
(* blocks, one for the collapse and N - 1 for peeling.                         *)
From mathcomp Require Import all_ssreflect ssralg ssrnum matrix.
From mathcomp.algebra_tactics Require Import ring.
From Hardmax Require Import Model Measure Feedforward Peeling.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Collapse.
Variables (R : realFieldType) (d : nat).
Notation token := 'cV[R]_d.
Implicit Types (Z : seq token) (s : token).

(* FF: translation by s (u = 0, b = 1, w = s); SA: rho = 0, alpha = lam, v = 0 *)
Definition collapse_block s (lam : R) : rank1 R d := Rank1 0 1 s 0 lam 0.

Lemma leaders0 z Z : leaders (0 : token) z Z = Z.
Proof.
rewrite /leaders (eq_filter (a2 := predT)) ?filter_predT // => x.
by apply/allP => y _; rewrite !dot0l !mul0r.
Qed.

Lemma mean_shift s Z : Z != [::] -> mean [seq z + s | z <- Z] = mean Z + s.
Proof. by move=> Z0; rewrite mean_map integralD integral_const. Qed.

Theorem collapse s lam Z : Z != [::] ->
  apply_block (block_of (collapse_block s lam)) Z = [seq lam *: (mean Z + s) | _ <- Z].
Proof.
move=> Z0; rewrite /apply_block SA_rank1 /= -map_comp; apply: eq_map => z /=.
rewrite leaders0 scale0r add0r -mean_shift //; congr (_ *: mean _).
apply: eq_map => y; rewrite FF_rank1 /= dot0l add0r.
by rewrite relu_pos ?ler01 // scale1r.
Qed.

(* The attention matrix is zero throughout: v = 0 in every block. *)
Definition uniform (T : seq (rank1 R d)) := all (fun p => r_v p == 0) T.

Lemma uniform_cat T T' : uniform (T ++ T') = uniform T && uniform T'.
Proof. exact: all_cat. Qed.

Lemma uniform_ff (P : seq (ffp R d)) : uniform [seq ff_block p | p <- P].
Proof. by rewrite /uniform all_map; apply/allP => p _; apply: eqxx. Qed.

(* centre and scale: the point of the first sequence starts on its target *)
Theorem collapse_and_peel (ps : seq (seq token * token)) :
  {in ps, forall p, p.1 != [::]} -> uniq [seq mean p.1 | p <- ps] ->
  exists T : seq (rank1 R d), [/\ size T = size ps, uniform T &
    {in ps, forall p, readout (run1 T p.1) = p.2}].
Proof.
case: ps => [|[Z0 c] ps]; first by exists [::].
move=> ne /= /andP[Z0ps ups].
pose m Z := mean Z - mean Z0.
have m_gt0 p : p \in ps -> 0 < sqn (m p.1).
  move=> pps; rewrite sqn_gt0 subr_eq0; apply: contra Z0ps => /eqP <-.
  exact: (map_f (fun p => mean p.1)).
pose ratios := [seq sqn (q.2 - c) / sqn (m p.1) | p <- ps, q <- ps].
have [lam lam1 hlam] := upper_bound ratios.
have lam0 : lam != 0 by rewrite gt_eqF // (lt_le_trans ltr01).
pose s := lam^-1 *: c - mean Z0; pose x Z := lam *: (mean Z + s).
have xE Z : x Z - c = lam *: m Z.
  by rewrite /x /s addrCA scalerDr scalerA divff // scale1r addrAC subrr add0r.
have [||f p|P [sP hP hc]] := @peeling R d [seq (x p.1, p.2) | p <- ps] c [:: c].
- rewrite -map_comp -(@map_inj_in_uniq _ _ (fun y => lam *: (y + s))) -?map_comp in ups *.
    exact: ups.
  by move=> y z _ _ /(scalerI lam0) /addIr.
- move=> _ _ /mapP[p pps ->] /mapP[q qps ->] /=.
  rewrite xE sqnZ -ltr_pdivr_mulr ?m_gt0 //.
  have := hlam _ (allpairs_f (fun p q => sqn (q.2 - c) / sqn (m p.1)) pps qps) => /= lt.
  by apply: lt_le_trans lt _; rewrite expr2 ler_pmull // (lt_le_trans ltr01).
- rewrite inE => /eqP-> /mapP[q qps ->] /=; rewrite subrr xE sqnZ.
  have -> : sqn (0 : token) = 0 by apply: dot0l.
  by rewrite mulr_gt0 ?m_gt0 // exprn_gt0 // (lt_le_trans ltr01).
exists (collapse_block s lam :: [seq ff_block p | p <- P]); split.
- by rewrite /= size_map sP size_map.
- by rewrite /= eqxx uniform_ff.
move=> p pps; have p0 := ne _ pps.
rewrite run1_cons collapse // -/(x _) run_ff /readout -map_comp.
rewrite (eq_map (f2 := fun=> ff_map P (x p.1))) // mean_const //.
move: pps; rewrite inE => /orP[/eqP-> /= | pps]; last first.
  exact: (hP (x p.1, p.2) (map_f (fun p => (x p.1, p.2)) pps)).
have -> : x Z0 = c by apply/eqP; rewrite -subr_eq0 xE /m subrr scaler0.
by rewrite hc ?mem_head.
Qed.

End Collapse.
