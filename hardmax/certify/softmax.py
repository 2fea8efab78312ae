"""Softmax in the place of hardmax: from which inverse temperature on are predictions the same?

The softmax version of a model has the same parameters; token i attends to token l with the weight
exp(β⟨v,z_i⟩⟨v,z_l⟩) / Σ_m exp(β⟨v,z_i⟩⟨v,z_m⟩). Where v = 0 it is the model itself (theory B2).
Elsewhere a bound on |softmax token − exact token| is carried up to the last attention layer
(`softmax_errors`). Behind it every token goes its own way, so there the bound need only be below
the robust radius (`radius`), which follows exact derivatives (theory C8, section 14). All bounds
fall as β grows: bisection finds the least β, and "certified from β on" holds for all larger ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..dataset import Dataset
from ..errors import InputError, ResourceLimitError
from ..exact.balls import ball, fraction
from ..exact.numbers import Vector, exact_text
from ..labels import Point
from ..model.layers import RankOneBlock
from ..model.transformer import Transformer
from .radius import Reach, reaches
from .softmax_errors import Path

STEPS = 128  # values of β tried between 2^k and 2^(k+1): neighbours differ by less than 1 %
_LARGEST = 1000  # log₂ of the largest β


@dataclass(frozen=True)
class SoftmaxCertificate:
    """For which inverse temperatures softmax predicts what hardmax does.

    ``certified``: for all β ≥ ``beta`` every prediction is that of the exact hardmax run.
    ``beta`` is 0 where attention is uniform or has nothing to choose: then softmax equals hardmax.
    ``distance`` bounds how far (∞-norm) an output with a point label may lie from that point, for
    these β (None without such labels). ``reason`` says why nothing is certified.
    """

    certified: bool
    beta: Fraction | None
    distance: Fraction | None
    reason: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The entry ``softmax`` of `hardmax verify --json`."""
        texts = (None if x is None else exact_text(x) for x in (self.beta, self.distance))
        return {"certified": self.certified, **dict(zip(("beta", "distance"), texts, strict=True))}


def certify_softmax(
    model: Transformer, data: Dataset, progress: Callable[[int], None] | None = None
) -> SoftmaxCertificate:
    """Find the least β (on a grid of 1 %) from which on all predictions are certified.

    ``progress`` is called with a number of blocks out of len(model). Raises InputError for models
    of general layers, ResourceLimitError where no β up to 2^1000 is large enough.

    >>> import hardmax as hm
    >>> data = hm.Dataset([[(0, 0), (1, 0)], [(0, 0), (0, 1)]], ["a", "b"])
    >>> found = certify_softmax(hm.build(data), data)
    >>> found.certified, found.beta > 0, found.distance < Fraction(1, 2)
    (True, True, True)
    >>> certify_softmax(hm.build(data, "peel"), data).beta
    Fraction(0, 1)
    """
    if model.parameters is None:
        raise InputError("softmax certificates are for models of rank-1 blocks")
    if model.masked:
        raise InputError("softmax certificates are for models without mask")
    model.need_one_head("softmax certificates")
    data.refuse_outputs("softmax certificates")
    last = _last_attention(model.parameters)
    if last == 0:
        away = [_away(data, j, output) for j, output in enumerate(model.outputs(data, progress))]
        return SoftmaxCertificate(True, Fraction(0), _farthest(away))
    paths = [Path(data.sequence(j), model.dimension) for j in range(len(data))]
    for k, block in enumerate(model.parameters[:last]):
        for path in paths:
            path.follow(block)
        if progress is not None:
            progress(k + 1)
    ends = [path.tokens for path in paths]
    found = list(zip(paths, reaches(_tail(model, last), ends, data.sets), strict=True))
    if [reach.output for _, reach in found] != model.outputs(data):
        raise AssertionError("the paths end where the model does")
    beta = Fraction(0)
    for j, (path, reach) in enumerate(found):
        if _holds(path, reach, beta):
            continue
        if reach.radius == 0 or not _holds(path, reach, None):
            return SoftmaxCertificate(False, None, None, _why_not(data.name(j), reach))
        beta = _least(data.name(j), path, reach)
    distances = [_distance(data, j, *pair, beta) for j, pair in enumerate(found)]
    return SoftmaxCertificate(True, beta, _farthest(distances))


def _least(name: str, path: Path, reach: Reach) -> Fraction:
    """The least β of the grid 2^k (1 + m/128) at which one sequence is certified."""

    def beta(place: int) -> Fraction:
        k, m = divmod(place, STEPS)
        return Fraction(2) ** k * Fraction(STEPS + m, STEPS)

    low, high = -_LARGEST * STEPS, _LARGEST * STEPS
    if not _holds(path, reach, beta(high)):
        raise ResourceLimitError(
            f"{name}: softmax follows hardmax at inverse temperatures past 2^{_LARGEST} only"
        )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _holds(path, reach, beta(middle)) else (middle, high)
    return beta(high)


def _last_attention(blocks: Any) -> int:
    """Number of blocks up to the last attention layer; 0 where none chooses: v = 0 in all."""
    mixing = [k for k, block in enumerate(blocks) if block.alpha != 0]
    if not any(any(blocks[k].v) for k in mixing):
        return 0
    return mixing[-1] + 1


def _tail(model: Transformer, start: int) -> Transformer:
    """The blocks from ``start`` on, none of which mixes tokens."""
    return model[start:] if start < len(model) else Transformer([RankOneBlock.of(model.dimension)])


def _holds(path: Path, reach: Reach, beta: Fraction | None) -> bool:
    """Whether the prediction of a sequence is certified at β, or for β → ∞ (None)."""
    deviation = path.deviation(beta)
    if deviation is None:
        return reach.radius is None and reach.growth == 0
    return bool(reach.radius is None or deviation == 0 or deviation < ball(reach.radius))


def _why_not(name: str, reach: Reach) -> str:
    if reach.radius == 0:
        return f"{name}: a decision of the exact run stands on its boundary"
    return f"{name}: at no temperature; different tokens tie, or a score ⟨v,z⟩ is zero by chance"


def _distance(data: Dataset, j: int, path: Path, reach: Reach, beta: Fraction) -> Fraction | None:
    """A bound on how far an output with a point label may lie from its point."""
    away, deviation = _away(data, j, reach.output), path.deviation(beta)
    if away is None or reach.growth == 0:
        return away
    return away + reach.growth * fraction(deviation)


def _away(data: Dataset, j: int, output: Vector) -> Fraction | None:
    """How far an exact output lies from its point label; None where the label is no point."""
    label = data.names[j]
    target = data.sets.get(label) if label is not None else None
    if not isinstance(target, Point):
        return None
    return max(abs(a - b) for a, b in zip(output, target.point, strict=True))


def _farthest(distances: Iterable[Fraction | None]) -> Fraction | None:
    return max((x for x in distances if x is not None), default=None)
