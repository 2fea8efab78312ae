(* The number that a rational of Coq's Q stands for, in any real field, and     *)
(* that the operations of Evaluator.v on numbers are exact.                     *)
From Coq Require Import ZArith QArith.
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint.
From mathcomp Require Import ssrZ zify.
From Hardmax Require Import Evaluator.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Local Arguments Qred : simpl never.
Local Arguments Qplus : simpl never.
Local Arguments Qmult : simpl never.

(* equality of rationals as they are written; used only to speak of members of  *)
(* a list                                                                       *)
Definition Q_eq_dec (x y : Q) : {x = y} + {x <> y}.
Proof. by decide equality; [apply: Pos.eq_dec | apply: Z.eq_dec]. Defined.
Definition Q_eqMixin := comparableMixin Q_eq_dec.
Canonical Q_eqType := EqType Q Q_eqMixin.

Section Rationals.
Variable R : realFieldType.
Local Notation q0 := (Qmake Z0 xH).

(* numerator / denominator *)
Definition z2r (z : Z) : R := (int_of_Z z)%:~R.
Definition q2r (q : Q) : R := z2r (Qnum q) / z2r (Zpos (Qden q)).

Lemma z2rD m n : z2r (Z.add m n) = z2r m + z2r n.
Proof. by rewrite /z2r -intrD -(rmorphD ZInstances.int_of_Z_rmorphism). Qed.
Lemma z2rM m n : z2r (Z.mul m n) = z2r m * z2r n.
Proof. by rewrite /z2r -intrM -(rmorphM ZInstances.int_of_Z_rmorphism). Qed.
Lemma z2r_posM p q : z2r (Zpos (p * q)) = z2r (Zpos p) * z2r (Zpos q).
Proof. by rewrite -z2rM. Qed.
Lemma z2r_pos p : 0 < z2r (Zpos p).
Proof. by rewrite /z2r ltr0z /=; lia. Qed.
Lemma z2r_le m n : (z2r m <= z2r n) = Z.leb m n.
Proof. by rewrite /z2r ler_int; apply/idP/idP; lia. Qed.
Lemma z2r_inj m n : z2r m = z2r n -> m = n.
Proof. by move=> /intr_inj; apply: (can_inj int_of_ZK). Qed.

Lemma den0 q : z2r (Zpos (Qden q)) != 0.
Proof. by rewrite gt_eqF ?z2r_pos. Qed.

Lemma q2r_eq x y : Qeq x y -> q2r x = q2r y.
Proof.
by rewrite /Qeq /q2r => e; apply/eqP; rewrite eqr_div ?den0 // -!z2rM e.
Qed.
Lemma q2r_red x : q2r (Qred x) = q2r x.
Proof. exact/q2r_eq/Qred_correct. Qed.
Lemma q2rD x y : q2r (Qplus x y) = q2r x + q2r y.
Proof. by rewrite /q2r addf_div ?den0 // /Qplus /= z2rD !z2rM z2r_posM. Qed.
Lemma q2rM x y : q2r (Qmult x y) = q2r x * q2r y.
Proof. by rewrite /q2r mulf_div /Qmult /= z2rM z2r_posM. Qed.
Lemma q2r0 : q2r q0 = 0.
Proof. by rewrite /q2r /z2r mul0r. Qed.
Lemma q2r1 : q2r (Qmake 1 1) = 1.
Proof. by rewrite /q2r divff // gt_eqF // z2r_pos. Qed.

Lemma q2r_le x y : qle x y = (q2r x <= q2r y).
Proof.
rewrite /qle /Qle_bool -z2r_le !z2rM /q2r.
by rewrite ler_pdivr_mulr ?z2r_pos // mulrAC ler_pdivl_mulr ?z2r_pos.
Qed.
Lemma q2r_lt x y : qlt x y = (q2r x < q2r y).
Proof. by rewrite /qlt -/(qle y x) q2r_le ltNge. Qed.
Lemma q2r_eqb x y : Qeq_bool x y = (q2r x == q2r y).
Proof.
apply/idP/eqP => [/Qeq_bool_iff/q2r_eq // | e]; apply/Qeq_bool_iff.
apply: z2r_inj; rewrite !z2rM; apply/eqP.
by rewrite -eqr_div ?den0 // -!/(q2r _) e.
Qed.

Lemma qaddE x y : q2r (qadd x y) = q2r x + q2r y.
Proof. by rewrite q2r_red q2rD. Qed.
Lemma qmulE x y : q2r (qmul x y) = q2r x * q2r y.
Proof. by rewrite q2r_red q2rM. Qed.
Lemma qmaxE x y : q2r (qmax x y) = Num.max (q2r x) (q2r y).
Proof. by rewrite /qmax q2r_le maxEle; case: ifP. Qed.
Lemma qminE x y : q2r (qmin x y) = Num.min (q2r x) (q2r y).
Proof. by rewrite /qmin q2r_le minEle; case: ifP. Qed.
Lemma qinvnE n : q2r (qinvn n) = n%:R^-1.
Proof.
case: n => [|n]; first by rewrite q2r0 invr0.
by rewrite /q2r /z2r /= div1r SuccNat2Pos.id_succ.
Qed.

End Rationals.
