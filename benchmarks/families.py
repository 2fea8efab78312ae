"""Families of labelled series, made from a seed, to tune to, so that real data stay unseen.

Each family is a function of a random generator and a number of sequences that returns a list of
arrays (n_j, d) and a list of labels. Training and test part are drawn alike.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.splits import Split

TRAIN, TEST = 60, 300  # sequences
Series = tuple[list[np.ndarray], list[str]]
Family = Callable[[np.random.Generator, int], Series]
_DIGITS = 4  # decimals that are kept of every number


def split(family: str, seed: int) -> Split:
    """Training and test part of a family, drawn from a seed.

    >>> len(split("chirp", 0).train_X), split("chirp", 0).train_X[0].shape
    (60, (100, 1))
    """
    rng = np.random.default_rng([seed, *family.encode()])
    X, y = FAMILIES[family](rng, TRAIN + TEST)
    X = [x.reshape(len(x), -1).round(_DIGITS) for x in X]
    return Split(X[:TRAIN], y[:TRAIN], X[TRAIN:], y[TRAIN:])


def bump_shape(rng: np.random.Generator, count: int) -> Series:
    """A bump at a random place in noise: is it a half sine, a ramp up or a ramp down?"""
    up = np.linspace(0.1, 1, 20)
    shapes = {"sine": np.sin(np.pi * up), "up": up, "down": up[::-1]}
    X, y = _noise(rng, count, 100, 0.3), _labels(rng, count, shapes)
    for x, label in zip(X, y, strict=True):
        _add(x, 1.5 * shapes[label], int(rng.integers(80)))
    return X, y


def bump_place(rng: np.random.Generator, count: int) -> Series:
    """A bump in noise: does it lie in the first, the second or the third part?"""
    bump = np.hanning(15)
    X, y = _noise(rng, count, 90, 0.75), _labels(rng, count, "012")
    for x, label in zip(X, y, strict=True):
        _add(x, 1.5 * bump, 30 * int(label) + int(rng.integers(16)))
    return X, y


def frequency(rng: np.random.Generator, count: int) -> Series:
    """A sine of random phase in noise: which of three neighbouring frequencies has it?"""
    cycles = {"slow": 6.0, "middle": 7.0, "fast": 8.0}
    y = _labels(rng, count, cycles)
    time = np.linspace(0, 1, 120)
    X = [
        np.sin(2 * np.pi * ((cycles[c] + rng.normal(0, 0.3)) * time + rng.random()))
        + rng.normal(0, 1.0, 120)
        for c in y
    ]
    return X, y


def chirp(rng: np.random.Generator, count: int) -> Series:
    """A sine whose frequency rises or falls, in noise."""
    y = _labels(rng, count, ["rises", "falls"])
    time = np.linspace(0, 1, 100)
    X = []
    for label in y:
        x = np.sin(2 * np.pi * (rng.random() + 4 * time + rng.uniform(1, 4) * time**2))
        X.append((x if label == "rises" else x[::-1]) + rng.normal(0, 0.5, 100))
    return X, y


def autoregressive(rng: np.random.Generator, count: int) -> Series:
    """Autoregressive processes of order 2 with three pairs of coefficients."""
    pairs = {"a": (0.5, 0.2), "b": (0.2, 0.4), "c": (0.7, -0.1)}
    y = _labels(rng, count, pairs)
    X = []
    for label in y:
        first, second = pairs[label]
        x = rng.normal(size=200)
        for t in range(2, 200):
            x[t] += first * x[t - 1] + second * x[t - 2]
        X.append(x[50:] / x.std())
    return X, y


def level_shift(rng: np.random.Generator, count: int) -> Series:
    """The level rises by 1 at some time: early or late? Both parts have the same length at most."""
    X, y = _noise(rng, count, 80, 0.7), _labels(rng, count, ["early", "late"])
    for x, label in zip(X, y, strict=True):
        x[int(rng.integers(10, 38) if label == "early" else rng.integers(42, 70)) :] += 1
        x -= x.mean()
    return X, y


def order_of_motifs(rng: np.random.Generator, count: int) -> Series:
    """Two motifs at random places: which one comes first?"""
    wave = np.sin(np.linspace(0, 2 * np.pi, 16))
    motifs = {"a": wave, "b": np.sign(wave)}
    X, y = _noise(rng, count, 110, 0.25), _labels(rng, count, ["ab", "ba"])
    for x, label in zip(X, y, strict=True):
        first = int(rng.integers(0, 60))
        second = int(rng.integers(first + 18, 94))
        _add(x, 1.2 * motifs[label[0]], first)
        _add(x, 1.2 * motifs[label[1]], second)
    return X, y


def count_of_motifs(rng: np.random.Generator, count: int) -> Series:
    """How often does a motif occur: two, three or four times? Other bumps fill up to six."""
    X, y = _noise(rng, count, 150, 0.25), _labels(rng, count, "234")
    motif = np.hanning(12) * np.sin(np.linspace(0, 4 * np.pi, 12))
    for x, label in zip(X, y, strict=True):
        slots = rng.permutation(10)[:6]
        for k, slot in enumerate(slots.tolist()):
            shape = 2 * motif if k < int(label) else np.hanning(12)
            _add(x, shape, 15 * slot + int(rng.integers(4)))
    return X, y


def outliers(rng: np.random.Generator, count: int) -> Series:
    """Noise of variance 1: Gaussian, or with heavier tails, or with some far outliers?"""
    y = _labels(rng, count, ["gauss", "tails", "spikes"])
    X = []
    for label in y:
        x = rng.standard_t(3, size=120) if label == "tails" else rng.normal(size=120)
        if label == "spikes":
            x[rng.permutation(120)[: rng.integers(3, 7)]] += rng.choice([-5, 5])
        X.append(x / x.std())
    return X, y


def volatility(rng: np.random.Generator, count: int) -> Series:
    """Gaussian noise whose deviation comes in bursts, or the same values in random order."""
    y = _labels(rng, count, ["bursts", "mixed"])
    X = []
    for label in y:
        x = rng.normal(size=150) * np.exp(0.7 * np.sin(np.arange(150) / 6 + 6 * rng.random()))
        X.append(x if label == "bursts" else rng.permutation(x))
    return X, y


def coupling(rng: np.random.Generator, count: int) -> Series:
    """Three noisy channels: does the second follow the first, or the third, or neither?"""
    y = _labels(rng, count, ["first", "third", "none"])
    X = []
    for label in y:
        x = rng.normal(size=(84, 3))
        source = {"first": 0, "third": 2}.get(label)
        if source is not None:
            x[4:, 1] = 0.7 * x[:-4, source] + 0.7 * x[4:, 1]
        X.append(x[4:])
    return X, y


def ragged(rng: np.random.Generator, count: int) -> Series:
    """Waves of 30 to 90 points: sawtooth up, sawtooth down, triangle."""
    y = _labels(rng, count, ["up", "down", "triangle"])
    X = []
    for label in y:
        time = np.arange(rng.integers(30, 91)) / rng.uniform(10, 14) + rng.random()
        saw = 2 * (time % 1) - 1
        x = {"up": saw, "down": -saw, "triangle": 2 * np.abs(saw) - 1}[label]
        X.append(x + rng.normal(0, 0.6, len(time)))
    return X, y


def profile(rng: np.random.Generator, count: int) -> Series:
    """24 values of a day with two peaks; in one class the second is a little later and lower."""
    hours = np.arange(24)
    y = _labels(rng, count, ["summer", "winter"])
    X = []
    for label in y:
        late = label == "summer"
        peaks = ((8, 1.0, 2.0), (20.2, 0.85, 2.5) if late else (19, 1.0, 2.5))
        x = sum(
            (height + rng.normal(0, 0.15))
            * np.exp(-(((hours - at - rng.normal(0, 0.5)) / width) ** 2))
            for at, height, width in peaks
        )
        x = x + rng.normal(0, 0.08, 24)
        X.append((x - x.mean()) / x.std())
    return X, y


def dip(rng: np.random.Generator, count: int) -> Series:
    """A smooth plateau of random width; in one class it ends with a small dip."""
    time = np.arange(150)
    y = _labels(rng, count, ["dip", "plain"])
    X = []
    for label in y:
        start, end = 40 + rng.normal(0, 6), 105 + rng.normal(0, 6)
        x = 1 / (1 + np.exp((start - time) / 4)) - 1 / (1 + np.exp((end - time) / 4))
        if label == "dip":
            x -= 0.08 * np.exp(-(((time - end - 14) / 5) ** 2))
        x += rng.normal(0, 0.01, 150) + 0.05 * np.cumsum(rng.normal(0, 0.06, 150))
        X.append((x - x.mean()) / x.std())
    return X, y


def voices(rng: np.random.Generator, count: int) -> Series:
    """Six speakers: eight channels along a path of their own, at a random speed, 8 to 25 points."""
    paths = rng.normal(size=(6, 3, 8))  # a start, a slope, a bend
    y = _labels(rng, count, "012345")
    X = []
    for label in y:
        time = np.linspace(0, 1, rng.integers(8, 26))[:, None] ** rng.uniform(0.7, 1.4)
        start, slope, bend = paths[int(label)] + rng.normal(0, 0.8, size=(3, 8))
        x = start + slope * time + bend * np.sin(np.pi * time)
        X.append(x + rng.normal(0, 0.5, x.shape))
    return X, y


def strokes(rng: np.random.Generator, count: int) -> Series:
    """Images of 8 rows of 8 pixels with one stroke: along, across, or one of two diagonals."""
    y = _labels(rng, count, ["along", "across", "rising", "falling"])
    rows, columns = np.mgrid[:8, :8] - 3.5
    angles = {"along": 0, "across": np.pi / 2, "rising": np.pi / 4, "falling": -np.pi / 4}
    X = []
    for label in y:
        angle = angles[label] + rng.normal(0, 0.2)
        away = columns * np.sin(angle) + rows * np.cos(angle) - rng.uniform(-2, 2)
        X.append(np.exp(-(away**2)) + rng.normal(0, 0.4, (8, 8)))
    return X, y


def _labels(rng: np.random.Generator, count: int, names: object) -> list[str]:
    """As many of each as possible in every stretch, in random order."""
    each = list(names)  # type: ignore[call-overload]
    whole = [rng.permutation(each) for _ in range(-(-count // len(each)))]
    return [str(name) for name in np.concatenate(whole)[:count]]


def _noise(rng: np.random.Generator, count: int, length: int, size: float) -> list[np.ndarray]:
    return list(rng.normal(0, size, (count, length)))


def _add(x: np.ndarray, shape: np.ndarray, place: int) -> None:
    x[place : place + len(shape)] += shape


FAMILIES: dict[str, Family] = {
    family.__name__.replace("_", "-"): family
    for family in (
        bump_shape, bump_place, frequency, chirp, autoregressive, level_shift, order_of_motifs,
        count_of_motifs, outliers, volatility, coupling, ragged, profile, dip, voices, strokes,
    )
}  # fmt: skip
