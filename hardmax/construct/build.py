"""`build`: data in, a proved transformer out."""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from os import PathLike
from typing import Any

from .. import __version__
from ..dataset import Dataset, merge
from ..dataset.measures import Merged
from ..dataset.parts import is_integer, read_seed
from ..errors import InputError
from ..model.transformer import Transformer
from ..stages import tell

STRATEGIES = ("paper", "peel", "cover", "fold", "learn", "auto")
_LEARNING = ("cover", "auto")


def build(
    data: Any,
    labels: Any = None,
    strategy: str = "paper",
    seed: int = 0,
    on_block: Callable[[str], None] | None = None,
    *,
    sets: Any = None,
    learn: bool = True,
    robust: bool = False,
    masked: bool = False,
    features: int | None = None,
    heads: int = 1,
) -> Transformer:
    """Construct a hardmax transformer that classifies every sequence of ``data``.

    ``data`` is a `Dataset`, the name of a data file, or sequences, with their ``labels`` and
    perhaps label ``sets`` as `Dataset` takes them: build(data), build("data.json"),
    build(X, y, strategy="peel"), build(frame); also build(data, "peel").

    ``strategy`` is one of

    - "paper", the default: the paper's stages, at most 2N blocks for N sequences, 2N+1 where a
      token is zero. It memorises: it classifies the given sequences and says nothing useful
      about others.
    - "peel": at most 2N−1 blocks, one a sequence. It memorises, too.
    - "cover": half-spaces that a classifier proposes, repaired until every sequence is right.
      The number of blocks follows the labels, and unseen data keep the classifier's accuracy.
    - "fold": about √N blocks, by bits packed into long numbers. It memorises, and no float run
      follows it.
    - "learn": features of windows of tokens, chosen by cross-validation on these data; then scores,
      and a repair of what the scores get wrong. The strategy that predicts best. It chooses how
      tokens are read, unless the data are read in a way of their own, and takes label sets argmax,
      unless the data have sets; `model.reading` says so.
    - "auto": the shallowest of paper, peel, cover and fold.

    ``learn`` lets the strategies cover and auto fit half-spaces to the data (*learn, then
    repair*); without it they memorise. ``robust`` keeps auto from taking fold, whose models have
    no margin that float64 could see. ``features`` is the largest number of blocks that strategy
    learn spends on features (512 by default, and never more than 8N + 4 allows). ``seed`` is that
    of the random directions.
    With ``masked`` every token attends to itself and the tokens before it only (4.2). Order is then
    visible without positions, and there is one construction, `masked`, whatever ``strategy`` would
    be; it takes about 3N blocks and memorises.

    ``heads`` is the number of attention heads of each block (4.1), for the strategy paper: with
    several, sequences need fewer blocks to be separated, mostly none (Theorem 9c). A model uses as
    many heads as help; the others are zero.

    Data that ask for outputs in place of labels take the strategy peel: at most K + R blocks for R
    different tokens with outputs (`peel.outputs`).

    Raises ContradictionError where two sequences have equal empirical measures (with ``masked``:
    are equal, or repeat the same token) and different labels: then there is none (theory A1).
    Verify the result with `hardmax.certify`; the construction itself claims nothing.

    >>> from hardmax import Dataset
    >>> data = Dataset([[(0, 0), (1, 0)], [(0, 0), (0, 1)]], ["a", "b"])
    >>> build(data).output(data.sequence(1))
    (Fraction(1, 1), Fraction(0, 1))
    """
    if isinstance(labels, str):  # build(data, "peel")
        labels, strategy = None, labels
    data = _dataset(data, labels, sets)
    seed = read_seed(seed)
    if strategy not in STRATEGIES:
        raise InputError(f"the strategy {strategy!r} is unknown; known are {', '.join(STRATEGIES)}")
    features = _features(features, strategy)
    heads = _heads(heads, strategy, masked, data)
    if masked:
        if strategy != "paper":
            raise InputError(
                f"masked models have one construction: leave out the strategy {strategy!r}"
            )
        strategy = "masked"
    tell("merge", len(data))
    if data.outputs is not None:
        from .peel.outputs import build_outputs

        if masked:
            raise InputError("masked models answer with labels; this data set asks for outputs")
        strategy = _for_outputs(strategy)
        model = build_outputs(data, data.outputs, seed, on_block)
    elif strategy == "learn":
        from .learn.strategy import build_learn

        model, data = build_learn(data, seed, on_block, features)
        model.meta |= {"N": len(merge(data)), "M": len(set(data.names))}
    else:
        merged = _merged(data, masked)
        tell(strategy)
        model = _built(strategy, data, merged, seed, on_block, learn, robust, heads)
        model.meta |= {"N": len(merged), "M": len(set(data.names))}
    options: dict[str, Any] = {"learn": learn} if strategy in _LEARNING else {}
    options |= {"robust": True} if robust and strategy == "auto" else {}
    options |= {"heads": heads} if heads > 1 else {}
    whole = set(map(type, data.labels)) == {int}
    model.meta = describe(data, data.source.get("sha256"), strategy, seed, whole, options) | (
        model.meta
    )
    return model


