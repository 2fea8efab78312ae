(* Change of basis: where attention is uniform, a transformer may be built in any   *)
(* basis of R^d. So a construction that asks for something of one coordinate only    *)
(* asks for it of one linear functional.                                          *)
From mathcomp Require Import all_ssreflect ssralg ssrnum matrix.
From Hardmax Require Import Model Measure Feedforward Collapse.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Basis.
Variables (R : realFieldType) (d : nat).
Notation token := 'cV[R]_d.
Implicit Types (z r : token) (Z : seq token) (p : rank1 R d) (T : seq (rank1 R d)).

Lemma mean_mulmx (G : 'M[R]_d) Z : mean [seq G *m z | z <- Z] = G *m mean Z.
Proof. by rewrite /mean size_map big_map -mulmx_sumr scalemxAr. Qed.

Variables G H : 'M[R]_d.
Hypothesis GH : G *m H = 1%:M.

(* what block p does to G z, done to z                                            *)
Definition conjugate p : rank1 R d :=
  Rank1 (G^T *m r_u p) (r_b p) (H *m r_w p) (r_rho p) (r_alpha p) 0.

Lemma conjugate_dot u z : dot (G^T *m u) z = dot u (G *m z).
Proof.
have := dot_tr (G^T *m u) z; rewrite trmx_mul trmxK -mulmxA dot_tr.
by move/matrixP/(_ ord0 ord0); rewrite !mxE !eqxx !mulr1n.
Qed.

Lemma conjugate_block p Z : r_v p == 0 -> apply_block (block_of (conjugate p)) Z =
  [seq H *m z | z <- apply_block (block_of p) [seq G *m z | z <- Z]].
Proof.
move=> /eqP v0; have HG := mulmx1C GH.
rewrite /apply_block !SA_rank1 v0 /= -!map_comp.
pose Y := [seq FF (block_of p) (G *m z) | z <- Z].
have FFE z : FF (block_of (conjugate p)) z = H *m FF (block_of p) (G *m z).
  by rewrite !FF_rank1 /= conjugate_dot mulmxDr mulmxA HG mul1mx -(scalemxAr _ H).
apply/eq_map => z /=; rewrite !leaders0 FFE [RHS]mulmxDr -2!(scalemxAr _ H); congr (_ + _ *: _).
by rewrite -mean_mulmx -map_comp; congr mean; apply/eq_map => x; exact: FFE.
Qed.

Theorem change_basis T : uniform T -> exists T' : seq (rank1 R d), [/\ size T' = size T, uniform T'
  & forall Z, readout (run1 T' Z) = H *m readout (run1 T [seq G *m z | z <- Z])].
Proof.
move=> uT; exists [seq conjugate p | p <- T]; split; first exact: size_map.
  by rewrite /uniform all_map; elim: (T) => //= q T' ->; rewrite eqxx.
move=> Z; rewrite -[readout (run1 T _)]/(mean _) -mean_mulmx; congr mean.
have back (A B : 'M[R]_d) Y : A *m B = 1%:M -> [seq A *m z | z <- [seq B *m z | z <- Y]] = Y.
  move=> AB; rewrite -map_comp -[RHS]map_id; apply/eq_map => z /=.
  by rewrite mulmxA AB mul1mx.
elim: T Z uT => [|p T IH] Z /=; first by rewrite back // mulmx1C.
by move=> /andP[v0 uT]; rewrite !run1_cons (conjugate_block _ v0) IH // back.
Qed.

End Basis.

(* Some basis takes one given vector to another.                                  *)
Lemma basis_taking (R : realFieldType) (d : nat) (r r' : 'cV[R]_d) : r != 0 -> r' != 0 ->
  exists G H : 'M[R]_d, G *m H = 1%:M /\ G *m r = r'.
Proof.
move=> r0 r'0; have [a aI] := generic_direction [:: 0; r; r'].
have ne z : z \in [:: 0; r; r'] -> z != 0 -> dot a z != 0.
  move=> zin; apply: contra => /eqP az; apply/eqP/aI; rewrite ?mem_head //.
  by rewrite az dotC dot0l.
pose b := (dot a r)^-1 *: a; pose e := r' - r.
have br : dot b r = 1 by rewrite dotZl mulVf // ne // !inE eqxx orbT.
have br' : dot b r' != 0 by rewrite dotZl mulf_neq0 ?invr_eq0 ?ne // !inE eqxx ?orbT.
pose A := e *m b^T.
have AA : A *m A = (dot b r' - 1) *: A.
  by rewrite /A mulmxA -(mulmxA e) dot_tr mulmx_1x1 -scalemxAl /e dotBr br.
exists (1%:M + A), (1%:M - (dot b r')^-1 *: A); split; last first.
  by rewrite mulmxDl mul1mx -mulmxA dot_tr br mulmx_1x1 scale1r /e addrC subrK.
rewrite mulmxDl mul1mx mulmxBr mulmx1 -scalemxAr AA scalerA.
rewrite mulrBr mulVf // mulr1 scalerBl scale1r.
by rewrite subKr subrK.
Qed.
