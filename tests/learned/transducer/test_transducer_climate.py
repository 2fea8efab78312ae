"""The climate stand-in is what it says: windows, weights, and an operator that drifts or not."""

from __future__ import annotations

import numpy as np

from studies.transducer.climate import YEAR, Climate, Modes, windows


def slopes(T, p, start):
    """Slope of the best line from T to p over 60 days, pixel by pixel."""
    days = np.arange(start, start + 60)
    a, b = T[days] - T[days].mean(0), p[days] - p[days].mean(0)
    return (a * b).sum(0) / (a * a).sum(0)


def test_the_operator_changes_with_drift_only():
    gaps = {}
    for drift in (True, False):
        T, p = Climate(years=3, shape=(8, 16), drift=drift).fields
        found = [slopes(T, p, start).mean() for start in range(0, 3 * YEAR - 60, 60)]
        gaps[drift] = max(found) - min(found)
    assert gaps[True] > 2 * gaps[False]


def test_pressure_falls_with_height():
    climate = Climate(years=1, shape=(12, 24))
    T, p = climate.fields
    assert T.shape == p.shape == (YEAR, 12, 24)
    mean = p.mean(0)
    high = climate.height > 1
    assert mean[high].max() < mean[climate.height == 0].min()
    np.testing.assert_allclose(climate.weights.mean(), 1)


def test_windows_are_15_days_a_week_before_or_around_the_date_a_year_before():
    assert windows(1000, "week").tolist() == list(range(979, 994))
    year = windows(1000, "year")
    assert (len(year), year.mean()) == (15, 1000 - YEAR)


def test_modes_keep_the_weighted_norm():
    climate = Climate(years=1, shape=(6, 8))
    T, _ = climate.fields
    code = Modes(T, climate.weights, 48)
    vectors = code.encode(T[:3])
    np.testing.assert_allclose(code.decode(vectors), T[:3].reshape(3, -1), rtol=1e-6)
    centred = T[:3].reshape(3, -1) - T.reshape(len(T), -1).mean(0)
    np.testing.assert_allclose(
        (vectors**2).sum(1), (climate.weights.ravel() * centred**2).mean(1), rtol=1e-6
    )
