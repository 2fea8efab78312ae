"""Strategy `peel`: any points to any targets, one block each (Theorem B, docs/theory.md).

Tie splitting (B1), collapse to the means (B2), radial peeling (B3): at most K + N blocks,
K ≤ N − 1 of them for tie splitting. Attention is uniform (v = 0) throughout.
"""

from __future__ import annotations

from collections.abc import Callable

from ...dataset import Dataset
from ...dataset.measures import Merged
from ...errors import ConstructionError
from ...model.transformer import Transformer
from ..shared.collapse import collapse, collapse_to_zero
from ..shared.staged import Staged
from ..shared.untied import distinct_means, representatives, untied_means
from .radial import Target, peel_radially

STAGES = ("split", "collapse", "peel")


def build_peel(
    data: Dataset,
    merged: Merged,
    seed: int = 0,
    on_block: Callable[[str], None] | None = None,
) -> Transformer:
    """Build the transformer of Theorem B for data without contradictions.

    Uses at most K + N blocks, K those of tie splitting, N the number of distinct empirical
    measures; asserted exactly. ``on_block`` is called with the stage of each new block.
    """
    chosen, labels = representatives(data, merged)
    split, means = untied_means(data, chosen, labels, seed)
    staged = Staged(("split", block) for block in split)
    targets = {name: Target(data.sets[name]) for name in dict.fromkeys(labels)}
    if len(targets) == 1 and len(labels) > 1:  # one label alone needs no peeling
        staged.add("collapse", collapse_to_zero(next(iter(targets.values())).point))
    else:
        aims = {name: target.point for name, target in targets.items()}
        block, cloud = collapse(*distinct_means(means, labels), aims)
        staged.add("collapse", [block])
        staged.add("peel", peel_radially(cloud, targets))
    bound = len(split) + len(merged)
    if len(staged) > bound:
        raise ConstructionError(
            f"{len(staged)} blocks for {len(merged)} sequences and {len(split)} blocks of tie "
            f"splitting break the bound K + N"
        )
    meta = {"tie_splitting": len(split), "bound": bound}
    return staged.transformer(data.dimension, meta, on_block)
