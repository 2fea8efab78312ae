"""Strategy `learn`: the one that predicts best (docs/theory.md, *learn before the collapse*).

Random features of windows of tokens, a few of which ridge regression keeps; their weighted sums
are the scores of the classes. Reading, features and penalty are chosen by cross-validation on
the data at hand. What the scores get wrong is repaired, so that the model is exact on these data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...dataset import ContradictionError, Dataset, Reading, merge
from ...errors import InputError
from ...exact.array import Array, ExactArray
from ...labels import check_size
from ...model.transformer import Transformer
from ...stages import tell
from ...threads import one_blas_thread
from ..cover.strategy import build_cover
from ..peel.strategy import build_peel
from ..shared.staged import Staged
from .blocks import (
    Layout,
    Weights,
    collapse_block,
    feature_blocks,
    offset_for,
    readout_blocks,
    weights,
)
from .candidates import Candidate, candidates
from .features import Features, draw
from .repair import NoPlateauError, plateaus
from .ridge import Plan, cross_validate, fit

# Numbers of blocks for features that are compared.
_BUDGETS = (512, 256, 128, 64, 32)
# With fewer sequences than this, cross-validation says nothing.
_LEAST_FOR_FOLDS = 10
# Features are chosen on this many sequences at most; the weights are then fitted to all.
_CHOOSING_SEQUENCES = 1000
# This many coordinates may hold random mixtures of the others, for repairs.
_MIXTURES = 64


@dataclass(frozen=True)
class _Trial:
    """A candidate, its pool of features, and its best plan."""

    candidate: Candidate
    pool: Features
    plan: Plan


def build_learn(
    data: Dataset,
    seed: int = 0,
    on_block: Callable[[str], None] | None = None,
    features: int | None = None,
) -> tuple[Transformer, Dataset]:
    """Build a model that predicts; return it with the data as it reads them.

    ``features`` is the largest number of blocks that compute features. Data without label sets of
    their own get those of argmax: then the model has h + 1 + (M − 1) + 4p blocks for h ReLUs, M
    classes and p repairs. Label sets of their own are reached by strategy `cover` behind the
    collapse. Where floats can't tell two sequences apart, and where there is one label only,
    the model is that of `peel`.
    Raises ContradictionError where sequences that no reading tells apart have different labels.
    """
    data.need_labels()
    if not data.own_sets:
        _check_labels(data, _BUDGETS[0] if features is None else features)
        data = data.read_as(replace(data.reading, lift=0, label_sets="argmax"))
    present = set(data.names)
    if len(present) < 2:
        return _peel(data, seed, "there is one label only", on_block)
    tried = candidates(data)
    finest = tried[-1].reading
    distinct = len(merge(data.read_as(finest)))
    names = [name for name in data.sets if name in present or not data.own_sets]
    place = {name: k for k, name in enumerate(names)}
    y = np.array([place[name] for name in data.need_labels()])
    room = max(1, 8 * distinct + 4 - len(names))
    # many small products, for which threads would wait; features that overflow are not used
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        trial = _best(data, tried, y, room, features, seed)
        read = data.read_as(trial.candidate.reading)
        means = trial.pool.means(read.tokens.values, read.offsets)
        scores = fit(means, y, len(names), trial.pool.cost, trial.plan)
    try:
        merge(read)
    except ContradictionError:
        why = "only positions tell some sequences apart"
        return _peel(data.read_as(finest), seed, why, on_block)
    chosen, means = trial.pool.select(scores.kept), means[:, scores.kept]
    rounded = weights(means, scores.weights, scores.constants)
    learned: dict[str, Any] = {"features": len(chosen), "penalty": trial.plan.penalty}
    if len(y) >= _LEAST_FOR_FOLDS:
        learned["cross_validated_error"] = round(trial.plan.error, 4)
    try:
        if data.own_sets:
            staged, read, notes = _covered(read, chosen, rounded, len(names), seed)
        else:
            staged, read, notes = _argmax(read, chosen, means, rounded, y, seed)
    except NoPlateauError:
        why = "floats can't tell some sequences apart"
        return _peel(data.read_as(finest), seed, why, on_block)
    stages = staged.stages()
    if on_block is not None:
        for stage in stages:
            on_block(stage)
    meta = {"learned": learned | notes}
    return Transformer(staged.parameters(read.dimension), stages=stages, meta=meta), read


def _check_labels(data: Dataset, features: int) -> None:
    """Refuse more labels than a model file has room for, before the work."""
    count = len(data.sets)
    own = max(c.reading.dimension(data.written_dimension) for c in candidates(data))
    width = Layout(own, max(own, count), count, _MIXTURES).dimension
    try:
        check_size(count, width, features)
    except InputError as problem:
        raise InputError(f"strategy learn: {problem}, with strategy cover") from None


def _best(
    data: Dataset,
    tried: Sequence[Candidate],
    y: Array,
    room: int,
    most: int | None,
    seed: int,
) -> _Trial:
    """The candidate with the least cross-validated error; the first of several."""
    most = min(room, _BUDGETS[0] if most is None else most)
    budgets = [most, *(b for b in _BUDGETS if b < most)]
    best: _Trial | None = None
    for k, candidate in enumerate(tried):
        tell("learn", len(tried) - k)
        rng = np.random.default_rng([seed, k])
        read = data.read_as(candidate.reading)
        tokens = read.tokens.values
        pool = _drawn(candidate, tokens, data.written_dimension, rng)
        plan = Plan(most, 1.0, 1.0)
        if len(y) >= _LEAST_FOR_FOLDS:
            rows = rng.permutation(len(y))[:_CHOOSING_SEQUENCES]
            means = _means(pool, read, rows)
            plan = cross_validate(means, y[rows], pool.cost, budgets, rng)
        if best is None or plan.error < best.plan.error:
            best = _Trial(candidate, pool, plan)
    assert best is not None  # there is a candidate
    return best


def _means(pool: Features, read: Dataset, rows: Array) -> Array:
    """Means of all features over some sequences, in the order given."""
    some = np.sort(rows)
    part = read.part(some) if len(some) < len(read) else read
    return pool.means(part.tokens.values, part.offsets)[np.searchsorted(some, rows)]


def _drawn(
    candidate: Candidate, tokens: Array, channels: int, rng: np.random.Generator
) -> Features:
    reading, mixture = candidate.reading, candidate.mixture
    if not candidate.whole:
        return draw(tokens, reading, channels, mixture, rng)
    first = reading.offsets.index(0) * channels  # before it the first value is repeated
    values = tokens[:, first:]
    return draw(values, Reading(), values.shape[1], mixture, rng).behind(first)


def _argmax(
    read: Dataset, chosen: Features, means: Array, weights: Weights, y: Array, seed: int
) -> tuple[Staged, Dataset, dict[str, Any]]:
    """Scores, read-out and repairs of what the scores get wrong."""
    rng = np.random.default_rng(seed)
    scores = weights.scores(means)
    wrong = int((scores.argmax(axis=1) != y).sum())
    mixtures = min(_MIXTURES, 8 + int(2 * wrong**0.5)) if wrong else 0
    weights = weights.mixed(means, mixtures, rng)
    own, classes = read.dimension - read.reading.lift, len(read.sets)
    layout = Layout(own, max(own, classes), classes, mixtures)
    lifted = weights.lifted(means)
    sums = np.add.reduceat(read.tokens.values, read.offsets[:-1], axis=0)
    offset = offset_for(sums / np.diff(read.offsets)[:, None], lifted, weights)
    staged = Staged()
    staged.add("feature", feature_blocks(chosen, weights, layout))
    staged.add("collapse", [collapse_block(layout, offset)])
    staged.add("read-out", readout_blocks(weights, layout, offset))
    for plateau in plateaus(lifted, scores, y, rng):
        staged.add("repair", plateau.blocks(layout))
    read = read.read_as(replace(read.reading, lift=layout.lift))
    return staged, read, {"repaired": wrong}


def _covered(
    read: Dataset, chosen: Features, weights: Weights, classes: int, seed: int
) -> tuple[Staged, Dataset, dict[str, Any]]:
    """Scores, and then strategy `cover` from the exact means of the lifted tokens."""
    own = read.dimension - read.reading.lift
    layout = Layout(own, own, classes)
    read = read.read_as(replace(read.reading, lift=layout.lift))
    staged = Staged()
    staged.add("feature", feature_blocks(chosen, weights, layout))
    staged.add("collapse", [collapse_block(layout)])
    lift = Transformer(staged.parameters(read.dimension), stages=staged.stages())
    means = ExactArray.from_rows(lift.outputs(read), read.dimension)
    points = Dataset.from_arrays(means, np.arange(len(read) + 1), read.labels, read.sets)
    behind = build_cover(points, merge(points), seed)
    assert behind.parameters is not None  # strategies build rank-1 blocks
    for stage, block in zip(behind.stages, behind.parameters, strict=True):
        staged.add(stage, [block])
    return staged, read, {"ending": behind.meta["form"]}


def _peel(
    data: Dataset, seed: int, why: str, on_block: Callable[[str], None] | None
) -> tuple[Transformer, Dataset]:
    model = build_peel(data, merge(data), seed, on_block)
    model.meta |= {"why": f"built as peel: {why}"}
    return model, data
