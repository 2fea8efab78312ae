"""The triangle wave that sorts points into bands: y before, during and after the folds."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from ...construct.build import build
from ...dataset import Dataset
from ..style import BLACK, BLUE, GREY, ORANGE, panels, plot_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ...model.transformer import Transformer

COUNT, SEED = 24, 0


def points() -> Dataset:
    """Random points of the plane, two random labels."""
    rng = Random(SEED)
    tokens = [[[rng.randint(0, 999), rng.randint(0, 999)]] for _ in range(COUNT)]
    return Dataset(tokens, [f"c{rng.randrange(2)}" for _ in range(COUNT)])


def heights(model: Transformer, data: Dataset) -> np.ndarray:
    """Heights y in half periods before the folds and after each, (folds + 1, N), from exact runs.

    y is the coordinate that the folds read; they come with halving distances, the last of them
    half a period above the ground.
    """
    places = [k for k, stage in enumerate(model.stages) if stage == "fold"]
    blocks = [model.blocks[k] for k in places]
    axis = next(j for j, x in enumerate(blocks[-1].u) if x)  # type: ignore[union-attr]
    levels = [-block.b for block in blocks]  # type: ignore[union-attr]
    half = levels[-2] - levels[-1]
    ground = levels[-1] - half
    found: list[list[Fraction]] = []
    for j in range(len(data)):
        states = model.trace(data.sequence(j))
        found.append([(states[k][0][axis] - ground) / half for k in (*places, places[-1] + 1)])
    return np.array(found, dtype=float).T


def draw() -> Figure:
    """(a) The wave, and where it takes y; (b) the folds one by one. Colours are labels."""
    data = points()
    model = build(data, strategy="fold")
    y = heights(model, data)
    colours = [BLUE if label == "c0" else ORANGE for label in data.labels]
    figure, (wave, steps) = panels(1, 2, size=2.6, gap=0.62, left=0.55)
    end = int(np.ceil(y[0].max()))
    plot_axes(wave, "$y$ before the folds, in $U$", "after")
    wave.set_xlim(0, end)
    wave.set_ylim(-0.05, 1.05)
    knots = np.arange(end + 1)
    wave.plot(knots, knots % 2, color=GREY, linewidth=0.8)
    wave.axhline(0.5, color=BLACK, linewidth=0.8, dashes=(3, 2))
    wave.scatter(y[0], y[-1], color=colours, s=18, zorder=3)
    plot_axes(steps, "folds", "$y$ in $U$")
    steps.set_xlim(-0.2, len(y) - 0.8)
    steps.set_yscale("symlog", linthresh=1)  # each fold halves the range
    steps.set_ylim(-0.05, end)
    steps.minorticks_off()
    for line, colour in zip(y.T, colours, strict=True):
        steps.plot(range(len(y)), line, color=colour, linewidth=0.8, marker="o", markersize=2.5)
    return figure
