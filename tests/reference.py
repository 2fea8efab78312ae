"""The definitions (2.2)–(2.5) and (4.2) once more, in plain Fractions and nothing of hardmax.

Slow on purpose: every score ⟨A z_i, z_l⟩ is computed, nothing is assumed about A or V.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache


def dot(x, y):
    return sum((a * b for a, b in zip(x, y, strict=True) if a and b), Fraction(0))


def apply(matrix, x):
    return [dot(row, x) for row in matrix]


def feed_forward(U, b, W, z):
    hidden = [max(Fraction(0), h + c) for h, c in zip(apply(U, z), b, strict=True)]
    return [a + c for a, c in zip(z, apply(W, hidden), strict=True)]


def attention(rho, V, A, Z, masked=False):
    result = []
    for i, z in enumerate(Z):
        image = apply(A, z)
        seen = Z[: i + 1] if masked else Z
        scores = [dot(image, other) for other in seen]
        best = [other for other, score in zip(seen, scores) if score == max(scores)]
        mean = [sum(column) / len(best) for column in zip(*best)]
        result.append([rho * a + c for a, c in zip(z, apply(V, mean), strict=True)])
    return result


@lru_cache(maxsize=1000)
def layers(block):
    """U, b, W, ρ, V, A as nested lists, from a rank-1 or a general block of hardmax."""
    if hasattr(block, "feed_forward"):
        layer, sa = block.feed_forward, block.attention
        return layer.U.rows(), layer.b, layer.W.rows(), sa.rho, sa.V.rows(), sa.A.rows()
    d = len(block.u)
    V = [[block.alpha * (i == j) for j in range(d)] for i in range(d)]
    A = [[x * y for y in block.v] for x in block.v]
    return [block.u], [block.b], [[x] for x in block.w], block.rho, V, A


def step(block, Z, masked=False):
    U, b, W, rho, V, A = layers(block)
    return attention(rho, V, A, [feed_forward(U, b, W, z) for z in Z], masked)


def trace(blocks, Z, masked=False):
    """Tokens before the first block and after each."""
    states = [[[Fraction(x) for x in z] for z in Z]]
    for block in blocks:
        states.append(step(block, states[-1], masked))
    return states


def output(blocks, Z, masked=False):
    last = trace(blocks, Z, masked)[-1]
    return tuple(sum(column) / len(last) for column in zip(*last))


def tuples(states):
    return [tuple(tuple(z) for z in state) for state in states]
