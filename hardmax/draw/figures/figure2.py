"""Figure 2: the proof strategy of Theorem 2.4, one block a panel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...construct.build import build
from ...dataset import Dataset
from ..moments import moments
from ..scene import clouds, colours, draw_paths, draw_sets, draw_tokens
from ..style import BLACK, STAGES, STEPS, caption, fit, glyphs, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw(data: Dataset) -> Figure:
    """The input and the tokens after each block of the paper's construction."""
    model = build(data, "paper")
    states = [
        (moment.stage, clouds(moment)) for moment in moments(model, data.sequences, layers=False)
    ]
    colour, shape = colours(data), glyphs(data, 0.8)
    columns = 3
    rows = -(-len(states) // columns)
    figure, axes = panels(rows, columns, size=2.3, left=0.34)
    for ax in axes[len(states) :]:
        ax.set_visible(False)
    axes = axes[: len(states)]
    fit(axes, [z for _, state in states for cloud in state for z in cloud])
    for k, (ax, (stage, state)) in enumerate(zip(axes, states, strict=True)):
        draw_sets(ax, data.sets)
        draw_tokens(ax, state, colour, shape)
        if k:
            before = states[k - 1][1]
            draw_tokens(ax, before, colour, shape, ghost=True)
            draw_paths(ax, before, state, STAGES.get(stage, BLACK))
            _step(ax, stage)
    return figure


def _step(ax: Axes, stage: str) -> None:
    """The arrow of the step, in the gap before the panel it leads to, and its name."""
    colour = STAGES.get(stage, BLACK)
    ax.annotate(
        "", xy=(-0.01, 0.5), xytext=(-0.135, 0.5), xycoords="axes fraction", annotation_clip=False,
        arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 2.2, "mutation_scale": 14,
                    "shrinkA": 0, "shrinkB": 0},
    )  # fmt: skip
    caption(ax, STEPS.get(stage, stage), colour)
