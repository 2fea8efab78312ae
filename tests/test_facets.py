"""Facets of convex hulls, found in lockstep, against their definition and against scipy's hulls."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from hardmax.construct.cover.shells.facets import Facets


def facets(Y, directions, rng):
    found = Facets(Y, directions, rng)
    return found.u, found.owner


def found(Y, many, seed=0):
    """Directions of points, as the shells take them."""
    rng = np.random.default_rng(seed)
    sizes = np.linalg.norm(Y, axis=1)
    far = np.flatnonzero(2 * sizes >= sizes.max())
    many = min(many, len(far), len(Y) // (2 * Y.shape[1]))
    chosen = rng.choice(far, many, replace=False)
    return facets(Y, Y[chosen], rng)


def check(Y, u, owner, room):
    """One facet after another: its points on the plane, none that is left above it."""
    left = np.ones(len(Y), dtype=bool)
    for q in range(len(u)):
        own = owner == q
        t = Y @ u[q]
        assert np.abs(t[own] - 1).max(initial=0) <= room
        left[own] = False
        assert t[left].max(initial=-np.inf) <= 1 + room
        assert np.linalg.matrix_rank(Y[own]) == own.sum() <= Y.shape[1]


@given(st.integers(2, 8), st.integers(1, 12), st.integers(0, 10**6), st.booleans())
def test_one_facet_after_another(d, many, seed, whole):
    rng = np.random.default_rng(seed)
    Y = rng.normal(size=(12 * d, d))
    if whole:  # lattices have many points on a facet
        Y = np.unique(np.round(2 * Y), axis=0)
    Y = Y - Y.mean(axis=0)
    u, owner = found(Y, many, seed)
    check(Y, u, owner, 1e-5)
    assert (owner == 0).sum() == d  # nothing is taken from the first


def test_in_general_position_every_facet_is_full():
    Y = np.random.default_rng(0).normal(size=(3000, 9))
    u, owner = found(Y, 32)
    assert (np.bincount(owner)[:32] == 9).all()
    check(Y, u, owner, 1e-5)


def test_facets_are_those_of_the_hull():
    Y = np.random.default_rng(1).normal(size=(200, 4))
    Y -= Y.mean(axis=0)
    _, owner = found(Y, 1)
    hull = {frozenset(simplex) for simplex in ConvexHull(Y).simplices.tolist()}
    assert frozenset(np.flatnonzero(owner == 0).tolist()) in hull


def test_a_facet_that_loses_points_goes_on():
    """All start in the same direction: the second facet is one of the hull without the first."""
    Y = np.random.default_rng(2).normal(size=(100, 3))
    Y -= Y.mean(axis=0)
    _, owner = facets(Y, np.tile(Y[:1], (4, 1)), np.random.default_rng(0))
    left = np.arange(len(Y))
    for q in range(4):
        own = np.flatnonzero(owner == q)
        hull = {frozenset(left[s].tolist()) for s in ConvexHull(Y[left]).simplices}
        assert frozenset(own.tolist()) in hull
        left = np.setdiff1d(left, own)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_the_last_facets_take_what_is_there(d):
    """A simplex has d + 1 vertices: the first facet takes d of them, the second the last."""
    Y = np.vstack([np.eye(d), -np.ones((1, d))])
    Y -= Y.mean(axis=0)
    u, owner = facets(Y, Y[:2], np.random.default_rng(0))
    assert sorted(np.bincount(owner, minlength=3)[:2]) == [1, d]
    check(Y, u, owner, 1e-5)


@given(st.integers(2, 8), st.integers(1, 12), st.integers(1, 4), st.integers(0, 10**6))
def test_tilted_facets_are_positive_on_their_own_points_alone(d, many, ranks, seed):
    rng = np.random.default_rng(seed)
    Y = rng.normal(size=(12 * d, d))
    Y -= Y.mean(axis=0)
    rank = rng.integers(1, ranks + 1, len(Y)).astype(float)
    hulls = Facets(Y, Y[rng.choice(len(Y), min(many, len(Y) // (2 * d)), replace=False)], rng)
    full, W = hulls.tilted(rank)
    for q, w in zip(full, W, strict=True):
        t = Y @ w[:-1] + w[-1]
        own = hulls.owner == q
        assert set(hulls.points[q].tolist()) == set(np.flatnonzero(own).tolist())
        size = np.abs(t).max()
        share = t[own] / rank[own]
        assert share.min() > 0
        assert np.ptp(share) <= 1e-6 * size + 1e-6 * share.max()
        assert (t[hulls.owner > q] < 0).all()


def test_facets_that_others_touch_are_not_tilted():
    """A cube has four corners on each of its facets, a facet that is found owns three of them."""
    Y = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    hulls = Facets(Y, np.array([[1.0, 0.1, 0.2]]), np.random.default_rng(0))
    assert (hulls.count == 3).all()
    assert not len(hulls.tilted(np.ones(8))[0])


def test_nothing_is_tilted_where_no_facet_is_full():
    """Two hyperplanes share the points of a segment: the second gets what is left."""
    Y = np.array([[1.0], [-1.0]])
    hulls = Facets(Y, np.array([[1.0], [1.0], [1.0]]), np.random.default_rng(0))
    assert hulls.count.tolist() == [1, 1, 0]
    hulls.count[:] = 0
    full, W = hulls.tilted(np.ones(2))
    assert not len(full)
    assert W.shape == (0, 2)
