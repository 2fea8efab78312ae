"""The stated counts, computed from the theorems and the data alone, not from what was built."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

import hardmax as hm
from hardmax.testing import FAMILIES, adversarial

QUICK, MANY = 2, 15  # data sets for each family

MOST = [  # "dimension-48" takes seconds
    pytest.param(x, marks=pytest.mark.slow) if x == "dimension-48" else x for x in FAMILIES
]


def measure(Z) -> frozenset:
    """The empirical measure of a sequence."""
    return frozenset((z, Fraction(k, len(Z))) for z, k in Counter(map(tuple, Z)).items())


def mean(mu: frozenset) -> tuple:
    return tuple(
        sum(x * mass for x, (_, mass) in zip(column, mu, strict=True))
        for column in zip(*(z for z, _ in mu), strict=True)
    )


def components(measures: list[frozenset]) -> int:
    """Of the graph that joins two measures with a common token (theory.md, section 5)."""
    groups: list[set] = []
    for mu in measures:
        tokens = {z for z, _ in mu}
        touched = [group for group in groups if group & tokens]
        groups = [group for group in groups if not group & tokens]
        groups.append(tokens.union(*touched))
    return len(groups)


def bounds(data: hm.Dataset) -> dict[str, int]:
    """The most blocks of each strategy: Theorem 6 for `paper`, Theorem B for the others."""
    measures = list({measure(Z) for Z in data.sequences})
    count = len(measures)
    zero = any(not any(z) for mu in measures for z, _ in mu)
    most = max((count - len({mean(mu) for mu in measures})) + count, 1)
    assert most <= max(2 * count - 1, 1)
    paper = (count - components(measures)) + 1 + count + zero
    assert paper <= 2 * count + zero
    return {"paper": paper, "peel": most, "cover": most, "auto": most}


def check(data: hm.Dataset) -> None:
    for strategy, most in bounds(data).items():
        model = hm.build(data, strategy)
        assert len(model) <= most, strategy
        assert hm.certify(model, data).proved, strategy


@pytest.mark.parametrize("name", MOST)
def test_adversarial_data(name):
    for draw in range(QUICK):
        check(adversarial(name, 5 + 4 * draw, draw))


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_many_adversarial_data(name):
    for draw in range(MANY):
        check(adversarial(name, 3 + draw % 12, 1000 + draw))


@pytest.mark.parametrize(("count", "dimension"), [(50, 4), (101, 11), (12, 13)])
def test_shells_of_gaussian_means(count, dimension):
    """In general position the program meets S = max(1, ⌈(N−1)/(d−1)⌉)."""
    rng = np.random.default_rng(7)
    tokens = rng.standard_normal((count, 2, dimension)).tolist()
    data = hm.Dataset(tokens, [str(j) for j in range(count)])
    model = hm.build(data, "cover")
    shells = max(1, -(-(count - 1) // (dimension - 1)))
    exact = 1 + shells + (dimension - 1) + 1
    assert len(model) <= min(exact, count)
