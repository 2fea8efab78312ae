"""Deep chains of blocks in one direction, on points, in exact integers.

Floats can't follow a wave: each of its folds doubles their error. Such models are run exactly, but
not block by block. Two patterns, each checked on the exact parameters, are taken in one step:

- *fan*: blocks with u = s·a, s > 0, that leave ⟨a,z⟩ alone, ⟨a,w⟩ = 0. With v = ⟨a,z⟩ they add
  P_g v + Q_g between two neighbouring knots, whatever their number.
- *wave*: blocks r ↦ c − |r − c| in one direction, the distances of their c halving. From a on they
  take r to a + U·T((r − a)/U), T(t) = dist(t, 2ℤ); above their range the first alone acts.
Everything else is a single layer; `chain_steps` applies all of them.

All of them are written in a basis in which most are sparse (`basis`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from ...exact.array import Array, ExactArray
from ...exact.rows import lowest_terms
from ..compile.plan import Plan
from ..forward.collapse import collapse
from .basis import Affine, Basis, inner
from .chain_steps import Fan, Layer, Points, Scaling, Wave, ratio
from .history import ActivationHistory
from .replay import replay
from .suffix import ExactBlocks, Sparse

_LEAST_FAN = 3  # shorter fans are applied layer by layer
_LEAST_WAVE = 4  # shorter waves are applied layer by layer
_LEAST_DEEP = 12  # models with fewer layers in waves are not run this way
_DENOMINATOR_BITS = 1 << 16  # a longer common denominator of all points is not formed


Step = Layer | Scaling | Fan | Wave


@dataclass(frozen=True)
class Chains:
    """A plan's layers behind its collapse as steps; ``deep`` says whether that pays."""

    steps: Sequence[Step]
    deep: bool
    basis: Basis | None = None

    @classmethod
    def of(cls, plan: Plan) -> Chains:
        """Find fans and waves; by `Plan.kept`, once for a plan."""
        p = plan.parameters
        if plan.collapse is None:
            return cls((), False)
        if not _may_fold(plan):
            return cls((), False)
        exact = ExactBlocks(p)
        behind = range(plan.collapse + 1, len(plan))
        layers = {k: exact[k] for k in behind if plan.moves[k]}
        basis = Basis.of(list(layers.values()))
        if basis is not None:
            layers = {k: basis.layer(layer) for k, layer in layers.items()}
        steps: list[Step] = []
        run: list[Affine] = []
        count = 0
        for k in behind:
            if k in layers:
                run.append(layers[k])
            if not plan.rests[k]:
                count += _patterns(run, steps)
                steps.append(Scaling(p.rho.entry(k) + p.alpha.entry(k)))
                run = []
        count += _patterns(run, steps)
        return cls(steps, count >= _LEAST_DEEP, basis)

    def outputs(self, points: Points) -> Points:
        """Take the points through all steps, in place."""
        if self.basis is not None:
            self.basis.enter(points)
        for step in self.steps:
            step.apply(points)
        if self.basis is not None:
            self.basis.leave(points)
        return points


def deep_outputs(
    plan: Plan, tokens: ExactArray, offsets: Array, start: int, end: int
) -> dict[int, tuple[int, ...]] | None:
    """The outputs of the sequences start … end − 1 that are known, as integer rows.

    They are numbered from 0. None where the model is not deep, or does not collapse.
    """
    chains = plan.kept(Chains.of)
    collapsed = collapse(plan, tokens, offsets[start : end + 1]) if chains.deep else None
    if collapsed is None:
        return None
    rows = np.flatnonzero(collapsed.uniform)
    if not len(rows):
        return None
    nothing = np.zeros(0, dtype=np.int64)
    history = ActivationHistory(len(rows), nothing, nothing, nothing)
    z = np.array(replay(plan, tokens, offsets, start, collapsed, rows, history), dtype=object)
    common = lcm(*set(z[:, -1].tolist()))
    if common.bit_length() > _DENOMINATOR_BITS:
        return None
    factors = common // z[:, -1]
    values = [z[:, j] * factors for j in range(plan.dimension)]
    points = chains.outputs(Points(values, [common] * len(values)))
    whole = lcm(*points.common)
    columns = [value * (whole // q) for value, q in zip(points.values, points.common, strict=True)]
    known: dict[tuple[int, ...], tuple[int, ...]] = {}  # most points end on a few targets
    found = {}
    for j, row in zip(rows.tolist(), zip(*columns, strict=True), strict=True):
        if row not in known:
            known[row] = tuple(lowest_terms([*row, whole]))
        found[j] = known[row]
    return found


def _may_fold(plan: Plan) -> bool:
    """A quick look, in floats: each fold of a wave has ⟨u,w⟩ = −2, and enough of them are needed.

    A wave that floats miss is run layer by layer, which gives the same outputs.
    """
    behind = slice((plan.collapse or 0) + 1, None)
    u, w = plan.arrays.u[behind], plan.arrays.w[behind]
    with np.errstate(all="ignore"):
        inner = np.einsum("kd,kd->k", u, w)
        size = np.einsum("kd,kd->k", np.abs(u), np.abs(w))
        other = np.abs(inner + 2) > 2.0**-30 * (size + 2)  # false for what is not a number
    return int((~other).sum()) >= _LEAST_DEEP


def _patterns(run: list[Affine], steps: list[Step]) -> int:
    """Cut a run of layers into steps; how many layers of waves there are."""
    i = waves = 0
    while i < len(run):
        fan, (wave, size) = _fan(run, i), _wave(run, i)
        if wave is not None and size >= _LEAST_WAVE:
            steps.append(wave)
            waves += size
            i += size
        elif fan >= _LEAST_FAN:
            steps.append(Fan.of(run[i : i + fan]))
            i += fan
        else:
            steps.append(Layer(*run[i]))
            i += 1
    return waves


def _fan(run: Sequence[Affine], start: int) -> int:
    """How many layers from ``start`` on are a fan."""
    a = run[start][0]
    count = 0
    for u, _, w in run[start:]:
        if ratio(u, a) <= 0 or inner(a, w):
            break
        count += 1
    return count


def _wave(run: Sequence[Affine], start: int) -> tuple[Wave | None, int]:
    """The wave that begins at ``start``, and how many layers it has."""
    e, _, first = run[start]
    if not e or not first:
        return None, 0
    g: Sparse = [(j, x / -2) for j, x in first]
    if inner(e, g) != 1:
        return None, 0
    centers: list[Fraction] = []
    for u, b, w in run[start:]:
        s = ratio(u, e)
        if s <= 0 or [(j, s * x / -2) for j, x in w] != g:
            break
        center = -b / s
        if len(centers) >= 2 and 2 * (centers[-1] - center) != centers[-2] - centers[-1]:
            break
        if centers and center >= centers[-1]:
            break
        centers.append(center)
    if len(centers) < 2:
        return None, len(centers)
    half = centers[-2] - centers[-1]  # the last fold lies U above the base, the one before 2U
    return Wave(e, g, centers[-1] - half, half, len(centers)), len(centers)
