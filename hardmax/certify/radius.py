"""Robust radius: how far every token may move before a prediction can change (theory C7).

Where no decision of a run changes, the model is an affine map of the input tokens. The
decisions are the sign of ⟨u,z⟩ + b in each feed-forward layer with w ≠ 0 and, in each
attention layer with α ≠ 0 and v ≠ 0, the sign of ⟨v,z⟩ of each token and who leads. Each is
an affine function f of the perturbation δ of the input as long as all earlier decisions
stand, so for |δ|∞ < |f(0)| / ‖∇f‖₁ it stands as well. The radius is the least of these
quotients and of the bound on the output (`LabelMargins`), exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..dataset import Dataset
from ..errors import InputError
from ..exact.numbers import Vector, as_vector, bits, power_of_two_below
from ..labels import LabelSet
from ..model.parameters import PackedBlock
from ..model.tokens import Tokens
from ..model.transformer import Transformer
from .perturbation.decisions import State, attention, feed_forward
from .perturbation.jacobian import Jacobians
from .perturbation.label_margin import LabelMargins
from .perturbation.limits import Constraint, Limits
from .perturbation.norm_bounds import NormBounds

_LONGEST = 10_000  # bits of a radius that is written out


@dataclass(frozen=True)
class Radius:
    """Robust radius of one sequence, and the decision that sets it.

    Moving every token by less than ``value`` in the ∞-norm keeps every decision of the run,
    and with them the prediction. None: nothing limits it.
    """

    value: Fraction | None
    constraint: Constraint | None


@dataclass(frozen=True)
class Radii:
    """Robust radii of all sequences of a data set, in order."""

    each: tuple[Radius, ...]

    def _order(self) -> list[int]:
        """Sequences by radius; those that nothing limits come last."""
        return sorted(
            range(len(self.each)),
            key=lambda j: (self.each[j].value is None, self.each[j].value or Fraction(0)),
        )

    @property
    def binding(self) -> int:
        """The first sequence with the least radius, from 0."""
        return self._order()[0]

    @property
    def least(self) -> Fraction | None:
        """The least radius."""
        return self.each[self.binding].value

    @property
    def median(self) -> Fraction | None:
        """The median radius; of an even number the lower of the two in the middle."""
        return self.each[self._order()[(len(self.each) - 1) // 2]].value

    def to_json(self) -> dict[str, str | None]:
        """Least and median as the certificate states them: "p/q", null where infinite."""
        return {"least": _text(self.least), "median": _text(self.median)}


def _text(radius: Fraction | None) -> str | None:
    """The exact number; past 10 000 bits a smaller one of 64 bits, which is a radius too."""
    if radius is None:
        return None
    if bits(radius) > _LONGEST:
        step = power_of_two_below(radius) / 2**63
        radius = radius // step * step if bits(step) <= _LONGEST else Fraction(0)
    return str(radius)


def radii(
    model: Transformer, data: Dataset, progress: Callable[[int], None] | None = None
) -> Radii:
    """Compute the robust radius of every sequence (theory C7); labels are not used.

    A radius r speaks of the *open* ball: for all perturbations of the tokens with
    |δ|∞ < r the prediction (`predict`, with the sets of ``data``) is the same. The radius
    is 0 where a decision stands on its boundary. Where the output lies in an open set, it
    stays there. ``progress`` is called with the number of blocks done. Raises InputError
    where dimensions differ or the model is not of rank-1 blocks.

    >>> import hardmax as hm
    >>> data = hm.Dataset([[(0,)], [(3,)]], ["a", "b"])
    >>> model = hm.Transformer([hm.RankOneBlock.of(1)])
    >>> radii(model, data).least        # 3 is nearer to b = 1 than to a = 0 until it reaches 1/2
    Fraction(1, 2)
    """
    data = model.read(data)
    if model.dimension != data.dimension:
        raise InputError(
            f"the model has dimension {model.dimension}, the data set {data.dimension}"
        )
    data.refuse_outputs("robust radii")
    limits, _ = limits_of(model, data.sequences, data.sets, False, progress)
    return Radii(tuple(Radius(limits.radii[j], limits.constraints[j]) for j in range(len(data))))


@dataclass(frozen=True)
class Reach:
    """Where one exact output lies, and how far perturbed tokens move it.

    As long as all tokens move by at most δ < ``radius`` (∞-norm; None: any δ), no decision
    and no prediction changes, and the output moves by at most ``growth``·δ (∞-norm).
    """

    output: Vector
    radius: Fraction | None
    growth: Fraction


def reaches(
    model: Transformer, sequences: Iterable[Sequence[Vector]], sets: Mapping[str, LabelSet]
) -> list[Reach]:
    """The `Reach` of every sequence.

    >>> from hardmax.labels import Point
    >>> sets = {"a": Point((0,)), "b": Point((4,))}
    >>> from hardmax import RankOneBlock
    >>> model = Transformer([RankOneBlock.of(1, u=(1,), w=(2,))])   # z + 2·max(0, z)
    >>> found = reaches(model, [[(Fraction(1, 3),)]], sets)[0]
    >>> found.output, found.radius, found.growth
    ((Fraction(1, 1),), Fraction(1, 3), Fraction(3, 1))
    """
    pairs: list[tuple[Vector, Fraction]] = []
    limits, _ = limits_of(model, sequences, sets, False, None, pairs)
    return [Reach(y, limits.radii[j], growth) for j, (y, growth) in enumerate(pairs)]


def adversary(
    model: Transformer, sequence: Sequence[Sequence[object]], sets: Mapping[str, LabelSet]
) -> tuple[tuple[int, ...], ...] | None:
    """Signs s, one row for each token, that lead to the binding decision the shortest way.

    At Z + t·s the value of the binding decision falls to 0 as t rises to the radius. None
    where nothing binds and where the bound is not sharp: it came from norms, or from a tie
    of equal tokens that would have to move in two ways at once.

    >>> from hardmax.labels import Point
    >>> from hardmax import RankOneBlock
    >>> model = Transformer([RankOneBlock.of(1)])
    >>> adversary(model, [(0,), (1,)], {"a": Point((0,)), "b": Point((4,))})
    ((1,), (1,))
    """
    tokens = [as_vector(token) for token in sequence]
    limits, ties = limits_of(model, [tokens], sets, True)
    gradient = limits.gradients[0]
    if gradient is None:
        return None
    signs = [[0] * model.dimension for _ in tokens]
    for source, row in gradient.items():
        for index in _leaves(source, ties):
            for k, x in enumerate(row):
                sign = (x > 0) - (x < 0)
                if sign and signs[index][k] == -sign:
                    return None
                signs[index][k] = sign or signs[index][k]
    return tuple(tuple(row) for row in signs)


def _leaves(source: int, ties: Mapping[int, list[int]]) -> Iterable[int]:
    if source >= 0:
        return [source]
    return [leaf for tied in ties[source] for leaf in _leaves(tied, ties)]


def limits_of(
    model: Transformer,
    sequences: Iterable[Sequence[Vector]],
    sets: Mapping[str, LabelSet],
    keep: bool,
    progress: Callable[[int], None] | None = None,
    outputs: list[tuple[Vector, Fraction]] | None = None,
) -> tuple[Limits, dict[int, list[int]]]:
    """The least radius of every sequence; and for each broken tie its tokens (`Jacobians.tied`).

    With ``keep`` input tokens stay apart behind a collapse, and the gradients of the binding
    decisions are kept; the radii are the same. ``outputs`` gets every exact output and its growth.
    Raises InputError for models of general layers.
    """
    if model.parameters is None:
        raise InputError("the robust radius is defined for models of rank-1 blocks")
    batch = Tokens.from_sequences(sequences)
    pool = Jacobians(model.dimension, keep_sources=keep)
    handles = [pool.source(i - start) for start, end in batch.spans() for i in range(start, end)]
    state = State(
        batch, pool, handles, Limits(len(batch), keep), NormBounds(pool), {}, model.masked
    )
    for k, block in enumerate(model.parameters):
        _block(state, k, block)
        if progress is not None:
            progress(k + 1)
    _outputs(state, sets, outputs)
    return state.limits, state.ties


def _block(state: State, k: int, block: PackedBlock) -> None:
    feed_forward(state, k, block)
    state.batch.feed_forward(block.u, block.b, block.w)
    if not block.mixes:
        return
    after = attention(state, k, block)
    spans = list(state.batch.spans())
    state.batch.attend_heads(block.rho, block.heads, state.masked)
    pool, handles = state.pool, []
    for (start, end), (first, last) in zip(spans, state.batch.spans(), strict=True):
        if last - first < end - start:  # the sequence collapsed: one token is left
            handles.append(pool.collapsed(after[start]))
        else:
            handles += after[start:end]
    state.handles = handles


def _outputs(
    state: State,
    sets: Mapping[str, LabelSet],
    outputs: list[tuple[Vector, Fraction]] | None,
) -> None:
    """The bound that the prediction sets at the outputs; these and their growth, if asked for."""
    state.limits.finish(state.batch)
    margins = LabelMargins(state.pool, sets)
    one = Fraction(1)
    means = state.batch.means()
    for j, (start, end) in enumerate(state.batch.spans()):
        weight = Fraction(1, end - start)
        mean = [(weight, handle) for handle in state.handles[start:end]]
        handle = state.pool.combined(mean)
        if outputs is not None:
            outputs.append((means[j], margins.growth(handle)))
        found = margins.margin(means[j], handle)
        if found is not None:
            sharp = found.functional is not None
            constraint = Constraint("label", rival=found.rival, sharp=sharp)
            state.limits.lower(j, found.radius, constraint, found.functional, [(one, handle)])
