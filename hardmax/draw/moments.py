"""The moments of an exact run that a picture can show: after every layer that does something."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..errors import InputError
from ..model.layers import RankOneBlock
from ..model.tokens import Tokens
from ..model.transformer import Transformer
from ..numbers import Vector

Key = tuple[int, ...]

LAYERS = ("input", "feed-forward", "attention")


@dataclass(frozen=True)
class Moment:
    """All tokens at one moment of a run.

    ``number`` counts blocks from 1 (0 is the input), ``layer`` is one of ``LAYERS``; ``block``
    and ``stage`` are those that have just acted. ``batch`` is the state itself, which the run
    changes when it goes on; ``lengths`` are the lengths of the sequences before any collapse.
    """

    number: int
    layer: str
    stage: str
    block: RankOneBlock | None
    batch: Tokens
    lengths: tuple[int, ...]

    def tokens(self, j: int) -> tuple[Vector, ...]:
        """Exact tokens of sequence j, one for every position."""
        state = self.batch.sequence(j)
        return state * self.lengths[j] if len(state) < self.lengths[j] else state

    def keys(self, j: int) -> list[Key]:
        """Tokens of sequence j as integers over one denominator (the last entry)."""
        a, b = self.batch.starts[j : j + 2]
        keys = self._all_keys()[a:b]
        return keys * self.lengths[j] if len(keys) < self.lengths[j] else keys

    def _all_keys(self) -> list[Key]:
        known: list[Key] | None = self.__dict__.get("_keys")
        if known is None:
            known = self.batch.token_keys()
            self.__dict__["_keys"] = known
        return known

    def leaders(self, j: int, v: Sequence[object]) -> list[int]:
        """Positions in sequence j that some token attends to under A = v vᵀ (2.4a), exactly.

        Empty for v = 0, where every token attends to all.
        """
        if not any(v):
            return []
        tokens = self.batch.sequence(j)
        values = [sum((a * b for a, b in zip(v, z, strict=True)), start=0 * z[0]) for z in tokens]
        found: set[int] = set()
        for extreme, looked_at in (
            (max(values), any(t > 0 for t in values)),
            (min(values), any(t < 0 for t in values)),
        ):
            if looked_at:
                found.update(i for i, t in enumerate(values) if t == extreme)
        return sorted(found)


def moments(
    model: Transformer, sequences: Iterable[Iterable[Vector]], *, layers: bool = True
) -> Iterator[Moment]:
    """Run a rank-1 model exactly and stop at every moment worth a look.

    These are the input and the tokens after each layer that is not the identity; a block of
    two identity layers shows once. With ``layers`` false only whole blocks count. The states
    are those of `Transformer.trace`. Raises InputError for a model of general layers.

    >>> from fractions import Fraction as F
    >>> model = Transformer([RankOneBlock.translation((1, 0))])
    >>> [(m.number, m.layer, m.tokens(0)[0][0]) for m in moments(model, [[(F(0), F(0))]])]
    [(0, 'input', Fraction(0, 1)), (1, 'feed-forward', Fraction(1, 1))]
    """
    if model.parameters is None:
        raise InputError("only models of rank-1 blocks can be drawn")
    batch = Tokens.from_sequences(sequences)
    lengths = tuple(b - a for a, b in batch.spans())
    yield Moment(0, "input", "input", None, batch, lengths)
    for k, (block, stage) in enumerate(zip(model.parameters, model.stages, strict=True), start=1):
        moves = any(block.w)
        attends = not (block.rho == 1 and block.alpha == 0)
        batch.feed_forward(block.u, block.b, block.w)
        if layers and moves:
            yield Moment(k, "feed-forward", stage, block, batch, lengths)
        batch.attend(block.rho, block.alpha, block.v)
        if attends or not moves or not layers:
            yield Moment(k, "attention", stage, block, batch, lengths)
