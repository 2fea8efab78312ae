"""Tests of tents in single precision miss nothing."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import dot

from hardmax import RankOneBlock, Transformer
from hardmax.enclosure.rounding import SPARE, gamma
from hardmax.engine import Plan
from hardmax.engine.forward import buffers
from hardmax.engine.forward import tents as slabs
from hardmax.engine.forward.buffers import Buffers
from hardmax.engine.forward.points import EnclosedPoints

F = Fraction


def cancelling(rng, n, d, scale):
    """Points far from zero, and directions along which they nearly agree; the last entry is 0."""
    far = rng.integers(1, 9, size=d)
    X = scale * (far + rng.normal(size=(n, d)) * 2.0 ** -rng.integers(0, 25))
    U = rng.normal(size=(n, d))
    U[:, 0] -= (U[:, :-1] @ far[:-1]) / far[0]
    U[:, -1] = 0
    return X, U


def exact(row):
    return [F(x) for x in row.tolist()]


def with_collapse(blocks, d):
    return Plan.of(Transformer([RankOneBlock.of(d, rho=0, alpha=1), *blocks]))


SEEDS = st.integers(0, 10**6)


@given(SEEDS, st.integers(2, 4) | st.integers(2, 40), st.integers(-30, 30), st.integers(-30, -5))
def test_slabs_are_noticed(seed, d, size, narrow):
    """Points on an edge, or within a slab so narrow that single precision can't tell."""
    rng = np.random.default_rng(seed)
    X, U = cancelling(rng, 12, d, 2.0**size)
    blocks, wanted = [], set()
    for k, u in enumerate(U):
        half = F(2) ** (size + narrow + int(rng.integers(0, 5)))
        aim = half * int(rng.integers(-1, 2))
        b = aim - dot(exact(u), exact(X[k]))
        for side, weight in ((1, 1), (0, -2), (-1, 1)):
            w = [F(0)] * (d - 1) + [F(weight)]
            blocks.append(RankOneBlock.of(d, u=exact(u), b=b + side * half, w=w))
        for j, x in enumerate(X):
            if abs(dot(exact(u), exact(x)) + b) <= half:
                wanted.add((j, k))
    plan = with_collapse(blocks, d)
    panels = [panel for panel in plan.steps if getattr(panel, "kind", "") == "tents"]
    if [len(panel) for panel in panels] != [len(U)]:
        return  # offsets that floats round are no tents
    points = EnclosedPoints(X, np.zeros_like(X))
    assert wanted
    for many in (0, slabs.MANY, 10**9):  # double precision tests proposed pairs, or all
        rows, items = slabs.inside(panels[0], points, points.reach(d - 1), Buffers(), many)
        assert wanted <= set(zip(rows.tolist(), items.tolist(), strict=True))


@given(SEEDS, st.integers(1, 40), st.sampled_from([-280, -140, -75, -62, -30, 0, 30, 62, 70, 280]))
def test_reaches_and_lengths_are_bounds(seed, d, size):
    """By exact arithmetic, past the range of single precision as well, beside points at zero."""
    rng = np.random.default_rng(seed)
    axis = int(rng.integers(0, d))
    with np.errstate(over="ignore", invalid="ignore"):
        X = rng.normal(size=(6, d)) * 2.0 ** (size - rng.integers(0, 3, size=(6, 1)) * 10)
        X[rng.integers(0, 12, size=6) == 0] = 0
        X += rng.normal(size=d) * 2.0 ** (size + 6) * rng.integers(0, 2)
        points = EnclosedPoints(X, 2.0 ** (size - rng.integers(30, 80, size=X.shape)))
        reach, (_, scale) = points.reach(axis), slabs.single_precision(points, axis)
    others = [i for i in range(d) if i != axis]
    for j, (x, r) in enumerate(zip(X, points.radius, strict=True)):
        least = sum((F(gamma(d + SPARE)) * abs(F(x[i])) + F(r[i])) ** 2 for i in others)
        assert F(reach[j]) ** 2 >= least
        if np.isfinite(scale):
            assert F(scale) ** 2 >= sum(F(x[i]) ** 2 for i in others)


@pytest.mark.parametrize("count", [1, 25, 257, 323, 384, 385, 1475])
def test_panels_of_about_one_size(count):
    """Layers in order, each once, without a short panel at the end."""
    rng = np.random.default_rng(count)
    blocks = [
        RankOneBlock.of(3, u=row[:3], b=row[3], w=row[4:]) for row in rng.normal(size=(count, 7))
    ]
    steps = with_collapse(blocks, 3).steps
    assert np.concatenate([step.first for step in steps]).tolist() == [*range(1, count + 1)]
    sizes = [len(step) for step in steps]
    assert max(sizes) - min(sizes) <= 1
    assert max(sizes) <= 384
    assert len(sizes) <= max(1, count / 170)


@given(st.integers(0, 5000), st.integers(0, 2**20))
def test_runs_are_of_about_one_size(count, width):
    found = buffers.runs(count, width)
    assert [i for some in found for i in range(some.start, some.stop)] == [*range(count)]
    sizes = [some.stop - some.start for some in found]
    assert all((size - 1) * width <= buffers._ENTRIES_IN_CACHE for size in sizes)
    assert len(set(sizes[:-1])) <= 1
