"""Data sets for the benchmarks, made from a seed, and copies of which nothing is remembered."""

from __future__ import annotations

import json
import re
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


def words(count: int, positional: bool, seed: int = 0) -> Dataset:
    """Different words of at most 24 letters, one-hot letters in ℝ²⁶; the label says whether a word
    ends in a vowel. Without positions one of the words with the same letters stands for all."""
    more = 0 if positional else count // 4  # anagrams are one bag of letters
    chosen = _spelled(count + more, np.random.default_rng(seed))
    letters = [np.frombuffer(word.encode(), np.uint8) - ord("a") for word in chosen]
    if not positional:
        letters = list({tuple(_measure(word)): word for word in letters}.values())[:count]
    vowels = [ord(letter) - ord("a") for letter in "aeiou"]
    labels = ["vowel" if word[-1] in vowels else "consonant" for word in letters]
    tokens = np.eye(26)[np.concatenate(letters)]
    offsets = np.cumsum([0, *map(len, letters)])
    exact = ExactArray.from_numpy(tokens, own=True)
    return Dataset.from_arrays(exact, offsets, labels, positional=positional)


def _measure(word: np.ndarray) -> list[tuple[int, int]]:
    """The letters of a word and how often each occurs, over what the counts share."""
    letters, counts = np.unique(word, return_counts=True)
    counts //= np.gcd.reduce(counts)
    return list(zip(letters.tolist(), counts.tolist(), strict=True))


def _spelled(count: int, rng: np.random.Generator, longest: int = 24) -> list[str]:
    """Words by a Markov chain: each letter is drawn as it follows the two before it in the Zen of
    Python (examples/zen.json), and now and then any other."""
    zen = json.loads((Path(__file__).parent.parent / "examples" / "zen.json").read_text())
    text = " ".join(sequence["label"] for sequence in zen["sequences"])
    follows = np.full((27, 27, 27), 0.02)  # 26 is the end of a word
    for word in re.findall("[a-z]+", text.lower()):
        letters = [26, 26, *(ord(letter) - ord("a") for letter in word), 26]
        for first, second, third in zip(letters, letters[1:], letters[2:], strict=False):
            follows[first, second, third] += 1
    chances = follows.cumsum(axis=2) / follows.sum(axis=2, keepdims=True)
    found: dict[str, None] = {}
    while len(found) < count:
        before, last, word = 26, 26, ""
        for draw in rng.random(longest):
            before, last = last, min(int(np.searchsorted(chances[before, last], draw)), 26)
            if last == 26:
                break
            word += chr(ord("a") + last)
        if word:
            found[word] = None
    return list(found)


def lattice(kind: str, count: int, longest: int = 6, seed: int = 0) -> Dataset:
    """Sequences of up to ``longest`` integer vectors with random labels of two kinds: "counts"
    (ℕ¹⁶, most of them zero), "grid" ({−4, …, 4}⁴) or "binary" ({0, 1}²⁴)."""
    rng = np.random.default_rng(seed)
    draw = {
        "counts": lambda n: rng.poisson(0.6, size=(n, 16)),
        "grid": lambda n: rng.integers(-4, 5, size=(n, 4)),
        "binary": lambda n: rng.integers(0, 2, size=(n, 24)),
    }[kind]
    chosen: dict[tuple[object, ...], np.ndarray] = {}
    while len(chosen) < count:
        tokens = draw(int(rng.integers(1, longest + 1)))
        rows, counts = np.unique(tokens, axis=0, return_counts=True)
        key = (rows.tobytes(), tuple((counts // np.gcd.reduce(counts)).tolist()))
        chosen.setdefault(key, tokens)
    labels = [("no", "yes")[k] for k in rng.integers(0, 2, size=count)]
    packed = ExactArray.from_numpy(np.concatenate(list(chosen.values())).astype(float), own=True)
    offsets = np.cumsum([0, *map(len, chosen.values())])
    return Dataset.from_arrays(packed, offsets, labels)


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
