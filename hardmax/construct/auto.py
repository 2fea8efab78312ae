"""Strategy `auto`: the shallowest of paper, peel, cover and fold (step B5; docs/theory.md)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from ..dataset import Dataset
from ..dataset.measures import Merged
from ..model.transformer import Transformer
from ..words import plural
from .cover.strategy import build_cover
from .fold import TooDeepError, build_fold, expected_blocks
from .paper.strategy import build_paper

_CLEAR = 0.9  # fold is built where it promises at most 9/10 of the blocks of the others


def build_auto(
    data: Dataset,
    merged: Merged,
    seed: int = 0,
    on_block: Callable[[str], None] | None = None,
    learn: bool = True,
    robust: bool = False,
) -> Transformer:
    """Build the shallowest of paper, peel, cover and fold; ``meta`` says which one, and why.

    ``robust`` leaves fold out, as its models have no margins. Learned rules are kept unless fold
    is less than half as deep.

    The search of fold takes several times as long as all the rest. So it starts only where
    `expected_blocks` promises at most 9/10 of the blocks of the others, and it stops as soon as the
    points loaded so far, at least 1/8 of all, say that fold will not be shallower.

    `cover` compares its own variants, and is `peel` if `peel` is at most as deep. `paper` needs one
    block to cluster and at least one block for each merge of two points, 1 + N − M in all, so it is
    only built where this is less than what cover needs.
    """
    cover = build_cover(data, merged, seed, on_block, learn)
    name = "peel" if cover.meta["form"] == "peel" else "cover"
    names = data.names
    labels = {names[j] for j in merged.representatives}
    fewest = 1 + len(merged) - len(labels)
    if not robust and data.dimension > 1 and len(labels) > 1:
        targets = {label: data.sets[label].witness() for label in labels if label is not None}
        room = len(cover) // 2 if cover.meta["form"] == "rules" else len(cover)
        room = min(room, fewest) - 1
        if expected_blocks(len(merged), targets) <= _CLEAR * room:
            with suppress(TooDeepError):
                fold = build_fold(data, merged, seed, None, room)
                counts = {name: len(cover), "fold": len(fold)}
                why = f"fold takes {len(fold)} blocks, {name} {len(cover)}, paper at least {fewest}"
                fold.meta |= {"built": "fold", "counts": counts, "why": why}
                return fold
    counts = {name: len(cover)}
    chosen, built = cover, name
    if fewest < len(cover):
        paper = build_paper(data, merged, seed, on_block)
        counts["paper"] = len(paper)
        if len(paper) < len(cover):
            chosen, built = paper, "paper"
        told = f"paper takes {len(paper)}"
    else:
        told = f"paper takes at least 1 + N − M = {fewest}"
    if built == "paper":
        why = f"paper takes {plural(len(paper), 'block')}, {name} {len(cover)}"
    else:
        form = f" ({cover.meta['form']})" if name == "cover" else ""
        why = f"{name}{form} takes {plural(len(cover), 'block')}, {told}"
    chosen.meta |= {"built": built, "counts": counts, "why": why}
    return chosen
