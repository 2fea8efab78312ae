"""Strategy `masked`: order is visible, and no token needs its position (Theorem 9).

Blocks with masked means give different prefixes different last tokens. Then the last token of each
sequence, which no shorter sequence has, is moved so that the mean of the sequence is its target:
by three feed-forward blocks that leave all other tokens alone, seldom four.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from random import Random

from ...dataset import Dataset
from ...dataset.measures import Merged
from ...errors import ConstructionError
from ...exact.numbers import Vector
from ...model.layers import RankOneBlock
from ...model.transformer import Transformer
from ...stages import tell
from ..shared.staged import Staged
from .line import place_on_line
from .prefixes import Prefixes
from .separate import separate
from .tents import States, moves

STAGES = ("separate", "shift", "tent", "place")
# This many shifts are tried.
_SHIFTS = 40


def build_masked(
    data: Dataset,
    merged: Merged,
    seed: int = 0,
    on_block: Callable[[str], None] | None = None,
) -> Transformer:
    """Build a masked transformer for sequences that masked transformers can tell apart.

    Uses at most S + 1 + 4N blocks: S that separate the prefixes, one translation, and at most four
    for each of the N sequences; asserted exactly. Tokens with one coordinate take three for each,
    with numbers whose length grows with N: past the range of float64 it raises ResourceLimitError.
    """
    rng = Random(seed)
    prefixes = Prefixes.of(data, merged.representatives)
    separation = separate(prefixes, rng)
    points = [prefixes.tokens.token(row) for row in prefixes.rows]
    for attempt in range(_SHIFTS):
        shift = _shift(rng, data.dimension, attempt)
        placed = _placed(data, prefixes, [_sum(x, shift) for x in points], rng)
        if placed is not None:
            break
    else:
        raise ConstructionError("no translation keeps the targets off the last tokens")
    staged = Staged(("separate", block) for block in separation)
    if any(shift):
        staged.add("shift", [RankOneBlock.translation(shift)])
    staged.add("tent" if data.dimension > 1 else "place", placed)
    if not len(staged):  # every mean is in its set
        staged.add("shift", [RankOneBlock.of(data.dimension)])
    bound = len(separation) + 1 + 4 * len(prefixes.chosen)
    if len(staged) > bound:
        raise ConstructionError("a masked model has more than S + 1 + 4N blocks")
    meta = {"separation": len(separation), "prefixes": len(prefixes), "bound": bound}
    return staged.transformer(data.dimension, meta, on_block, masked=True)


def _shift(rng: Random, dimension: int, attempt: int) -> Vector:
    """No translation at first, then random ones."""
    size = 2**attempt
    return tuple(
        Fraction(rng.randint(-size, size), 4) if attempt else Fraction(0) for _ in range(dimension)
    )


def _sum(x: Vector, y: Vector) -> Vector:
    return tuple(a + b for a, b in zip(x, y, strict=True))


def _placed(
    data: Dataset, prefixes: Prefixes, points: list[Vector], rng: Random
) -> list[RankOneBlock] | None:
    """Blocks that move last tokens until every mean is where it belongs; None where a target meets
    a last token that is still to be moved."""
    labels = [data.need_labels()[j] for j in prefixes.chosen]
    targets = {label: data.sets[label].witness() for label in dict.fromkeys(labels)}
    # what a sequence begins with comes before it, and what repeats one token before all others
    order = sorted(
        range(len(labels)), key=lambda j: (len(set(prefixes.paths[j])) > 1, len(prefixes.paths[j]))
    )
    if data.dimension == 1:
        paths = [prefixes.paths[j] for j in order]
        return place_on_line([x for (x,) in points], paths, [targets[labels[j]][0] for j in order])
    states = States.of(points, list(targets.values()))
    aims = {label: [int(x * states.common) for x in target] for label, target in targets.items()}
    waiting = {tuple(states.whole[prefixes.paths[j][-1]]) for j in order}
    blocks: list[RankOneBlock] = []
    for done, j in enumerate(order):
        if done % 16 == 0:
            tell("tent", len(order) - done)
        path, last = prefixes.paths[j], prefixes.paths[j][-1]
        waiting.discard(tuple(states.whole[last]))
        total = [sum(column) for column in zip(*(states.whole[p] for p in path), strict=True)]
        mean = tuple(Fraction(x, len(path) * states.common) for x in total)
        if data.sets[labels[j]].contains(mean):
            continue
        own, aim = states.whole[last], aims[labels[j]]
        if path[0] == last:
            to = aim
        else:
            to = [len(path) * y - s + x for y, s, x in zip(aim, total, own, strict=True)]
        new = None if tuple(to) in waiting else moves(states, last, to, rng)
        if new is None:
            return None
        blocks += new
    return blocks
