"""Models and data as a Rocq file: the proof assistant checks the verdict (proofs/rocq)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations

from ..dataset import Dataset
from ..errors import InputError
from ..exact.numbers import Vector, exact_text
from ..labels import Ball, Box, Halfspace, LabelSet, Point, Polyhedron
from ..model.parameters import PackedBlock
from ..model.transformer import Transformer

_HEAD = """\
(* A transformer and labelled sequences. coqc accepts this file exactly if it   *)
(* is PROVED in the sense of docs/certificate.md: the exact output of every     *)
(* sequence lies in its label set, and the label sets are disjoint; and if N    *)
(* (distinct empirical measures), L (blocks) and P (non-zero parameters) are as *)
(* stated below:                                                                *)
(*   make -C proofs/rocq && coqc -R proofs/rocq Hardmax FILE.v                  *)
From Coq Require Import QArith.
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From Hardmax Require Import Certificate.
Local Open Scope Q_scope.
"""

_TAIL = """\
Lemma model_checks : check_proved {d} labels separation model data = true.
Proof. vm_cast_no_check (erefl true). Qed. (* Qed computes, once *)

Theorem proved (R : realFieldType) : PROVED R {d} labels model data.
Proof. exact: proved_sound model_checks. Qed.

Lemma counts_check : check_counts {d} model data {N} {L} {P} = true.
Proof. vm_cast_no_check (erefl true). Qed.

Theorem counts (R : realFieldType) :
  [/\\ measures R {d} data = {N}%nat, size model = {L}%nat & parameters R {d} model = {P}%nat].
Proof. exact: counts_sound counts_check. Qed.

Print Assumptions proved.
Print Assumptions counts.
"""

_BOUNDS = """\

Lemma bounds_check : check_bounds {d} {N} {L} {P} = true.
Proof. vm_cast_no_check (erefl true). Qed.

(* Theorem 2.4: 8N + 4 blocks, 54Nd parameters *)
Theorem bounds (R : realFieldType) : (size model <= 8 * measures R {d} data + 4)%N /\\
  (parameters R {d} model <= 54 * measures R {d} data * {d})%N.
Proof. exact: bounds_sound counts_check bounds_check. Qed.

Print Assumptions bounds.
"""


def rocq_script(model: Transformer, data: Dataset, places: Sequence[int] | None = None) -> str:
    """Text of a Rocq file that proves PROVED and the counts N, L, P by `proved_sound`.

    ``places`` are the sequences it speaks of, from 0; by default all. N, and so the bounds, are
    those of these sequences. The theorem on the bounds 8N + 4 and 54Nd stands there where they
    hold and d ≥ 2. All label sets of ``data`` are stated disjoint.

    Raises InputError for general layers, so for several heads, for masked models, for data with
    outputs or without labels, and for balls with positions: the Rocq checker knows none of them.

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
    place = {label: k for k, label in enumerate(data.sets)}
    lines = [_HEAD, "Definition model : seq qblock := [::"]
    lines.append(";\n".join(map(_block, model.parameters)) + "].\n")
    for label, k in place.items():
        comment = "".join(c if c.isascii() and (c.isalnum() or c == " ") else "_" for c in label)
        lines.append(f"(* {comment} *)")
        lines.append(f"Definition label_{k} : qset := {_set(label, data.sets[label])}.")
    names = "; ".join(f"label_{k}" for k in place.values())
    lines.append(f"Definition labels : seq qset := [:: {names}].\n")
    lines.append("(* a hyperplane between every two sets that are not both points *)")
    lines.append("Definition separation : seq hyperplane := [::")
    lines.append(";\n".join(_hyperplanes(data)) + "].\n")
    lines.append("(* each sequence with the place of its label in labels, from 0 *)")
    lines.append("Definition data : seq (seq (seq Q) * nat) := [::")
    entries = (
        f"  ([:: {'; '.join(_vector(z) for z in data.sequence(j))}], {place[labels[j]]}%nat)"
        for j in chosen
    )
    lines.append(";\n".join(entries) + "].\n")
    return "\n".join(lines) + "\n" + _theorems(model, data, chosen, model.parameters.nonzero())


def _theorems(model: Transformer, data: Dataset, chosen: Sequence[int], P: int) -> str:
    """The statements, with the counts of the model and of the chosen sequences."""
    group = data.merged.group
    N, L = len({int(group[j]) for j in chosen}), len(model)
    d = data.dimension
    holds = d >= 2 and L <= 8 * N + 4 and 54 * N * d >= P
    return (_TAIL + _BOUNDS if holds else _TAIL).format(d=d, N=N, L=L, P=P)


def _hyperplanes(data: Dataset) -> Iterator[str]:
    """The entries of `separation`, as in docs/certificate.md, section 6."""
    place = {label: k for k, label in enumerate(data.sets)}
    if data.reading.label_sets == "argmax":
        yield from _between_cones(len(place), data.dimension)
        return
    for a, b in data.separations.without_points():
        found = data.separations[a, b]
        normal = (*found.normal, *(Fraction(0),) * (data.dimension - len(found.normal)))
        multipliers = (
            weights if isinstance(data.sets[name], Halfspace | Polyhedron) else None
            for name, weights in ((a, found.first), (b, found.second))
        )
        shown = " ".join(_vector(weights or ()) for weights in multipliers)
        yield (
            f"  Hyperplane {place[a]} {place[b]} {_vector(normal)} {_number(found.offset)}\n"
            f"    {shown}"
        )


def _between_cones(count: int, dimension: int) -> Iterator[str]:
    """x_e − x_c ≤ 0 on the cone of c, by its row of e, and ≥ 0 on that of e."""
    for c, e in combinations(range(count), 2):
        normal = [int(k == e) - int(k == c) for k in range(dimension)]
        first = [int(row == e - 1) for row in range(count - 1)]  # the row of c itself is missing
        second = [int(row == c) for row in range(count - 1)]
        yield f"  Hyperplane {c} {e} {_vector(normal)} {_number(0)}\n" + (
            f"    {_vector(first)} {_vector(second)}"
        )


def _number(x: Fraction | int) -> str:
    return f"({exact_text(Fraction(x.numerator))} # {exact_text(Fraction(x.denominator))})"


def _vector(vector: Iterable[Fraction | int]) -> str:
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
