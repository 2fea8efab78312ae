"""Depth against the number of sequences: what each strategy builds, beside the bounds.

`fold` is built for more sequences than the others; its formula and the lower bound go on to 10^6.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import nan, sqrt
from random import Random
from typing import TYPE_CHECKING

from ..certify import certify
from ..certify.bounds import counting_lower_bound
from ..construct.build import STRATEGIES, build
from ..dataset import Dataset
from ..errors import ConstructionError
from ..labels import Point
from .style import BLACK, BLUE, GREEN, GREY, ORANGE, RED, panels, plot_axes

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


def draw() -> Figure:
    """(a) two labels; (b) a label for every sequence, with random targets, and the
    lower bound that holds for almost all targets."""
    figure, (few, many) = panels(1, 2, size=2.6, gap=0.62, left=0.55)
    _curves(few, [name for name in MARKS if name in STRATEGIES], lambda count: 2)
    # with a label for every sequence a cover is no shallower than peeling, and is not built
    _curves(many, [name for name in ("paper", "peel") if name in STRATEGIES], lambda count: count)
    _formulas(few)
    bound = [max((n * DIMENSION - 1) / (2 * DIMENSION + 1), 1) for n in SIZES]
    many.plot(SIZES, bound, color=BLACK, linewidth=0.9, dashes=(2, 2), label="lower bound")
    for ax, title in ((few, "two labels"), (many, "a label for every sequence")):
        ax.set_xticks(*_tens(ax))
        ax.set_yticks([10, 100, 1000], ["10", "100", "1000"])
        ax.legend(frameon=False, fontsize=8.5, loc="upper left", bbox_to_anchor=(0.0, 0.93))
        ax.text(0.97, 0.04, title, transform=ax.transAxes, ha="right", va="bottom")
    many.set_ylabel("")
    return figure


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
    ax.set_xlim(6, 1.4 * MANY)
    ax.plot(counts, typical, color=RED, linewidth=0.9, label="$2\\sqrt{N/(d-2)}$")
    ax.plot(counts, least, color=BLACK, linewidth=0.9, dashes=(2, 2), label="lower bound")


def _curves(ax: Axes, strategies: list[str], labels: Callable[[int], int]) -> None:
    plot_axes(ax, "sequences $N$", "blocks $L$")
    ax.set_xlim(6, 340)  # before the scale: `bare` has drawn axes through 0
    ax.set_ylim(2, 12000)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.minorticks_off()
    ax.plot(SIZES, [8 * n + 4 for n in SIZES], color=GREY, linewidth=1.2, label="bound $8N+4$")
    for name in strategies:
        marker, colour = MARKS[name]
        sizes = (*SIZES, *LARGE) if name == "fold" else SIZES
        depths = [depth(sequences(n, labels(n)), name) for n in sizes]
        ax.plot(sizes, depths, marker=marker, markersize=4.5, color=colour, label=name)
