"""A pair of feature maps into ℝ^m and ℝ^n with the pairing ⟨v, w⟩ = vᵀGw (Theorem 3.1, mended).

The functions f_w(x) = ⟨Φ₁(x), w⟩ and g_v(y) = ⟨v, Φ₂(y)⟩ are well defined, and so are their
norms ‖w‖ and ‖v‖, iff the null conditions (3) hold: no w ≠ 0 pairs to 0 with all of Φ₁, no
v ≠ 0 with all of Φ₂. For that m = n and an invertible G are necessary (equal Hilbert dimension,
not the paper's equal cardinality), and with them the conditions say that both feature sets span.

The space of the f_w is then isometric to ℝ^n with its Euclidean norm: a Hilbert space.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ....errors import InputError
from ....exact.matrix import Matrix
from ....exact.numbers import as_fraction


class PairedFeatures:
    """Features Φ₁ (N₁, m) and Φ₂ (N₂, n) on finite sets, and G (m, n); all exact rationals.

    >>> space = PairedFeatures([[1, 0], [1, 1]], [[2, 0], [0, 1]], [[0, 1], [1, 0]])
    >>> space.null_vectors()
    (None, None)
    >>> w = space.weights_of(space.values([3, "1/2"]))
    >>> w
    (Fraction(3, 1), Fraction(1, 2))
    """

    def __init__(
        self,
        first: Sequence[Sequence[object]],
        second: Sequence[Sequence[object]],
        pairing: Sequence[Sequence[object]],
    ) -> None:
        self.first, self.second, self.G = Matrix(first), Matrix(second), Matrix(pairing)
        if (self.first.shape[1], self.second.shape[1]) != self.G.shape:
            raise InputError(
                f"features of dimensions {self.first.shape[1]} and {self.second.shape[1]} need G "
                f"of that shape, not {self.G.shape}"
            )

    def null_vectors(self) -> tuple[tuple[Fraction, ...] | None, tuple[Fraction, ...] | None]:
        """Vectors that break (3), or None where the condition holds; decided exactly.

        The first is a w ≠ 0 with ⟨Φ₁(x), w⟩ = 0 for all x, the second a v ≠ 0 with
        ⟨v, Φ₂(y)⟩ = 0 for all y.
        """
        return null_vector(self.first @ self.G), null_vector(self.second @ self.G.T)

    def pair(self, v: Sequence[object], w: Sequence[object]) -> Fraction:
        """⟨v, w⟩ = vᵀGw, which is also ⟨f_w, g_v⟩."""
        return (Matrix([v]) @ self.G @ Matrix([w]).T)[0, 0]

    def values(self, w: Sequence[object]) -> tuple[Fraction, ...]:
        """Values of f_w at the N₁ points."""
        return (self.first @ self.G @ Matrix([w]).T).T.rows()[0]

    def values_second(self, v: Sequence[object]) -> tuple[Fraction, ...]:
        """Values of g_v at the N₂ points."""
        return (self.second @ self.G.T @ Matrix([v]).T).T.rows()[0]

    def weights_of(self, values: Sequence[object]) -> tuple[Fraction, ...]:
        """The w with f_w equal to ``values``, exactly.

        Raises InputError where there is none, or more than one (the null condition fails).
        """
        if null_vector(self.first @ self.G) is not None:
            raise InputError("the null condition fails: several w give the same function")
        matrix, target = self.first @ self.G, Matrix([[v] for v in values])
        w = (matrix.T @ matrix).solve(matrix.T @ target)
        if matrix @ w != target:
            raise InputError("no w gives a function with these values")
        return w.T.rows()[0]

    def squared_evaluation_bound(self, index: int) -> Fraction:
        """A C² with |f_w(x)|² ≤ C²‖w‖² at the point x: the least one, ‖GᵀΦ₁(x)‖²."""
        row = (Matrix([self.first.rows()[index]]) @ self.G).rows()[0]
        return sum((as_fraction(x) ** 2 for x in row), Fraction(0))


def null_vector(matrix: Matrix) -> tuple[Fraction, ...] | None:
    """A vector x ≠ 0 with matrix·x = 0, or None if there is none; by exact elimination.

    >>> null_vector(Matrix([[1, 2], [2, 4]]))
    (Fraction(-2, 1), Fraction(1, 1))
    """
    rows = [list(row) for row in matrix.rows()]
    pivots: list[int] = []
    for column in range(matrix.shape[1]):
        depth = len(pivots)
        found = next((k for k in range(depth, len(rows)) if rows[k][column]), None)
        if found is None:
            x = [Fraction(0)] * matrix.shape[1]
            x[column] = Fraction(1)
            for k, pivot in enumerate(pivots):
                x[pivot] = -rows[k][column]
            return tuple(x)
        rows[depth], rows[found] = rows[found], rows[depth]
        scale = rows[depth][column]
        rows[depth] = [entry / scale for entry in rows[depth]]
        for k, row in enumerate(rows):
            if k != depth and row[column]:
                rows[k] = [a - row[column] * b for a, b in zip(row, rows[depth], strict=True)]
        pivots.append(column)
    return None
