"""Strategy `cover`: depth that follows the labels, not N (Theorem B, step B4; docs/theory.md).

Tie splitting, collapse and flatten, then the shallowest of the forms in `variants`, or `peel`
where that is no deeper.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ...dataset import Dataset
from ...dataset.measures import Merged
from ...errors import ConstructionError
from ...labels import LabelSet, Point
from ...model.layers import RankOneBlock
from ...model.transformer import Transformer
from ..peel.strategy import build_peel
from ..shared.filtered_means import Means
from ..shared.staged import Staged
from ..shared.untied import representatives, split_tied
from .exact_variant import SHARE, exact_variant, fewest_exact
from .flatten import coded, flatten
from .general.forms import general_variant
from .height_slice import TooClose
from .tuning import DEFAULT, Tuning
from .variants import (
    Task,
    Variant,
    fewest_open,
    fewest_shells,
    open_variant,
    rules_variant,
    shells_variant,
    tents_variant,
)

# A list that generalises may take this many times the blocks of the shallowest form.
_WORTH = 2


def build_cover(
    data: Dataset,
    merged: Merged,
    seed: int = 0,
    on_block: Callable[[str], None] | None = None,
    learn: bool = True,
    tuning: Tuning = DEFAULT,
) -> Transformer:
    """Build the shallowest cover of data without contradictions, or `peel` if that is no deeper.

    With ``learn`` a decision list is fitted and kept where cross-validation shows that it
    generalises. The number of blocks is at most K + N, and that of docs/theory.md, section 8, where
    the means are in general position; meta's ``bound`` is the count of the form for the pushes that
    were built, so what it bounds is the ending. ``tuning`` says from which sizes on it takes which
    way.
    """
    chosen, labels = representatives(data, merged)

    def peel(why: str, counts: Mapping[str, int] | None, final: bool) -> Transformer:
        model = build_peel(data, merged, seed, on_block if final else None)
        return _with_reason(model, why, counts)

    if data.dimension < 2:
        return peel("the dimension is 1", None, True)
    if len(set(labels)) == 1:
        return peel("there is one label only", None, True)
    means = Means.of_array(data.tokens, data.offsets, chosen, tuning.small)
    split, state = split_tied(data, chosen, labels, seed, means.cloud.first_equal())
    if state is not None:
        means = Means.of_measures(state, tuning.small)
    return cover_means(means, split, labels, data.sets, seed, on_block, learn, peel, tuning)


def cover_means(
    means: Means,
    split: Sequence[RankOneBlock],
    labels: Sequence[str],
    sets: Mapping[str, LabelSet],
    seed: int,
    on_block: Callable[[str], None] | None,
    learn: bool,
    peel: Callable[[str, Mapping[str, int] | None, bool], Transformer],
    tuning: Tuning = DEFAULT,
) -> Transformer:
    """Cover the means of sequences, d ≥ 2, behind the blocks of tie splitting.

    Equal means have equal ``labels``, of which there are at least two. ``peel`` builds the model
    of that strategy; it gets the reason, the blocks of the forms that were tried, and whether
    this is the choice.
    """
    names = list(dict.fromkeys(labels))
    sets = {name: sets[name] for name in names}
    targets = {name: label_set.witness() for name, label_set in sets.items()}
    dimension = means.cloud.dimension
    most = len(split) + len(labels)
    try:
        block, base = flatten(means, labels, targets, seed, sets)
        opened = all(not isinstance(label_set, Point) for label_set in sets.values())
        task = Task(
            base,
            targets,
            sets,
            names,
            seed,
            most - len(split) - 1,
            means.cloud if opened else None,
            coded(labels)[1],
            tuning,
        )
        form, found = _shallowest(task, learn)
    except TooClose:
        return peel("points lie too close for float64 proposals", None, True)
    exact = general_variant(
        task,
        means.cloud,
        lambda power: (
            flatten(means, labels, targets, seed, sets, power) if power else (block, base)
        ),
        _room(task, form),
        form,
    )
    if exact is not None:
        form, found = exact, found | {exact.name: len(exact.blocks) + 1}
    counts = {name: len(split) + count for name, count in found.items()}
    if form is None:
        return peel("no cover is shallower", counts, True)
    few = len(labels) <= tuning.many
    if few and any(not isinstance(label_set, Point) for label_set in sets.values()):
        # points that lie in their open sets already can make peel shallower than K + N
        other = peel("no cover is shallower", counts, False)
        if len(other) <= len(split) + 1 + len(form.blocks):
            return other
    staged = Staged()
    staged.add("split", split)
    first = form.collapse or block
    staged.add("flatten" if any(first.u) else "collapse", [first])
    staged.extend(form.blocks)
    bound = min(len(split) + 1 + form.bound, most)
    if len(staged) > bound:
        raise ConstructionError(f"{len(staged)} blocks break the bound {bound}")
    meta = {
        "form": form.name,
        "tie_splitting": len(split),
        "bound": bound,
        "alternatives": counts,
        **form.notes,
    }
    return staged.transformer(dimension, meta, on_block)


def _with_reason(model: Transformer, why: str, counts: Mapping[str, int] | None) -> Transformer:
    model.meta |= {"form": "peel", "why": f"built as peel: {why}"}
    if counts:
        model.meta["alternatives"] = dict(counts)
    return model


def _shallowest(task: Task, learn: bool) -> tuple[Variant | None, dict[str, int]]:
    """The shallowest form, or a learned one that is worth its blocks; None if peel is no deeper."""
    # a push and a clamp for every label but one, the kills, and an ending
    least = 2 * (len(task.names) - 1) + task.fixing + 1
    if min(least, fewest_shells(task), fewest_open(task), fewest_exact(task)) >= task.room:
        return None, {}
    learned = _attempt(lambda: rules_variant(task)) if learn and least < task.room else None
    if learned is not None and len(learned.blocks) >= task.room:
        learned = None
    fewest = fewest_shells(task)
    hopeless = learned is not None and len(learned.blocks) <= _WORTH * fewest
    # shells only where they can still be chosen, and for few points; where shells, or for very
    # many points the list, will be better by the look of it, tents are not finished
    shells = None
    few = not hopeless and fewest < task.room and len(task.base) <= task.tuning.many
    limit, sure = (fewest, False) if few else (task.room, True)
    if learned is not None and len(task.base) > task.tuning.many:  # those that would be chosen
        limit, sure = _room(task, learned), False
    tents = _attempt(lambda: tents_variant(task, limit, sure=sure))
    if few and tents is None:
        shells = _attempt(lambda: shells_variant(task, task.room))
        room = task.room if shells is None else len(shells.blocks)
        if room > fewest:
            tents = _attempt(lambda: tents_variant(task, room, sure=shells is None))
    forms = [form for form in (tents, shells, learned) if form is not None]
    room = min([task.room, *(len(form.blocks) for form in forms if form is not learned)])
    if learned is not None:  # shallower by so much that it is chosen
        room = min(room, _room(task, learned))
    if fewest_open(task) < room and len(task.base) <= task.tuning.many:
        opened = _attempt(lambda: open_variant(task, room))
        forms += [opened] if opened is not None else []
    room = min([room, *(len(form.blocks) for form in forms if form is not learned)])
    exact = _exact(task, int(SHARE * room))
    forms += [exact] if exact is not None else []
    counts = {form.name: len(form.blocks) + 1 for form in forms}
    best = min(forms, key=lambda form: len(form.blocks), default=None)
    if learned is not None and best is not None:
        best = learned if len(learned.blocks) <= _WORTH * len(best.blocks) else best
    if best is None or len(best.blocks) >= task.room:
        return None, counts
    return best, counts


def _room(task: Task, form: Variant | None) -> int:
    """Blocks below which another form would be chosen."""
    if form is None:
        return task.room
    return -(-len(form.blocks) // (_WORTH if form.name == "rules" else 1))


def _exact(task: Task, room: int) -> Variant | None:
    """Shells at exact heights in at most ``room`` blocks."""
    if fewest_exact(task) > room or len(task.base) > task.tuning.many:
        return None
    return _attempt(lambda: exact_variant(task, room))


def _attempt(make: Callable[[], Variant | None]) -> Variant | None:
    """A form, or None where float proposals fail it."""
    try:
        return make()
    except (TooClose, np.linalg.LinAlgError):
        return None
