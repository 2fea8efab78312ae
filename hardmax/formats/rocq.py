"""Models and data as a Rocq file: the proof assistant checks the verdict (proofs/rocq)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from ..dataset import Dataset
from ..errors import InputError
from ..exact.numbers import Vector, exact_text
from ..labels import Ball, Box, Halfspace, LabelSet, Point, Polyhedron
from ..model.parameters import PackedBlock
from ..model.transformer import Transformer

_HEAD = """\
(* A transformer and labelled sequences. coqc accepts this file exactly if the  *)
(* exact output of every sequence lies in its label set:                        *)
(*   make -C proofs/rocq && coqc -R proofs/rocq Hardmax FILE.v                  *)
From Coq Require Import QArith.
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From Hardmax Require Import Checker.
Local Open Scope Q_scope.
"""

_TAIL = """\
Lemma model_checks : check {d} model data = true.
Proof. vm_cast_no_check (erefl true). Qed. (* Qed computes, once *)

Theorem proved (R : realFieldType) : all_classified R {d} model data.
Proof. exact: checker_sound model_checks. Qed.

Print Assumptions proved.
"""


def rocq_script(model: Transformer, data: Dataset, places: Sequence[int] | None = None) -> str:
    """Text of a Rocq file that proves the classification by `checker_sound`.

    ``places`` are the sequences it speaks of, from 0; by default all.

    Raises InputError for general layers, for masked models, for sequences without label, and
    for balls with positions: the Rocq checker knows none of them.

    >>> import hardmax as hm
    >>> data = hm.Dataset([[(0,)], [(1,)]], ["a", "b"])
    >>> "Theorem proved" in rocq_script(hm.build(data), data)
    True
    """
    if model.parameters is None:
        raise InputError("the Rocq checker knows rank-1 blocks only")
    if model.masked:
        raise InputError(
            "the Rocq checker knows no masked attention; --to smt2 and hardmax.checker do"
        )
    model.need_one_head("the Rocq checker's proofs")
    chosen = range(len(data)) if places is None else places
    labels = data.need_labels()
    used = dict.fromkeys(labels[j] for j in chosen)
    sets = {label: f"label_{k}" for k, label in enumerate(used)}
    lines = [_HEAD, "Definition model : seq qblock := [::"]
    lines.append(";\n".join(map(_block, model.parameters)) + "].\n")
    for label, name in sets.items():
        comment = "".join(c if c.isascii() and (c.isalnum() or c == " ") else "_" for c in label)
        lines.append(f"(* {comment} *)")
        lines.append(f"Definition {name} : qset := {_set(label, data.sets[label])}.")
    lines.append("\nDefinition data : seq (seq (seq Q) * qset) := [::")
    entries = (
        f"  ([:: {'; '.join(_vector(z) for z in data.sequence(j))}], {sets[labels[j]]})"
        for j in chosen
    )
    lines.append(";\n".join(entries) + "].\n")
    return "\n".join(lines) + "\n" + _TAIL.format(d=data.dimension)


def _number(x: Fraction) -> str:
    return f"({exact_text(Fraction(x.numerator))} # {exact_text(Fraction(x.denominator))})"


def _vector(vector: Iterable[Fraction]) -> str:
    return f"[:: {'; '.join(_number(x) for x in vector)}]"


def _block(block: PackedBlock) -> str:
    (alpha, v), *_ = block.heads
    return (
        f"  QBlock {_vector(block.u)} {_number(block.b)} {_vector(block.w)}\n"
        f"    {_number(block.rho)} {_number(alpha)} {_vector(v)}"
    )


def _set(label: str, entry: LabelSet) -> str:
    match entry:
        case Point(point):
            return f"QPoint {_vector(point)}"
        case Ball(center, radius, 0):
            return f"QBall {_vector(center)} {_number(radius)}"
        case Box(lower, upper):
            return f"QBox {_vector(lower)} {_vector(upper)}"
        case Halfspace(normal, offset):
            return f"QHalfspace {_vector(normal)} {_number(offset)}"
        case Polyhedron(A, b):
            rows: list[tuple[Vector, Fraction]] = list(zip(A, b, strict=True))
            pairs = "; ".join(f"({_vector(row)}, {_number(bound)})" for row, bound in rows)
            return f"QPolyhedron [:: {pairs}]"
    raise InputError(
        f"label {label!r}: the Rocq checker does not know a {entry.kind} with positions"
    )
