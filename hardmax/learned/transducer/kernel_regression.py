"""Exact kernel regression: the representer solution over ℚ, with a certificate.

The estimate is f(x) = Σ_i k(x_i, x) c_i with (K + λI) c = u: for λ > 0 the minimiser of
Σ ‖f(x_i) − u_i‖² + λ‖f‖² in the kernel's space, for λ = 0 the interpolant of least norm.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from ...errors import InputError
from ...exact.matrix import Matrix
from ...exact.numbers import Vector, as_fraction, as_vector
from .exact_kernels import Kernel, gram
from .semidefinite import Indefinite, Semidefinite, decide_semidefinite

Rows = tuple[Vector, ...]


@dataclass(frozen=True)
class Certificate:
    """What is proved about a regression; every field is exact.

    ``residual`` (n, m) holds f(x_i) − u_i; ``interpolates`` says that all of it is 0.
    ``norm`` is ‖f‖² = tr cᵀKc, ``rank`` that of K, and ``semidefinite`` proves that K is
    positive semi-definite. ``stationary``: K((K + λI)c − u) = 0 holds, which makes f the
    minimiser of the regularised sum of squares.
    """

    interpolates: bool
    stationary: bool
    residual: Rows
    norm: Fraction
    rank: int
    semidefinite: Semidefinite


@dataclass(frozen=True)
class Contradiction:
    """Why no function of the kernel's space fits: yᵀK = 0, but yᵀu = ``gap`` is not 0."""

    combination: Vector
    gap: Vector

    def proves(self, kernel_matrix: Matrix, values: Matrix) -> bool:
        """Whether the combination shows that, exactly."""
        y = Matrix([self.combination])
        return (
            y @ kernel_matrix == Matrix.zeros(1, kernel_matrix.shape[1])
            and (y @ values).rows()[0] == self.gap
            and any(self.gap)
        )


class KernelRegression:
    """Regression by a rational kernel with λ = ``ridge`` ≥ 0.

    >>> from hardmax.learned.transducer import RationalQuadratic
    >>> model = KernelRegression(RationalQuadratic()).fit([[0], [1]], [[1], [3]])
    >>> model.predict([[1], ["1/2"]])
    ((Fraction(3, 1),), (Fraction(32, 15),))
    >>> model.certificate().interpolates
    True
    """

    def __init__(self, kernel: Kernel, ridge: object = 0) -> None:
        self.kernel, self.ridge = kernel, as_fraction(ridge)
        if self.ridge < 0:
            raise InputError("the ridge λ must not be negative")
        self.points: Rows = ()
        self.values: Rows = ()
        self.coefficients: Rows = ()

    def fit(
        self, points: Iterable[Iterable[object]], values: Iterable[Iterable[object]]
    ) -> KernelRegression:
        """Solve for the coefficients of points (n, d) and values (n, m); returns self.

        Raises InputError where shapes do not fit, where the kernel is not positive
        semi-definite on the points, and, for λ = 0, where nothing interpolates (then
        `contradiction` has the proof).
        """
        xs, us = _table("points", points), _table("values", values)
        if len(xs) != len(us):
            raise InputError(f"{len(xs)} points but {len(us)} values")
        K, U = gram(self.kernel, xs), Matrix(us)
        decided = decide_semidefinite(K)
        if isinstance(decided, Indefinite):
            raise InputError("the kernel is not positive semi-definite on these points")
        if self.ridge:
            c = (K + self.ridge * Matrix.identity(len(xs))).solve(U).rows()
        else:
            found = _least_norm(K, U, decided)
            if isinstance(found, Contradiction):
                involved = [str(i + 1) for i, y in enumerate(found.combination) if y]
                raise InputError(
                    "nothing in the kernel's space interpolates: examples "
                    f"{', '.join(involved[:6])}{', …' if len(involved) > 6 else ''} contradict "
                    "one another; take a ridge λ > 0"
                )
            c = found
        self.points, self.values, self.coefficients = xs, us, c
        return self

    def predict(self, points: Iterable[Iterable[object]]) -> Rows:
        """Exact values (q, m) at points (q, d)."""
        self._must_be_fitted()
        queries = _table("points", points)
        if len(queries[0]) != len(self.points[0]):
            raise InputError(
                f"points of dimension {len(queries[0])}, expected {len(self.points[0])}"
            )
        return (gram(self.kernel, queries, self.points) @ Matrix(self.coefficients)).rows()

    def certificate(self) -> Certificate:
        """Prove anew, from points, values and coefficients alone, what this regression does."""
        self._must_be_fitted()
        K, U, c = gram(self.kernel, self.points), Matrix(self.values), Matrix(self.coefficients)
        decided = decide_semidefinite(K)
        if not (isinstance(decided, Semidefinite) and decided.proves(K)):
            raise InputError("the kernel is not positive semi-definite on these points")
        fitted = K @ c
        residual = fitted - U
        slope = K @ (residual + self.ridge * c)
        norm = c.T @ fitted
        return Certificate(
            interpolates=not any(x for row in residual.rows() for x in row),
            stationary=slope == Matrix.zeros(*slope.shape),
            residual=residual.rows(),
            norm=sum((norm[i, i] for i in range(norm.shape[0])), Fraction(0)),
            rank=decided.rank,
            semidefinite=decided,
        )

    def _must_be_fitted(self) -> None:
        if not self.points:
            raise InputError("the regression has no examples yet; call fit first")


