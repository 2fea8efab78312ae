"""`build`: data in, a proved transformer out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any

from .. import __version__
from ..dataset import Dataset, merge
from ..dataset.measures import Merged
from ..errors import InputError
from ..model.transformer import Transformer

Builder = Callable[..., Transformer]


def _builder(strategy: str) -> Builder:
    """``build_…`` of the module of a strategy; those that are not used are not imported."""

    def run(
        data: Dataset,
        merged: Merged,
        seed: int,
        on_block: Callable[[str], None] | None,
        **options: Any,
    ) -> Transformer:
        found: Builder = getattr(import_module(f".{strategy}", __package__), f"build_{strategy}")
        return found(data, merged, seed, on_block, **options)

    return run


STRATEGIES: Mapping[str, Builder] = {
    name: _builder(name) for name in ("paper", "peel", "cover", "fold", "auto")
}
_LEARNING = ("cover", "auto")


def build(
    data: Dataset,
    strategy: str = "paper",
    seed: int = 0,
    on_block: Callable[[str], None] | None = None,
    *,
    learn: bool = True,
    robust: bool = False,
) -> Transformer:
    """Construct a hardmax transformer that classifies every sequence of ``data``.

    ``learn`` lets the strategies cover and auto fit half-spaces to the data (*learn, then
    repair*); without it they memorise. ``robust`` keeps auto from taking fold, whose models have
    no margin that float64 could see.
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
    builder = STRATEGIES[strategy]
    if strategy in _LEARNING:
        builder = partial(builder, learn=learn)
    if strategy == "auto":
        builder = partial(builder, robust=robust)
    model = builder(data, merged, seed, on_block)
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
        "options": ({"learn": learn} if strategy in _LEARNING else {})
        | ({"robust": True} if robust and strategy == "auto" else {}),
        **model.meta,
    }
    return model
