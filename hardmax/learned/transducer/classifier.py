"""The Transducer as an in-context classifier of token sequences, without any training on them.

It has what ``hardmax compare`` asks of a model: name, extra, parameters, bits, certified, `fit`
and `predict`.
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InputError

if TYPE_CHECKING:
    from ...dataset import Dataset
    from .transducer import Transducer

Array = np.ndarray[Any, np.dtype[np.float64]]
WEIGHTS = "classifier.npz"
_PASSES = 12  # for more than ten labels
_MOST = 2000  # examples in the context; more are thinned out evenly


class InContextClassifier:
    """Classify sequences in one forward pass, with the training sequences as examples.

    A sequence becomes the mean and the standard deviation of its tokens, standardised on the
    examples and rotated to at most 32 principal components. The network that ships with
    hardmax was meta-trained on random tasks only (studies/transducer/classes.py), never on
    the data. It knows ten label slots; more labels share them in several ways, drawn from a fixed
    seed, and the scores of the passes are added.
    Nothing is proved about its predictions.

    >>> InContextClassifier().name, InContextClassifier().extra
    ('transducer', 'torch')
    """

    name = "transducer"
    extra: str | None = "torch"

    def __init__(self) -> None:
        self.parameters, self.certified = 0, ""
        self.bits: int | None = None

    def fit(self, data: Dataset) -> None:
        """Keep the labelled sequences as examples; nothing is trained.

        Raises MissingExtraError without PyTorch, InputError if a label is missing.
        """
        labels = data.need_labels()
        self._model = packaged()
        self.parameters = self._model.parameters
        self.bits = 16 * self.parameters
        raw = _moments(data)
        self._dimension = data.dimension
        self._mean = raw.mean(0)
        spread = raw.std(0)
        self._spread = np.where(spread > 0, spread, 1.0)
        scaled = (raw - self._mean) / self._spread
        size = self._model.sizes.input_size
        self._axes = np.linalg.svd(scaled, full_matrices=False)[2][:size].T
        components = scaled @ self._axes
        width = components.std(0)
        self._width = np.where(width > 1e-9, width, 1.0)
        self.labels = sorted(set(labels))
        codes = np.array([self.labels.index(label) for label in labels])
        chosen = np.unique(np.linspace(0, len(codes) - 1, min(len(codes), _MOST)).astype(int))
        self._examples, self._codes = self._features(data)[chosen], codes[chosen]

    def predict(self, data: Dataset) -> list[str]:
        """The predicted label of each sequence, in order; raises InputError before `fit`."""
        if not hasattr(self, "_codes"):
            raise InputError("the classifier has no examples yet; call fit first")
        if data.dimension != self._dimension:
            raise InputError(
                f"tokens of dimension {data.dimension}, but the examples have {self._dimension}"
            )
        queries = self._features(data)
        slots = self._model.sizes.output_size
        total = np.zeros((len(queries), len(self.labels)))
        for share in _shares(len(self.labels), slots):
            targets = np.eye(slots)[share[self._codes]]
            found = [
                self._model.predict((self._examples, targets), part)
                for part in np.array_split(queries, max(1, len(queries) // 500))
                if len(part)
            ]
            total += np.concatenate(found)[:, share]
        return [self.labels[k] for k in total.argmax(1)]

    def _features(self, data: Dataset) -> Array:
        """Vectors (N, 32); unused coordinates are 0."""
        scaled = (_moments(data) - self._mean) / self._spread
        components = scaled @ self._axes / self._width
        result = np.zeros((len(scaled), self._model.sizes.input_size))
        result[:, : components.shape[1]] = components
        return result


def _shares(labels: int, slots: int) -> list[np.ndarray[Any, np.dtype[np.int64]]]:
    """Ways to give every label a slot, each (labels,); one way where there are slots enough."""
    if labels <= slots:
        return [np.arange(labels, dtype=np.int64)]
    rng = np.random.default_rng(0)
    return [rng.permutation(labels) % slots for _ in range(_PASSES)]


def packaged() -> Transducer:
    """The classifier's network, from the weights that ship with hardmax.

    Raises MissingExtraError without PyTorch.
    """
    from .transducer import Transducer

    with files(__package__).joinpath(WEIGHTS).open("rb") as file, np.load(file) as arrays:
        return Transducer.from_arrays(dict(arrays), WEIGHTS)


def _moments(data: Dataset) -> Array:
    """Mean and standard deviation of the tokens of each sequence, shape (N, 2d)."""
    return np.stack([np.concatenate([X.mean(0), X.std(0)]) for X in data.arrays()])
