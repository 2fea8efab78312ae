(* Strings (theory, section 13): k strings share the hinges; selects bring the one *)
(* that a point reads to one register, and more bits of its hash shift it.       *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint matrix zify.
From mathcomp.algebra_tactics Require Import ring.
From Hardmax Require Import Model Measure Feedforward Collapse Pushes Folds FoldStrategy FoldEndings.
From Hardmax Require Import Selects Shifts.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* k strings: G hinges, m folds of the hash, the tree of selects, b bits that shift, *)
(* and the wave of what is left. The registers start o above the means.          *)
Section Strings.
Variables (R : realFieldType) (d N M q k : nat) (x h : 'I_d) (reg : nat -> 'I_d).
Notation token := 'cV[R]_d.
Notation y := (reg (last_register q k)).
Implicit Types (Ks : seq R) (D : {set 'I_d}).

(* Loaded at z, a point of class l: h lies where m folds take it to cell j, the next *)
(* bits of h are the digits of r, and the string of cell j, shifted by them, lies in *)
(* the band of class l.                                                          *)
Definition string_read (h0 W : R) m (e : R) Ks (a U : R) n (z : token) M' (l j r : nat) :=
  [/\ h0 <= z h ord0 <= h0 + (2 ^ m)%:R * (k%:R * W),
    exists v, wave ((z h ord0 - h0) / (k%:R * W)) v /\ j%:R < k%:R * v < j.+1%:R,
    ordered q k (fun i => z (reg i) ord0) j,
    forall i, (i < size Ks)%N -> [/\ bit h0 W (z h ord0) i (digit r i), 0 <= z x ord0 & 0 <= z (reg j) ord0]
  & in_band M' a U n (shifted e Ks r (z x ord0) (z (reg j) ord0)) l].

Theorem fold_strings (c : 'I_N -> 'I_M) (t : 'I_M -> token) (Z : 'I_N -> seq token)
    (hs : seq (R * token)) (o : token) (h0 W : R) m (e : R) Ks (a U : R) n e' D :
  (forall i, Z i != [::]) -> (0 < M)%N -> 0 < W -> 0 < e -> 0 < U -> {in Ks, forall K, 1 <= K} ->
  {in hs, forall g : R * token, g.2 x ord0 = 0} -> (0 < k <= 2 ^ q)%N -> x != h ->
  {in [pred l | (l < k)%N] &, injective reg} -> (forall l, (l < k)%N -> reg l != h /\ reg l != x) ->
  (forall i, exists j r, string_read h0 W m e Ks a U n (load x hs (mean (Z i) + o)) M (c i) j r) ->
  {in D, forall r, [/\ r != x, r != h & forall l, (l < k)%N -> r != reg l]} -> unused hs Z D ->
  ending y t e' -> exists T : seq (rank1 R d),
  [/\ size T = (1 + size hs + (m + (k - 1) + q) + (3 * size Ks - 1) + n + (d - 1 - #|D|) + e' + 1)%N, uniform T
    & forall i, readout (run1 T (Z i)) = t (c i)].
Proof.
move=> Z0 M0 W0 e0 U0 K1 hx /andP[k0 kq] xh inj regs /fin_all_exists[j /fin_all_exists[r hr]] regD hD serve.
have rh l : (l < k)%N -> reg l != h by move=> /regs[].
have k0' : 0 < k%:R :> R by rewrite ltr0n.
have kW : 0 < k%:R * W by rewrite mulr_gt0.
pose z i := load x hs (mean (Z i) + o).
pose H := folds h h0 (k%:R * W) m; pose z1 i := ff_map H (z i).
have zh i : exists v : R, [/\ wave ((z i h ord0 - h0) / (k%:R * W)) v, (j i)%:R < k%:R * v,
    k%:R * v < (j i).+1%:R & z1 i = setr h (h0 + k%:R * W * v) (z i)].
  have [hz [v [w /andP[lo hi]]] _ _ _] := hr i; exists v; split=> //.
  exact: triangle_wave.
have jk i : (j i < k)%N.
  have [v [[/andP[_ v1] _] lo _ _]] := zh i; rewrite -(ltr_nat R) (lt_le_trans lo) //.
  by rewrite ger_pmulr.
have z1r i l : l != h -> z1 i l ord0 = z i l ord0.
  by move=> lh; have [v [_ _ _ ->]] := zh i; rewrite setrE (negPf lh).
have [|P [sP hP]] := @select_tree R d h q k reg h0 W [seq (j i, z1 i) | i <- enum 'I_N] W0 kq inj rh.
  move=> _ /mapP[i _ ->] /=; split=> //; last first.
    by have [_ _ + _ _] := hr i; apply: ordered_ext => l lk; rewrite z1r ?rh.
  have [v [_ lo hi ->]] := zh i; rewrite setrE eqxx !ltr_add2l mulrAC !ltr_pmul2r //.
  by rewrite lo hi.
pose z2 i := ff_map P (z1 i).
have {}hP i : [/\ z2 i y ord0 = z i (reg (j i)) ord0, z2 i x ord0 = z i x ord0,
    {in D, forall l, z2 i l ord0 = z i l ord0}, h0 <= z2 i h ord0 <= h0 + W
  & forall l low, bit h0 W (z i h ord0) l low -> bit h0 W (z2 i h ord0) l low].
  have [/= e1 [v w e2] e3] := hP _ (map_f (fun i => (j i, z1 i)) (mem_enum _ i)).
  have [u [wu _ _ z1E]] := zh i; rewrite /z2 e1 e2 e3 ?z1r ?rh //; last first.
    by move=> l /regs[_]; rewrite eq_sym.
  split=> // [l lD||l low hb].
  - by have [_ lh lreg] := regD l lD; rewrite e3 // z1r.
  - by case: w => /andP[v0 v1] _; rewrite ler_addl mulr_ge0 ?(ltW W0) //= ler_add2l ger_pmulr.
  have := @bit_mult _ h0 W _ v 1 l low W0 isT; rewrite mul1r; apply; first exact: w.
  by rewrite z1E setrE eqxx; exact: bit_mult W0 k0 wu hb.
have [Q [sQ hQ]] : exists Q : seq (ffp R d), size Q = (3 * size Ks - 1)%N /\
    forall i, ff_map Q (z2 i) y ord0 = shifted e Ks (r i) (z2 i x ord0) (z2 i y ord0)
      /\ {in D, forall l, ff_map Q (z2 i) l ord0 = z2 i l ord0}.
  case: (posnP (size Ks)) => [/size0nil-> | s0]; first by exists [::].
  have [yh yx] := regs _ (last_register_lt k0 kq).
  have [|Q [sQ hQ]] := @shifts R d h x y e h0 yh xh yx e0 W Ks [seq (r i, z2 i) | i <- enum 'I_N] W0 K1.
    move=> _ /mapP[i _ ->] /=; have [e1 e2 _ hW hb] := hP i; have [_ _ _ hr4 _] := hr i.
    have [_ x0 y0] := hr4 0%N s0; rewrite e1 e2; split=> // l /hr4[+ _ _]; exact: hb.
  exists Q; split=> // i; have [-> ho] := hQ _ (map_f (fun i => (r i, z2 i)) (mem_enum _ i)); split=> // l lD.
  by have [lx lh lreg] := regD l lD; rewrite ho // !inE !negb_or lx lh lreg ?last_register_lt.
pose P0 := [seq hinge x g | g <- hs] ++ (H ++ (P ++ Q)).
have -> : (1 + size hs + (m + (k - 1) + q) + (3 * size Ks - 1) = 1 + size P0)%N.
  by rewrite !size_cat size_map /H size_folds sP sQ; lia.
have P0E i : ff_map P0 (mean (Z i) + o) = ff_map Q (z2 i).
  by rewrite !ff_map_cat hinges // -/(z i) -/(z1 i) -/(z2 i).
apply: (@fold_strategy _ _ _ _ _ _ _ o a U n e' Z P0 D Z0 M0 U0 _ _ serve) => [i|].
  by rewrite P0E; have [-> _] := hQ i; have [-> -> _ _ _] := hP i; have [] := hr i.
split=> [|l lD i i'].
  by apply/negP => /regD[_ _ /(_ _ (last_register_lt k0 kq))/eqP].
have [hl Zl] := hD l lD; have E i0 : ff_map P0 (mean (Z i0) + o) l ord0 = mean (Z i0) l ord0 + o l ord0.
  have [_ ho] := hQ i0; have [_ _ hz _ _] := hP i0.
  by rewrite P0E (ho l lD) (hz l lD) /z load_unused // mxE.
by rewrite !E (Zl i i').
Qed.

(* Theorem 10 with all its parts. K blocks S part ties before the collapse; b bits *)
(* multiply y by 2^(w r), r = 0, ..., 2^b - 1 (`shifted_window`); any targets.   *)
Theorem fold_windows (c : 'I_N -> 'I_M) (t : 'I_M -> token) (Z : 'I_N -> seq token) (S : seq (ffp R d))
    (hs : seq (R * token)) (o : token) (h0 W : R) m (e : R) w b (a U : R) n D :
  (forall i, Z i != [::]) -> (0 < M)%N -> 0 < W -> 0 < e -> 0 < U -> q = up_log 2 k ->
  {in hs, forall g : R * token, g.2 x ord0 = 0} -> (0 < k)%N -> x != h ->
  {in [pred l | (l < k)%N] &, injective reg} -> (forall l, (l < k)%N -> reg l != h /\ reg l != x) ->
  (forall i, exists j r, string_read h0 W m e (factors R w b) a U n
    (load x hs (mean (map (ff_map S) (Z i)) + o)) M (c i) j r) ->
  {in D, forall r, [/\ r != x, r != h & forall l, (l < k)%N -> r != reg l]} ->
  unused hs (fun i => map (ff_map S) (Z i)) D ->
  exists T : seq (rank1 R d),
  [/\ size T = (size S + 1 + size hs + (m + (k - 1) + up_log 2 k) + (3 * b - 1) + n
        + (d - 1 - #|D|) + (2 * up_log 2 M + (M - 1)) + 1)%N, uniform T
    & forall i, readout (run1 T (Z i)) = t (c i)].
Proof.
move=> Z0 M0 W0 e0 U0 qE hx k0 xh inj regs hr regD hD; have kq : (0 < k <= 2 ^ q)%N by rewrite k0 qE up_logP.
have d1 : (1 < d)%N by rewrite -(card_ord d) (cardD1 x) (cardD1 h) !inE eq_sym xh.
have K1 : {in factors R w b, forall K, 1 <= K}.
  by move=> _ /mapP[i _ ->]; rewrite ler1n expn_gt0.
have Z0' i : map (ff_map S) (Z i) != [::] by case: (Z i) (Z0 i).
have [T [sT uT hT]] := fold_strings Z0' M0 W0 e0 U0 K1 hx kq xh inj regs hr regD hD (serve_any _ t M0 d1).
exists ([seq ff_block p | p <- S] ++ T); split.
- by rewrite size_cat sT !size_map size_iota qE !addnA.
- by rewrite uniform_cat uniform_ff.
by move=> i; rewrite run1_cat run_ff hT.
Qed.

End Strings.
