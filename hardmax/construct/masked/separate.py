"""Separation: different prefixes end in different tokens (Theorem 9, first part).

A block is a feed-forward layer followed by the masked mean z_i ↦ (z_i + mean(z_1, …, z_i))/2. The
layer is the identity, or it parts two prefixes that end in the same token but hold tokens in
different proportions (Lemma 4).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from fractions import Fraction
from random import Random

from ...dataset.grouping import measure
from ...errors import ConstructionError
from ...exact.numbers import Vector, power_of_two_below, short_between
from ...model.blocks import apply
from ...model.layers import RankOneBlock
from ...model.tokens import Tokens
from ...stages import tell
from ..shared.directions import directions
from .prefixes import Prefixes

_HALF = Fraction(1, 2)
# This many layers are compared for each block.
_LAYERS_COMPARED = 4
# After this many layers the search gives up.
_TRIES = 400


def separate(prefixes: Prefixes, rng: Random) -> list[RankOneBlock]:
    """Take the tokens of the prefixes through blocks, until no two prefixes end alike.

    Each block raises the number of different last tokens, so there are at most as many as there
    are prefixes, less the different tokens.
    """
    batch, blocks = prefixes.tokens, []
    count = _different(batch, prefixes)
    while count < len(prefixes):
        tell("separate", len(prefixes) - count)
        count, state, block = _best(batch, prefixes, count, rng)
        batch.become(state)
        blocks.append(block)
    return blocks


def _different(batch: Tokens, prefixes: Prefixes) -> int:
    """How many different tokens the prefixes end in."""
    keys = batch.token_keys()
    return len({keys[row] for row in prefixes.rows})


def _best(
    batch: Tokens, prefixes: Prefixes, least: int, rng: Random
) -> tuple[int, Tokens, RankOneBlock]:
    """The block, of a few, that parts most; the number of different tokens behind it."""
    found: tuple[int, Tokens, RankOneBlock] | None = None
    for tried, block in enumerate(_blocks(batch, prefixes, rng)):
        state = batch.copy()
        apply(state, block, masked=True)
        count = _different(state, prefixes)
        if count > (found[0] if found else least):
            found = count, state, block
        if found and (tried >= _LAYERS_COMPARED or found[0] == len(prefixes)):
            return found
        if tried > _TRIES:
            raise ConstructionError("no block parts two prefixes that can be parted")
    raise AssertionError("there are always more blocks to try")


def _blocks(batch: Tokens, prefixes: Prefixes, rng: Random) -> Iterator[RankOneBlock]:
    """The masked mean alone, then behind layers that part a pair of prefixes, ever smaller."""
    d = batch.dimension
    yield RankOneBlock.of(d, rho=_HALF, alpha=_HALF)
    pairs = _tied(batch, prefixes)
    scale, share = Fraction(1), _HALF
    while True:
        for _ in range(_LAYERS_COMPARED):
            support = pairs[rng.randrange(len(pairs))]
            u, b, gain = _hinge(batch, support, rng)
            w = tuple(scale / gain * x for x in next(directions(rng, d, 1)))
            yield RankOneBlock.of(d, u=u, b=b, w=w, rho=1 - share, alpha=share)
        scale, share = scale / 2, share / 2


def _hinge(batch: Tokens, support: list[int], rng: Random) -> tuple[Vector, Fraction, Fraction]:
    """A layer (u, b) that is active on the one token of a support on which ⟨u,·⟩ is largest, and
    a power of two for how far it is."""
    for u in directions(rng, batch.dimension, 1):
        values = sorted((batch.value(row, u, Fraction(0)) for row in support), reverse=True)
        if values[0] > values[1]:
            threshold = short_between(values[1], values[0])
            spread = values[0] - values[-1]
            gain = power_of_two_below((values[0] - threshold) / power_of_two_below(spread))
            return u, -threshold, gain
    raise AssertionError("directions never end")


def _tied(batch: Tokens, prefixes: Prefixes) -> list[list[int]]:
    """For some pairs of prefixes that end alike, but not in their measures, the tokens that have
    other masses in the two; as rows, one for each token."""
    keys = batch.token_keys()
    starts = _starts(batch)
    groups: dict[Hashable, list[int]] = {}
    for row in prefixes.rows:
        groups.setdefault(keys[row], []).append(row)
    found: list[list[int]] = []
    for rows in groups.values():
        first = measure(keys[starts[rows[0]] : rows[0] + 1]) if len(rows) > 1 else None
        for row in rows[1:]:
            other = measure(keys[starts[row] : row + 1])
            if other != first and len(found) < 64:
                found.append(_support(keys, starts, rows[0], row))
    if not found:
        raise ConstructionError("prefixes that can be told apart end alike and look alike")
    return found


def _starts(batch: Tokens) -> list[int]:
    """For each row the first row of its sequence."""
    return [a for a, b in batch.spans() for _ in range(a, b)]


def _support(keys: list[tuple[int, ...]], starts: list[int], p: int, q: int) -> list[int]:
    """Rows of the tokens whose shares in the prefixes that end in rows p and q differ."""
    shares: dict[Hashable, Fraction] = {}
    rows: dict[Hashable, int] = {}
    for end, sign in ((p, 1), (q, -1)):
        mass = Fraction(sign, end + 1 - starts[end])
        for row in range(starts[end], end + 1):
            shares[keys[row]] = shares.get(keys[row], Fraction(0)) + mass
            rows[keys[row]] = row
    return [rows[key] for key, share in shares.items() if share]
