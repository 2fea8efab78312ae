"""Repair: one feed-forward layer behind a trained network that puts its training mistakes right.

Mistakes of one label share a *tent* (theory B4): three hidden units whose sum is positive in a thin
slab around their outputs and vanishes on the outputs of all other training sequences, which so
stay exactly what they were. New sequences almost never meet a slab. Floats propose the slabs; balls
decide who is outside; the verdict judges the whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..dataset import Dataset
from ..errors import InputError, ResourceLimitError
from ..exact.array import ExactArray
from ..exact.numbers import Vector
from ..labels import Point
from ..threads import one_blas_thread
from .balls import Balls
from .judge import claims, decide, label_sets_for
from .layers import Affine, Relu, Residual
from .network import Network
from .run import outputs_as_balls
from .tents import Tent, tent


class NotApartError(InputError):
    """Two outputs of different labels can't be told apart; ``pair`` are the sequences, from 0."""

    exit_code = 1

    def __init__(self, message: str, pair: tuple[int, int]) -> None:
        super().__init__(message)
        self.pair = pair


@dataclass(frozen=True)
class Repair:
    """A repaired network, the sequences that it puts right, and the hidden units it took."""

    network: Network
    wrong: tuple[int, ...]
    units: int


def repair(network: Network, data: Dataset, seed: int = 0) -> Repair:
    """Append one feed-forward layer that puts every mistake of a network right.

    All sequences that the network classifies rightly keep their outputs exactly. Raises
    NotApartError where two outputs of different labels can't be told apart, and
    ResourceLimitError where the class of a sequence stays undecided. The result still has to be
    judged (`certify_network`): floats have proposed its layer.

    >>> import hardmax as hm
    >>> from hardmax.network.layers import Readout
    >>> net = hm.Network([Readout()], dimension=2, classes=["a", "b"])
    >>> data = hm.Dataset([[(0, 1)], [(0, 2)], [(3, 1)]], ["a", "b", "a"])
    >>> found = repair(net, data)
    >>> found.wrong, found.units, hm.certify(found.network, data).verdict
    ((0,), 3, 'proved')
    """
    labels = data.need_labels()
    sets = label_sets_for(network, data, None)
    every = claims(network, sets)
    missing = next((j for j, label in enumerate(labels) if label not in every), None)
    if missing is not None:
        raise InputError(f"{data.name(missing)} has a label that is no class of the network")
    found = decide(network, data, [every[label] for label in labels])
    still = next((j for j, (x, _, _) in enumerate(found) if x.holds is None), None)
    if still is not None:
        raise ResourceLimitError(
            f"the class of {data.name(still)} is undecided, so nothing is done"
        )
    wrong = [j for j, (decision, _, _) in enumerate(found) if not decision.holds]
    if not wrong:
        return Repair(network, (), 0)
    margins = [float(x.margin) for x, _, _ in found if x.margin]
    best: tuple[int, Network] | None = None
    problem: Exception | None = None
    for place in _places(network):
        try:
            units, layer = _appended(network, data, place, labels, wrong, sets, margins, seed)
        except (NotApartError, ResourceLimitError) as failed:
            problem = failed
            continue
        if best is None or units < best[0]:
            layers = [*network.layers[:place], layer, *network.layers[place:]]
            best = (
                units,
                Network(
                    layers, dimension=network.dimension, classes=network.classes, meta=network.meta
                ),
            )
    if best is None:
        assert problem is not None
        raise problem
    return Repair(best[1], tuple(wrong), best[0])


def _places(network: Network) -> list[int]:
    """Where the layer may stand: at the end; with classes also before the affine layers there."""
    last = len(network.layers)
    places = [last]
    while network.classes is not None and isinstance(network.layers[last - 1], Affine):
        last -= 1
        places.append(last)
    return places


