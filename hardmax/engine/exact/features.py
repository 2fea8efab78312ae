"""Exact means of tokens behind a run of features, by floats that are never rounded.

The run (`Plan.features`) reads only coordinates that it does not write. So the mean of a sequence
behind it is mean(z) + Σ_k w_k F_k, where F_k is the mean of max(0, ⟨u_k,z⟩ + b_k) over its tokens.
Tokens are cut into pieces of so few bits that float64 holds the products of a piece with all u_k,
and the sums of these products over a sequence. So F_k is found without rounding, once the tokens
on which layer k is active are known. Floats with a proven bound know almost all of them; exact
arithmetic knows the others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from ...enclosure.rounding import error
from ...exact.array import Array, ExactArray
from ...exact.numbers import dot
from ...exact.rows import Row, row_of
from ..compile.plan import Plan

_FLOAT_BITS = 53  # float64 holds integers of so many bits
_LEAST_PIECE_BITS = 8  # shorter pieces are too many: other code finds the means
_LARGEST_EXPONENT = 600  # tokens beyond 2^±600 are not cut into pieces


def means_behind_features(
    plan: Plan, tokens: ExactArray, offsets: Array, rows: Array
) -> list[Row] | None:
    """Exact points (X, q) behind the collapse for the sequences ``rows`` of packed tokens.

    None where the blocks up to the collapse are not features, perhaps a translation, and a mean;
    and where numbers are so long that floats can't be cut.
    """
    run = plan.kept(FeatureRun)
    longest = int(np.diff(offsets)[rows].max(initial=1))
    if not run.usable:
        return None
    pieces = _Pieces.of(tokens, _FLOAT_BITS - run.bits - longest.bit_length())
    if pieces is None:
        return None
    ends = ((int(offsets[j]), int(offsets[j + 1])) for j in rows.tolist())
    return [run.mean(tokens, pieces, start, end) for start, end in ends]


class FeatureRun:
    """The run of a plan, in integers: u_k·2^s_k for a shift s_k of each layer."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.blocks = plan, list(plan.prefix[: plan.features])
        p = plan.parameters
        self.long = bool(
            {k // plan.dimension for a in (p.u, p.w) for k in a.exact} & {*self.blocks}
        )

    @cached_property
    def usable(self) -> bool:
        """Whether the plan has a run, then perhaps a translation, then means."""
        p, end = self.plan.parameters, self.plan.collapse
        rest = self.plan.prefix[len(self.blocks) :]
        if not self.blocks or end is None or self.long or rest not in ((), (end,)):
            return False
        return not p.v.values[end].any() and not (self.moves and p.u.values[end].any())

    @property
    def moves(self) -> bool:
        """Whether the collapse begins with a layer that moves tokens."""
        return bool(self.plan.moves[self.plan.collapse or 0])

    @cached_property
    def u(self) -> tuple[Array, list[int]]:
        """Integers (k, d) as floats, and the shift of each row."""
        found = [_integers(row) for row in self.plan.arrays.u[self.blocks].tolist()]
        return np.array([row for row, _ in found], dtype=float), [shift for _, shift in found]

    @cached_property
    def bits(self) -> int:
        """Bits of the largest |u_k|₁."""
        return int(np.abs(self.u[0]).sum(axis=1).max()).bit_length()

    @cached_property
    def w(self) -> tuple[Array, list[int], Array]:
        """Integers (k, columns), Python's own, the shift of each row, and the columns written."""
        w = self.plan.arrays.w[self.blocks]
        columns = np.flatnonzero(w.any(axis=0))
        found = [_integers(row) for row in w[:, columns].tolist()]
        return (
            np.array([row for row, _ in found], dtype=object).reshape(len(w), len(columns)),
            [shift for _, shift in found],
            columns,
        )

    @cached_property
    def b(self) -> list[Fraction]:
        """Exact offsets."""
        return [self.plan.parameters.b.entry(k) for k in self.blocks]

    def active(self, tokens: ExactArray, start: int, end: int) -> Array:
        """On which tokens each layer is active, (n, k)."""
        arrays, z = self.plan.arrays, tokens.values[start:end]
        u, b = arrays.u[self.blocks], arrays.b[self.blocks]
        t = z @ u.T
        t += b
        size = np.abs(u) @ np.abs(z).max(axis=0) + np.abs(b)
        bound = error(u.shape[1] + 16, size)  # tokens and offsets are rounded, too
        found = t > bound
        for i, k in np.argwhere(~found & (t > -bound)).tolist():
            exact = dot(self.plan.parameters.u.row(self.blocks[k]), tokens.row(start + i))
            found[i, k] = exact + self.b[k] > 0
        return np.asarray(found)

    def mean(self, tokens: ExactArray, pieces: _Pieces, start: int, end: int) -> Row:
        """The exact point of the tokens start … end − 1 behind the collapse."""
        active = self.active(tokens, start, end)
        u, shifts = self.u
        sums: list[int] = [0] * len(shifts)  # of ⟨u_k,z⟩·2^s_k·q over active tokens, in units
        plain: list[int] = [0] * self.plan.dimension
        for piece, place in pieces.cut(start, end):
            some = np.einsum("ik,ik->k", piece @ u.T, active.astype(float))
            sums = [x + (int(y) << place) for x, y in zip(sums, some.tolist(), strict=True)]
            whole = zip(plain, piece.sum(axis=0).tolist(), strict=True)
            plain = [x + (int(y) << place) for x, y in whole]
        unit = Fraction(1, pieces.denominator * (end - start))
        counts = active.sum(axis=0).tolist()
        w, more, columns = self.w
        terms = [
            x * unit / 2**s + b * Fraction(count, end - start)
            for x, s, b, count in zip(sums, shifts, self.b, counts, strict=True)
        ]
        numerators, common = _common([x / 2**s for x, s in zip(terms, more, strict=True)])
        found = [x * unit for x in plain]
        for column, x in zip(columns.tolist(), numerators @ w, strict=True):
            found[column] += Fraction(int(x), common)
        return row_of(self._behind(found))

    def _behind(self, mean: list[Fraction]) -> list[Fraction]:
        """The translation of the collapse, and its factor α."""
        p, end = self.plan.parameters, self.plan.collapse or 0
        if self.moves:
            b = p.b.entry(end)
            mean = [x + b * y for x, y in zip(mean, p.w.row(end), strict=True)]
        alpha = p.alpha.entry(end)
        return mean if alpha == 1 else [alpha * x for x in mean]


@dataclass(frozen=True)
class _Pieces:
    """Tokens times ``denominator``, to be cut into integers of at most ``width`` bits.

    ``values``·2^-``low`` are integers.
    """

    values: Array
    denominator: int
    low: int
    high: int
    width: int

    @classmethod
    def of(cls, tokens: ExactArray, width: int) -> _Pieces | None:
        scaled = tokens.scaled()
        if scaled is not None:
            largest = int(np.abs(scaled[0]).max(initial=1))
            found = cls(scaled[0].astype(float), scaled[1], 0, largest.bit_length(), width)
        else:
            low, high = tokens.span
            low = min(low, 0)
            found = cls(tokens.values, 1 << -low, low, max(high, low + 1), width)
        fair = (
            width >= _LEAST_PIECE_BITS
            and found.low > -_LARGEST_EXPONENT
            and found.high < _LARGEST_EXPONENT
        )
        return found if fair and (scaled is not None or not tokens.exact) else None

    def cut(self, start: int, end: int) -> Iterable[tuple[Array, int]]:
        """Arrays of integers, and the power of two of each; they add up to the tokens."""
        rest = self.values[start:end]
        first = self.low + (self.high - self.low - 1) // self.width * self.width
        for place in range(first, self.low - 1, -self.width):
            piece = np.trunc(np.ldexp(rest, -place))
            yield piece, place - self.low
            rest = rest - np.ldexp(piece, place)


def _integers(row: list[float]) -> tuple[list[int], int]:
    """Floats as integers times a power of two: x = n·2^-shift.

    >>> _integers([0.5, 3.0])
    ([1, 6], 1)
    """
    ratios = [x.as_integer_ratio() for x in row]
    shift = max(q.bit_length() - 1 for _, q in ratios)
    return [p << (shift - q.bit_length() + 1) for p, q in ratios], shift


def _common(numbers: list[Fraction]) -> tuple[Array, int]:
    """Numerators over the least common denominator."""
    *numerators, common = row_of(numbers)
    return np.array(numerators, dtype=object), common
