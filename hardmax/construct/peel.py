"""Strategy `peel`: any points to any targets, one block each (Theorem B, docs/theory.md).

Tie splitting (B1), collapse to the means (B2), radial peeling (B3): at most K + N blocks,
K ≤ N − 1 of them for tie splitting. Attention is uniform (v = 0) throughout.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..dataset import Dataset
from ..dataset.measures import Merged
from ..errors import ConstructionError
from ..model.layers import RankOneBlock
from ..model.tokens import Tokens
from ..model.transformer import Transformer
from .collapse import collapse, collapse_to_zero
from .radial import Target, peel_radially
from .tie_splitting import split_ties

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
    labels = [data.labels[j] or "" for j in merged.representatives]
    batch = Tokens.from_array(data.tokens, data.offsets).select(merged.representatives)
    split = split_ties(batch, labels, seed)
    blocks, stages = list(split), ["split"] * len(split)
    for stage, new in _to_targets(data, batch, labels):
        blocks.extend(new)
        stages.extend([stage] * len(new))
    if on_block is not None:
        for stage in stages:
            on_block(stage)
    if len(blocks) > len(split) + len(merged):
        raise ConstructionError(
            f"{len(blocks)} blocks for {len(merged)} sequences and {len(split)} blocks of tie "
            f"splitting break the bound K + N"
        )
    return Transformer(
        blocks,
        dimension=data.dimension,
        stages=stages,
        meta={"tie_splitting": len(split), "bound": len(split) + len(merged)},
    )


def _to_targets(
    data: Dataset, batch: Tokens, labels: Sequence[str]
) -> list[tuple[str, list[RankOneBlock]]]:
    """Collapse and peel; one label alone needs no peeling."""
    targets = {name: Target(data.sets[name]) for name in dict.fromkeys(labels)}
    if len(targets) == 1 and len(batch) > 1:
        return [("collapse", collapse_to_zero(next(iter(targets.values())).point))]
    points = dict(zip(batch.means(), labels, strict=True))  # equal means have equal labels
    block, cloud = collapse(points, {name: target.point for name, target in targets.items()})
    return [("collapse", [block]), ("peel", peel_radially(cloud, targets))]
