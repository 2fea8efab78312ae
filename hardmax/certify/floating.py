"""Certificates for floating point: every IEEE executor predicts what the exact run predicts.

An executor reads tokens and parameters rounded to nearest and runs block by block: ⟨u,x⟩ + b, the
feed-forward update, scores, means and the readout, each sum in any order, fused or not. A bound
E on the error of every coordinate, centred at the *exact* trajectory, is carried along
(theory C6):

    ⟨u,x⟩ + b           |u|·E + γ_{d+4} (|u|·(|x| + E) + |b|)                        =: e_t
    x + w·t  (active)   E + |w| e_t + γ_6 (|x| + E + |w| (|t| + e_t))
    mean of n tokens    mean(E) + γ_{n+2} mean(|x| + E)                              =: e_m
    ρx + αm             |ρ| E + |α| e_m + γ_6 (|ρ| (|x| + E) + |α| (|m| + e_m))

by the theorem on rounding errors (`enclosure.rounding`) with u = 2^-53 or 2^-24, the rounding of
the parameters included, and an absolute term for underflow. A decision is safe where its exact
value exceeds its error bound: the sign of ⟨u,x⟩ + b, the sign of a score, the lead of a leader over
every different token. The bounds are computed in float64 and inflated by SLACK at every step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..dataset import Dataset
from ..enclosure.rounding import SINGLE, SLACK, UNIT, gamma, underflow
from ..errors import InputError
from ..exact.numbers import Vector, exact_text
from ..labels import Point
from ..model.parameters import PackedBlock
from ..model.tokens import Tokens
from ..model.transformer import Transformer
from .perturbation.jacobian import Jacobians
from .perturbation.label_margin import LabelMargins
from .prefix_means import prefix_means

Array = np.ndarray
FORMATS = {  # unit roundoff, least positive number, largest number
    "float64": (UNIT, 2.0**-1074, float(np.finfo(np.float64).max)),
    "float32": (SINGLE, 2.0**-149, float(np.finfo(np.float32).max)),
}


@dataclass(frozen=True)
class FloatCertificate:
    """What every executor in ``format`` does on a data set.

    ``certified``: all signs are right and every prediction is that of the exact output.
    ``least_margin`` is a lower bound of |exact value| − error bound over all decisions (None
    where there are none, or where one is not safe), ``reason`` names the decision that is too
    close. ``distance`` bounds how far (∞-norm) an output with a point label may lie from it.
    """

    format: str
    certified: bool
    least_margin: Fraction | None
    distance: Fraction | None
    reason: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The field ``float64`` of a certificate."""
        margin = None if self.least_margin is None else exact_text(self.least_margin)
        return {"certified": self.certified, "least_margin": margin}


class _UnsafeError(Exception):
    """A decision that floating point might take the other way."""


def certify_float(
    model: Transformer,
    data: Dataset,
    executor: str = "float64",
    progress: Callable[[int], None] | None = None,
) -> FloatCertificate:
    """Prove that every float executor makes the predictions of the exact run, or say why not.

    ``executor`` is "float64" or "float32". Raises InputError for another one, for models with
    general layers, and for masked models that choose leaders.

    >>> import hardmax as hm
    >>> data = hm.Dataset([[(0, 0)], [(1, 0)]], ["a", "b"])
    >>> certify_float(hm.build(data), data).certified
    True
    """
    if executor not in FORMATS:
        raise InputError(f"the executor {executor!r} is unknown; known are {', '.join(FORMATS)}")
    if model.parameters is None:
        raise InputError("float certificates are for models of rank-1 blocks")
    if model.masked and any(block.chooses for block in model.parameters):
        raise InputError("a float certificate of a masked model needs v = 0 in every block")
    data.refuse_outputs("float certificates")
    run = _Run(Tokens.from_array(data.tokens, data.offsets), data, executor)
    run.masked = model.masked
    try:
        # what overflows becomes infinite or undefined, and then no check passes
        with np.errstate(all="ignore"):
            return run.certify(model, progress)
    except _UnsafeError as problem:
        return FloatCertificate(executor, False, None, None, str(problem))


