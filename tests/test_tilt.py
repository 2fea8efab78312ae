"""What bounds of t prove of a shell (docs/theory.md, Theorem 6a)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardmax.construct.cover.shells.tilt import BAND, certified

RANKS = np.array([[1.0, 2.0, 3.0]])


def proven(low, high, rest=-1.0, top=8.0):
    """Whether one shell is, its factor and its gate."""
    sure, factor, gate = certified(
        np.array([low]), np.array([high]), RANKS, np.array([rest]), np.array([top])
    )
    return sure[0], Fraction(float(factor[0])), Fraction(float(gate[0]))


@pytest.mark.parametrize(
    ("change", "sure"),
    [
        ({}, True),
        ({"rest": 0.0}, True),
        ({"rest": 2.0**-300}, False),
        ({"rest": -np.inf}, True),
        ({"low": [0.0, 2.0, 3.0]}, False),
        ({"low": [-(2.0**-300), 2.0, 3.0]}, False),
        ({"low": [0.74, 2.0, 3.0]}, False),
        ({"high": [1.0, 2.0, 3.26]}, False),
        ({"low": [0.76, 1.76, 2.76], "high": [1.24, 2.24, 3.24]}, True),
    ],
)
def test_shells_are_proven_by_bounds_alone(change, sure):
    assert proven(**{"low": [1.0, 2.0, 3.0], "high": [1.0, 2.0, 3.0], **change})[0] == sure


@given(
    st.lists(st.floats(2.0**-60, 1.0), min_size=3, max_size=3),
    st.floats(2.0**-40, 2.0**40),
    st.floats(2.0**-80, 0.4),
)
def test_bands_and_gates(noise, unit, size):
    """Whatever t lies within the bounds, points get into their bands and stay there."""
    low = unit * (RANKS[0] - size * np.array(noise))
    high = unit * (RANKS[0] + size * np.array(noise)[::-1])
    sure, factor, gate = proven(low, high, -1.0, float(high.max()))
    if size < 0.01:
        assert sure
    if sure:
        for lowest, highest, rank in zip(low, high, RANKS[0], strict=True):
            assert factor * Fraction(lowest) >= Fraction(rank) - BAND
            assert factor * Fraction(highest) <= Fraction(rank) + BAND
        # a point that is parked has a height of 3/4 or more, and is not raised again
        assert Fraction(float(high.max())) + gate * (1 - BAND) < 0
