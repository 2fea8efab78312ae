"""Fit every contender, and collect one row for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

from ..errors import HardmaxError, MissingExtraError
from .built import Built
from .contender import Contender
from .convex import ConvexHead
from .standard import DiscriminantAnalysis, NearestNeighbour

if TYPE_CHECKING:
    from ..dataset import Dataset


@dataclass(frozen=True)
class Row:
    """What one contender reached; ``missing`` says why there is nothing.

    ``train`` and ``test`` are right predictions as fractions; ``seconds`` is the time of the fit.
    """

    name: str
    train: float | None = None
    test: float | None = None
    parameters: int | None = None
    bits: int | None = None
    seconds: float | None = None
    certified: str = ""
    missing: str = ""

    def to_json(self) -> dict[str, Any]:
        """The row as a JSON object."""
        return asdict(self)


def contenders() -> list[Contender]:
    """All rows of ``hardmax compare``, in order."""
    from ..construct.build import STRATEGIES
    from ..learned.dual_banach.classifier import contenders as softmax_transformers
    from ..learned.transducer.classifier import InContextClassifier

    built = [Built(name) for name in ("paper", "cover", "learn") if name in STRATEGIES]
    return [
        *built,
        ConvexHead("self-attention", "linear"),
        ConvexHead("self-attention", "gated"),
        ConvexHead("mlp", "linear"),
        ConvexHead("mlp", "gated"),
        *softmax_transformers(),
        InContextClassifier(),
        DiscriminantAnalysis(),
        NearestNeighbour(),
    ]


def compare(
    data: Dataset,
    test: Dataset | None = None,
    chosen: Sequence[Contender] | None = None,
    step: Callable[[int], None] = lambda done: None,
) -> list[Row]:
    """Fit the contenders to ``data`` and count right predictions on it and on ``test``.

    A contender that needs an absent extra, or does not suit the data, gets a row that says so.

    >>> from hardmax.dataset import Dataset
    >>> data = Dataset([[(0, 0), (1, 0)], [(0, 0), (0, 1)]], ["a", "b"])
    >>> [row.train for row in compare(data, chosen=[Built("paper")])]
    [1.0]
    """
    rows = []
    for done, contender in enumerate(contenders() if chosen is None else chosen, start=1):
        rows.append(_row(contender, data, test))
        step(done)
    return rows


def _row(contender: Contender, data: Dataset, test: Dataset | None) -> Row:
    start = perf_counter()
    try:
        contender.fit(data)
        seconds = perf_counter() - start
        train = _right(contender, data)
        found = None if test is None else _right(contender, test)
    except MissingExtraError:
        return Row(contender.name, missing=f"needs pip install 'hardmax[{contender.extra}]'")
    except HardmaxError as problem:
        if problem.exit_code == HardmaxError.exit_code:
            raise  # a bug, not a property of the data
        return Row(contender.name, missing=str(problem))
    return Row(
        contender.name, train, found, contender.parameters, contender.bits, seconds,
        contender.certified,
    )  # fmt: skip


def _right(contender: Contender, data: Dataset) -> float:
    labels = data.need_labels()
    predicted = contender.predict(data)
    return sum(a == b for a, b in zip(predicted, labels, strict=True)) / len(labels)
