"""A model and sequences as an SMT-LIB 2 script: `unsat` means that the labels hold.

The script is for solvers that know nothing of hardmax. Its variables are the tokens of the
chosen sequences, each coordinate within r of its value in the data; every layer is a set of
definitions over linear real arithmetic (logic QF_LRA), the ReLU and the choice of leaders
are `ite`; the last assertion says that some output misses its label.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from ..dataset import Dataset
from ..errors import InputError
from ..exact.numbers import Vector, dot
from ..labels import Box, Halfspace, LabelSet, Point, Polyhedron
from ..model.parameters import PackedBlock
from ..model.transformer import Transformer
from .smt2_layers import Script, Token, joined, linear, number

MAX_DEFINITIONS = 1_000_000
CLAIMS = ("label", "prediction")


def smt2_script(
    model: Transformer,
    data: Dataset,
    sequences: Sequence[int] | None = None,
    radius: Fraction = Fraction(0),
    claim: str = "label",
) -> str:
    """Write the script for some sequences (from 0; by default all) and a radius r ≥ 0.

    The tokens range over the closed box |δ|∞ ≤ r. With ``claim`` "label" the negated claim is
    that an output lies outside the set of its label; with "prediction", for point labels
    only, that another point is as near as its own (and comes first) or nearer.

    Raises InputError where the model has general layers, r > 0 meets an attention layer
    that chooses leaders, a label set is a ball, or the script has more than
    MAX_DEFINITIONS definitions.

    >>> import hardmax as hm
    >>> data = hm.Dataset([[(0,)]], ["a"])
    >>> print(smt2_script(hm.Transformer([hm.RankOneBlock.of(1, rho=0)]), data))
    (set-logic QF_LRA)
    (declare-const x1_1_1 Real)
    (assert (= x1_1_1 0.0))
    (define-fun y1_1 () Real 0.0)
    (assert (or (< y1_1 0.0) (> y1_1 0.0)))
    (check-sat)
    """
    labels = data.need_labels()
    chosen = list(range(len(data))) if sequences is None else list(sequences)
    data = model.read(data)
    blocks = _checked(model, data, chosen, radius, claim)
    script = Script(data.dimension)
    failures = []
    for j in chosen:
        if claim == "label":
            misses = _outside(data.sets[labels[j]], labels[j])
        else:
            misses = _not_nearest(labels[j], data.sets)
        script.name = str(j + 1)
        tokens = script.box(data.sequence(j), radius)
        for k, block in enumerate(blocks):
            script.block = k + 1
            tokens = script.feed_forward(tokens, block)
            tokens = script.attend_heads(tokens, block, model.masked)
        output = script.output(tokens)
        failures += [_compare(sign, row, output, bound) for sign, row, bound in misses]
    # no way to miss: the claim holds for every output, as with a single label
    script.lines.append(f"(assert {joined('or', failures, 'false')})")
    return "\n".join(["(set-logic QF_LRA)", *script.lines, "(check-sat)"])


def _checked(
    model: Transformer, data: Dataset, chosen: Sequence[int], radius: Fraction, claim: str
) -> list[PackedBlock]:
    if model.parameters is None:
        raise InputError("smt2 needs a model of rank-1 blocks")
    if model.dimension != data.dimension:
        raise InputError(
            f"the model has dimension {model.dimension}, the data set {data.dimension}"
        )
    if claim not in CLAIMS:
        raise InputError(f"the claim {claim!r} is unknown; known are {', '.join(CLAIMS)}")
    if radius < 0:
        raise InputError("the radius is negative")
    for j in chosen:
        if not 0 <= j < len(data):
            raise InputError(f"there is no sequence {j + 1}; the data set has {len(data)}")
    blocks = list(model.parameters)
    for k, block in enumerate(blocks):
        if radius and block.chooses:
            raise InputError(
                f"block {k + 1} chooses leaders (v is not 0): a radius above 0 needs uniform "
                f"attention in every block"
            )
    size = sum(_size(blocks, data, j, model.masked) for j in chosen)
    if size > MAX_DEFINITIONS:
        raise InputError(
            f"{len(chosen)} sequences need about {size} definitions, more than "
            f"{MAX_DEFINITIONS}; choose fewer with --sequence"
        )
    return blocks


def _size(blocks: Iterable[PackedBlock], data: Dataset, j: int, masked: bool) -> int:
    """About how many definitions one sequence takes."""
    count = int(data.offsets[j + 1] - data.offsets[j])
    size = (count + 1) * data.dimension
    for block in blocks:
        if any(block.w):
            size += count * (sum(map(bool, block.w)) + bool(any(block.u)))
        if block.mixes:
            heads = sum(bool(alpha) for alpha, _ in block.heads) or 1
            size += heads * (2 * count * (data.dimension + 1) + 3 * data.dimension)
            if heads > 1:
                size += count * data.dimension * (heads + 1)
            if masked:
                size += heads * count * (count + 5 * data.dimension) if block.chooses else 0
            elif block.rho == 0 and heads == 1:
                count = min(count, 3) if block.chooses else 1
    return size


Miss = tuple[str, Vector, Fraction]  # comparison, row a, bound: ⟨a, y⟩ compared with the bound


def _outside(label_set: LabelSet, name: str) -> list[Miss]:
    """The ways in which an output can lie outside a set."""
    if isinstance(label_set, Point):
        d = label_set.dimension
        units = [tuple(Fraction(int(i == k)) for i in range(d)) for k in range(d)]
        return [
            (sign, unit, x)
            for unit, x in zip(units, label_set.point, strict=True)
            for sign in ("<", ">")
        ]
    if isinstance(label_set, (Halfspace, Box, Polyhedron)):
        return [(">=", tuple(row), bound) for row, bound in zip(*label_set.rows, strict=True)]
    raise InputError(
        f"the set of label {name!r} is a {label_set.kind}, which is not linear: "
        f"smt2 (QF_LRA) can't say it"
    )


def _not_nearest(name: str, sets: Mapping[str, LabelSet]) -> list[Miss]:
    """The ways in which another point can be predicted: |y−q| ≤ |y−p|, < where p comes first."""
    misses: list[Miss] = []
    sign = ">="
    own = sets[name]
    for other, label_set in sets.items():
        if not (isinstance(label_set, Point) and isinstance(own, Point)):
            raise InputError("the claim 'prediction' needs point labels; take 'label'")
        if other == name:
            sign = ">"
            continue
        p, q = own.point, label_set.point
        row = tuple(2 * (t - s) for s, t in zip(p, q, strict=True))
        misses.append((sign, row, dot(q, q) - dot(p, p)))
    return misses


def _compare(sign: str, row: Vector, output: Token, bound: Fraction) -> str:
    return f"({sign} {linear(row, output)} {number(bound)})"
