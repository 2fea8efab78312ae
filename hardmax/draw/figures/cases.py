"""Figures 3 to 5: the three cases of Lemma 3.5, each on two sequences.

The two sequences share tokens; the first separation block of the construction parts them. Which
case arises is decided by the construction, not by the figure, and a test asks for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...construct.paper.separate import SeparationStep, separate
from ...dataset import Dataset
from ...errors import ConstructionError
from ...exact.numbers import nearest_float
from ...model.tokens import Tokens
from ...model.transformer import Transformer
from ..moments import moments
from ..scene import (
    Clouds,
    arrow,
    clouds,
    colours,
    draw_hyperplane,
    draw_leaders,
    draw_means,
    draw_paths,
    draw_tokens,
    vector,
)
from ..style import BLACK, GREEN, GREY, RED, Glyph, caption, fit, glyphs, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Case:
    """One separation block on a data set: the tokens before it and after each of its layers."""

    data: Dataset
    step: SeparationStep
    states: dict[str, Clouds]  # by layer
    leaders: tuple[tuple[int, ...], ...]  # positions in every sequence

    @property
    def last(self) -> Clouds:
        """The tokens after the block."""
        return self.states["attention"]


def first_step(data: Dataset) -> Case:
    """Run the separation stage on ``data`` and keep its first block."""
    steps = separate(Tokens.from_sequences(data.sequences))
    if not steps:
        raise ConstructionError("the sequences share no token, so there is no case to show")
    block = steps[0].block
    states: dict[str, Clouds] = {}
    leaders: tuple[tuple[int, ...], ...] = ()
    for moment in moments(Transformer([block]), data.sequences):
        states[moment.layer] = clouds(moment)
        leaders = moment.leaders
    return Case(data, steps[0], states, leaders)


def draw_case_1(data: Dataset) -> Figure:
    """(a) the tokens, (b) after the feed-forward shift along v, (c) after attention."""
    case = first_step(data)
    colour, shape = colours(data), glyphs(data)
    start, end = case.states["input"], case.last
    shifted = case.states.get("feed-forward", start)
    figure, axes = panels(1, 3)
    fit(axes, [z for state in (start, shifted, end) for cloud in state for z in cloud], margin=0.2)
    draw_tokens(axes[0], start, colour, shape)

    draw_tokens(axes[1], start, colour, shape, ghost=True)
    draw_paths(axes[1], start, shifted, GREY)
    draw_tokens(axes[1], shifted, colour, shape)
    v = vector(case.step.block.v)
    draw_leaders(
        axes[1], [shifted[j][i] for j, chosen in enumerate(case.leaders) for i in chosen], v
    )
    _direction(axes[1], v)
    caption(axes[1], "feed-forward: shift along $v$")

    draw_tokens(axes[2], shifted, colour, shape, ghost=True)
    draw_paths(axes[2], shifted, end, RED)
    draw_tokens(axes[2], end, colour, shape)
    caption(axes[2], "attention: towards the leaders")
    return figure


def draw_case_2(data: Dataset) -> Figure:
    """(a) the tokens and their centres of mass, (b) after attention with v = 0."""
    case = first_step(data)
    colour, shape = colours(data), glyphs(data)
    start, end = case.states["input"], case.last
    figure, axes = panels(1, 2, size=2.4)
    fit(axes, [z for cloud in start for z in cloud])
    draw_tokens(axes[0], start, colour, shape)
    draw_means(axes[0], start, colour, shape)
    _pulled(axes[1], start, end, colour, shape)
    return figure


def draw_case_3(data: Dataset) -> Figure:
    """(a) tokens and their common centre of mass, (b) the splitting layer, (c) attention."""
    case = first_step(data)
    colour, shape = colours(data), glyphs(data)
    start, split, end = case.states["input"], case.states["feed-forward"], case.last
    figure, axes = panels(1, 3)
    fit(axes, [z for state in (start, split, end) for cloud in state for z in cloud])
    draw_tokens(axes[0], start, colour, shape)
    draw_means(axes[0], start, colour, shape)

    block = case.step.block
    draw_hyperplane(axes[1], vector(block.u), nearest_float(block.b), GREEN)
    draw_tokens(axes[1], start, colour, shape, ghost=True)
    draw_paths(axes[1], start, split, GREEN)
    draw_tokens(axes[1], split, colour, shape)
    u = vector(block.u)
    along = np.linspace(-1, 1, 201)[:, None] * np.diff(axes[1].get_xlim()) * [-u[1], u[0]]
    line = along / np.hypot(*u) - nearest_float(block.b) * u / (u @ u)
    draw_means(axes[1], split, colour, shape, tilde=True, avoid=line.tolist())
    caption(axes[1], r"feed-forward where $\langle u,z\rangle+b>0$")
    _pulled(axes[2], split, end, colour, shape, tilde=True)
    return figure


def _pulled(
    ax: Axes, before: Clouds, after: Clouds, colour: list[str], shape: list[Glyph],
    tilde: bool = False,
) -> None:  # fmt: skip
    """Attention with v = 0: every token is pulled towards the centre of mass of its sequence."""
    draw_tokens(ax, before, colour, shape, ghost=True)
    draw_paths(ax, before, after, RED)
    draw_tokens(ax, after, colour, shape)
    draw_means(ax, after, colour, shape, tilde)
    caption(ax, "attention: towards the means")


def _direction(ax: Axes, v: object) -> None:
    """The direction v as an arrow from the origin."""
    (x0, x1), _ = ax.get_xlim(), ax.get_ylim()
    unit = np.asarray(v) / np.hypot(*np.asarray(v))
    tip = unit * (x1 - x0) * 0.16
    arrow(ax, (0, 0), tip, BLACK, width=1.2, order=4.5, head=9)
    ax.annotate("$v$", tip, xytext=(-unit[1] * 9, unit[0] * 9), textcoords="offset points",
                ha="center", va="center", zorder=7)  # fmt: skip
