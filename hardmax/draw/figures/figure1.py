"""Figure 1: geometry of hardmax attention, (2.4a) with A = I."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...dataset import Dataset
from ...exact.matrix import Matrix
from ...model.layers import SelfAttention
from ..scene import arrow, vector
from ..style import BLACK, BLUE, GREY, RED, fit, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw(data: Dataset) -> Figure:
    """Project the tokens of one sequence onto the direction of A z₁ = z₁.

    The maximisers C₁(Z, I) are those of the exact attention layer.
    """
    tokens = data.sequence(0)
    identity = Matrix.identity(2)
    chosen = SelfAttention(identity.rows()[0][0], identity, identity).leaders(Matrix(tokens))[0]
    points = np.array([vector(z) for z in tokens])
    direction = points[0] / np.hypot(*points[0])
    feet = np.outer(points @ direction, direction)

    figure, (ax,) = panels(1, 1, size=3.6, gap=0.1)
    reach = direction * (feet @ direction).max() * 1.28
    fit([ax], [*points, *feet, reach, (0.0, 0.0)], margin=0.1)
    ax.axline((0, 0), tuple(direction), color=GREY, linewidth=0.8, zorder=1.5)
    arrow(ax, (0, 0), reach, BLACK, width=1.0, order=2, head=11)
    ax.annotate(
        "direction of $Az_1$", 0.4 * reach, xytext=tuple(-_left(direction) * 10),
        textcoords="offset points", ha="center", va="center", rotation_mode="anchor",
        rotation=float(np.degrees(np.arctan2(direction[1], direction[0]))),
    )  # fmt: skip
    for i, (z, foot) in enumerate(zip(points, feet, strict=True)):
        _token(ax, i, z, foot, direction, i in chosen)
    return figure


def _token(
    ax: Axes, i: int, z: np.ndarray, foot: np.ndarray, direction: np.ndarray, chosen: bool
) -> None:
    """One token with its orthogonal projection, red if it is a maximiser."""
    colour = RED if chosen else GREY
    offset = z - foot
    if (length := np.hypot(*offset)) > 1e-9:
        ax.plot(*zip(z, foot, strict=True), color=colour, linewidth=1.0, dashes=(3, 2), zorder=2)
        side = offset / length
        corner = np.array(
            [foot + 0.2 * side, foot + 0.2 * (side - direction), foot - 0.2 * direction]
        )
        ax.plot(*corner.T, color=colour, linewidth=0.7, zorder=2)
        ax.plot(*foot, marker="o", markersize=3, color=colour, zorder=3)
    else:
        side = _left(direction)
    ax.plot(
        *z, marker="o", markersize=8, markerfacecolor=RED if chosen else BLUE,
        markeredgecolor="white", markeredgewidth=0.7, zorder=5,
    )  # fmt: skip
    ax.annotate(
        f"$z_{i + 1}$",
        (z[0], z[1]),
        xytext=tuple(side * 12),
        textcoords="offset points",
        ha="center",
        va="center",
    )


def _left(direction: np.ndarray) -> np.ndarray:
    return np.array([-direction[1], direction[0]])
