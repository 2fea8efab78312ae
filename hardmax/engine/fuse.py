"""Runs of feed-forward layers, cut into panels (theory C3)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from .panel import Kind, Panel
from .rounding import Array

if TYPE_CHECKING:
    from .plan import Plan

_KINDS: tuple[Kind, ...] = ("layers", "straight", "clips", "tents")
_ITEMS = 256  # of a panel
_TENTS = 1024
_BRIEF = 40  # layers in a row that form a single panel
_STRAIGHT = 4  # consecutive layers that read one coordinate each form a panel of their own


def panels(plan: Plan, run: Array) -> list[Panel]:
    """Cut consecutive layers into panels of tents, of straight layers, and of others."""
    if not len(run):
        return []
    tents = _tents(plan, run)
    straight = (plan.u[run] != 0).sum(axis=1) <= 1
    kinds = np.where(tents > 0, 3, np.where(_clips(plan, run), 2, straight.astype(int)))
    kinds = _long(_long(kinds, 2, 1), 1, 0)  # short runs are not worth a panel
    if len(run) <= _BRIEF and not tents.any():
        kinds = np.ones_like(kinds)  # and a short one is not worth more than one
    edges = [0, *(np.flatnonzero(np.diff(kinds)) + 1).tolist(), len(run)]
    panels = []
    for a, b in pairwise(edges):
        kind = _KINDS[int(kinds[a])]
        first = run[a:b:3] if kind == "tents" else run[a:b]
        if kind == "clips":
            panels += [Panel(kind, part, plan) for part in _apart(plan, first)]
            continue
        size = _TENTS if kind == "tents" else _ITEMS
        panels += [Panel(kind, first[i : i + size], plan) for i in range(0, len(first), size)]
    return panels


def _long(kinds: Array, kind: int, otherwise: int) -> Array:
    """Kinds of layers, with short runs of one kind turned into another."""
    edges = [0, *(np.flatnonzero(np.diff(kinds)) + 1).tolist(), len(kinds)]
    lengths = np.diff(edges)
    short = np.repeat(lengths < _STRAIGHT, lengths) & (kinds == kind)
    return np.where(short, otherwise, kinds)


def _clips(plan: Plan, run: Array) -> Array:
    """Which layers have u = ±e_i and w = −u, exactly."""
    u, w = plan.u[run], plan.w[run]
    found = (np.abs(u).sum(axis=1) == 1) & (np.abs(u).max(axis=1) == 1) & (w == -u).all(axis=1)
    for array in (plan.parameters.u, plan.parameters.w):
        if array.exact:
            found &= ~np.isin(run, [k // plan.dimension for k in array.exact])
    return np.asarray(found)


def _apart(plan: Plan, run: Array) -> list[Array]:
    """Consecutive clips in groups that cut every coordinate at most once, by coordinate."""
    groups: list[list[tuple[int, int]]] = []
    seen: set[int] = set()
    for k, i in zip(run.tolist(), np.abs(plan.u[run]).argmax(axis=1).tolist(), strict=True):
        if i in seen or not groups:
            groups.append([])
            seen = set()
        seen.add(i)
        groups[-1].append((i, k))
    return [np.array([k for _, k in sorted(group)]) for group in groups]


def _tents(plan: Plan, run: Array) -> Array:
    """For each layer of a run 1, 2 or 3 where it is that layer of a tent, else 0.

    A tent is three consecutive blocks with the same u, ⟨u,w⟩ = 0, w = (1, −2, 1)·w₁ and
    b₁ + b₃ = 2b₂, exactly: outside |t + b₂| < |b₁ − b₂| its layers add up to nothing.
    """
    found = np.zeros(len(run), dtype=int)
    if len(run) < 3:
        return found
    p = plan.parameters
    u, b, w = plan.u[run], plan.b[run], plan.w[run]
    same = (u[1:] == u[:-1]).all(axis=1)
    level = (np.abs(u) * np.abs(w)).sum(axis=1) == 0  # so ⟨u,w⟩ is exactly 0
    first, second, third = slice(0, -2), slice(1, -1), slice(2, None)
    candidates = same[:-1] & same[1:] & level[first] & (run[third] - run[first] == 2)
    candidates &= (w[second] == -2 * w[first]).all(axis=1) & (w[third] == w[first]).all(axis=1)
    left, rest = _difference(b[first], b[second])
    right, remainder = _difference(b[second], b[third])
    candidates &= (left == right) & (rest == remainder) & (left != 0)
    for array, width in ((p.u, plan.dimension), (p.w, plan.dimension), (p.b, 1)):
        for k in array.exact:  # overrides are not what the floats say
            at = int(np.searchsorted(run, k // width))
            candidates[max(at - 2, 0) : at + 1] = False
    i = 0
    places = np.flatnonzero(candidates)
    for i_next in places.tolist():
        if i_next >= i:
            found[i_next : i_next + 3] = 1, 2, 3
            i = i_next + 3
    return found


def _difference(x: Array, y: Array) -> tuple[Array, Array]:
    """X − y as a float and its rounding error, exactly (Knuth's TwoSum)."""
    total = x - y
    part = total - x
    return total, (x - (total - part)) + (-y - part)
