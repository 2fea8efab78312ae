"""What the features of a lifted model see: the windows on which each fires most, its weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape

import numpy as np

from ..dataset import Dataset
from ..exact.numbers import Vector, dot, nearest_float, show
from ..model.parameters import PackedBlock
from ..model.transformer import Transformer
from ..words import plural

SHOWN = 32  # features
WINDOWS = 4  # of a feature, each from another sequence
_NEAR = 16  # candidates that floats propose for each window shown
_WEIGHTS = 6
_WIDTH, _HEIGHT = 132, 44


@dataclass(frozen=True)
class Feature:
    """A block that writes max(0, ⟨u,z⟩ + b) of every token z into lifted coordinates.

    ``number`` counts blocks from 1; ``uses`` are later blocks (number, weight) that read it: the
    weight is ⟨u', w⟩ for the block's own u'.
    """

    number: int
    block: PackedBlock
    uses: tuple[tuple[int, Fraction], ...]


@dataclass(frozen=True)
class Firing:
    """A token on which a feature is positive: sequence, place in it from 0, exact value."""

    sequence: int
    place: int
    value: Fraction


def features(model: Transformer) -> list[Feature]:
    """The blocks at the start of a model that only write into the coordinates of its lift.

    They act on tokens as they were read, so each is a function of one window. Empty where the
    model has no lift.
    """
    lift = model.reading.lift
    if model.parameters is None or not 0 < lift < model.dimension:
        return []
    first, found = model.dimension - lift, []
    for k, block in enumerate(model.parameters, start=1):
        if any(block.w[:first]) or any(block.u[first:]):
            break
        if any(block.w) and any(block.u):
            found.append((k, block))
        if block.mixes:
            break
    later = [(k, block.u[first:]) for k, block in enumerate(model.parameters, start=1)]
    return [Feature(k, block, _uses(block.w[first:], later)) for k, block in found]


def _uses(w: Vector, later: Sequence[tuple[int, Vector]]) -> tuple[tuple[int, Fraction], ...]:
    """⟨u, w⟩ of the blocks where it is not zero; w has few entries."""
    entries = [(i, x) for i, x in enumerate(w) if x]
    weights = ((k, sum((u[i] * x for i, x in entries), Fraction(0))) for k, u in later)
    return tuple((k, weight) for k, weight in weights if weight)


def firings(feature: Feature, data: Dataset) -> list[Firing]:
    """The tokens on which the feature is largest, one a sequence, by falling value.

    Floats propose them; the values are exact.
    """
    u, b = feature.block.u, feature.block.b
    with np.errstate(all="ignore"):
        values = np.nan_to_num(data.tokens.values @ np.array([nearest_float(x) for x in u]))
    best = np.maximum.reduceat(values, data.offsets[:-1])
    found = []
    for j in np.argsort(-best, kind="stable")[: WINDOWS * _NEAR].tolist():
        start, end = data.offsets[j : j + 2].tolist()
        i = start + int(values[start:end].argmax())
        found.append(Firing(j, i - start, dot(u, data.tokens.row(i)) + b))
    found.sort(key=lambda firing: (-firing.value, firing.sequence))
    return [firing for firing in found[:WINDOWS] if firing.value > 0]


def section(model: Transformer, data: Dataset) -> str:
    """The part of the page about features; empty where the model has none."""
    found = features(model)
    if not found:
        return ""
    more = f" The first {SHOWN} are shown." if len(found) > SHOWN else ""
    rows = "".join(_row(feature, data) for feature in found[:SHOWN])
    return (
        f'<section id="features"><h2>What the features see</h2><p>{plural(len(found), "block")} '
        f"write one number each beside every token: max(0, ⟨u, token⟩ + b).{more} A token is "
        f"{escape(_token(data))}. For each feature: the sequences on which it is largest, "
        "where, and its exact value; then the later blocks that read it, by weight.</p>"
        "<table><thead><tr><th>Block</th><th>Fires most on</th><th>Weights</th></tr></thead>"
        f"<tbody>{rows}</tbody></table></section>"
    )


def _token(data: Dataset) -> str:
    reading, count = data.reading, len(data.reading.offsets)
    if count == 1:
        return "one token of the file"
    spread = ", ".join(map(str, reading.dilations))
    apart = f", {spread} apart" if spread != "1" else ""
    return f"a window of {count} tokens of the file{apart}"


def _row(feature: Feature, data: Dataset) -> str:
    shown = firings(feature, data)
    cells = "".join(_window(firing, data) for firing in shown)
    cells = cells or "fires on no token of these data"
    weights = sorted(feature.uses, key=lambda use: -abs(use[1]))
    lines = [f"block {number}: {escape(show(x, 20))}" for number, x in weights[:_WEIGHTS]]
    if len(weights) > _WEIGHTS:
        lines.append(f"and {len(weights) - _WEIGHTS} more")
    return f"<tr><td>{feature.number}</td><td>{cells}</td><td>{'<br>'.join(lines)}</td></tr>"


def _window(firing: Firing, data: Dataset) -> str:
    reading, j = data.reading, firing.sequence
    at = firing.place * reading.stride  # in the file, from 0
    last = data.written_length(j) - 1
    ends = [min(max(at + x, 0), last) + 1 for x in (reading.offsets[0], reading.offsets[-1])]
    where = f"token {at + 1}" if ends[0] == ends[1] else f"tokens {ends[0]} to {ends[1]}"
    label = data.names[j]
    told = "" if label is None else f" ({label})"
    text = f"{data.name(j)}{told}, {where}: {show(firing.value, 20)}"
    row = data.tokens.values[int(data.offsets[j]) + firing.place]
    return f"<figure>{_curve(row, data)}<figcaption>{escape(text)}</figcaption></figure>"


def _curve(row: np.ndarray, data: Dataset) -> str:
    """A small drawing of the window, one line a channel; empty where there is nothing to join."""
    offsets, width = data.reading.offsets, data.written_dimension
    if len(offsets) < 2 or width > 6:
        return ""
    values = row[: len(offsets) * width].reshape(len(offsets), width)
    low, high = float(values.min()), float(values.max())
    if not np.isfinite(high - low):
        return ""
    across = (np.array(offsets) - offsets[0]) / (offsets[-1] - offsets[0]) * (_WIDTH - 4) + 2
    up = _HEIGHT - 2 - (values - low) / ((high - low) or 1.0) * (_HEIGHT - 4)
    lines = "".join(f'<polyline points="{_points(across, up[:, k])}"/>' for k in range(width))
    return f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" aria-hidden="true">{lines}</svg>'


def _points(across: Sequence[float] | np.ndarray, up: np.ndarray) -> str:
    def pairs() -> Iterator[str]:
        for x, y in zip(across, up.tolist(), strict=True):
            yield f"{x:.1f},{y:.1f}"

    return " ".join(pairs())
