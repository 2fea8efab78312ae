"""Half-space, tent and clamp seen from the side: position across, height up (theory B4)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from ...model.layers import RankOneBlock
from ...model.transformer import Transformer
from ..scene import arrow, vector
from ..style import BLACK, BLUE, GREY, ORANGE, RED, caption, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

F = Fraction
EPSILON, RISE = F(1), F(2)  # the tent's margin, and how much its captured points must rise
RAISED = [F(-2, 3), F(1, 2), F(1, 6)]  # positions t of points to be captured by the tent
AVOIDED = [F(-4), F(-5, 2), F(9, 4), F(7, 2)]  # and of points to be avoided: |t| ≥ 2ε
ACROSS, UP = (F(1), F(0)), (F(0), F(1))


def half_space() -> list[RankOneBlock]:
    """One block raises {t > 0}, here {position > 1/2}, in proportion to t."""
    return [RankOneBlock.of(2, u=ACROSS, b=F(-1, 2), w=(F(0), F(2)))]


def tent() -> list[RankOneBlock]:
    """Three blocks with offsets 2ε, 0, −2ε and w = R(1, −2, 1): zero for |t| ≥ 2ε, and at
    least Rε for |t| ≤ ε."""
    slope = RISE / EPSILON
    return [
        RankOneBlock.of(2, u=ACROSS, b=shift * EPSILON, w=(F(0), factor * slope))
        for shift, factor in ((2, 1), (0, -2), (-2, 1))
    ]


def clamp() -> list[RankOneBlock]:
    """One block brings every height from Rε on down to exactly Rε."""
    return [RankOneBlock.of(2, u=UP, b=-RISE, w=(F(0), F(-1)))]


def draw() -> Figure:
    """What is raised (blue) rises by enough, what is avoided (orange) stays where it was."""
    figure, axes = panels(1, 3, size=2.3)
    raised, avoided = [F(3, 2), F(9, 4), F(7, 2)], [F(-4), F(-2), F(-3, 4), F(-1, 4)]
    _panel(axes[0], half_space(), [], raised, avoided)
    caption(axes[0], "half-space: one block")
    _gap(axes[0], avoided[-1], raised[0], F(-4, 5), "margins")
    _panel(axes[1], tent(), [], RAISED, AVOIDED)
    caption(axes[1], "tent: three blocks")
    _gap(axes[1], -EPSILON, EPSILON, F(-4, 5), r"$|t|\leq\varepsilon$")
    _gap(axes[1], -2 * EPSILON, 2 * EPSILON, F(-9, 5), r"$|t|<2\varepsilon$")
    _panel(axes[2], tent(), clamp(), RAISED, AVOIDED)
    caption(axes[2], "clamp: one block, and the top is flat")
    _gap(axes[2], -EPSILON, EPSILON, F(-4, 5), "flat")
    return figure


def _panel(
    ax: Axes,
    blocks: Sequence[RankOneBlock],
    more: Sequence[RankOneBlock],
    raised: Sequence[Fraction],
    avoided: Sequence[Fraction],
) -> None:
    """The exact image of the line height = 0, and of the points on it."""
    line = [F(k, 12) for k in range(-60, 61)]
    after = _lifted([*blocks, *more], line)
    if more:
        ax.plot(*_lifted(blocks, line).T, color=GREY, linewidth=0.9, dashes=(3, 2), zorder=2)
    ax.plot(*after.T, color=BLACK, linewidth=1.2, zorder=3)
    for group, colour in ((raised, BLUE), (avoided, ORANGE)):
        start, end = _lifted(blocks if more else [], group), _lifted([*blocks, *more], group)
        for a, b in zip(start, end, strict=True):
            if a[1] != b[1]:
                ax.plot(*a, marker="o", markersize=4.5, markerfacecolor="white",
                        markeredgecolor=GREY, zorder=4)  # fmt: skip
                arrow(ax, a, b, RED, shrink=3)
        ax.plot(*end.T, linestyle="none", marker="o", markersize=6, color=colour,
                markeredgecolor="white", markeredgewidth=0.6, zorder=5)  # fmt: skip
    ax.set_xlim(-5, 5)
    ax.set_ylim(-2.6, 7.4)


def _lifted(blocks: Sequence[RankOneBlock], positions: Sequence[Fraction]) -> np.ndarray:
    """Tokens (t, 0) after the blocks, from an exact run."""
    tokens = [(t, F(0)) for t in positions]
    if blocks:
        tokens = list(Transformer(blocks).trace(tokens)[-1])  # type: ignore[arg-type]
    return np.array([vector(z) for z in tokens])


def _gap(ax: Axes, left: Fraction, right: Fraction, height: Fraction, text: str) -> None:
    """A width, below the line."""
    ax.annotate(
        "", (float(left), float(height)), (float(right), float(height)),
        arrowprops={"arrowstyle": "<->", "linewidth": 0.8, "shrinkA": 0, "shrinkB": 0},
    )  # fmt: skip
    ax.text(float(right) + 0.25, float(height), text, va="center", ha="left")
