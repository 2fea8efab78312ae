"""Theorems of the alternative: whatever they answer, the proof is checked here in Fractions."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import dot

from hardmax.exact.alternatives import (
    Combination,
    Direction,
    Refutation,
    Solution,
    gordan,
    nonnegative_least_squares,
    project,
    strict_system,
)
from hardmax.testing import rationals

ZERO = Fraction(0)


def combine(weights, rows):
    return [sum((w * row[j] for w, row in zip(weights, rows, strict=True)), ZERO)
            for j in range(len(rows[0]))]  # fmt: skip


def check_gordan(rows):
    found = gordan(rows)
    if isinstance(found, Direction):
        assert all(dot(row, found.v) < 0 for row in rows)
    else:
        assert isinstance(found, Combination)
        assert min(found.weights) >= 0
        assert sum(found.weights) == 1
        assert not any(combine(found.weights, rows))
    return found


def check_strict(A, b):
    found = strict_system(A, b)
    if isinstance(found, Solution):
        assert all(dot(row, found.x) < bound for row, bound in zip(A, b, strict=True))
    else:
        assert isinstance(found, Refutation)
        assert min(found.y) >= 0
        assert any(found.y)
        assert not any(combine(found.y, A))
        assert dot(found.y, b) <= 0
    return found


@st.composite
def systems(draw, most_rows=8):
    d = draw(st.integers(1, 4))
    row = st.lists(rationals(), min_size=d, max_size=d).map(tuple)
    rows = draw(st.lists(row, min_size=1, max_size=most_rows))
    bounds = draw(st.lists(rationals(), min_size=len(rows), max_size=len(rows)))
    return rows, bounds


@given(systems())
def test_gordan_proves_its_answer(system):
    check_gordan(system[0])


@given(systems())
def test_strict_systems_prove_their_answer(system):
    check_strict(*system)


@given(systems(40))
@settings(max_examples=40)
def test_many_rows_go_through_the_linear_program(system):
    check_gordan(system[0])
    check_strict(*system)


@pytest.mark.parametrize("seed", range(6))
def test_margins_that_floats_do_not_see(seed):
    """Rows within 2^-70 of a hyperplane, on one side or on both; the sign decides."""
    rng = Random(seed)
    normal = [Fraction(rng.randint(-9, 9)) for _ in range(3)] + [Fraction(7)]
    tiny = Fraction(1, 2**70)
    flat = []
    for _ in range(60):
        x = [Fraction(rng.randint(-99, 99)) for _ in range(4)]
        shift = dot(normal, x) / dot(normal, normal)
        flat.append([a - shift * n for a, n in zip(x, normal)])
    below = [tuple(a - tiny * n for a, n in zip(x, normal)) for x in flat]
    assert isinstance(check_gordan(below), Direction)
    # with one row moved to the other side far enough, 0 may be in the hull: check whatever comes
    above = tuple(a + 61 * tiny * n for a, n in zip(flat[0], normal))
    check_gordan([*below, above, tuple(-a for a in above)])
    mirrored = [*below, *(tuple(-a for a in x) for x in below)]
    assert isinstance(check_gordan(mirrored), Combination)


@pytest.mark.parametrize("size", [Fraction(2) ** 900, Fraction(1, 2**900)])
def test_rows_far_outside_or_below_the_range_of_floats(size):
    rows = [(size, ZERO), (-size, Fraction(1)), (size * size, Fraction(-1))] * 10
    check_gordan(rows)
    check_strict(rows, [size * k for k in range(-15, 15)])


def test_known_answers():
    one = Fraction(1)
    assert isinstance(check_gordan([(one,), (one,)]), Direction)
    assert isinstance(check_gordan([(ZERO,)]), Combination)
    assert isinstance(check_strict([(one,), (-one,)], [ZERO, ZERO]), Refutation)
    assert isinstance(check_strict([(ZERO,)], [ZERO]), Refutation)
    assert isinstance(check_strict([(ZERO,)], [one]), Solution)
    # a triangle that touches itself in one point only
    touching = [(one, one), (-one, ZERO), (ZERO, -one)]
    assert isinstance(check_strict(touching, [ZERO, ZERO, ZERO]), Refutation)
    assert isinstance(check_strict(touching, [Fraction(1, 2**300), ZERO, ZERO]), Solution)
    with pytest.raises(ValueError, match="at least one row"):
        gordan([])


@given(systems())
def test_least_squares_meets_the_optimality_conditions(system):
    columns, target = system[0], (system[1] * 4)[: len(system[0][0])]
    y = nonnegative_least_squares(columns, tuple(target))
    residual = [t - s for t, s in zip(target, combine(y, columns), strict=True)]
    for weight, column in zip(y, columns, strict=True):
        slope = dot(residual, column)
        assert weight >= 0
        assert slope == 0 if weight > 0 else slope <= 0


@given(systems(), st.lists(rationals(), min_size=4, max_size=4))
def test_projection_meets_the_optimality_conditions(system, center):
    A, b = system
    center = tuple(center[: len(A[0])])
    if isinstance(strict_system(A, b), Refutation):
        return  # the set may be empty, and project needs a point
    point, multipliers = project(center, A, b)
    assert all(dot(row, point) <= bound for row, bound in zip(A, b, strict=True))
    assert combine(multipliers, A) == [c - p for c, p in zip(center, point, strict=True)]
    for weight, row, bound in zip(multipliers, A, b, strict=True):
        assert weight >= 0
        assert weight == 0 or dot(row, point) == bound


def test_projection_onto_nothing():
    with pytest.raises(ValueError, match="empty"):
        project((ZERO,), [(Fraction(1),), (Fraction(-1),)], [Fraction(-1), Fraction(-1)])
