"""What the estimators for scikit-learn and aeon share: build, prove, predict."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from typing import Any

import numpy as np

from .certify.predict import predict
from .certify.verify import certify
from .construct.build import build
from .dataset import Dataset, Reading
from .errors import ConstructionError, InputError
from .stages import listening

STRATEGY = "learn"  # the strategy that predicts best


class ExactClassifier:
    """Parameters of the estimators, and what they do once their input is a list of sequences.

    A subclass names its library's base classes behind this one, and calls `_prove` and `_labels`.
    """

    def __init__(
        self,
        strategy: str = STRATEGY,
        *,
        window: int | None = None,
        features: int | None = None,
        positional: bool | None = None,
        random_state: Any = 0,
        verbose: bool = False,
    ) -> None:
        self.strategy = strategy
        self.window = window
        self.features = features
        self.positional = positional
        self.random_state = random_state
        self.verbose = verbose
        super().__init__()

    def _prove(self, sequences: Any, labels: np.ndarray) -> None:
        """Build a model of sequences (n_j, d), and prove it.

        Raises ContradictionError where two of them are equal and their labels are not: then no
        model exists.
        """
        data = Dataset(sequences, labels, reading=self._reading())
        seed = _seed(self.random_state)
        with listening(_show) if self.verbose else nullcontext():
            model = build(data, strategy=self.strategy, seed=seed, features=self.features)
        data = data.read_as(model.reading)  # the strategy may have chosen another
        certificate = certify(model, data)
        if not certificate.proved:
            raise ConstructionError(f"the strategy {self.strategy!r} built a refuted model")
        self.model_, self.certificate_ = model, certificate
        self._width = data.written_dimension
        self.label_sets_ = data.sets

    def _reading(self) -> Reading:
        """As the parameters say; strategy learn chooses where this is the plain reading."""
        positional = self.positional
        if positional is None:
            positional = self.strategy != "learn"
        window = 1 if self.window is None else self.window
        return Reading(positional=bool(positional), window=window)

    def _labels(self, sequences: Any) -> list[Any]:
        """Labels of sequences: the set that holds the exact output, else the nearest."""
        data = Dataset(sequences, reading=self.model_.reading)
        own, wanted = data.written_dimension, self._width
        if own != wanted:
            raise InputError(f"the tokens have dimension {own}, those of fit had {wanted}")
        found: list[Any] = predict(self.model_.outputs(data), self.label_sets_)
        return found


def _seed(random_state: Any) -> int:
    """An integer itself; of a generator, or for None, a random one."""
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        return int(random_state)
    if random_state is None:
        random_state = np.random.default_rng()
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    raise InputError(
        f"random_state is {random_state!r}; give an integer, a generator of NumPy or None"
    )


def _show(stage: str, left: int | None) -> None:
    rest = "" if left is None else f", {left} left"
    print(f"[hardmax] {stage}{rest}", file=sys.stderr)