class _Run:
    """The exact state of all sequences, and an error bound for every coordinate."""

    def __init__(self, batch: Tokens, data: Dataset, executor: str) -> None:
        self.batch, self.data, self.executor = batch, data, executor
        self.unit, self.tiny, largest = FORMATS[executor]
        self.largest = largest / 4
        self.lengths = np.diff(data.offsets)
        self.margin = float("inf")
        self.place, self.masked = "the input", False
        values = batch.floats()
        self.errors = self._up(self.unit * np.abs(values) + self.tiny)
        self._check_range(values)

    def certify(
        self, model: Transformer, progress: Callable[[int], None] | None
    ) -> FloatCertificate:
        """Follow all blocks and the readout."""
        for k, block in enumerate(model.parameters or ()):
            self.block(k, block, model.stages[k])
            if progress is not None:
                progress(k + 1)
        distance = self.predictions()
        margin = Fraction(self.margin) if np.isfinite(self.margin) else None
        return FloatCertificate(self.executor, True, margin, distance)

    def block(self, k: int, block: PackedBlock, stage: str) -> None:
        """Follow one block."""
        self.place = f"block {k + 1} ({stage})"
        if any(block.w) and (any(block.u) or block.b):
            self._feed_forward(block)
        self.batch.feed_forward(block.u, block.b, block.w)
        if block.mixes:
            self._attend(block)
        self._check_range(self.batch.floats())

    def predictions(self) -> Fraction | None:
        """Check that every output's error ball keeps the prediction; bound its distance."""
        self.place = "the readout"
        mean, error = self._means()
        self._check_range(mean)
        pool = Jacobians(self.data.dimension)
        margins = LabelMargins(pool, self.data.sets)
        distance: Fraction | None = None
        for j, output in enumerate(self.batch.means()):
            reach = Fraction(float(error[j].max()))
            found = margins.margin(output, pool.source(0))
            if found is not None and not reach < found.radius:
                raise _UnsafeError(
                    f"{self.data.name(j)}: its output may be predicted as {found.rival!r}"
                )
            distance = _farther(distance, self.data, j, output, reach)
        return distance

    def _gamma(self, k: int | Array) -> Array:
        return np.where(3 * k * self.unit < 1, gamma(k, self.unit), np.inf)

    @staticmethod
    def _up(bound: Array) -> Array:
        """A bound inflated past the rounding of its own computation."""
        result: Array = bound * SLACK
        return result

    def _check_range(self, values: Array) -> None:
        """Nothing may overflow or become undefined."""
        if not (np.abs(values) + self.errors[: len(values)] < self.largest).all():
            raise _UnsafeError(f"{self.place}: a value may leave the range of floating point")

    def _dot(self, u: Vector, b: Fraction) -> tuple[Array, Array]:
        """⟨u,x⟩ + b near its exact value, and the error bound of any execution, (T,)."""
        x = self.batch.floats()
        direction, offset = np.array([float(t) for t in u]), float(b)
        size = np.abs(direction)
        weight = (np.abs(x) + self.errors) @ size + abs(offset)
        error = self.errors @ size + self._gamma(len(u) + 4) * weight
        error += underflow(len(u), size.max(initial=0.0), weight, self.tiny)
        # the centre is itself computed, in float64, within γ of its exact value
        error += 8 * len(u) * UNIT * weight
        return x @ direction + offset, self._up(error)

    def _decide(self, values: Array, error: Array, owner: Array, what: str) -> None:
        """Require |value| > error everywhere; keep the least margin."""
        room = np.abs(values) - error
        room = np.where(np.isfinite(room), room, -np.inf)
        if len(room) == 0:
            return
        worst = int(np.argmin(room))
        if not room[worst] > 0:
            name = self.data.name(int(owner[worst]))
            raise _UnsafeError(f"{self.place}: {what} of {name} is too close to call")
        self.margin = min(self.margin, float(room[worst]) / SLACK)

    def _owner(self) -> Array:
        starts = np.array(self.batch.starts)
        return np.repeat(np.arange(len(starts) - 1), np.diff(starts))

    def _feed_forward(self, block: PackedBlock) -> None:
        values, error = self._dot(block.u, block.b)
        self._decide(values, error, self._owner(), "the sign of ⟨u,z⟩ + b")
        active = values > 0
        x, e = np.abs(self.batch.floats()[active]), self.errors[active]
        step = np.abs(np.array([float(t) for t in block.w]))
        t, e_t = np.abs(values[active])[:, None], error[active][:, None]
        moved = e + step * e_t + self._gamma(6) * (x + e + step * (t + e_t))
        touched = step > 0  # adding an exact zero changes nothing
        self.errors[active] = np.where(touched, self._up(moved + self.tiny * (1 + t)), e)

    def _means(self) -> tuple[Array, Array]:
        """Mean of every sequence and its error bound, (N, d)."""
        starts = np.array(self.batch.starts)
        counts = np.diff(starts)[:, None]
        x, first = np.abs(self.batch.floats()) + self.errors, starts[:-1]
        few = self._gamma(self.lengths + 2)[:, None]
        error = np.add.reduceat(self.errors, first) / counts
        error = error + few * (np.add.reduceat(x, first) / counts) + self.tiny
        mean = np.add.reduceat(self.batch.floats(), first) / counts
        return mean, self._up(error)

    def _attend(self, block: PackedBlock) -> None:
        owner = self._owner()
        x = np.abs(self.batch.floats())
        rho = abs(float(block.rho))
        heads = [head for head in block.heads if head[0]] or block.heads[:1]
        error, size = rho * self.errors, rho * (x + self.errors)
        for alpha, v in heads:
            focus, e_m = self._focus(v, owner)
            error = error + (abs(float(alpha)) * e_m + 4 * self.tiny)
            size = size + abs(float(alpha)) * (np.abs(focus) + e_m)
        error = error + self._gamma(5 + len(heads)) * size
        before = np.array(self.batch.starts)
        self.batch.attend_heads(block.rho, block.heads, self.masked)
        collapsed = np.diff(np.array(self.batch.starts)) < np.diff(before)
        largest = np.maximum.reduceat(error, before[:-1])
        keep = ~collapsed[owner]
        keep[before[:-1]] = True
        error = np.where(collapsed[owner][:, None], largest[owner], error)
        self.errors = self._up(error[keep])

    def _focus(self, v: Vector, owner: Array) -> tuple[Array, Array]:
        """For each token what one head gives it, before α, and the error bound of that."""
        if self.masked:
            return prefix_means(self.batch, self.errors, self._gamma, self.tiny)
        if any(v):
            return self._leaders(v, owner)
        mean, error = self._means()
        return mean[owner], error[owner]

    def _leaders(self, v: Vector, owner: Array) -> tuple[Array, Array]:
        """For each token what it attends to, and the error bound of that."""
        scores, error = self._dot(v, Fraction(0))
        self._decide(scores, error, owner, "the sign of a score ⟨v,z⟩")
        first = np.array(self.batch.starts)[:-1]
        x = self.batch.floats()
        focus, bound = np.empty_like(x), np.empty_like(x)
        for side in (1.0, -1.0):
            chosen = scores * side > 0
            if not chosen.any():
                continue
            signed = side * scores
            top = np.maximum.reduceat(signed, first)[owner]
            leader = np.minimum.reduceat(np.where(signed == top, np.arange(len(x)), len(x)), first)[
                owner
            ]
            twin = self._equal_to(leader, signed == top)
            rival = ~twin & np.isin(owner, owner[chosen])
            self._decide(
                (top - signed)[rival], (error + error[leader])[rival], owner[rival],
                "the lead of the leader",
            )  # fmt: skip
            spread = np.maximum.reduceat(np.where(twin[:, None], self.errors, 0.0), first)[owner]
            few = self._gamma(self.lengths + 2)[owner][:, None]
            led = spread + few * (np.abs(x[leader]) + spread) + self.tiny
            focus[chosen], bound[chosen] = x[leader][chosen], self._up(led)[chosen]
        return focus, bound

    def _equal_to(self, leader: Array, near: Array) -> Array:
        """Which tokens equal the leader exactly."""
        x = self.batch.floats()
        result: Array = (x == x[leader]).all(axis=1) | near
        for i in np.flatnonzero(result & (leader != np.arange(len(x)))).tolist():
            result[i] = self.batch.token(i) == self.batch.token(int(leader[i]))
        return result


def _farther(
    distance: Fraction | None, data: Dataset, j: int, output: Vector, reach: Fraction
) -> Fraction | None:
    """Largest distance so far of an output from its point label, rounding included."""
    label = data.names[j]
    target = data.sets.get(label) if label is not None else None
    if not isinstance(target, Point):
        return distance
    away = max(abs(a - b) for a, b in zip(output, target.point, strict=True)) + reach
    return away if distance is None else max(distance, away)
