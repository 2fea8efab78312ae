(* The paper's clustering step (Lemmas 3.2 and 3.3, without the conditions that *)
(* theory A8 shows to be superfluous): one block collapses every sequence to    *)
(* one of its own tokens, its leader. Tokens may repeat. With radial peeling,   *)
(* sequences without common tokens are classified by N + 1 blocks.              *)
From mathcomp Require Import all_ssreflect ssralg ssrnum matrix.
From Hardmax Require Import Model Measure Invariance Feedforward Peeling.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Clustering.
Variables (R : realFieldType) (d : nat).
Notation token := 'cV[R]_d.
Implicit Types (Z S Y : seq token) (z s v : token).

Lemma mean_all Z z : Z != [::] -> {in Z, forall y, y = z} -> mean Z = z.
Proof.
move=> Z0 h; rewrite -[LHS]/(readout Z) (readout_measure (const_same_measure R Z0 h)).
by rewrite /readout /mean big_seq1 invr1 scale1r.
Qed.

Lemma nonzero_direction S : (0 < d)%N ->
  exists2 v, v != 0 & {in S &, injective (dot v)}.
Proof.
move=> d0; have [u inj] := generic_direction S.
have [u0 | u0] := eqVneq u 0; last by exists u.
exists (const_mx 1).
  by apply/eqP => /colP/(_ (Ordinal d0))/eqP; rewrite !mxE oner_eq0.
by move=> x y xS yS _; apply: inj => //; rewrite u0 !dot0l.
Qed.

(* the first token that maximises <v,.> *)
Definition leader v Z : token :=
  head 0 [seq z <- Z | all (fun y => dot v y <= dot v z) Z].

Lemma leaderP v Z : Z != [::] ->
  leader v Z \in Z /\ {in Z, forall y, dot v y <= dot v (leader v Z)}.
Proof.
move=> Z0; have [z zZ zmax] := seq_argmax (dot v) Z0.
rewrite /leader; set F := filter _ Z.
have : z \in F by rewrite mem_filter zZ andbT; apply/allP.
have sub y : y \in F -> y \in Z /\ {in Z, forall x, dot v x <= dot v y}.
  by rewrite mem_filter => /andP[/allP].
by case: F sub => // a F sub _; apply: sub; apply: mem_head.
Qed.

(* FF: translation by s (u = 0, b = 1, w = s); then attention with A = v v^T     *)
Definition leader_block s v (rho lam : R) : rank1 R d := Rank1 0 1 s rho lam v.

(* Lemma 3.3. After the shift every token has <v,z> > 0, so every token is      *)
(* attracted by the one that maximises <v,.> in its sequence. A longer shift    *)
(* lifts the tokens above the points of Y.                                      *)
Theorem attraction S Y : (0 < d)%N -> exists s v,
  [/\ {in S &, injective (dot v)}, {in S, forall z, 0 < dot v (z + s)},
      forall z y, z \in S -> y \in Y -> dot v y < dot v (z + s)
    & forall Z, Z != [::] -> {subset Z <= S} ->
      [/\ leader v Z \in Z, {in Z, forall y, y != leader v Z -> dot v y < dot v (leader v Z)}
        & forall rho lam, apply_block (block_of (leader_block s v rho lam)) Z =
                  [seq rho *: (z + s) + lam *: (leader v Z + s) | z <- Z]]].
Proof.
move=> d0; have [v v0 inj] := nonzero_direction S d0.
have [t _ ht] := upper_bound [seq dot v y - dot v z | y <- 0 :: Y, z <- S].
pose s := (t / sqn v) *: v; exists s, v.
have above z y : z \in S -> y \in 0 :: Y -> dot v y < dot v (z + s).
  move=> zS yY; rewrite dotDr dotZr -/(sqn v) mulfVK ?sqn_eq0 //.
  rewrite -ltr_subl_addl; apply: ht.
  exact: (allpairs_f (fun y z => dot v y - dot v z) yY zS).
have pos z : z \in S -> 0 < dot v (z + s).
  by move=> /above/(_ (mem_head _ _)); rewrite (dotC v 0) dot0l.
split=> // [z y zS yY | Z Z0 sub]; first by apply: above; rewrite ?inE ?yY ?orbT.
have := leaderP v Z0; set z := leader v Z => -[zZ zmax].
have lt y : y \in Z -> y != z -> dot v y < dot v z.
  move=> yZ yz; rewrite lt_neqAle zmax // andbT; apply: contra yz => /eqP e.
  by apply/eqP/inj; rewrite ?sub.
split=> // rho lam; rewrite /apply_block SA_rank1 /= -map_comp.
have ffE y : FF (block_of (leader_block s v rho lam)) y = y + s.
  by rewrite FF_rank1 /= dot0l add0r relu_pos ?ler01 // scale1r.