def _appended(
    network: Network,
    data: Dataset,
    place: int,
    labels: Sequence[str],
    wrong: Sequence[int],
    sets: Mapping[str, Any] | None,
    margins: Sequence[float],
    seed: int,
) -> tuple[int, Residual]:
    """The number of hidden units, and the layer in front of ``network.layers[place]``."""
    with one_blas_thread():
        points = outputs_as_balls(network, data, place)
    tents: list[Tent] = []
    left = list(wrong)
    while left:
        first = left[0]
        group = [j for j in left if labels[j] == labels[first]]
        if sets is not None:  # a tent moves its points alike, so only equal ones may share it
            far = np.abs(points.mid - points.mid[first]) > points.rad + points.rad[first]
            group = [j for j in group if not far[j].any()]
        unit = tent(points, group, seed)
        if unit is None:
            raise _too_near(network, data, first, _touching(points, first, labels), labels)
        tents.append(unit)
        left = [j for j in left if j not in unit.caught]
    rows, offsets, columns = [], [], []
    for unit in tents:
        step = _push(network, data, place, unit, points, labels, sets, margins)
        for offset, factor in unit.parts:
            rows.append([Fraction(x) for x in unit.u.tolist()])
            offsets.append(offset)
            columns.append([factor * x for x in step])
    W = ExactArray.from_rows([list(row) for row in zip(*columns, strict=True)], len(rows))
    U = ExactArray.from_rows(rows, points.mid.shape[1])
    return len(rows), Residual(
        [Affine(U, ExactArray.from_flat(offsets, (len(rows),))), Relu(), Affine(W)]
    )


def _too_near(
    network: Network, data: Dataset, first: int, other: int, labels: Sequence[str]
) -> Exception:
    """The error about two outputs that no unit tells apart."""
    pair = data[[first, other]]
    two = " and ".join(f"{data.name(j)} (label {labels[j]!r})" for j in (first, other))
    equal = pair[0] == pair[1]
    if network.rational:
        a, b = network.outputs(pair)
        equal = a == b
    if equal:
        return NotApartError(
            f"the outputs of {two} are equal, so no layer behind the network puts both right",
            (first, other),
        )
    return ResourceLimitError(f"the outputs of {two} are too near each other for float64 balls")


def _touching(points: Balls, first: int, labels: Sequence[str]) -> int:
    """The sequence of another label whose output lies nearest."""
    others = np.array([label != labels[first] for label in labels])
    far = np.abs(points.mid - points.mid[first]).max(axis=1)
    return int(np.argmin(np.where(others, far, np.inf)))


def _push(
    network: Network,
    data: Dataset,
    place: int,
    unit: Tent,
    points: Balls,
    labels: Sequence[str],
    sets: Mapping[str, Any] | None,
    margins: Sequence[float],
) -> Vector:
    """What a tent of height 1 adds to the output, so that its sequences get their label."""
    if sets is not None:
        j = unit.caught[0]
        target = sets[labels[j]].witness()
        if network.rational:
            output = network.outputs(data[[j]])[0]
        elif isinstance(sets[labels[j]], Point):
            raise InputError(
                "the network is not rational, so its outputs can't be moved onto points exactly; "
                "give it classes, or the data open label sets"
            )
        else:
            output = tuple(Fraction(x) for x in points.mid[j].tolist())
        height = unit.height(output)
        return tuple((t - x) / height for t, x in zip(target, output, strict=True))
    names = network.classes or ()
    H, h = np.eye(points.mid.shape[1]), np.zeros(points.mid.shape[1])
    for layer in network.layers[place:]:
        assert isinstance(layer, Affine)
        H, h = layer.W.values @ H, layer.W.values @ h
        h = h if layer.b is None else h + layer.b.values
    c = names.index(labels[unit.caught[0]])
    wanted = np.where(np.arange(len(names)) == c, 1.0, -1.0 / (len(names) - 1))
    step = np.linalg.lstsq(H, wanted, rcond=None)[0]
    gains = np.delete((H @ step)[c] - H @ step, c)
    if not (gains > 0).all():
        raise InputError(f"the last layers can't give the class {names[c]!r} alone")
    outputs = points.mid[list(unit.caught)] @ H.T + h
    behind = np.max(outputs, axis=1) - outputs[:, c]
    usual = float(np.median(margins)) if margins else 1.0
    heights = [
        float(unit.height([Fraction(x) for x in points.mid[j].tolist()])) for j in unit.caught
    ]
    scale = max((b + usual) / (t * gains.min()) for b, t in zip(behind, heights, strict=True))
    return tuple(Fraction(x) for x in (step * scale).tolist())
