"""Depth against the number of sequences: what each strategy builds, beside the bounds.

`fold` is built for more sequences than the others; its formula and the lower bound go on to 10^6.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import nan, sqrt
from random import Random
from typing import TYPE_CHECKING

from ...certify import certify
from ...certify.lower_bounds import counting_lower_bound
from ...construct.build import STRATEGIES, build
from ...dataset import Dataset
from ...errors import ConstructionError
from ...labels import Point
from ..style import BLACK, BLUE, GREEN, GREY, ORANGE, RED, panels, plot_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DIMENSION, LENGTH, SEED = 16, 3, 0
SIZES = (8, 16, 32, 64, 128, 256)
LARGE = (1024, 4096)  # for fold alone
MANY = 10**6
MARKS = {
    "paper": ("o", BLUE),
    "peel": ("s", ORANGE),
    "cover": ("^", GREEN),
    "fold": ("D", RED),
}


def sequences(count: int, labels: int, dimension: int = DIMENSION) -> Dataset:
    """Sequences of random integer tokens with random points for targets.

    Labels go round, so there is nothing in them to be learned.
    """
    rng = Random(SEED)
    tokens = [
        [[rng.randint(-99, 99) for _ in range(dimension)] for _ in range(LENGTH)]
        for _ in range(count)
    ]
    sets = {
        f"c{c}": Point(tuple(Fraction(rng.randint(-999, 999)) for _ in range(dimension)))
        for c in range(labels)
    }
    return Dataset(tokens, [f"c{j % labels}" for j in range(count)], sets)


def depth(data: Dataset, strategy: str) -> int:
    """Number of blocks of a model that is built and proved."""
    model = build(data, strategy)
    if not certify(model, data).proved:
        raise ConstructionError(f"the strategy {strategy!r} built a model that is refuted")
    return len(model)


def draw(sizes: Sequence[int] = SIZES) -> Figure:
    """(a) two labels; (b) a label for every sequence, with random targets, and the
    lower bound that holds for almost all targets. ``sizes`` are the numbers of sequences."""
    figure, (few, many) = panels(1, 2, size=2.9, gap=0.62, left=0.55)
    for ax, high in ((few, 1.4 * MANY), (many, 340)):
        plot_axes(ax, "sequences $N$", "blocks $L$")
        ax.set_xlim(6, high)  # before the scale: `bare` has drawn axes through 0
        ax.set_ylim(2, 3600)
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.minorticks_off()
        ax.set_xticks(*_tens(ax))
        ax.set_yticks([10, 100, 1000], ["10", "100", "1000"])
    _curves(few, [name for name in MARKS if name in STRATEGIES], lambda count: 2, sizes)
    # with a label for every sequence a cover is no shallower than peeling, and is not built
    each = [name for name in ("paper", "peel") if name in STRATEGIES]
    _curves(many, each, lambda count: count, sizes)
    _formulas(few)
    bound = [max((n * DIMENSION - 1) / (2 * DIMENSION + 1), 1) for n in sizes]
    many.plot(sizes, bound, color=BLACK, linewidth=0.9, dashes=(2, 2), label="lower bound")
    many.set_ylabel("")
    few.text(0.97, 0.97, "two labels", transform=few.transAxes, va="top", ha="right")
    many.text(0.13, 0.97, "a label for every sequence", transform=many.transAxes, va="top")
    _say(few, "bound $8N+4$", 330, 1900, GREY)
    _say(few, "paper, peel", 330, 240, BLUE)
    _say(few, "cover", 330, 32, GREEN)
    _say(few, "fold", 5800, 82, RED)
    _say(few, r"$2\sqrt{N/(d-2)}$", 20000, 40, RED)
    _say(few, "lower bound", 40000, 5.5, BLACK)
    _say(many, "bound $8N+4$", 7.5, 330, GREY)
    _say(many, "paper, peel", 13, 42, BLUE)
    _say(many, "lower bound", 55, 12, BLACK)
    return figure


def _say(ax: Axes, text: str, x: float, y: float, colour: str) -> None:
    """The name of a curve, beside it and in its colour."""
    ax.text(x, y, text, color=BLACK if colour == GREY else colour, va="center", fontsize=9)


def _tens(ax: Axes) -> tuple[list[int], list[str]]:
    """Ticks at powers of ten, and what they say."""
    high = ax.get_xlim()[1]
    ticks = [10**k for k in range(1, 7) if 10**k <= high]
    return ticks, [str(t) if t < 1000 else f"$10^{len(str(t)) - 1}$" for t in ticks]


def _formulas(ax: Axes) -> None:
    """What Theorem 11 states for typical points and Theorem 13 for any, two labels, up to 10^6."""
    counts = [2**k for k in range(3, 20)] + [MANY]
    typical = [2 * sqrt(n / (DIMENSION - 2)) for n in counts]
    least = [counting_lower_bound(n, DIMENSION, 2) or nan for n in counts]
    ax.plot(counts, typical, color=RED, linewidth=0.9, label="$2\\sqrt{N/(d-2)}$")
    ax.plot(counts, least, color=BLACK, linewidth=0.9, dashes=(2, 2), label="lower bound")


def _curves(
    ax: Axes, strategies: Sequence[str], labels: Callable[[int], int], sizes: Sequence[int]
) -> None:
    ax.plot(sizes, [8 * n + 4 for n in sizes], color=GREY, linewidth=1.2, label="bound $8N+4$")
    for name in strategies:
        marker, colour = MARKS[name]
        counts = (*sizes, *LARGE) if name == "fold" else sizes
        depths = [depth(sequences(n, labels(n)), name) for n in counts]
        # paper and peel nearly coincide: paper is a ring around the mark of peel
        ring = {"markersize": 8.0, "markerfacecolor": "white", "linewidth": 2.2}
        plain = {"markersize": 4.0, "markerfacecolor": colour, "linewidth": 1.0}
        ax.plot(counts, depths, marker=marker, color=colour, label=name,
                **(ring if name == "paper" else plain))  # type: ignore[arg-type]  # fmt: skip