def contradiction(
    kernel: Kernel, points: Iterable[Iterable[object]], values: Iterable[Iterable[object]]
) -> Contradiction | None:
    """The proof that no function of the kernel's space takes the values, or None if one does.

    >>> from hardmax.learned.transducer import Polynomial
    >>> contradiction(Polynomial(), [[1], [2]], [[1], [3]]).combination
    (Fraction(-2, 1), Fraction(1, 1))
    """
    xs, us = _table("points", points), _table("values", values)
    K = gram(kernel, xs)
    decided = decide_semidefinite(K)
    if isinstance(decided, Indefinite):
        raise InputError("the kernel is not positive semi-definite on these points")
    found = _least_norm(K, Matrix(us), decided)
    return found if isinstance(found, Contradiction) else None


def _least_norm(K: Matrix, U: Matrix, decided: Semidefinite) -> Rows | Contradiction:
    """Coefficients c with Kc = U, supported on the pivots of K; the function is unique."""
    n, m = U.shape
    zero = (Fraction(0),) * m
    pivots = decided.pivots
    table, values = K.rows(), U.rows()
    rows: list[Vector] = [zero] * n
    if pivots:
        square = Matrix([[table[i][j] for j in pivots] for i in pivots])
        solved = square.solve(Matrix([values[i] for i in pivots])).rows()
        for p, row in zip(pivots, solved, strict=True):
            rows[p] = row
    residual = (U - K @ Matrix(rows, m)).rows()
    bad = next((i for i, row in enumerate(residual) if any(row)), None)
    if bad is None:
        return tuple(rows)
    combination = [Fraction(0)] * n
    combination[bad] = Fraction(1)
    if pivots:
        column = square.solve(Matrix([[table[i][bad]] for i in pivots]))
        for k, p in enumerate(pivots):
            combination[p] = -column[k, 0]
    return Contradiction(tuple(combination), residual[bad])


def _table(name: str, rows: Iterable[Iterable[object]]) -> Rows:
    found: list[Vector] = []
    for i, row in enumerate(rows):
        try:
            found.append(as_vector(row))
        except (TypeError, InputError) as problem:
            raise InputError(f"{name}, row {i + 1}: {problem}") from None
        if len(found[-1]) != len(found[0]) or not found[-1]:
            raise InputError(f"{name}, row {i + 1}: {len(found[-1])} numbers, "
                             f"expected {len(found[0]) or 'at least one'}")  # fmt: skip
    if not found:
        raise InputError(f"no {name} given")
    return tuple(found)
