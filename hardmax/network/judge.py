"""The verdict on a network: is the class that it gives over the real numbers the label?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from typing import Any

from .. import load_for
from ..certify.separation import separation_entries
from ..dataset import Dataset
from ..errors import InputError, VerdictError
from ..exact.numbers import dot
from ..float_mode import check_float_mode
from ..labels import Ball, LabelSet, Point, read_sets
from ..threads import one_blas_thread
from ..words import kind
from .certificate import Floats, NetworkCertificate, NetworkWitness
from .network import Network
from .run import BALLS, Box, Interval, boxes, tokens_of

PRECISIONS = (BALLS, 128, 512, 2048)  # bits; the last is the limit
UNITS = {"float32": 2.0**-24, "float64": 2.0**-53}


@dataclass(frozen=True)
class Decision:
    """What a box says about one claim: true, false, or open (None).

    ``margin`` is a lower bound on how far the claim is from failing, where it is true.
    """

    holds: bool | None
    margin: Fraction | None = None


def largest(box: Box, place: int) -> Decision:
    """Whether the output is larger in one coordinate than in all others.

    >>> one, two = (Fraction(1), Fraction(1)), (Fraction(2), Fraction(2))
    >>> largest([one, two], 1), largest([two, two], 1).holds
    (Decision(holds=True, margin=Fraction(1, 1)), False)
    """
    own, others = box[place], [x for k, x in enumerate(box) if k != place]
    if own is None:
        return Decision(None)
    if any(x is not None and x[0] >= own[1] for x in others):
        return Decision(False)
    if any(x is None or x[1] >= own[0] for x in others):
        return Decision(None)
    return Decision(True, own[0] - max(x[1] for x in others if x is not None))


def inside(box: Box, label_set: LabelSet) -> Decision:
    """Whether the output lies in a label set; the margin is the least slack of its inequalities."""
    spans = [x for x in box if x is not None]
    if len(spans) < len(box):
        return Decision(None)
    if isinstance(label_set, Point):
        if all(x == (p, p) for x, p in zip(spans, label_set.point, strict=True)):
            return Decision(True)
        hit = all(low <= p <= high for (low, high), p in zip(spans, label_set.point, strict=True))
        return Decision(None if hit else False)
    if isinstance(label_set, Ball):
        pairs = list(zip(spans, label_set.center, strict=False))
        near = sum(
            (max(low - c, c - high, Fraction(0)) ** 2 for (low, high), c in pairs), Fraction(0)
        )
        far = sum((max(abs(low - c), abs(high - c)) ** 2 for (low, high), c in pairs), Fraction(0))
        square = label_set.radius**2
        if far < square:
            return Decision(True, square - far)
        return Decision(False if near >= square else None)
    A, b = label_set.rows  # type: ignore[attr-defined]
    slacks = [_slack(row, bound, spans) for row, bound in zip(A, b, strict=True)]
    least = min(low for low, _ in slacks)
    if least > 0:
        return Decision(True, least)
    return Decision(False if min(high for _, high in slacks) <= 0 else None)


def _slack(row: Sequence[Fraction], bound: Fraction, spans: Sequence[Interval]) -> Interval:
    low = dot(row, [span[a < 0] for a, span in zip(row, spans, strict=True)])
    high = dot(row, [span[a > 0] for a, span in zip(row, spans, strict=True)])
    return bound - high, bound - low


def claim(
    network: Network, sets: Mapping[str, LabelSet] | None, label: str
) -> Callable[[Box], Decision]:
    """The claim that an output stands for a label, as a function of its box."""
    if network.classes is not None:
        place = network.classes.index(label)
        return lambda box: largest(box, place)
    label_set = (sets or {})[label]
    return lambda box: inside(box, label_set)


def claims(
    network: Network, sets: Mapping[str, LabelSet] | None
) -> dict[str, Callable[[Box], Decision]]:
    """The claim of each label that the network can give."""
    names = network.classes if network.classes is not None else tuple(sets or ())
    return {name: claim(network, sets, name) for name in names}


def decide(
    network: Network,
    sequences: Any,
    asked: Sequence[Callable[[Box], Decision]],
    progress: Callable[[int], None] | None = None,
) -> list[tuple[Decision, int | None, Box]]:
    """For each sequence the decision of its claim, the precision it took, the box it rests on.

    The precision rises until the decision is reached: float64 balls first; then exact numbers
    where the network is rational (precision None), else balls of up to 2048 bits.
    """
    check_float_mode()
    data = tokens_of(network, sequences)
    steps = (BALLS, None) if network.rational else PRECISIONS
    left: list[int] = list(range(len(asked)))
    found: list[Any] = [None] * len(asked)
    with one_blas_thread():
        for bits in steps:
            still = []
            for j, box in boxes(network, data, left, bits):
                found[j] = asked[j](box), bits, box
                if found[j][0].holds is None:
                    still.append(j)
                elif progress is not None:
                    progress(sum(x is not None and x[0].holds is not None for x in found))
            left = still
    check_float_mode()
    return found


def classes_of(network: Network, sequences: Any, sets: Any = None) -> list[str | None]:
    """The class of each sequence over the reals; None where there is none, or none is sure."""
    chosen = label_sets_for(network, sequences, sets)
    every = claims(network, chosen)

    def which(box: Box) -> Decision:
        decisions = [each(box) for each in every.values()]
        if any(x.holds for x in decisions):
            return Decision(True)
        return Decision(False if all(x.holds is False for x in decisions) else None)

    count = len(tokens_of(network, sequences)[1]) - 1
    return [
        next((name for name, each in every.items() if each(box).holds), None)
        for _, _, box in decide(network, sequences, [which] * count)
    ]


def label_sets_for(network: Network, sequences: Any, sets: Any) -> Mapping[str, LabelSet] | None:
    """The label sets that say what an output means; None where the network has classes."""
    if network.classes is not None:
        return None
    given = sets if sets is not None else sequences
    found = given.sets if isinstance(given, Dataset) else sets and read_sets(sets)
    if not found:
        raise InputError("the network has no classes, so it needs label sets: sets=data")
    dimension = next(iter(found.values())).dimension
    if dimension != network.width:
        raise InputError(
            f"the label sets have dimension {dimension}, the outputs of the network {network.width}"
        )
    return found


def certify_network(
    network: Network,
    data: Dataset | str | PathLike[str],
    progress: Callable[[int], None] | None = None,
    *,
    executor: str | None = None,
    witnesses: int = 10,
) -> NetworkCertificate:
    """Judge a network on labelled sequences, over the real numbers.

    A sequence is *proved* where rigorous enclosures show that its label is the class of its output
    (``network.classes``: its coordinate is strictly the largest; else: its set holds the output),
    *refuted* where they show that it is not, else *undecided* at the limit of 2048 bits. All must
    be proved for the verdict "proved". ``executor`` also asks whether every run in "float32" or
    "float64" gives the same classes (`hardmax.network.balls` says under which assumptions).
    Raises InputError where the data do not fit the network.

    >>> import hardmax as hm
    >>> from hardmax.network.layers import Gelu, Readout
    >>> net = hm.Network([Gelu(), Readout()], dimension=2, classes=["a", "b"])
    >>> certify_network(net, hm.Dataset([[(1, 2), (1, 0)], [(0, 3)]], ["a", "b"])).verdict
    'refuted'
    """
    if isinstance(data, str | PathLike):
        data = load_for(network, data)
    if not isinstance(data, Dataset):
        raise InputError(f"{kind(data)} is no data set; give hardmax.Dataset(sequences, labels)")
    labels = data.need_labels()
    sets = label_sets_for(network, data, None)
    every = claims(network, sets)
    unknown = next((j for j, label in enumerate(labels) if label not in every), None)
    if unknown is not None:
        raise InputError(
            f"{data.name(unknown)} has the label {labels[unknown]!r}, which is no class of the "
            f"network; its classes are {', '.join(map(repr, every))}"[:400]
        )
    found = decide(network, data, [every[label] for label in labels], progress)
    _look_twice(network, data, found)
    wrong = [j for j, (decision, _, _) in enumerate(found) if decision.holds is False]
    open_ones = [j for j, (decision, _, _) in enumerate(found) if decision.holds is None]
    margins = [decision.margin for decision, _, _ in found if decision.margin is not None]
    precisions = [bits for _, bits, _ in found]
    verdict = "refuted" if wrong else "undecided" if open_ones else "proved"
    floats = None if executor is None else _floats(network, data, every, labels, executor)
    return NetworkCertificate(
        verdict=verdict,
        witnesses=tuple(
            NetworkWitness(
                j, data.name(j), labels[j], _class(every, found[j][2]), tuple(found[j][2])
            )
            for j in wrong[:witnesses]
        ),
        undecided=tuple(open_ones),
        sha256={
            "data": None if "sets" in data.source else data.source.get("sha256"),
            "network": network.sha256,
        },
        numbers=data.source.get("numbers", "exact"),
        reading=data.reading,
        sequences=len(data),
        counts={
            "proved": len(found) - len(wrong) - len(open_ones),
            "refuted": len(wrong),
            "undecided": len(open_ones),
        },
        tokens=len(data.tokens),
        classes=network.classes,
        rational=network.rational,
        layers=len(network.layers),
        parameters=network.parameters(),
        margin=min(margins, default=None),
        precisions={
            "exact" if bits is None else str(bits): precisions.count(bits)
            for bits in dict.fromkeys(precisions)
        },
        separation=() if sets is None else separation_entries(data),
        executor=floats,
    )


def _look_twice(
    network: Network, data: Dataset, found: Sequence[tuple[Decision, int | None, Box]]
) -> None:
    """Enclose the first and last outputs once more, without float64; raise where two boxes differ.

    Both hold the exact output, so they meet: another answer is a bug, here or in a library.
    """
    ends = sorted({0, len(found) - 1})
    for j, box in boxes(network, tokens_of(network, data), ends, None if network.rational else 128):
        for mine, other in zip(found[j][2], box, strict=True):
            if mine and other and not (mine[0] <= other[1] and other[0] <= mine[1]):
                raise VerdictError(f"two enclosures of the output of {data.name(j)} differ")


def _class(every: Mapping[str, Callable[[Box], Decision]], box: Box) -> str | None:
    return next((name for name, each in every.items() if each(box).holds), None)


def _floats(
    network: Network,
    data: Dataset,
    every: Mapping[str, Callable[[Box], Decision]],
    labels: Sequence[str],
    executor: str,
) -> Floats:
    """Whether every run of an executor gives each sequence the class that it has over the reals.

    The boxes hold the exact outputs and all that the executor may compute; so where a box lies in
    one class, both are of that class.
    """
    if executor not in UNITS:
        raise InputError(f"the executor {executor!r} is unknown; known are float32 and float64")
    unsure, margins = [], []
    with one_blas_thread():
        found = boxes(network, tokens_of(network, data), None, BALLS, UNITS[executor])
        for j, box in found:
            sure = [x.margin for each in every.values() if (x := each(box)).holds]
            if sure:
                margins += [x for x in sure if x is not None]
            else:
                unsure.append(j)
    return Floats(executor, tuple(sorted(unsure)), min(margins, default=None))
