(* The checker as a program: it runs a model on sequences in Coq's rationals Q  *)
(* (binary integers), exactly, and decides whether every output lies in its     *)
(* label set. Checker.v proves what its answer means.                           *)
From Coq Require Import ZArith QArith.
From mathcomp Require Import all_ssreflect.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Section Program.
Local Notation vec := (seq Q).
Local Notation q0 := (Qmake Z0 xH).

Definition qle (x y : Q) : bool := Qle_bool x y.
Definition qlt (x y : Q) : bool := ~~ Qle_bool y x.
Definition qadd (x y : Q) : Q := Qred (Qplus x y).
Definition qmul (x y : Q) : Q := Qred (Qmult x y).
Definition qmax (x y : Q) : Q := if qle x y then y else x.
Definition qmin (x y : Q) : Q := if qle x y then x else y.
(* 1/n *)
Definition qinvn (n : nat) : Q := if n is k.+1 then Qmake 1 (Pos.of_succ_nat k) else q0.

(* vectors; a missing entry counts as 0 *)
Fixpoint vadd (x y : vec) : vec :=
  match x, y with
  | a :: x', b :: y' => qadd a b :: vadd x' y'
  | [::], _ => y
  | _, [::] => x
  end.
Fixpoint vdot (x y : vec) : Q :=
  match x, y with
  | a :: x', b :: y' => Qred (Qplus (Qmult a b) (vdot x' y'))
  | _, _ => q0
  end.
Definition vscale (a : Q) (x : vec) : vec := [seq qmul a b | b <- x].
Definition vmean (Z : seq vec) : vec := vscale (qinvn (size Z)) (foldr vadd [::] Z).

(* a block in the format hardmax-model/1 *)
Record qblock := QBlock {
  q_u : vec;  q_b : Q;  q_w : vec;  q_rho : Q;  q_alpha : Q;  q_v : vec }.

Definition qff (B : qblock) (z : vec) : vec :=
  let t := qadd (vdot (q_u B) z) (q_b B) in
  if qlt q0 t then vadd z (vscale t (q_w B)) else z.

(* Where <v,z> > 0 the maximisers are the tokens of largest <v,.>, where it is *)
(* negative those of smallest, where it is 0 all: three means per sequence.    *)
Definition qsa (B : qblock) (Z : seq vec) : seq vec :=
  let score := vdot (q_v B) in
  let s := [seq score z | z <- Z] in
  let top := foldr qmax (head q0 s) s in
  let bot := foldr qmin (head q0 s) s in
  let m_top := if has (qlt q0) s then vmean [seq z <- Z | qle top (score z)] else [::] in
  let m_bot := if has (qlt^~ q0) s then vmean [seq z <- Z | qle (score z) bot] else [::] in
  let m_all := if has (Qeq_bool q0) s then vmean Z else [::] in
  [seq let t := score z in
       vadd (vscale (q_rho B) z) (vscale (q_alpha B)
         (if qlt q0 t then m_top else if qlt t q0 then m_bot else m_all)) | z <- Z].

(* rho = 1, alpha = 0 is the identity: no attention is computed *)
Definition qblock_run (B : qblock) (Z : seq vec) : seq vec :=
  let Z' := [seq qff B z | z <- Z] in
  if Qeq_bool (q_rho B) 1 && Qeq_bool (q_alpha B) 0 then Z' else qsa B Z'.

(* Where rho = 0 a sequence often becomes one point, repeated: carry it once    *)
(* (theory C5). The measure stays the same, and that is all that counts.        *)
Definition vsame (x y : vec) : bool :=
  (size x == size y) && all (fun p => Qeq_bool p.1 p.2) (zip x y).
Definition squash (Z : seq vec) : seq vec :=
  if Z is z :: r then if all (vsame z) r then [:: z] else Z else Z.
Definition qstep (B : qblock) (Z : seq vec) : seq vec :=
  let Z' := qblock_run B Z in if Qeq_bool (q_rho B) 0 then squash Z' else Z'.

Definition qrun (T : seq qblock) (Z : seq vec) : seq vec :=
  foldl (fun Z B => qstep B Z) Z T.

(* label sets, as in the format hardmax-dataset/1 *)
Inductive qset :=
  | QPoint of vec                         (* x = p                             *)
  | QBall of vec & Q                      (* |x - c| < r                       *)
  | QBox of vec & vec                     (* lower < x < upper                 *)
  | QHalfspace of vec & Q                 (* <normal, x> > offset              *)
  | QPolyhedron of seq (vec * Q).         (* <a, x> < b for every row (a, b)   *)

Variable d : nat.

Definition wf_vec (x : vec) : bool := size x == d.
Definition wf_block (B : qblock) : bool :=
  [&& wf_vec (q_u B), wf_vec (q_w B) & wf_vec (q_v B)].
Definition wf_sequence (Z : seq vec) : bool := (0 < size Z)%N && all wf_vec Z.
Definition wf_set (S : qset) : bool :=
  match S with
  | QPoint p => wf_vec p
  | QBall c _ => wf_vec c
  | QBox lo up => wf_vec lo && wf_vec up
  | QHalfspace n _ => wf_vec n
  | QPolyhedron rows => all (fun r => wf_vec r.1) rows
  end.

Definition each (P : Q -> Q -> bool) (x y : vec) : bool :=
  all (fun i => P (nth q0 x i) (nth q0 y i)) (iota 0 d).

Definition qin (S : qset) (x : vec) : bool :=
  match S with
  | QPoint p => each Qeq_bool x p
  | QBall c r =>
      let y := take d (vadd x (vscale (Qmake (-1) 1) c)) in
      qlt q0 r && qlt (vdot y y) (qmul r r)
  | QBox lo up => each qlt lo x && each qlt x up
  | QHalfspace n o => qlt o (vdot n x)
  | QPolyhedron rows => all (fun r => qlt (vdot r.1 x) r.2) rows
  end.

Definition wf (T : seq qblock) (data : seq (seq vec * qset)) : bool :=
  all wf_block T && all (fun p => wf_sequence p.1 && wf_set p.2) data.

Definition check_values (T : seq qblock) (data : seq (seq vec * qset)) : bool :=
  all (fun p => qin p.2 (vmean (qrun T p.1))) data.

Definition check (T : seq qblock) (data : seq (seq vec * qset)) : bool :=
  [&& (0 < size T)%N && (0 < size data)%N, wf T data & check_values T data].

(* Do two sequences have the same empirical measure? Cross-multiplied counts.   *)
Definition qcount (z : vec) (Z : seq vec) : nat := count (each Qeq_bool z) Z.
Definition same_data (Z Z' : seq vec) : bool :=
  all (fun z => (qcount z Z * size Z' == qcount z Z' * size Z)%N) (Z ++ Z').

End Program.
