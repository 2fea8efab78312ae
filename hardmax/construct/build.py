"""`build`: data in, a proved transformer out."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .. import __version__
from ..dataset import Dataset, merge
from ..dataset.measures import Merged
from ..errors import InputError
from ..model.transformer import Transformer
from .paper import build_paper
from .peel import build_peel

Builder = Callable[[Dataset, Merged, int, Callable[[str], None] | None], Transformer]

STRATEGIES: Mapping[str, Builder] = {"paper": build_paper, "peel": build_peel}


def build(
    data: Dataset,
    strategy: str = "paper",
    seed: int = 0,
    on_block: Callable[[str], None] | None = None,
) -> Transformer:
    """Construct a hardmax transformer that classifies every sequence of ``data``.

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
    model = STRATEGIES[strategy](data, merge(data), seed, on_block)
    model.meta = {
        "strategy": strategy,
        "seed": seed,
        "versions": {"hardmax": __version__},
        "dataset": data.source.get("sha256"),
        "numbers": data.source.get("numbers", "exact"),
        "positional": data.positional,
        "labels": {name: label_set.to_json() for name, label_set in data.given_sets.items()},
        "options": {},
        **model.meta,
    }
    return model
