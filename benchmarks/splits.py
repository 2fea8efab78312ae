"""Data sets with their usual split into training and test part, as lists of arrays.

BasicMotions, GunPoint and ItalyPowerDemand come with the package aeon, digits with scikit-learn;
JapaneseVowels is the one of ``examples/``. Nothing is downloaded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import hardmax as hm
from benchmarks.make_digits import TRAIN
from hardmax.errors import MissingExtraError

EXAMPLES = Path(__file__).parent.parent / "examples"


@dataclass(frozen=True)
class Split:
    """Sequences ``X``, arrays (n_j, d) of float64, and labels ``y``, for training and for test."""

    train_X: Sequence[np.ndarray]  # noqa: N815
    train_y: Sequence[str]
    test_X: Sequence[np.ndarray]  # noqa: N815
    test_y: Sequence[str]

    def train(self) -> hm.Dataset:
        """The training part, as hardmax reads it; floats mean exactly what they hold."""
        return hm.Dataset(self.train_X, self.train_y)


def needed(module: str) -> Any:
    """A module of the extra ``bench``."""
    try:
        return import_module(module)
    except ImportError:
        library = {"sklearn": "scikit-learn", "torch": "PyTorch"}
        name = module.split(".")[0]
        raise MissingExtraError(
            f"benchmarks.accuracy needs {library.get(name, name)}: pip install 'hardmax[bench]'"
        ) from None


def _aeon(loader: str) -> Split:
    load = getattr(needed("aeon.datasets"), loader)
    parts = []
    for part in ("train", "test"):
        X, y = load(split=part)  # (N, channels, time)
        parts += [list(X.transpose(0, 2, 1).astype(float)), list(map(str, y))]
    return Split(*parts)


def _vowels() -> Split:
    parts = []
    for name in ("vowels", "vowels_test"):
        data = hm.load(EXAMPLES / f"{name}.json.gz")
        whole = np.split(data.tokens.values, data.offsets[1:-1])
        parts += [whole, list(map(str, data.labels))]
    return Split(*parts)


def _digits() -> Split:
    """The first 1200 images and the other 597, as in make_digits.py; a token is a row of pixels."""
    data = needed("sklearn.datasets").load_digits()
    X, y = list(data.images.astype(float)), list(map(str, data.target))
    return Split(X[:TRAIN], y[:TRAIN], X[TRAIN:], y[TRAIN:])


REAL: dict[str, Callable[[], Split]] = {
    "BasicMotions": partial(_aeon, "load_basic_motions"),
    "GunPoint": partial(_aeon, "load_gunpoint"),
    "ItalyPowerDemand": partial(_aeon, "load_italy_power_demand"),
    "JapaneseVowels": _vowels,
    "digits": _digits,
}
