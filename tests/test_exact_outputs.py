"""Outputs that floats can't tell from their targets: exact integers decide."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hardmax as hm
from hardmax import RankOneBlock, Transformer
from hardmax.certify.verify import misclassified
from hardmax.exact.array import ExactArray
from hardmax.exact.sums import Limbs, sums_of_tokens
from hardmax.labels import Point
from hardmax.testing import adversarial

F = Fraction
INTEGERS = st.integers(-(2**300), 2**300) | st.integers(-(2**64), 2**64)
PRIME = 16777213  # just below 2^24
FIRST = PRIME * 16777199 * 16777183 * 16777153 * 16777141


def test_far_below_the_error_of_floats():
    """Zero for all that floats and the first primes say; not for what floats can't exclude."""
    token = (1 + F(FIRST, 2**180), F(0))
    model = Transformer([RankOneBlock.translation((-1, 0), rho=0, alpha=1)])
    sets = {"a": Point((0, 0))}
    assert len(misclassified(model, hm.Dataset([[token]], ["a"], sets))) == 1
    assert misclassified(model, hm.Dataset([[(1, 0)]], ["a"], sets)) == []


def test_unclear_layers():
    """A layer that floats can't tell from an active one, and that would lead to the target if it
    were one."""
    tiny = F(1, 2**100)
    for sign in (1, -1):
        layer = RankOneBlock.of(2, u=[1, 0], b=-1 + sign * tiny, w=[1, 0])
        model = Transformer([RankOneBlock.of(2, rho=0, alpha=1), layer])
        sets = {"a": Point((1 + sign * tiny, 1))}
        wrong = misclassified(model, hm.Dataset([[(1, 1)]], ["a"], sets))
        assert bool(wrong) == (sign < 0)


def test_long_denominators_of_targets():
    sets = {"a": Point((1 + F(FIRST, 2**180), 1))}
    model = Transformer([RankOneBlock.of(2, rho=0, alpha=1)])
    assert len(misclassified(model, hm.Dataset([[(1, 1)]], ["a"], sets))) == 1
    assert misclassified(model, hm.Dataset([[sets["a"].point]], ["a"], sets)) == []


def test_the_last_layers_count():
    """What the last layers add is a multiple of the first primes, in front of them all is well."""
    token = (F(1), F(1))
    blocks = [RankOneBlock.of(2, rho=0, alpha=1), RankOneBlock.translation((FIRST, 0))]
    sets = {"a": Point(token)}
    assert len(misclassified(Transformer(blocks), hm.Dataset([[token]], ["a"], sets))) == 1
    assert misclassified(Transformer(blocks[:1]), hm.Dataset([[token]], ["a"], sets)) == []


def test_denominators_without_inverses():
    """Denominators that are multiples of the primes themselves."""
    p = PRIME
    tokens = [[(F(1, p), F(2))], [(F(1, p) + F(1, p**2), F(2))]]
    sets = {"a": Point((F(1, p), 2))}
    model = Transformer([RankOneBlock.of(2, rho=0, alpha=1)])
    assert misclassified(model, hm.Dataset(tokens[:1], ["a"], sets)) == []
    assert [j for j, _ in misclassified(model, hm.Dataset(tokens, ["a", "a"], sets))] == [1]


def test_targets_past_the_range_of_floats():
    model = Transformer([RankOneBlock.of(2, rho=0, alpha=1)])
    sets = {"a": Point((10**400, 1)), "b": Point((1, 1))}
    data = hm.Dataset([[(1, 1)], [(2, 1)], [(1, 1)]], ["a", "a", "b"], sets)
    assert [j for j, _ in misclassified(model, data)] == [0, 1]


def test_thousands_of_bits():
    token = (F(1, 3**2000), F(1))
    model = Transformer([RankOneBlock.of(2, rho=0, alpha=1)])
    assert misclassified(model, hm.Dataset([[token]], ["a"], {"a": Point(token)})) == []
    other = (token[0] + F(1, 5**2000), F(1))
    assert misclassified(model, hm.Dataset([[token]], ["a"], {"a": Point(other)}))


def test_one_wrong_among_many():
    data = adversarial("collinear", 12)
    model = hm.build(data, strategy="peel")
    p = model.parameters
    w = p.w.values.copy()
    k = int(np.flatnonzero(w.any(axis=1))[-1])
    exact = dict(p.w.exact)
    place = k * model.dimension + int(np.flatnonzero(w[k])[0])
    exact[place] = exact.get(place, F(float(w.flat[place]))) + F(1, 2**180)
    blocks = list(model.blocks)
    row = [exact.get(k * model.dimension + i, F(float(w[k, i]))) for i in range(model.dimension)]
    given = blocks[k]
    blocks[k] = RankOneBlock.of(
        model.dimension, u=given.u, b=given.b, w=row, rho=given.rho, alpha=given.alpha, v=given.v
    )
    assert len(misclassified(Transformer(blocks), data)) == 1


def test_denominators_of_targets_count():
    """An output that is the numerator of its target alone."""
    model = Transformer([RankOneBlock.of(2, rho=0, alpha=1)])
    sets = {"a": Point((F(1, 2), F(3, 2)))}
    assert len(misclassified(model, hm.Dataset([[(1, 3)]], ["a"], sets))) == 1
    assert misclassified(model, hm.Dataset([[(F(1, 2), F(3, 2))]], ["a"], sets)) == []


def test_targets_that_are_moved():
    """What is remembered of a model says nothing of the sets of another data set."""
    data = adversarial("collinear", 12)
    model = hm.build(data, strategy="peel")
    assert misclassified(model, data) == []
    first, *_ = data.sets
    moved = Point(tuple(x + F(1, 3) for x in data.sets[first].point))
    other = hm.Dataset(data.sequences, data.labels, {**data.sets, first: moved})
    assert {data.labels[j] for j, _ in misclassified(model, other)} == {first}
    assert misclassified(model, data) == []


def test_denominators_of_attention_count():
    """Attention behind the collapse that divides by 3, so often that a prime is next to nothing."""
    p = PRIME
    blocks = [RankOneBlock.of(1, rho=0, alpha=1)] + [
        RankOneBlock.of(1, rho=F(1, 6), alpha=F(1, 6))
    ] * 40
    model = Transformer(blocks)
    sets = {"a": Point((0,))}
    assert len(misclassified(model, hm.Dataset([[(p,)]], ["a"], sets))) == 1
    assert misclassified(model, hm.Dataset([[(0,)]], ["a"], sets)) == []


@pytest.mark.parametrize("count", [511, 512, 1024, 2000])
def test_sums_of_many_long_tokens(count):
    """Integers just below 2^53: int64 holds the sum of 1 023 of them."""
    tokens = ExactArray(np.full((count, 1), 2.0**53 - 1))
    sums = sums_of_tokens(tokens, np.arange(count), np.array([0, count]))
    assert sums.integers().tolist() == [[count * (2**53 - 1) * sums.denominator]]


@given(st.lists(INTEGERS, min_size=1))
def test_limbs(numbers):
    assert Limbs.of(np.array(numbers, dtype=object)).integers().tolist() == numbers
