"""Decide whether a symmetric rational matrix is positive semi-definite, with a proof."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ...errors import InputError
from ...exact.matrix import Matrix

Row = tuple[Fraction, ...]


@dataclass(frozen=True)
class Semidefinite:
    """Certificate: G = Σ_k d_k l_k l_kᵀ with every d_k > 0; the rank is their number.

    ``pivots`` are indices p_k with (l_k)_{p_k} = 1; the rows of these indices span G's.
    """

    weights: Row
    vectors: tuple[Row, ...]
    pivots: tuple[int, ...]

    @property
    def rank(self) -> int:
        """Rank of the matrix."""
        return len(self.weights)

    def proves(self, gram: Matrix) -> bool:
        """Whether d > 0 and the sum is ``gram``, exactly; trusts nothing else."""
        n = gram.shape[0]
        if gram.shape != (n, n) or len(self.weights) != len(self.vectors):
            return False
        if any(d <= 0 for d in self.weights) or any(len(row) != n for row in self.vectors):
            return False
        if not self.weights:
            return gram == Matrix.zeros(n, n)
        left = Matrix([[d * x for x in row] for d, row in zip(self.weights, self.vectors,
                                                              strict=True)])  # fmt: skip
        return left.T @ Matrix(self.vectors) == gram


@dataclass(frozen=True)
class Indefinite:
    """Refutation: a vector x with xᵀGx = ``value`` < 0."""

    vector: Row
    value: Fraction

    def proves(self, gram: Matrix) -> bool:
        """Whether the vector has this value, below 0, exactly."""
        if gram.shape != (len(self.vector),) * 2:
            return False
        x = Matrix([self.vector])
        return self.value < 0 and (x @ gram @ x.T)[0, 0] == self.value


def decide_semidefinite(gram: Matrix) -> Semidefinite | Indefinite:
    """Decide xᵀGx ≥ 0 for all x by G = LDLᵀ over ℚ with symmetric pivots.

    ``gram`` (n, n) must be symmetric, or InputError is raised. The answer proves itself:
    its method ``proves`` is one exact product.

    >>> decide_semidefinite(Matrix([[1, 1], [1, 1]])).rank
    1
    >>> decide_semidefinite(Matrix([[1, 2], [2, 1]])).value
    Fraction(-3, 1)
    """
    if gram != gram.T:
        raise InputError("the matrix is not symmetric, so it has no form to decide")
    n = gram.shape[0]
    rest, open_rows = gram, list(range(n))
    weights: list[Fraction] = []
    vectors: list[Row] = []
    pivots: list[int] = []
    while open_rows:
        diagonal = {i: rest[i, i] for i in open_rows}
        low = min(diagonal, key=diagonal.__getitem__)
        if diagonal[low] < 0:
            return _refuted(gram, {low: Fraction(1)}, vectors, pivots)
        p = next((i for i in open_rows if diagonal[i]), None)
        if p is None:
            break
        unit = Matrix([[int(i == p)] for i in range(n)])
        column = (1 / diagonal[p]) * (rest @ unit)
        rest = rest - diagonal[p] * (column @ column.T)
        weights.append(diagonal[p])
        vectors.append(column.T.rows()[0])
        pivots.append(p)
        open_rows.remove(p)
    if rest != Matrix.zeros(n, n):  # a diagonal of zeros, but not 0: 2tb < 0 at t = −1/2b
        i, j = next((i, j) for i in open_rows for j in open_rows if rest[i, j])
        return _refuted(gram, {i: -1 / (2 * rest[i, j]), j: Fraction(1)}, vectors, pivots)
    return Semidefinite(tuple(weights), tuple(vectors), tuple(pivots))


def _refuted(
    gram: Matrix, start: dict[int, Fraction], vectors: list[Row], pivots: list[int]
) -> Indefinite:
    """Extend a direction so that it is orthogonal to every l_k; then only the rest counts."""
    x = [Fraction(0)] * gram.shape[0]
    for i, value in start.items():
        x[i] = value
    for vector, p in zip(reversed(vectors), reversed(pivots), strict=True):
        x[p] = -sum((a * b for j, (a, b) in enumerate(zip(vector, x, strict=True)) if j != p),
                    Fraction(0))  # fmt: skip
    row = Matrix([x])
    return Indefinite(tuple(x), (row @ gram @ row.T)[0, 0])