def describe(
    data: Dataset,
    digest: str | None,
    strategy: str,
    seed: int,
    whole: bool,
    options: dict[str, Any],
) -> dict[str, Any]:
    """What a model's meta says of the data and of how it was built.

    ``digest`` names the data; ``whole`` says that labels are integers. Of ``data`` it takes label
    sets, reading and numbers.
    """
    return {
        "strategy": strategy,
        "seed": seed,
        "versions": {"hardmax": __version__},
        "dataset": digest,
        "numbers": data.source.get("numbers", "exact"),
        **data.reading.to_meta(),
        "labels": [*data.given_sets]
        if data.reading.label_sets == "argmax"
        else {name: label_set.to_json() for name, label_set in data.given_sets.items()},
        **({"label_type": "integer"} if whole else {}),
        "options": options,
    }


def _heads(heads: Any, strategy: str, masked: bool, data: Dataset) -> int:
    """The number of heads; InputError where the construction has one head only."""
    if not is_integer(heads) or not 1 <= index(heads) <= 64:
        raise InputError(f"the number of heads is {heads!r}, expected an integer from 1 to 64")
    if index(heads) > 1:
        other = None if strategy == "paper" else f"strategy {strategy}"
        other = "masked attention" if masked else other
        other = "a data set with outputs" if data.outputs is not None else other
        if other:
            raise InputError(f"several heads are for strategy paper; {other} takes one head")
    return index(heads)


def _features(features: Any, strategy: str) -> int | None:
    """The limit that the user has set, as an integer."""
    if features is None:
        return None
    if not is_integer(features) or index(features) < 1:
        raise InputError(f"features is {features!r}, expected an integer of at least 1")
    if strategy != "learn":
        raise InputError(f"features is for the strategy learn; leave it out for {strategy!r}")
    return index(features)


def _for_outputs(strategy: str) -> str:
    """The strategy for data that ask for outputs; there is one."""
    if strategy in ("cover", "fold", "learn"):
        raise InputError(
            f"the strategy {strategy} needs labels; for outputs there is peel, which paper (the "
            f"default) and auto take as well"
        )
    return "peel"


def _merged(data: Dataset, masked: bool) -> Merged:
    """Sequences that no model of this kind can tell apart are merged."""
    if masked:
        from ..dataset.ordered import merge_ordered

        return merge_ordered(data)
    return merge(data)


def _built(
    strategy: str,
    data: Dataset,
    merged: Merged,
    seed: int,
    on_block: Callable[[str], None] | None,
    learn: bool,
    robust: bool,
    heads: int,
) -> Transformer:
    """Build by one strategy; only its own modules are imported."""
    if strategy == "paper":
        from .paper.strategy import build_paper

        return build_paper(data, merged, seed, on_block, heads)
    if strategy == "peel":
        from .peel.strategy import build_peel

        return build_peel(data, merged, seed, on_block)
    if strategy == "cover":
        from .cover.strategy import build_cover

        return build_cover(data, merged, seed, on_block, learn)
    if strategy == "fold":
        from .fold.strategy import build_fold

        return build_fold(data, merged, seed, on_block)
    if strategy == "masked":
        from .masked.strategy import build_masked

        return build_masked(data, merged, seed, on_block)
    from .auto import build_auto

    return build_auto(data, merged, seed, on_block, learn, robust)


def _dataset(data: Any, labels: Any, sets: Any) -> Dataset:
    if isinstance(data, Transformer):
        raise InputError("this is a model already; build takes a data set")
    if isinstance(data, str | PathLike) and labels is None:
        from .. import load

        return load(data, sets=sets)
    if not isinstance(data, Dataset):
        from ..dataset.arrays import is_table

        if labels is None and not is_table(data):
            raise InputError("sequences need labels: build(sequences, labels)")
        return Dataset(data, labels, sets)
    if labels is not None:
        raise InputError("the data set has its labels; leave the others out")
    return data if sets is None else data.with_sets(sets)
