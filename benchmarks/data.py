"""Data sets for the benchmarks, made from a seed, and copies of which nothing is remembered."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import hardmax as hm
from hardmax.dataset import Dataset
from hardmax.exact.array import ExactArray
from hardmax.model.parameters import NAMES


def text_like(
    count: int, longest: int = 32, dimension: int = 16, vocabulary: int = 500, seed: int = 0
) -> Dataset:
    """Sequences of Gaussian word vectors drawn by Zipf's law, with random labels of two kinds."""
    rng = np.random.default_rng(seed)
    words = rng.normal(size=(vocabulary, dimension))
    frequency = 1 / np.arange(1, vocabulary + 1)
    frequency /= frequency.sum()
    seen: set[tuple[int, ...]] = set()
    chosen: list[np.ndarray] = []
    while len(chosen) < count:
        sentence = rng.choice(vocabulary, size=rng.integers(1, longest + 1), p=frequency)
        key = tuple(sorted(sentence.tolist()))
        if key not in seen:  # equal bags of words could contradict each other
            seen.add(key)
            chosen.append(sentence)
    offsets = np.cumsum([0, *(len(sentence) for sentence in chosen)])
    tokens = ExactArray.from_numpy(words[np.concatenate(chosen)])
    labels = [("no", "yes")[k] for k in rng.integers(0, 2, size=count)]
    # proportional counts ("a b", "a a b b") are rare, but they too must agree
    return Dataset.from_arrays(tokens, offsets, _agreeing(chosen, labels))


def _agreeing(sentences: list[np.ndarray], labels: list[str]) -> list[str]:
    """The labels, made equal on sentences with equal empirical measures."""
    first: dict[tuple[tuple[int, int], ...], str] = {}
    result = []
    for sentence, label in zip(sentences, labels, strict=True):
        words, counts = np.unique(sentence, return_counts=True)
        divisor = int(np.gcd.reduce(counts))
        key = tuple(zip(words.tolist(), (counts // divisor).tolist(), strict=True))
        result.append(first.setdefault(key, label))
    return result


def gaussian(count: int, dimension: int, length: int = 4, seed: int = 0) -> Dataset:
    """Sequences of Gaussian tokens with random labels of two kinds."""
    rng = np.random.default_rng(seed)
    tokens = ExactArray.from_numpy(rng.normal(size=(count * length, dimension)))
    labels = [("no", "yes")[k] for k in rng.integers(0, 2, size=count)]
    return Dataset.from_arrays(tokens, np.arange(count + 1) * length, labels)


def save(data: Dataset, path: str | Path) -> None:
    """Write a data set of float64 tokens and labels as .npz, uncompressed."""
    if data.tokens.exact:
        raise ValueError("tokens that float64 does not hold")
    np.savez(path, tokens=data.tokens.values, offsets=data.offsets, label=np.array(data.labels))


def copy(array: ExactArray) -> ExactArray:
    """The same numbers in a new array."""
    return ExactArray(array.values.copy(), dict(array.exact))


def fresh_model(model: hm.Transformer) -> hm.Transformer:
    """The same numbers in new objects, for which nothing is compiled yet."""
    p = model.parameters
    parameters = type(p)(*(copy(p.arrays[name]) for name in NAMES))
    return hm.Transformer(parameters, stages=model.stages, meta=model.meta)


def fresh_data(data: Dataset) -> Dataset:
    """The same data in new objects, without what may be remembered of them."""
    return Dataset.from_arrays(
        copy(data.tokens), data.offsets.copy(), data.labels, data.sets, ids=data.ids
    )
