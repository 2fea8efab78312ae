"""The common look: thin black frame, no ticks, thin grey axes, one glyph per sequence.

Colours are those of Okabe and Ito (2008), which colour-blind readers can tell apart. Fonts come
with matplotlib and are embedded, so a figure looks the same everywhere; files hold no date.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..dataset import Dataset

BLACK, GREY = "#000000", "#b0b0b0"
BLUE, ORANGE, GREEN, VERMILLION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
PURPLE, SKY, YELLOW = "#CC79A7", "#56B4E9", "#F0E442"

LABELS = (
    BLUE, ORANGE, GREEN, PURPLE, VERMILLION, SKY, YELLOW, BLACK,
    "#882255", "#999933", "#44AA99", "#888888",  # past the eight, of Tol's muted scheme
)  # fmt: skip
# the same labels on a dark ground, where those that are too dark to see are lighter
ON_DARK = {
    BLUE: "#4DA6E0", BLACK: "#FFFFFF", "#882255": "#D66BA0", VERMILLION: "#FF7A2E",
    "#888888": "#A0A0A0",
}  # fmt: skip
STAGES = {
    **dict.fromkeys(("preprocess", "shift"), GREY),
    "separate": "#D7263D",  # red beside the orange of the labels: vermillion would blur
    "cluster": PURPLE,
    "match": SKY,
    "classify": GREEN,
    # of the other strategies, in the colour of the step whose work they do
    "split": "#D7263D",
    **dict.fromkeys(("collapse", "flatten"), PURPLE),
    "feature": SKY,
    **dict.fromkeys(("rule", "half-space", "tent", "shell", "clamp", "repair"), SKY),
    **dict.fromkeys(("kill", "line", "stair", "peel", "read-out"), GREEN),
}
STEPS = {
    "preprocess": "preprocessing",
    "separate": "separation",
    "cluster": "clustering",
    "match": "matching labels",
    "classify": "classification",
}
RED = STAGES["separate"]


@dataclass(frozen=True)
class Glyph:
    """Marker of one sequence. Larger ones lie lower, so that overlapping tokens show."""

    marker: str
    size: float
    order: float


GLYPHS = (
    Glyph("o", 8.5, 5.2),
    Glyph("s", 10.0, 5.0),
    Glyph("*", 8.5, 5.4),
    Glyph("^", 9.0, 5.1),
    Glyph("D", 6.0, 5.3),
    Glyph("P", 7.0, 5.25),
)
NAMED = {"circles": 0, "squares": 1, "stars": 2, "triangles": 3, "diamonds": 4, "crosses": 5}


def glyphs(data: Dataset, scale: float = 1.0) -> list[Glyph]:
    """Glyph of every sequence: the one its id names, else by its place."""
    chosen = [GLYPHS[NAMED.get(data.ids[j] or "", j) % len(GLYPHS)] for j in range(len(data))]
    return [replace(glyph, size=glyph.size * scale) for glyph in chosen]


_RC = {
    "font.family": "STIXGeneral",
    "mathtext.fontset": "stix",
    "font.size": 10.0,
    "axes.linewidth": 0.6,
    "lines.linewidth": 0.8,
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "hardmax",
    "savefig.dpi": 200,
    "figure.dpi": 100,
    "path.simplify": False,
}

FORMATS = {
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
}


@contextmanager
def look() -> Iterator[None]:
    """Draw with matplotlib's defaults and the common look, whatever the user's settings are."""
    from matplotlib import style

    with style.context(["default", _RC]):
        yield


def panels(
    rows: int,
    columns: int,
    size: float = 2.1,
    gap: float = 0.34,
    edge: float = 0.06,
    left: float = 0.06,
) -> tuple[Figure, list[Axes]]:
    """A figure of square framed panels, ``size`` inches wide, lettered (a), (b), ….

    Below and between the panels is a ``gap``, above and on the right a narrow ``edge``.
    """
    from matplotlib.figure import Figure

    width = columns * size + (columns - 1) * gap + edge + left
    height = rows * (size + gap) + edge
    figure = Figure(figsize=(width, height), facecolor="white")
    axes = []
    for k in range(rows * columns):
        row, column = divmod(k, columns)
        start = left + column * (size + gap)
        bottom = height - edge - (row + 1) * size - row * gap
        ax = figure.add_axes((start / width, bottom / height, size / width, size / height))
        bare(ax)
        if rows * columns > 1:
            letter(ax, "abcdefghijklmnop"[k])
        axes.append(ax)
    return figure, axes


def bare(ax: Axes) -> None:
    """Thin frame, no ticks, grey axes through the origin."""
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_linewidth(0.6)
        spine.set_zorder(10)
    ax.axhline(0, color=GREY, linewidth=0.5, zorder=1)
    ax.axvline(0, color=GREY, linewidth=0.5, zorder=1)


def letter(ax: Axes, name: str) -> None:
    """Panel letter in the corner."""
    ax.text(
        0.03, 0.97, f"({name})", transform=ax.transAxes, va="top", ha="left", zorder=11,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0, "alpha": 0.85},
    )  # fmt: skip


def plot_axes(ax: Axes, across: str, up: str) -> None:
    """Axes of a plot of numbers: labels, and short ticks inside the frame."""
    for line in list(ax.lines[:2]):  # the grey axes of `bare` mean nothing here
        line.remove()
    ax.tick_params(which="both", direction="in", width=0.5, length=2.5, labelsize=8.5)
    ax.minorticks_off()
    ax.set_xlabel(across, labelpad=2)
    ax.set_ylabel(up, labelpad=2)


def caption(ax: Axes, text: str, colour: str = BLACK) -> None:
    """A word on what the panel shows, below it."""
    ax.text(0.5, -0.03, text, transform=ax.transAxes, va="top", ha="center", color=colour)


def fit(axes: Sequence[Axes], points: Sequence[Sequence[float]], margin: float = 0.14) -> None:
    """One square window for all ``axes`` that holds all ``points``, with a margin."""
    xs, ys = [p[0] for p in points], [p[1] for p in points]
    side = max(max(xs) - min(xs), max(ys) - min(ys)) or 1.0
    half = side * (0.5 + margin)
    x, y = (max(xs) + min(xs)) / 2, (max(ys) + min(ys)) / 2
    for ax in axes:
        ax.set_xlim(x - half, x + half)
        ax.set_ylim(y - half, y + half)


def write(figure: Figure, form: str, path: Path) -> None:
    """Write a figure; equal input gives equal bytes."""
    with look():
        figure.savefig(path, format=form, metadata=FORMATS[form], facecolor="white")
