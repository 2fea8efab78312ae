"""Accuracy of compared models against their number of parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .style import BLUE, GREY, ORANGE, panels, plot_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..compare import Row


def draw(rows: Sequence[Row]) -> Figure:
    """One mark a model: filled where something is certified, on test data where there are any."""
    figure, (ax,) = panels(1, 1, size=3.6, gap=0.5, left=0.6, edge=0.12)
    shown = [row for row in rows if row.train is not None and row.parameters]
    tested = any(row.test is not None for row in shown)
    plot_axes(ax, "parameters", f"right predictions, {'test' if tested else 'training'} data")
    if not shown:
        return figure
    sizes = [row.parameters or 1 for row in shown]
    ax.set_xlim(min(sizes) / 2, max(sizes) * 12)  # room for the names
    ax.set_xscale("log")
    ax.minorticks_off()
    values = [row.test if row.test is not None else row.train or 0.0 for row in shown]
    low = min(values)
    ax.set_ylim(low - 0.1 * (1.02 - low), 1.03)
    ax.axhline(1, color=GREY, linewidth=0.5, zorder=1)
    for row, size, value in zip(shown, sizes, values, strict=True):
        colour = BLUE if row.name.startswith("built") else ORANGE
        ax.plot([size], [value], "o", markersize=5, color=colour,
                markerfacecolor=colour if row.certified else "white")  # fmt: skip
        ax.annotate(row.name, (size, value), xytext=(5, -3), textcoords="offset points", fontsize=7)
    return figure
