"""Theorems 6c and 6d: targets on a line, any number of labels, exact heights, no staircase."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hardmax as hm
from hardmax.labels import Box, Point

F = Fraction


def general(count: int, dimension: int, labels: int, seed: int = 0, sets=None) -> hm.Dataset:
    """Random integer tokens: means in general position but for bad luck; labels go round."""
    rng = np.random.default_rng(seed)
    tokens = rng.integers(-9999, 10000, size=(count, 3, dimension)).tolist()
    names = [f"c{j % labels:03d}" for j in range(count)]
    return hm.Dataset([[tuple(z) for z in Z] for Z in tokens], names, sets)


def theorem(count: int, dimension: int) -> int:
    """K + 1 + S + (d−1) + 1 with K = 0 and S = ⌈N/d⌉ (Theorem 6d)."""
    return 1 + -(-count // dimension) + (dimension - 1) + 1


@pytest.mark.parametrize(("count", "dimension"), [(200, 6), (60, 3), (90, 10)])
def test_as_many_labels_as_sequences(count, dimension):
    data = general(count, dimension, count)
    model = hm.build(data, "auto")
    assert model.meta["form"] == "exact"
    assert len(model) <= theorem(count, dimension)
    assert hm.certify(model, data).proved


def test_the_41_blocks():
    assert theorem(200, 6) == 41
    assert len(hm.build(general(200, 6, 200), "auto")) == 41


def test_more_than_d_points_in_one_hyperplane():
    """Any d means are affinely independent, but d + 1 are not: the count of Theorem 6c holds."""
    circle = [(3, 4), (4, 3), (5, 0), (0, 5), (-3, 4), (-4, 3), (-5, 0), (0, -5), (3, -4), (4, -3)]
    points = [(x, y, x * x + y * y) for x, y in circle]  # all in one plane, no three on a line
    points += [(x, y, 200 + x + 7 * y * y) for x, y in circle[:6]]
    data = hm.Dataset([[z] for z in points], [f"c{j:02d}" for j in range(16)])
    model = hm.build(data, "cover", learn=False)
    assert hm.certify(model, data).proved
    assert len(model) <= 1 + -(-15 // 2) + 2 + 1


@pytest.mark.parametrize("dimension", [2, 3, 5])
def test_a_long_line(dimension):
    data = general(150, dimension, 150, 8)
    model = hm.build(data, "cover", learn=False)
    assert hm.certify(model, data).proved
    assert len(model) <= theorem(150, dimension)


def line(labels: int, point, step) -> dict[str, Point]:
    return {
        f"c{i:03d}": Point(tuple(F(p) + i * F(s) for p, s in zip(point, step, strict=True)))
        for i in range(labels)
    }


@pytest.mark.parametrize(
    ("point", "step"),
    [
        ((0, 0, 0), ("1/1000", 0, 0)),
        ((5, -7, "1/3"), (0, -3, 1)),
        ((10**6, 0, 0), (0, 10**6, "1/7")),
    ],
)
def test_other_lines(point, step):
    data = general(36, 3, 18, 1, line(18, point, step))
    model = hm.build(data, "cover")
    assert model.meta["form"] == "exact"
    assert hm.certify(model, data).proved
    assert len(model) <= theorem(36, 3)


def test_a_polyline_with_a_bend():
    sets = line(12, (0, 0, 0, 0), (1, 0, 0, 0))
    sets |= {f"c{i:03d}": Point((F(11), F(i - 11), F(0), F(0))) for i in range(12, 24)}
    data = general(48, 4, 24, 2, sets)
    model = hm.build(data, "cover")
    assert model.meta["form"] == "exact"
    assert hm.certify(model, data).proved
    assert len(model) < 48


def test_targets_that_agree_in_no_coordinate_are_left_to_other_forms():
    data = general(20, 3, 20, 3, line(20, (0, 0, 0), (1, 2, 3)))
    model = hm.build(data, "auto")
    assert model.meta.get("form") != "exact"
    assert hm.certify(model, data).proved


def test_two_labels_keep_short_numbers():
    data = general(120, 6, 2, 4)
    model = hm.build(data, "cover")
    assert model.meta["form"] != "exact"


def test_open_sets_on_a_line():
    sets = {f"c{i:03d}": Box((2 * i, 0, 0), (2 * i + 1, 1, 1)) for i in range(15)}
    data = general(30, 3, 15, 5, sets)
    model = hm.build(data, "cover")
    assert hm.certify(model, data).proved


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(-3, 3), st.integers(-3, 3), st.integers(-3, 3)),
        min_size=6,
        max_size=24,
        unique=True,
    ),
    st.integers(0, 5),
)
def test_small_lattices_far_from_general_position(points, seed):
    data = hm.Dataset([[z] for z in points], [f"c{j:03d}" for j in range(len(points))])
    model = hm.build(data, "cover", seed=seed)
    assert hm.certify(model, data).proved
    assert len(model) <= len(points)  # all means differ, so K = 0
