"""A basis in which most layers of a deep chain are sparse.

Many such layers leave one number v = ⟨a,z⟩ alone, which all coordinates enter, and write one of
them, z_p, for this purpose only. With v in the place of z_p they do not write p any more, and a
layer that reads v reads one coordinate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from .chain_steps import Points
from .suffix import Sparse

_DENSE_FROM = 3  # a direction with so many coordinates is called dense

Affine = tuple[Sparse, Fraction, Sparse]  # u, b, w


@dataclass(frozen=True)
class Basis:
    """The coordinates z_j, but v = ⟨a,z⟩ in the place of coordinate ``place``; a_place ≠ 0.

    >>> a = [(0, Fraction(2)), (1, Fraction(1))]
    >>> Basis(a, 0).layer((a, Fraction(5), [(0, Fraction(-1)), (1, Fraction(2))]))
    ([(0, Fraction(1, 1))], Fraction(5, 1), [(1, Fraction(2, 1))])
    """

    a: Sparse
    place: int

    @classmethod
    def of(cls, layers: Sequence[Affine]) -> Basis | None:
        """The basis for the dense direction that most layers read; None where all are sparse."""
        dense = [u for u, _, _ in layers if len(u) >= _DENSE_FROM]
        if not dense:
            return None
        scaled = Counter(tuple((j, x / u[0][1]) for j, x in u) for u in dense)
        a = [*scaled.most_common(1)[0][0]]
        written = Counter(j for _, _, w in layers for j, _ in w if not inner(a, w))
        return cls(a, max((j for j, _ in a), key=lambda j: written[j]))

    def layer(self, layer: Affine) -> Affine:
        """A layer in this basis."""
        u, b, w = layer
        reads, writes, weights = dict(u), dict(w), dict(self.a)
        share = reads.get(self.place, Fraction(0)) / weights[self.place]
        if share:
            for j, x in self.a:
                reads[j] = reads.get(j, Fraction(0)) - share * x
        reads[self.place], writes[self.place] = share, inner(self.a, w)
        return _sorted(reads), b, _sorted(writes)

    def enter(self, points: Points) -> None:
        """Write points in this basis, in place."""
        points.set(self.place, *points.product(self.a, Fraction(0)))

    def leave(self, points: Points) -> None:
        """Write points in the coordinates of the data again, in place."""
        first = dict(self.a)[self.place]
        back = {j: -x / first for j, x in self.a} | {self.place: 1 / first}
        points.set(self.place, *points.product(_sorted(back), Fraction(0)))


def inner(u: Sparse, w: Sparse) -> Fraction:
    """⟨u,w⟩."""
    of = dict(w)
    return sum((x * of[j] for j, x in u if j in of), Fraction(0))


def _sorted(vector: dict[int, Fraction]) -> Sparse:
    return sorted((j, x) for j, x in vector.items() if x)
