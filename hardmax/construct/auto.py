"""Strategy `auto`: the shallowest of paper, peel and cover (Theorem B, step B5; docs/theory.md)."""

from __future__ import annotations

from collections.abc import Callable

from ..dataset import Dataset
from ..dataset.measures import Merged
from ..model.transformer import Transformer
from .cover.strategy import build_cover
from .paper.strategy import build_paper


def build_auto(
    data: Dataset,
    merged: Merged,
    seed: int = 0,
    on_block: Callable[[str], None] | None = None,
    learn: bool = True,
) -> Transformer:
    """Build the shallowest of paper, peel and cover; ``meta`` says which one, and why.

    `cover` compares its own variants, and is `peel` if `peel` is at most as deep. `paper` needs one
    block to cluster and at least one block for each merge of two points, 1 + N − M in all, so it is
    only built where this is less than what cover needs.
    """
    cover = build_cover(data, merged, seed, on_block, learn)
    name = "peel" if cover.meta["form"] == "peel" else "cover"
    names = data.names
    labels = {names[j] for j in merged.representatives}
    fewest = 1 + len(merged) - len(labels)
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
        why = f"paper takes {len(paper)} blocks, {name} {len(cover)}"
    else:
        form = f" ({cover.meta['form']})" if name == "cover" else ""
        why = f"{name}{form} takes {len(cover)} blocks, {told}"
    chosen.meta |= {"built": built, "counts": counts, "why": why}
    return chosen
