(* A small model, checked. Four sequences in Q^2 with lengths 4, 2, 3 and 1,    *)
(* a repeated token, and the two sequences of theory A2, whose means tie.       *)
(* Labels: the points (1/3, 2) and (-1, 0), and the half-space x_2 > 5.         *)
(* Six blocks: tie splitting; a self-attention layer with v <> 0 (leaders);     *)
(* collapse; radial peeling. Checker.check is run by vm_compute.                *)
From Coq Require Import QArith.
From mathcomp Require Import all_ssreflect ssralg ssrnum rat matrix.
From Hardmax Require Import Model Measure Checker Indistinguishable Certificate.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope Q_scope.

Definition model : seq qblock := [::
  QBlock [:: (1 # 1); (0 # 1)] (0 # 1) [:: (1 # 1); (1 # 1)]
    (1 # 1) (0 # 1) [:: (0 # 1); (0 # 1)];
  QBlock [:: (0 # 1); (0 # 1)] (0 # 1) [:: (0 # 1); (0 # 1)]
    (1 # 2) (1 # 2) [:: (1 # 1); (2 # 1)];
  QBlock [:: (0 # 1); (0 # 1)] (1 # 1) [:: (-7 # 12); (1 # 8)]
    (0 # 1) (8 # 1) [:: (0 # 1); (0 # 1)];
  QBlock [:: (19 # 1); (59 # 9)] (-23929 # 81) [:: (-19 # 128); (-59 # 1152)]
    (1 # 1) (0 # 1) [:: (0 # 1); (0 # 1)];
  QBlock [:: (-5 # 1); (-1 # 1)] (-61 # 3) [:: (11 # 6); (-1 # 2)]
    (1 # 1) (0 # 1) [:: (0 # 1); (0 # 1)];
  QBlock [:: (-17 # 5); (-127 # 35)] (-9067 # 735) [:: (23 # 30); (267 # 140)]
    (1 # 1) (0 # 1) [:: (0 # 1); (0 # 1)]].

Definition sequences : seq (seq (seq Q)) := [::
  [:: [:: (0 # 1); (1 # 1)]; [:: (0 # 1); (-1 # 1)]; [:: (1 # 1); (0 # 1)]; [:: (-1 # 1); (0 # 1)]];
  [:: [:: (0 # 1); (1 # 1)]; [:: (0 # 1); (-1 # 1)]];
  [:: [:: (1 # 2); (1 # 3)]; [:: (1 # 2); (1 # 3)]; [:: (2 # 1); (-1 # 1)]];
  [:: [:: (1 # 10); (-3 # 7)]]].

Definition blue : qset := QPoint [:: (1 # 3); (2 # 1)].
Definition orange : qset := QPoint [:: (-1 # 1); (0 # 1)].
Definition green : qset := QHalfspace [:: (0 # 1); (1 # 1)] (5 # 1).
Definition labels : seq qset := [:: blue; orange; blue; green].
Definition data := zip sequences labels.

(* the computation *)
Lemma model_checks : check 2 model data = true.
Proof. by vm_compute. Qed.

(* what it means, over every real field ... *)
Theorem model_classifies (R : realFieldType) : all_classified R 2 model data.
Proof. exact: checker_sound model_checks. Qed.

(* ... and over the rationals of MathComp *)
Theorem model_classifies_rat : all_classified rat_realFieldType 2 model data.
Proof. exact: model_classifies. Qed.

(* The same model as a certificate says it: the label sets are disjoint, too.   *)
Definition label_sets : seq qset := [:: blue; orange; green].
Definition places : seq (seq (seq Q) * nat) := zip sequences [:: 0; 1; 0; 2]%nat.
Definition separation : seq hyperplane := [::
  Hyperplane 0 2 [:: (0 # 1); (1 # 1)] (5 # 1) [::] [:: (1 # 1)];
  Hyperplane 1 2 [:: (0 # 1); (1 # 1)] (5 # 1) [::] [:: (1 # 1)]].

Theorem model_proved (R : realFieldType) : PROVED R 2 label_sets model places.
Proof. by apply: (@proved_sound R 2 _ separation); vm_compute. Qed.

(* four distinct measures, six blocks, 30 parameters; and the bounds            *)
Theorem model_counts (R : realFieldType) :
  [/\ measures R 2 places = 4%nat, size model = 6%nat & parameters R 2 model = 30%nat].
Proof. by apply: counts_sound; vm_compute. Qed.

(* Sets that meet are refused, whatever hyperplane is offered.                  *)
Lemma overlap_refuted : ~~ check_disjoint 2 [:: blue; QHalfspace [:: (0 # 1); (1 # 1)] (1 # 1)]
  [:: Hyperplane 0 1 [:: (0 # 1); (1 # 1)] (1 # 1) [::] [:: (1 # 1)]].
Proof. by vm_compute. Qed.

Lemma equal_points_refuted : ~~ check_disjoint 2 [:: blue; blue]
  [:: Hyperplane 0 1 [:: (0 # 1); (1 # 1)] (2 # 1) [::] [::]].
Proof. by vm_compute. Qed.

(* A wrong claim is refuted: with two labels exchanged the property is false.   *)
Definition wrong_data := zip sequences [:: orange; blue; blue; green].

Theorem wrong_labels_refuted (R : realFieldType) :
  ~ all_classified R 2 model wrong_data.
Proof.
have w : wf 2 model wrong_data by vm_compute.
by move=> /(checker_exact R w); vm_compute.
Qed.

(* The other verdict: (a, b) and (b, a, a, b) can't be told apart by any        *)
(* transformer; no two of the sequences above are such a pair.                  *)
Definition ab : seq (seq Q) := [:: [:: (1 # 2); (3 # 1)]; [:: (0 # 1); (-1 # 3)]].
Definition baab : seq (seq Q) :=
  [:: [:: (0 # 1); (-1 # 3)]; [:: (2 # 4); (3 # 1)];
      [:: (1 # 2); (3 # 1)]; [:: (0 # 1); (-2 # 6)]].

Theorem no_transformer_tells (R : realFieldType) (T : seq (block R 2)) :
  readout (run T (s2r R 2 ab)) = readout (run T (s2r R 2 baab)).
Proof. by apply: same_data_sound; vm_compute. Qed.

Lemma sequences_differ : pairwise (fun Z Z' => ~~ same_data 2 Z Z') sequences.
Proof. by vm_compute. Qed.
