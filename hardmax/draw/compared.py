"""Right predictions of compared models, one line a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .style import BLACK, BLUE, GREY, ORANGE, bare, plot_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..compare import Row


def draw(rows: Sequence[Row]) -> Figure:
    """Training data hollow, test data filled; blue where something is certified, else orange."""
    from matplotlib.figure import Figure

    shown = [row for row in rows if row.train is not None]
    height = 0.26 * max(len(shown), 1) + 0.75
    figure = Figure(figsize=(6.0, height), facecolor="white")
    ax = figure.add_axes((0.34, 0.55 / height, 0.42, 1 - 0.75 / height))
    bare(ax)
    plot_axes(ax, "right predictions (%), hollow: training data", "")
    low = min((100 * min(row.train or 0, row.test or 1) for row in shown), default=0)
    ax.set_xlim(low - 0.06 * (102 - low), 102)
    ticks = [t for t in range(0, 101, 20 if low < 50 else 5) if t >= low - 3]
    ax.set_xticks(ticks, [str(t) for t in ticks])
    ax.set_ylim(len(shown) - 0.4, -0.6)
    ax.set_yticks(range(len(shown)), [row.name for row in shown])
    for place, row in enumerate(shown):
        colour = BLUE if row.certified else ORANGE
        ax.axhline(place, color=GREY, linewidth=0.4, zorder=1)
        ax.plot([100 * (row.train or 0)], [place], "o", color=colour, markerfacecolor="white")
        if row.test is not None:
            ax.plot([100 * row.test], [place], "o", color=colour, markersize=4.5)
        words = f"{row.parameters:,} parameters".replace(",", " ")
        ax.text(1.02, place, words, transform=ax.get_yaxis_transform(), va="center", fontsize=8.5,
                color=BLACK)  # fmt: skip
    return figure
