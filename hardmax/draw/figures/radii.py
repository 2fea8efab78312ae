"""Robust radii of the training sequences, by strategy."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from ...certify.radius import radii
from ...construct.build import STRATEGIES, build
from ...exact.numbers import nearest_float
from ..style import panels, plot_axes
from .depth import MARKS, sequences

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COUNT, LABELS = 64, 2


def draw() -> Figure:
    """Share of sequences whose robust radius is at least r (∞-norm), r across."""
    data = sequences(COUNT, LABELS)
    found = {
        name: [radius.value for radius in radii(build(data, name), data).each]
        for name in MARKS
        if name in STRATEGIES
    }
    known = [nearest_float(r) for each in found.values() for r in each if r]
    low, high = min(known) / 3, max(known) * 3
    figure, (ax,) = panels(1, 1, size=3.2, gap=0.5, left=0.6)
    plot_axes(ax, "robust radius $r$", "share of sequences with radius at least $r$")
    ax.set_xlim(low, high)  # before the scale: `bare` has drawn axes through 0
    ax.set_xscale("log")
    for name, each in found.items():
        _curve(ax, name, each, low, high)
    ax.set_ylim(0, 1.04)
    ax.minorticks_off()
    ax.set_yticks([0, 0.5, 1], ["0", "1/2", "1"])
    ax.legend(frameon=False, fontsize=9, loc="lower left")
    return figure


def _curve(ax: Axes, name: str, each: Sequence[Fraction | None], low: float, high: float) -> None:
    """One strategy; to the right of its largest radius remain those that nothing limits."""
    values = sorted(max(nearest_float(r), low) for r in each if r is not None)
    free = len(each) - len(values)
    shares = [(len(values) - k + free) / len(each) for k in range(len(values))]
    marker, colour = MARKS[name]
    ax.step(
        [low, *values, high], [1.0, *shares, free / len(each)], where="pre", color=colour,
        linewidth=1.2,
    )  # fmt: skip
    middle = len(values) // 2
    ax.plot(
        values[middle], shares[middle], marker=marker, color=colour, label=name, markersize=6,
        linestyle="-",
    )  # fmt: skip
