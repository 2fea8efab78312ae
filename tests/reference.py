"""The definitions (2.2)–(2.5), (4.1), (4.2) once more, in plain Fractions and nothing of hardmax.

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


def layers(block):
    """U, b, W, ρ, V, A as nested lists, from a block of hardmax with one head."""
    U, b, W, rho, [(V, A)] = headed(block)
    return U, b, W, rho, V, A


@lru_cache(maxsize=1000)
def headed(block):
    """U, b, W, ρ and the pairs V, A of the heads, as nested lists, from a block of hardmax."""
    if hasattr(block, "feed_forward"):
        layer, sa = block.feed_forward, block.attention
        heads = [(head.V.rows(), head.A.rows()) for head in sa.heads]
        return layer.U.rows(), layer.b, layer.W.rows(), sa.rho, heads
    d = len(block.u)
    heads = [
        (
            [[alpha * (i == j) for j in range(d)] for i in range(d)],
            [[x * y for y in v] for x in v],
        )
        for alpha, v in block.heads
    ]
    return [block.u], [block.b], [[x] for x in block.w], block.rho, heads


def step(block, Z, masked=False):
    U, b, W, rho, heads = headed(block)
    Z = [feed_forward(U, b, W, z) for z in Z]
    total = [[rho * x for x in z] for z in Z]
    for V, A in heads:
        part = attention(Fraction(0), V, A, Z, masked)
        total = [[x + y for x, y in zip(*two, strict=True)] for two in zip(total, part)]
    return total


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
