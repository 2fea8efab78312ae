"""Strategy `cover`: depth that follows the labels, not N (Theorem B, step B4; docs/theory.md).

Tie splitting, collapse and flatten, then the shallowest of the forms in `forms`, or `peel`
where that is no deeper.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ..dataset import Dataset
from ..dataset.measures import Merged
from ..errors import ConstructionError
from ..labels import Point
from ..model.tokens import Tokens
from ..model.transformer import Transformer
from .flatten import flatten
from .forms import Form, Task, fewest_shells, rules_form, shells_form, tents_form
from .peel import build_peel
from .slice import TooClose
from .tie_splitting import split_ties

_WORTH = 2  # a list that generalises may take this many times the blocks of the shallowest form


def build_cover(
    data: Dataset,
    merged: Merged,
    seed: int = 0,
    on_block: Callable[[str], None] | None = None,
    learn: bool = True,
) -> Transformer:
    """Build the shallowest cover of data without contradictions, or `peel` if that is no deeper.

    With ``learn`` a decision list is fitted and kept where cross-validation shows that it
    generalises. The number of blocks is at most the form's bound and K + N, asserted exactly.
    """
    labels = [data.labels[j] or "" for j in merged.representatives]
    names = list(dict.fromkeys(labels))
    if data.dimension < 2:
        return _peel(data, merged, seed, on_block, "the dimension is 1")
    if len(names) == 1:
        return _peel(data, merged, seed, on_block, "there is one label only")
    sets = {name: data.sets[name] for name in names}
    targets = {name: label_set.witness() for name, label_set in sets.items()}
    batch = Tokens.from_array(data.tokens, data.offsets).select(merged.representatives)
    split = split_ties(batch, labels, seed)
    most = len(split) + len(merged)
    try:
        block, base = flatten(batch, labels, targets, seed, sets)
        task = Task(base, targets, sets, names, seed, most - len(split) - 1)
        form, found = _shallowest(task, learn)
    except TooClose:
        return _peel(data, merged, seed, on_block, "points lie too close for float64 proposals")
    counts = {name: len(split) + count for name, count in found.items()}
    if form is None:
        return _peel(data, merged, seed, on_block, "no cover is shallower", counts)
    if any(not isinstance(label_set, Point) for label_set in sets.values()):
        # points that lie in their open sets already can make peel shallower than K + N
        peel = _peel(data, merged, seed, None, "no cover is shallower", counts)
        if len(peel) <= len(split) + 1 + len(form.blocks):
            return peel
    blocks = [*split, block, *(block for _, block in form.blocks)]
    stages = ["split"] * len(split) + ["flatten"] + [stage for stage, _ in form.blocks]
    bound = len(split) + 1 + form.bound
    if len(blocks) > min(bound, most):
        raise ConstructionError(f"{len(blocks)} blocks break the bound {min(bound, most)}")
    if on_block is not None:
        for stage in stages:
            on_block(stage)
    meta = {
        "form": form.name,
        "tie_splitting": len(split),
        "bound": min(bound, most),
        "alternatives": counts,
        **form.notes,
    }
    return Transformer(blocks, dimension=data.dimension, stages=stages, meta=meta)


def _peel(
    data: Dataset,
    merged: Merged,
    seed: int,
    on_block: Callable[[str], None] | None,
    why: str,
    counts: Mapping[str, int] | None = None,
) -> Transformer:
    model = build_peel(data, merged, seed, on_block)
    model.meta |= {"form": "peel", "why": f"built as peel: {why}"}
    if counts:
        model.meta["alternatives"] = dict(counts)
    return model


def _shallowest(task: Task, learn: bool) -> tuple[Form | None, dict[str, int]]:
    """The shallowest form, or a learned one that is worth its blocks; None if peel is no deeper."""
    # a push and a clamp for every label but one, the kills, and an ending
    least = 2 * (len(task.names) - 1) + task.kills + 1
    if min(least, fewest_shells(task)) >= task.room:
        return None, {}
    learned = _attempt(lambda: rules_form(task)) if learn and least < task.room else None
    if learned is not None and len(learned.blocks) >= task.room:
        learned = None
    forms = [form for form in (_attempt(lambda: tents_form(task)), learned) if form is not None]
    # shells are slow to build: only where they can still be chosen
    fewest = fewest_shells(task)
    hopeless = learned is not None and len(learned.blocks) <= _WORTH * fewest
    room = min([task.room, *(len(form.blocks) for form in forms if form.name == "tents")])
    if not hopeless and fewest < room:
        shells = _attempt(lambda: shells_form(task, room))
        forms += [shells] if shells is not None else []
    counts = {form.name: len(form.blocks) + 1 for form in forms}
    best = min(forms, key=lambda form: len(form.blocks), default=None)
    if learned is not None and best is not None:
        best = learned if len(learned.blocks) <= _WORTH * len(best.blocks) else best
    if best is None or len(best.blocks) >= task.room:
        return None, counts
    return best, counts


def _attempt(make: Callable[[], Form | None]) -> Form | None:
    """A form, or None where float proposals fail it."""
    try:
        return make()
    except (TooClose, np.linalg.LinAlgError):
        return None
