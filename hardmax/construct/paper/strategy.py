"""Strategy `paper`: T = T_cla ∘ T_lab ∘ T_clu ∘ T_sep ∘ T_pre (3.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from ...dataset import Dataset
from ...dataset.measures import Merged
from ...errors import ConstructionError
from ...model.transformer import Transformer
from ..shared.staged import Staged
from ..shared.untied import distinct_means, representatives
from .classify import classify
from .cluster import cluster
from .match import LabelledPoints, match_labels
from .preprocess import preprocess
from .separate import Step, separate_state
from .state import TokenState

STAGES = ("preprocess", "separate", "cluster", "match", "classify")


def build_paper(
    data: Dataset,
    merged: Merged,
    seed: int = 0,
    on_block: Callable[[str], None] | None = None,
    heads: int = 1,
) -> Transformer:
    """Build the paper's transformer for data without contradictions.

    Uses at most (N−1) + 1 + N = 2N blocks, N the number of distinct empirical measures, and one
    more where a token is zero, within the 8N+4 of Theorem 2.4: a block is left out where its
    stage's goal holds without it. Several ``heads`` (4.1) separate the sequences
    (`separate_by_heads`), unless one head does it in fewer blocks. ``on_block`` is called with
    the stage of each new block.
    """
    chosen, labels = representatives(data, merged)
    sets = {name: data.sets[name] for name in dict.fromkeys(labels)}
    targets = {name: label_set.witness() for name, label_set in sets.items()}
    state = TokenState.of_array(data.tokens, data.offsets, chosen)
    staged, aims = Staged(), list(targets.values())
    found, preprocessing = None, 0
    if heads > 1:
        from .heads import cluster_by_heads, separate_by_heads

        found = separate_by_heads(state, labels, heads, seed)
    cases: Counter[str] = Counter()
    if found is None or found.split:  # maybe one head separates in fewer blocks
        before, steps, behind = _separated_by_one(state, seed, on_block)
        if found is None or len(steps) < len(found.split):
            found = None
            staged.extend(before)
            preprocessing = len(before)
            staged.add("separate", [step.found.block for step in steps])
            cases.update(str(step.found.case) for step in steps)
    if found is None:
        block, v, points = cluster(behind, aims, seed)
        staged.add("cluster", [block])
    else:
        staged.add("separate", found.split)
        headed, v, points = cluster_by_heads(found, labels, aims, heads, seed)
        staged.add("cluster", [headed])
        points, labels = distinct_means(points, labels)
    left = LabelledPoints.of(points, labels, v)
    staged.add("match", match_labels(left, targets))
    staged.add("classify", classify(left, sets, targets))

    count = len(merged)
    if len(staged) > 2 * count + preprocessing:
        raise ConstructionError(f"{len(staged)} blocks for {count} sequences break the bound")
    meta = {"cases": dict(sorted(cases.items()))}
    return staged.transformer(data.dimension, meta, heads=heads)


def _separated_by_one(
    state: TokenState, seed: int, on_block: Callable[[str], None] | None
) -> tuple[Staged, list[Step], TokenState]:
    """The paper's stages before clustering, with one head: preprocess, the steps of separation,
    and the state behind them."""
    staged, steps = Staged(), list[Step]()
    blocks, state = preprocess(state)
    staged.add("preprocess", blocks)

    def told(step: Step) -> None:
        steps.append(step)
        if on_block is not None:
            on_block("separate")

    return staged, steps, separate_state(state, seed, told)
