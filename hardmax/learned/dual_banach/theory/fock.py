"""The exponentiated query-key kernel as a pairing of features (Lemma 1, proof mended).

The paper argues that the kernel is positive semidefinite; it is not, since queries and keys come
from different maps. The statement holds all the same: with ψ(v) = (v^⊗k/√k!)_{k ≥ 0},

    exp(⟨q, k⟩/√d) = ⟨ψ(q/d^¼), ψ(k/d^¼)⟩        because ⟨a^⊗k, b^⊗k⟩ = ⟨a, b⟩^k.

Cut after order N, the pairing misses at most Σ_{k>N} |t|^k/k! for t = ⟨q, k⟩/√d.
"""

from __future__ import annotations

from fractions import Fraction
from math import factorial, sqrt

import numpy as np

from ....errors import InputError
from ....exact.numbers import as_fraction
from ..enclosures.balls import Array

_LARGEST = 10**7


def fock_features(vectors: Array, order: int) -> Array:
    """ψ up to v^⊗order of vectors (n, d): shape (n, 1 + d + … + d^order), float64.

    The pairing of Φ₁ and Φ₂ is the plain inner product of the rows. Raises InputError where the
    features would need more than ten million numbers; then use `truncated_exp`, which needs none.

    >>> a, b = np.array([[0.5, -1.0]]), np.array([[2.0, 0.25]])
    >>> pairing = fock_features(a, 12) @ fock_features(b, 12).T
    >>> bool(abs(pairing[0, 0] - np.exp(0.75)) < 1e-9)
    True
    """
    count, d = vectors.shape
    if order < 0 or count * sum(d**k for k in range(order + 1)) > _LARGEST:
        raise InputError(
            f"features of order {order} in dimension {d} are too many; take a lower order from 0 on"
        )
    power, parts = np.ones((count, 1)), [np.ones((count, 1))]
    for k in range(1, order + 1):
        power = (power[:, :, None] * vectors[:, None, :]).reshape(count, -1)
        parts.append(power / sqrt(factorial(k)))
    return np.concatenate(parts, axis=1)


def feature_pair(queries: Array, keys: Array, order: int) -> tuple[Array, Array]:
    """Φ₁ of queries (n, d) and Φ₂ of keys (m, d): features whose pairing approaches the kernel (4).

    >>> q, k = np.array([[1.0, 2.0]]), np.array([[-1.0, 0.5]])
    >>> first, second = feature_pair(q, k, 10)
    >>> (first @ second.T).round(6)
    array([[1.]])
    """
    scale = queries.shape[1] ** 0.25
    return fock_features(queries / scale, order), fock_features(keys / scale, order)


def truncated_exp(t: object, order: int) -> tuple[Fraction, Fraction]:
    """Partial sum Σ_{k ≤ order} t^k/k! of a rational t, and a bound on |exp(t) − sum|; exact.

    The bound is |t|^(N+1)/(N+1)! · (N+2)/(N+2−|t|), the geometric series above the tail. Raises
    InputError where |t| ≥ N + 2.

    >>> truncated_exp(1, 3)
    (Fraction(8, 3), Fraction(5, 96))
    """
    number = as_fraction(t)
    if order < 0 or abs(number) >= order + 2:
        raise InputError(f"the order {order} is too low for |t| = {float(abs(number)):g}")
    total = term = Fraction(1)
    for k in range(1, order + 1):
        term = term * number / k
        total += term
    tail = abs(term * number) / (order + 1) * Fraction(order + 2) / (order + 2 - abs(number))
    return total, tail


def order_for(size: object, error: object) -> int:
    """Least order whose tail bound is at most ``error`` for all |t| ≤ size; both rational.

    >>> order_for(1, "1/1000")
    6
    """
    bound, wanted = abs(as_fraction(size)), as_fraction(error)
    if wanted <= 0:
        raise InputError("the error must be positive")
    order = max(0, int(bound) - 1)
    while truncated_exp(bound, order)[1] > wanted:
        order += 1
    return order
