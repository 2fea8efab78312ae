"""Softmax approaching hardmax, block by block, on the data of Figure 2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...certify.softmax import certify_softmax
from ...construct.build import build
from ...exact.array import Array
from ..style import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED, panels, plot_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ...dataset import Dataset
    from ...model.transformer import Transformer

SHARES = {16: ORANGE, 8: PURPLE, 4: GREEN, 2: BLUE, 1: BLACK}  # of the certified β*: β*/16, …
_LEAST = 1e-14  # below it float64 no longer shows a distance


def states(model: Transformer, tokens: Array, beta: float) -> list[Array]:
    """Tokens of one sequence, (n, d), before the first block and after each, under softmax.

    >>> import hardmax as hm
    >>> model = hm.Transformer([hm.RankOneBlock.of(1, rho=0, alpha=1, v=(1,))])
    >>> states(model, np.array([[0.0], [1.0]]), 40.0)[-1].round(9).tolist()
    [[0.5], [1.0]]
    """
    p = model.parameters
    if p is None:
        raise TypeError("the softmax version is drawn for rank-1 blocks")
    model.need_one_head("pictures of softmax")
    z, found = tokens, [tokens]
    for k in range(len(model)):
        u, w, v = p.u.values[k], p.w.values[k], p.v.values[k]
        z = z + np.maximum(0.0, z @ u + p.b.values[k])[:, None] * w
        scores = beta * np.outer(z @ v, z @ v)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        mean = weights / weights.sum(axis=1, keepdims=True) @ z
        z = p.rho.values[k] * z + p.alpha.values[k] * mean
        found.append(z)
    return found


def distances(model: Transformer, data: Dataset, beta: float) -> list[float]:
    """The largest distance of a softmax token from its hardmax token, block by block."""
    far = np.zeros(len(model) + 1)
    for j, tokens in enumerate(data.arrays()):
        exact = [np.array(state, dtype=float) for state in model.trace(data[j])]
        soft = states(model, tokens, beta)
        pairs = zip(soft, exact, strict=True)
        far = np.maximum(far, [float(np.abs(x - y).max()) for x, y in pairs])
    return [max(x, _LEAST) for x in far.tolist()]


def draw() -> Figure:
    """(a) Distance of softmax from hardmax, block by block; (b) of the outputs, against β."""
    from . import dataset

    data = dataset("figure2")
    model = build(data)
    found = certify_softmax(model, data)
    if found.beta is None:
        raise AssertionError("the model of Figure 2 is certified")
    beta = float(found.beta)
    figure, (blocks, outputs) = panels(1, 2, size=2.6, gap=0.72, left=0.65)
    plot_axes(blocks, "blocks", "largest distance from the hardmax tokens")
    blocks.set_xlim(0.8, len(model) + 0.2)
    blocks.set_ylim(_LEAST, 20)  # before the scale: `bare` has drawn axes through 0
    blocks.set_yscale("log")
    for share, colour in SHARES.items():
        far = distances(model, data, beta / share)
        name = "β = β*" if share == 1 else f"β = β*/{share}"
        _line(blocks, range(1, len(far)), far[1:], colour, name)
    blocks.set_xticks(range(1, len(model) + 1))
    blocks.legend(frameon=False, fontsize=8.5, loc="lower left")
    plot_axes(outputs, "inverse temperature β", "largest distance of a last token")
    grid = beta * 2.0 ** np.arange(-6, 3.5, 0.25)
    last = [distances(model, data, float(x))[-1] for x in grid]
    outputs.set_xlim(grid[0], grid[-1])
    outputs.set_ylim(_LEAST, 20)
    outputs.set_xscale("log")
    outputs.set_yscale("log")
    outputs.plot(grid, last, color=BLACK, linewidth=1.0)
    outputs.axvline(beta, color=RED, linewidth=0.8, dashes=(3, 2))
    outputs.minorticks_off()
    blocks.minorticks_off()
    return figure


def _line(ax, x: Sequence[int], y: Sequence[float], colour: str, name: str) -> None:  # type: ignore[no-untyped-def]
    ax.plot(x, y, color=colour, label=name, linewidth=1.0, marker="o", markersize=3)
