"""Predictions: the set that holds the output, else the nearest; ties by the order of the labels."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_labels import inside, nearest_square, real

from hardmax import predict
from hardmax.errors import InputError
from hardmax.labels import Ball, Box, Distance, Halfspace, Point
from hardmax.testing import disjoint_sets, rationals

F = Fraction


def distance(label_set, x):
    """Distance of x from the closure, as a Decimal of 200 digits, by other means."""
    if isinstance(label_set, Point):
        return real(Distance(sum((a - b) ** 2 for a, b in zip(x, label_set.point, strict=True))))
    if isinstance(label_set, Ball):
        square = sum((a - b) ** 2 for a, b in zip(x, label_set.center, strict=True))
        return max(Decimal(0), real(Distance(square, label_set.radius)))
    return real(Distance(nearest_square(label_set, x)))


@given(st.randoms(use_true_random=False), st.tuples(rationals(20), rationals(20)))
def test_the_rule(rng, x):
    sets = disjoint_sets(["a", "b", "c", "d"], 2, rng)
    found = predict(x, sets)
    holding = [name for name, label_set in sets.items() if inside(label_set, x)]
    if holding:
        assert [found] == holding
        return
    away = {name: distance(label_set, x) for name, label_set in sets.items()}
    nearest = min(away.values())
    close = [name for name, value in away.items() if value - nearest < Decimal(10) ** -150]
    assert found == close[0]


def test_ties_go_to_the_first_label():
    for names in (["a", "b"], ["b", "a"]):
        sets = {name: Point((2 * k, 0)) for k, name in enumerate(names)}
        assert predict((1, 5), sets) == names[0]
        balls = {name: Ball((4 * k, 0), 1) for k, name in enumerate(names)}
        assert predict((2, 0), balls) == names[0]


def test_membership_beats_nearness():
    """On the boundary of an open set the distance is 0, too: the set that holds x wins."""
    sets = {"open": Ball((0, 0), 1), "point": Point((1, 0))}
    assert predict((1, 0), sets) == "point"
    assert predict((F(99, 100), 0), sets) == "open"


def test_touching_sets_tie_on_their_common_boundary():
    sets = {"left": Halfspace((-1, 0), 0), "right": Halfspace((1, 0), 0)}
    assert predict((0, 7), sets) == "left"
    assert predict((F(1, 2**500), 7), sets) == "right"


def test_irrational_distances_are_compared_exactly():
    """√2 against 1.4142…: rationals from both sides, far past the digits of a float."""
    digits = 14142135623730950488016887242096980785696718753769480731766797379907324784621
    low = F(digits, 10**76)
    for offset, nearer in ((low, "box"), (low + F(1, 10**76), "diagonal")):
        sets = {"diagonal": Point((1, 1)), "box": Box((-offset - 1, -1), (-offset, 1))}
        assert predict((0, 0), sets) == nearer


def test_without_sets_there_is_no_prediction():
    with pytest.raises(InputError, match="no label sets"):
        predict((0,), {})


def test_the_slabs_of_the_strategy_are_what_they_promise():
    """The helper above needs disjoint sets: a point lies in at most one of them."""
    rng = Random(5)
    for _ in range(50):
        sets = disjoint_sets(["a", "b", "c"], 2, rng)
        x = (F(rng.randint(-20, 20), 3), F(rng.randint(-20, 20), 3))
        assert sum(inside(label_set, x) for label_set in sets.values()) <= 1
