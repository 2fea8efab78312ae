"""Theorem 20 as a program: given features, scores, one collapse, a read-out and repairs, by exact
arithmetic, for the label sets of argmax.

Sequence j of class y_j < M must end where coordinate y_j is the largest of the first M. Coordinates
are those of the tokens, at least M; M - 1 for the scores; one more, the mixture, in which sequences
of different classes differ.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

from proofs.definition import (
    Block,
    Sequence,
    Token,
    add,
    dot,
    rank_one,
    scale,
    token,
    transformer,
    translation,
)
from proofs.theorem_b import generic_direction, tie_hyperplane


class Feature(NamedTuple):
    """The ReLU of <u, z> + b, and what it adds to each of M - 1 scores."""

    u: Token
    b: Fraction
    row: Token

    def mean(self, Z: Sequence) -> Fraction:
        """Average the ReLU over the tokens of a sequence."""
        values = (max(Fraction(0), dot(self.u, z) + self.b) for z in Z)
        return sum(values, Fraction(0)) / len(Z)


class Built(NamedTuple):
    """The blocks of each stage; `width` is the dimension of the lifted tokens."""

    width: int
    features: list[Block]
    collapse: Block
    readout: list[Block]
    repairs: list[list[Block]]

    def blocks(self) -> list[Block]:
        """All of them, in order."""
        repairs = [block for plateau in self.repairs for block in plateau]
        return [*self.features, self.collapse, *self.readout, *repairs]


def lifted(Z: Sequence, width: int) -> Sequence:
    """Append zeros to every token."""
    return [(*z, *token(*[0] * (width - len(z)))) for z in Z]


def scores(features: list[Feature], constants: Token, Z: Sequence) -> Token:
    """Evaluate the M scores of a sequence by their definition; the last is zero."""
    terms = (scale(feature.mean(Z), feature.row) for feature in features)
    return (*add(constants, *terms), Fraction(0))


def separating(
    Zs: list[Sequence], y: list[int], features: list[Feature], weightless: Token
) -> list[Feature]:
    """Add features without weight until sequences of different classes differ in some mean
    (Lemma 4).
    """
    features = list(features)
    while True:
        points = [tuple(feature.mean(Z) for feature in features) for Z in Zs]
        tied = (
            (Zs[i], Zs[j])
            for i, j in combinations(range(len(Zs)), 2)
            if y[i] != y[j] and points[i] == points[j]
        )
        pair = next(tied, None)
        if pair is None:
            return features
        u, b = tie_hyperplane(*pair)
        features.append(Feature(u, b, weightless))


def plateau(
    unit: Callable[[int], Token], at: Fraction, a: Fraction, height: Fraction, c: int, read: int
) -> list[Block]:
    """Four blocks that add `height` to coordinate c where coordinate `read` is within a/2 of `at`
    and nothing where it is at least a away.
    """
    w = scale(2 * height / a, unit(c))
    return [
        rank_one(unit(read), shift * a - at, scale(sign, w))
        for shift, sign in ((1, 1), (Fraction(1, 2), -1), (Fraction(-1, 2), -1), (-1, 1))
    ]


def build(
    Zs: list[Sequence], y: list[int], features: list[Feature], constants: Token
) -> tuple[Built, list[Feature]]:
    """Build the model, and return all its features; `constants` has M - 1 entries."""
    classes, d = len(constants) + 1, len(Zs[0][0])
    features = separating(Zs, y, features, token(*[0] * (classes - 1)))
    own = max(d, classes)
    mixture = own + classes - 1
    width = mixture + 1

    def unit(i: int) -> Token:
        return token(*[int(k == i) for k in range(width)])

    points = [tuple(feature.mean(Z) for feature in features) for Z in Zs]
    mix = generic_direction(points)
    blocks = [
        rank_one(
            (*feature.u, *token(*[0] * (width - d))),
            feature.b,
            (*token(*[0] * own), *feature.row, weight),
        )
        for feature, weight in zip(features, mix, strict=True)
    ]
    means = [add(*(scale(Fraction(1, len(Z)), z) for z in lifted(Z, width))) for Z in Zs]
    found = [scores(features, constants, Z) for Z in Zs]
    offset = 1 + max(
        abs(m[c]) + abs(m[classes - 1]) + abs(s[c])
        for m, s in zip(means, found, strict=True)
        for c in range(classes)
    )
    gather = translation(scale(offset, unit(classes - 1)), rho=0, alpha=1)
    readout = []
    for c in range(classes - 1):
        u = add(unit(own + c), scale(-1, unit(c)), unit(classes - 1))
        readout.append(rank_one(u, constants[c], unit(c)))
    built = Built(width, blocks, gather, readout, [])
    for j, c in enumerate(y):
        x = transformer(built.blocks(), lifted(Zs[j], width))[0]
        rest = max(x[e] for e in range(classes) if e != c)
        if x[c] > rest:
            continue
        places = [dot(mix, point) for point in points]
        away = [abs(places[i] - places[j]) for i in range(len(Zs)) if y[i] != c]
        built.repairs.append(
            plateau(unit, places[j], min(away, default=Fraction(1)), rest - x[c] + 1, c, mixture)
        )
    return built, features
