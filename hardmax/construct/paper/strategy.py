"""Strategy `paper`: T = T_cla ∘ T_lab ∘ T_clu ∘ T_sep ∘ T_pre (3.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np

from ...dataset import Dataset
from ...dataset.measures import Merged
from ...errors import ConstructionError
from ...model.layers import RankOneBlock
from ...model.transformer import Transformer
from ..shared.staged import Staged
from .classify import classify
from .cluster import cluster_points
from .enclosed import Enclosed
from .match import LabelledPoints, match_labels
from .preprocess import shift_off_zero
from .separate import Step, separate_state

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
    chosen = np.asarray(merged.representatives, dtype=np.int64)
    given = data.names
    labels = [given[j] or "" for j in chosen.tolist()]
    sets = {name: data.sets[name] for name in dict.fromkeys(labels)}
    targets = {name: label_set.witness() for name, label_set in sets.items()}
    state = Enclosed.of_array(data.tokens, data.offsets, chosen)
    staged = Staged()
    cases: Counter[str] = Counter()

    shift = shift_off_zero(state)
    if shift is not None:
        staged.add("preprocess", [RankOneBlock.translation(shift)])
        state = state.shifted(shift)

    def told(step: Step) -> None:
        staged.add("separate", [step.found.block])
        cases[str(step.found.case)] += 1
        if on_block is not None:
            on_block("separate")

    state = separate_state(state, seed, told)
    block, v, points = cluster_points(state, list(targets.values()), seed)
    staged.add("cluster", [block])
    left = LabelledPoints.of(points, labels, v)
    staged.add("match", match_labels(left, targets))
    staged.add("classify", classify(left, sets, targets))

    count = len(merged)
    if len(staged) > 2 * count + 1:
        raise ConstructionError(f"{len(staged)} blocks for {count} sequences break the bound")
    return Transformer(
        staged.parameters(data.dimension),
        stages=staged.stages(),
        meta={"cases": dict(sorted(cases.items()))},
    )
