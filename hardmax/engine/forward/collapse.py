"""From tokens to points: the blocks up to the first one with ρ = 0 (theory C5).

If float64 holds all numbers on the way, tokens are computed without rounding (`integer_tokens`).
Otherwise a sequence becomes a single enclosed point if all its tokens meet the same active layers
and the same leader (or, where v = 0, all tokens of the sequence). What floats cannot tell is left
to exact arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...enclosure.rounding import MOST, error
from ...exact.array import Array, ExactArray
from ..compile.plan import Plan
from .enclosed_tokens import EnclosedTokens, Focus, Layer
from .integer_tokens import ExactMeans, exact_means
from .points import EnclosedPoints


@dataclass
class Collapsed:
    """n sequences as points behind the collapse.

    ``points`` encloses them, except for the sequences that are ``lost``: floats do not know their
    points. ``uniform`` (n,) marks the sequences whose tokens all passed the same affine maps for
    certain; ``story`` lists these maps. The collapse took the tokens of such a sequence to the
    token ``leader``, or to their mean (None), and multiplied by α. If ``means`` are given they are
    the exact points from which the story starts. ``starts`` holds exact points X/q behind the
    collapse as rows (X, q), for sequences that are not uniform.
    """

    points: EnclosedPoints
    lost: Array | None  # None: no sequence is
    uniform: Array
    story: list[Layer | Focus]
    leader: Array | None
    means: ExactMeans | None = None
    starts: dict[int, list[int]] = field(default_factory=dict)

    @property
    def begun(self) -> Array:
        """Which sequences have an exact point to go on from, (n,)."""
        found = self.uniform.copy()
        found[list(self.starts)] = True
        return found

    @property
    def leaders(self) -> list[Array | None]:
        """What all tokens of a sequence were pulled to, in order, and what they became."""
        pulls = [part.leader for part in self.story if isinstance(part, Focus)]
        return [*pulls, self.leader]


def collapse(plan: Plan, tokens: ExactArray, offsets: Array) -> Collapsed | None:
    """Enclose the sequences ``offsets`` (n+1,) of packed tokens as points; None where the plan
    cannot.
    """
    if plan.collapse is None:
        return None
    if not tokens.largest < MOST:
        return None
    means = exact_means(plan, tokens, offsets)
    return _enclosed(plan, tokens, offsets) if means is None else _exactly(plan, means)


def _exactly(plan: Plan, means: ExactMeans) -> Collapsed:
    """Points whose exact coordinates are known: each is rounded once."""
    values = (means.after or means).floats()
    points = EnclosedPoints(values, error(2, np.abs(values)))
    points.scale(float(plan.parameters.alpha.values[plan.collapse]))
    lost = None if means.known.all() else ~means.known
    story: list[Layer | Focus] = []
    if means.after is not None:
        story.append(Layer(plan.collapse or 0, np.ones(len(values), dtype=bool)))
    return Collapsed(points, lost, means.known, story, None, means)


def _enclosed(plan: Plan, tokens: ExactArray, offsets: Array) -> Collapsed:
    """Points enclosed in floats from the start."""
    batch = EnclosedTokens.of(plan, tokens, offsets)
    p, end = plan.parameters, plan.collapse or 0
    if plan.features:
        batch.features(plan.prefix[: plan.features])
    for block in plan.prefix[plan.features :]:
        if plan.moves[block]:
            batch.layer(block)
        if block < end and not plan.rests[block]:
            rho, alpha = float(p.rho.values[block]), float(p.alpha.values[block])
            batch.pull(block, rho, alpha)
    leader = batch.leaders(end) if p.v.values[end].any() else None
    points = batch.means() if leader is None else batch.rows(leader)
    alpha = float(p.alpha.values[end])
    if alpha != 1 or end in p.alpha.exact:
        points.scale(alpha)
    lost = None if batch.found.all() else ~batch.found
    return Collapsed(points, lost, batch.uniform & batch.found, batch.story, leader)
