"""Strategy `paper`: T = T_cla ∘ T_lab ∘ T_clu ∘ T_sep ∘ T_pre (3.1)."""

from __future__ import annotations

from collections.abc import Callable

from ..dataset import Dataset
from ..dataset.measures import Merged
from ..errors import ConstructionError
from ..model.layers import RankOneBlock
from ..model.tokens import Tokens
from ..model.transformer import Transformer
from .classify import classify
from .cluster import cluster
from .match import Points, match_labels
from .preprocess import preprocess
from .separate import separate

STAGES = ("preprocess", "separate", "cluster", "match", "classify")


def build_paper(
    data: Dataset,
    merged: Merged,
    seed: int = 0,
    on_block: Callable[[str], None] | None = None,
) -> Transformer:
    """Build the paper's transformer for data without contradictions.

    Uses at most 1 + (N−1) + 1 + N blocks, N the number of distinct empirical measures,
    within the 8N+4 of Theorem 2.4: a block is left out where its stage's goal holds without
    it. ``on_block`` is called with the stage of each new block.
    """
    labels = [data.labels[j] or "" for j in merged.representatives]
    sets = {name: data.sets[name] for name in dict.fromkeys(labels)}
    targets = {name: label_set.witness() for name, label_set in sets.items()}
    batch = Tokens.from_array(data.tokens, data.offsets).select(merged.representatives)

    blocks: list[RankOneBlock] = []
    stages: list[str] = []

    def add(stage: str, new: list[RankOneBlock]) -> None:
        blocks.extend(new)
        stages.extend([stage] * len(new))

    add("preprocess", preprocess(batch))
    steps = separate(batch, seed, lambda _: on_block("separate") if on_block else None)
    add("separate", [step.block for step in steps])
    block, v = cluster(batch, list(targets.values()), seed)
    add("cluster", [block])
    state = Points.of(batch.means(), labels, v)
    add("match", match_labels(state, targets))
    add("classify", classify(state, sets, targets))

    count = len(merged)
    if len(blocks) > 2 * count + 1:
        raise ConstructionError(f"{len(blocks)} blocks for {count} sequences break the bound")
    cases = [step.case for step in steps]
    return Transformer(
        blocks,
        dimension=data.dimension,
        stages=stages,
        meta={"cases": {str(case): cases.count(case) for case in sorted(set(cases))}},
    )
