"""The map κ of Proposition 1 over ℚ: what it needs to be a reproducing kernel, decided exactly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ...errors import InputError
from ...exact.matrix import Matrix
from ...exact.numbers import Vector, as_vector
from .exact_kernels import Kernel
from .semidefinite import Indefinite, Semidefinite, decide_semidefinite


@dataclass(frozen=True)
class Head:
    """One head of (4): A(v, v') = a(Q v, K v') with a rational kernel a, and B = W_j V_j.

    ``query`` Q and ``key`` K are (h, p) matrices, ``mixing`` B is (m, m).
    """

    scalar: Kernel
    query: Matrix
    key: Matrix
    mixing: Matrix

    def value(self, v: Vector, other: Vector) -> Fraction:
        """A(v, v')."""
        left, right = (
            M @ Matrix([[x] for x in z]) for M, z in ((self.query, v), (self.key, other))
        )
        return self.scalar(left.T.rows()[0], right.T.rows()[0])


@dataclass(frozen=True)
class OperatorKernel:
    """κ(v, v') = Σ_j A_j(v, v') W_j V_j, the map (4) without normalisation.

    Proposition 1 says: "is the reproducing kernel of an U-valued RKBS" for all A, W and V.
    That needs ⟨κ(v, v)u, u⟩ = ‖κ(v, ·)u‖² ≥ 0 (put O = κ(v, ·)u into (3)), which W = −1, V = 1
    violates; see proofs/errata/transducer_attention_kernel.py. What suffices (theorem, by the
    products of Schur and Kronecker): a_j positive semi-definite, Q_j = K_j, and W_j V_j
    symmetric positive semi-definite. Then κ is a Hilbert-space kernel, and every Gram matrix
    is positive semi-definite.

    >>> from hardmax.learned.transducer import Polynomial
    >>> one = Matrix([[1]])
    >>> bad = OperatorKernel([Head(Polynomial(1, 1), one, one, -1 * one)])
    >>> decide_semidefinite(bad.gram([[0]])).value
    Fraction(-1, 1)
    """

    heads: Sequence[Head]

    def __post_init__(self) -> None:
        sizes = {head.mixing.shape for head in self.heads}
        if len(sizes) != 1 or len(set(next(iter(sizes)))) != 1:
            raise InputError("every head needs a square matrix W V of the same size")
        if any(head.query.shape != head.key.shape for head in self.heads):
            raise InputError("Q and K of a head must have the same shape")

    @property
    def outputs(self) -> int:
        """Dimension m of U."""
        return self.heads[0].mixing.shape[0]

    def __call__(self, v: Vector, other: Vector) -> Matrix:
        """The (m, m) matrix κ(v, v')."""
        total = Matrix.zeros(self.outputs, self.outputs)
        for head in self.heads:
            total = total + head.value(v, other) * head.mixing
        return total

    def gram(self, points: Iterable[Iterable[object]]) -> Matrix:
        """The (nm, nm) matrix with blocks κ(v_j, v_i) at rows i and columns j.

        It acts as (c_j) ↦ (Σ_j κ(v_j, v_i) c_j).
        """
        vs = [as_vector(point) for point in points]
        blocks = [[self(other, v).rows() for other in vs] for v in vs]
        m = self.outputs
        return Matrix([[x for block in row for x in block[k]] for row in blocks for k in range(m)])

    def repaired(self) -> bool:
        """Whether the sufficient condition holds: tied Q = K, and every W_j V_j is PSD, exactly.

        The kernels a_j of `exact_kernels` are positive semi-definite by theorem.
        """
        return all(
            head.query == head.key
            and head.mixing == head.mixing.T
            and isinstance(decide_semidefinite(head.mixing), Semidefinite)
            for head in self.heads
        )

    def refute(self, points: Iterable[Iterable[object]]) -> Indefinite | None:
        """A vector x with xᵀGx < 0 for the Gram matrix's symmetric part, or None if there is none.

        A reproducing kernel of a Hilbert space has a symmetric Gram matrix without such x.
        """
        G = self.gram(points)
        found = decide_semidefinite(Fraction(1, 2) * (G + G.T))
        return found if isinstance(found, Indefinite) else None

    def violates_cauchy_schwarz(self, v: Vector, other: Vector, u: Vector, w: Vector) -> bool:
        """Whether ⟨κ(v,v')u, w⟩² > ⟨κ(v,v)u, u⟩⟨κ(v',v')w, w⟩ or a diagonal form is negative.

        Then κ is not the reproducing kernel of any U-valued RKBS, U = ℝ^m with the Euclidean
        norm: (3) and the Cauchy-Schwarz inequality of the semi-inner product forbid it.
        """

        def form(kernel: Matrix, a: Vector, b: Vector) -> Fraction:
            return (Matrix([b]) @ kernel @ Matrix([[x] for x in a]))[0, 0]

        first, last = form(self(v, v), u, u), form(self(other, other), w, w)
        cross = form(self(v, other), u, w)
        return first < 0 or last < 0 or cross * cross > first * last
