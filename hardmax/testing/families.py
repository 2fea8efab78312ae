"""Adversarial data sets by name: each family is hard for one step of the construction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from math import gcd
from random import Random

from ..dataset import Dataset
from ..errors import InputError
from ..labels import LabelSet
from .label_sets import KINDS, disjoint_sets

Token = tuple[Fraction | int, ...]
Sequence = list[Token]
_LABELS = ("a", "b", "c")


def adversarial(name: str, N: int = 20, seed: int = 0) -> Dataset:
    """Data set of a family: N sequences with distinct empirical measures and random labels.

    ``name`` is one of `FAMILIES`. Raises InputError where it is unknown.

    >>> data = adversarial("one-dimensional", 5)
    >>> len(data), data.dimension
    (5, 1)
    """
    if name not in FAMILIES:
        raise InputError(f"the family {name!r} is unknown; known are {', '.join(FAMILIES)}")
    rng = Random(f"{name} {seed}")
    sequences: list[Sequence] = []
    seen = set()
    size = 4
    while len(sequences) < N:
        for _ in range(4):
            sequence = _SEQUENCE[name](rng, size)
            counts = Counter(sequence)
            divisor = gcd(*counts.values())
            key = frozenset((token, count // divisor) for token, count in counts.items())
            if key not in seen and len(sequences) < N:
                seen.add(key)
                sequences.append(sequence)
        size += 1  # a fixed range could run out of different sequences
    labels = [rng.choice(_LABELS) for _ in sequences]
    labels[: len(_LABELS)] = _LABELS[:N]
    sets: dict[str, LabelSet] | None = None
    if name in _KINDS:
        sets = disjoint_sets(_LABELS, len(sequences[0][0]), rng, _KINDS[name])
    return Dataset(sequences, labels, sets)


def _grid(rng: Random, size: int, dimension: int) -> Token:
    return tuple(rng.randint(-size, size) for _ in range(dimension))


def _same_hull_same_mean(rng: Random, size: int) -> Sequence:
    """Four corners, and a pair ±p inside: equal hulls, equal means."""
    x, y = rng.randint(0, size), rng.randint(1, size)
    far = 64
    corners = [(far, far), (far, -far), (-far, far), (-far, -far)]
    inside = (Fraction(x, 2), Fraction(y, 2))
    return [*corners, inside, (-inside[0], -inside[1])]


def _equal_means_unequal_lengths(rng: Random, size: int) -> Sequence:
    """Pairs ±p, one to four of them: the mean is 0 whatever the length."""
    half = [_grid(rng, size, 3) for _ in range(rng.randint(1, 4))]
    return [*half, *(tuple(-x for x in token) for token in half)]


def _repeated(rng: Random, size: int) -> Sequence:
    """Three tokens in different proportions."""
    corners: list[Token] = [(0, 1), (2, 0), (3, 3)]
    return [token for token in corners for _ in range(rng.randint(1, size))]


def _lattice(rng: Random, size: int) -> Sequence:
    return [tuple(rng.randint(0, 1) for _ in range(5)) for _ in range(rng.randint(1, 6))]


def _collinear(rng: Random, size: int) -> Sequence:
    steps = [rng.randint(-size, size) for _ in range(rng.randint(1, 5))]
    return [(1 + t, 2 * t, 3 - t) for t in steps]


def _one_dimensional(rng: Random, size: int) -> Sequence:
    return [_grid(rng, size, 1) for _ in range(rng.randint(1, 5))]


def _nearly_equal(rng: Random, size: int) -> Sequence:
    """Three fixed tokens, one of them moved by a multiple of 2^-200."""
    step = Fraction(rng.randint(0, 4 * size), 2**200)
    return [(1, 0), (0, 1 + step), (Fraction(1, 3), 5)]


def _long_rationals(rng: Random, size: int) -> Sequence:
    """Tokens of 200-bit rationals; some of them come from a pool that all share."""

    def token(source: Random) -> Token:
        return tuple(
            Fraction(source.getrandbits(200) - 2**199, source.getrandbits(200) + 1)
            for _ in range(2)
        )

    pool = [token(Random(k)) for k in range(size)]
    return [rng.choice([rng.choice(pool), token(rng)]) for _ in range(rng.randint(1, 4))]


def _single_tokens(rng: Random, size: int) -> Sequence:
    return [_grid(rng, size, 2)]


def _zero_tokens(rng: Random, size: int) -> Sequence:
    """Zero tokens, and tokens along the axis that a translation would move onto zero."""
    zeros: Sequence = [(0, 0)] * rng.randint(0, 3)
    others: Sequence = [(-rng.randint(0, size), 0) for _ in range(rng.randint(0, 3))]
    return zeros + others or [(0, 0)]


def _dimension_48(rng: Random, size: int) -> Sequence:
    """One or two of the 48 coordinates are ±1; few tokens, so sequences share them."""
    tokens: Sequence = []
    for _ in range(rng.randint(1, 4)):
        token = [0] * 48
        for _ in range(2):
            token[47 * rng.randint(0, 1)] = rng.choice((-1, 1))
        token[rng.randrange(48) if rng.random() < 0.3 else 5] = 1
        tokens.append(tuple(token))
    return tokens


def _text_like(rng: Random, size: int) -> Sequence:
    """Two people, a verb and small words; the people form an analogy lattice."""
    people: list[Token] = [
        (royal, female, young, 0, 0, 0)
        for royal in (0, 1) for female in (-1, 1) for young in (0, 1)
    ]  # fmt: skip
    verb: Token = (0, 0, 0, rng.randint(1, 3), 0, 0)
    the: Token = (0, 0, 0, 0, 1, 0)
    very: Token = (0, 0, 0, 0, 0, 1)
    first, second = rng.choice(people), rng.choice(people)
    return [the, first, verb, the, second, *[very] * rng.randint(0, size // 3)]


def _overlapping(rng: Random, size: int) -> Sequence:
    """Short sequences on a small grid, for the families that differ in their label sets."""
    return [_grid(rng, 2, 3) for _ in range(rng.randint(1, 4))]


def _word(rng: Random, size: int, positions: bool) -> Sequence:
    """One-hot letters, some of them far more frequent than others, and their positions."""
    letters = [int(8 * rng.random() ** 2) for _ in range(rng.randint(1, 2 + size // 2))]
    return [
        (*(int(i == letter) for i in range(8)), *[place] * positions)
        for place, letter in enumerate(letters, 1)
    ]


def _counts(rng: Random, size: int) -> Sequence:
    """Vectors of counts, most of them zero."""
    return [tuple(max(0, rng.randint(-3, 3)) for _ in range(6)) for _ in range(rng.randint(1, 4))]


def _small_grid(rng: Random, size: int) -> Sequence:
    return [_grid(rng, 3, 4) for _ in range(rng.randint(1, 6))]


def _binary(rng: Random, size: int) -> Sequence:
    return [tuple(rng.randint(0, 1) for _ in range(12)) for _ in range(rng.randint(1, 6))]


_KINDS = {f"{kind}-labels": (kind,) for kind in KINDS} | {"mixed-labels": KINDS}

_SEQUENCE: dict[str, Callable[[Random, int], Sequence]] = {
    "same-hull-same-mean": _same_hull_same_mean,
    "equal-means-unequal-lengths": _equal_means_unequal_lengths,
    "repeated-tokens": _repeated,
    "zero-one-lattice": _lattice,
    "collinear": _collinear,
    "one-dimensional": _one_dimensional,
    "nearly-equal": _nearly_equal,
    "long-rationals": _long_rationals,
    "single-tokens": _single_tokens,
    "zero-tokens": _zero_tokens,
    "dimension-48": _dimension_48,
    "text-like": _text_like,
    "one-hot-words": lambda rng, size: _word(rng, size, False),
    "one-hot-words-positions": lambda rng, size: _word(rng, size, True),
    "count-vectors": _counts,
    "integer-grid": _small_grid,
    "binary-vectors": _binary,
    **dict.fromkeys(_KINDS, _overlapping),
}

FAMILIES = tuple(_SEQUENCE)
DISCRETE = (
    "one-hot-words",
    "one-hot-words-positions",
    "count-vectors",
    "integer-grid",
    "binary-vectors",
)