apply/eq_in_map => x xZ /=; rewrite ffE (eq_map ffE); congr (_ + _ *: _).
have le w y : (dot v (x + s) * dot v (y + s) <= dot v (x + s) * dot v (w + s))
              = (dot v y <= dot v w).
  by rewrite ler_pmul2l ?pos ?sub // !dotDr ler_add2r.
apply: mean_all => [|w].
  rewrite -has_filter; apply/hasP; exists (z + s); first exact: map_f.
  by apply/allP => _ /mapP[y yZ ->]; rewrite le zmax.
rewrite mem_filter => /andP[/allP wmax /mapP[y yZ e]]; rewrite e; congr (_ + s).
apply/eqP; apply: contraTT (wmax (z + s) (map_f _ zZ)) => /(lt y yZ).
by rewrite e le -ltNge.
Qed.

(* rho = 0: every sequence becomes one point                                    *)
Definition cluster_block s v (lam : R) : rank1 R d := leader_block s v 0 lam.

Theorem clustering S : (0 < d)%N -> exists s v,
  {in S, forall z, z + s != 0} /\
  forall Z, Z != [::] -> {subset Z <= S} ->
  [/\ leader v Z \in Z, {in Z, forall y, y != leader v Z -> dot v y < dot v (leader v Z)}
    & forall lam, apply_block (block_of (cluster_block s v lam)) Z =
                  [seq lam *: (leader v Z + s) | _ <- Z]].
Proof.
move=> d0; have [s [v [_ pos _ att]]] := attraction S [::] d0; exists s, v.
split=> [z zS | Z Z0 sub].
  by apply: contraTneq (pos z zS) => ->; rewrite dotC dot0l ltxx.
have [zZ lt eZ] := att Z Z0 sub; split=> // lam; rewrite eZ.
by apply: eq_map => z; rewrite scale0r add0r.
Qed.

(* Sequences without common tokens, as the separation step (Lemma 3.5) leaves   *)
(* them: one block for clustering, N for peeling.                               *)
Theorem separated_depth (ps : seq (seq token * token)) : (0 < d)%N ->
  {in ps, forall p, p.1 != [::]} ->
  pairwise (fun p q => ~~ has (mem p.1) q.1) ps ->
  exists T : seq (rank1 R d), (size T <= size ps + 1)%N /\
    {in ps, forall p, readout (run1 T p.1) = p.2}.
Proof.
move=> d0 ne disj; pose S := flatten [seq p.1 | p <- ps].
have sub p : p \in ps -> {subset p.1 <= S}.
  by move=> pps z zp; apply/flattenP; exists p.1 => //; apply: map_f.
have [s [v [shift cl]]] := clustering S d0.
pose L (p : seq token * token) := leader v p.1.
have Lin p : p \in ps -> L p \in p.1 by move=> /ne/(leaderP v)[].
have uL : uniq [seq L p | p <- ps].
  elim: (ps) disj Lin => //= p r IH /andP[/allP pr dr] hin; rewrite IH ?andbT //; last first.
    by move=> q qr; apply: hin; rewrite inE qr orbT.
  apply/mapP => -[q qr e]; case/hasP: (pr q qr).
  exists (L q); first by apply: hin; rewrite inE qr orbT.
  by rewrite /= -e; apply: hin; apply: mem_head.
have pos p : p \in ps -> 0 < sqn (L p + s).
  by move=> pps; rewrite sqn_gt0; apply/shift/(sub p pps)/Lin.
pose ratios := [seq sqn q.2 / sqn (L p + s) | p <- ps, q <- ps].
have [lam lam1 hlam] := upper_bound ratios.
have lam0 : lam != 0 by rewrite gt_eqF // (lt_le_trans ltr01).
pose x p := lam *: (L p + s).
have [|||P [sP hP _]] := @peeling R d [seq (x p, p.2) | p <- ps] 0 [::].
- rewrite -map_comp -(@map_inj_in_uniq _ _ (fun y => lam *: (y + s))) -?map_comp in uL *.
    exact: uL.
  by move=> y z _ _ /(scalerI lam0) /addIr.
- move=> _ _ /mapP[p pps ->] /mapP[q qps ->] /=; rewrite !subr0 sqnZ.
  rewrite -ltr_pdivr_mulr ?pos //.
  have := hlam _ (allpairs_f (fun p q => sqn q.2 / sqn (L p + s)) pps qps) => /= lt.
  by apply: lt_le_trans lt _; rewrite expr2 ler_pmull // (lt_le_trans ltr01).
- by [].
exists (cluster_block s v lam :: [seq ff_block p | p <- P]); split.
  by rewrite /= size_map sP size_map addn1.
move=> p pps; have [_ _ clp] := cl p.1 (ne p pps) (sub p pps).
rewrite run1_cons clp -/(L p) -/(x p) run_ff /readout -map_comp.
rewrite (eq_map (f2 := fun=> ff_map P (x p))) // mean_const ?ne //.
exact: (hP (x p, p.2) (map_f (fun p => (x p, p.2)) pps)).
Qed.

End Clustering.
