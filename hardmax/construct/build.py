"""`build`: data in, a proved transformer out."""

from __future__ import annotations

from collections.abc import Callable

from .. import __version__
from ..dataset import Dataset, merge
from ..dataset.measures import Merged
from ..errors import InputError
from ..model.transformer import Transformer

STRATEGIES = ("paper", "peel", "cover", "auto")
_LEARNING = ("cover", "auto")


def build(
    data: Dataset,
    strategy: str = "paper",
    seed: int = 0,
    on_block: Callable[[str], None] | None = None,
    *,
    learn: bool = True,
) -> Transformer:
    """Construct a hardmax transformer that classifies every sequence of ``data``.

    ``learn`` lets the strategies cover and auto fit half-spaces to the data (*learn, then
    repair*); without it they memorise.
    Raises ContradictionError where two sequences have equal empirical measures and
    different labels: then there is none (theory A1). Verify the result with
    `hardmax.certify`; the construction itself claims nothing.

    >>> from hardmax import Dataset
    >>> data = Dataset([[(0, 0), (1, 0)], [(0, 0), (0, 1)]], ["a", "b"])
    >>> build(data).output(data.sequence(1))
    (Fraction(1, 1), Fraction(0, 1))
    """
    if strategy not in STRATEGIES:
        raise InputError(f"the strategy {strategy!r} is unknown; known are {', '.join(STRATEGIES)}")
    merged = merge(data)
    model = _built(strategy, data, merged, seed, on_block, learn)
    model.meta = {
        "strategy": strategy,
        "seed": seed,
        "versions": {"hardmax": __version__},
        "dataset": data.source.get("sha256"),
        "numbers": data.source.get("numbers", "exact"),
        "positional": data.positional,
        "N": len(merged),
        "M": len(set(data.labels)),
        "labels": {name: label_set.to_json() for name, label_set in data.given_sets.items()},
        "options": {"learn": learn} if strategy in _LEARNING else {},
        **model.meta,
    }
    return model


def _built(
    strategy: str,
    data: Dataset,
    merged: Merged,
    seed: int,
    on_block: Callable[[str], None] | None,
    learn: bool,
) -> Transformer:
    """Build by one strategy; only its own modules are imported."""
    if strategy == "paper":
        from .paper.strategy import build_paper

        return build_paper(data, merged, seed, on_block)
    if strategy == "peel":
        from .peel.strategy import build_peel

        return build_peel(data, merged, seed, on_block)
    if strategy == "cover":
        from .cover.strategy import build_cover

        return build_cover(data, merged, seed, on_block, learn)
    from .auto import build_auto

    return build_auto(data, merged, seed, on_block, learn)
