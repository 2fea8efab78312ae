"""The moments of an exact run that a picture can show: after every layer that does something."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..errors import InputError
from ..exact.numbers import Vector
from ..model.layers import RankOneBlock
from ..model.tokens import Tokens
from ..model.transformer import Transformer

Key = tuple[int, ...]

LAYERS = ("input", "feed-forward", "attention")


@dataclass(frozen=True)
class Moment:
    """All tokens at one moment of a run.

    ``number`` counts blocks from 1 (0 is the input), ``layer`` is one of ``LAYERS``; ``block``
    and ``stage`` are those that act. ``batch`` is the state itself, which the run changes when
    it goes on; ``lengths`` are the lengths of the sequences before any collapse. ``leaders``
    holds for every sequence the positions that some token attends to in this block (2.4a);
    it is empty where v = 0, where all attend to all.
    """

    number: int
    layer: str
    stage: str
    block: RankOneBlock | None
    batch: Tokens
    lengths: tuple[int, ...]
    leaders: tuple[tuple[int, ...], ...] = ()

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
        chosen = _seen_leaders if model.masked else _leaders
        leaders = chosen(batch, block.v) if block.alpha and any(block.v) else ()
        if layers and moves:
            yield Moment(k, "feed-forward", stage, block, batch, lengths, leaders)
        batch.attend(block.rho, block.alpha, block.v, model.masked)
        if attends or not moves or not layers:
            yield Moment(k, "attention", stage, block, batch, lengths, leaders)


def _leaders(batch: Tokens, v: Vector) -> tuple[tuple[int, ...], ...]:
    """Maximisers of ⟨v,z_i⟩⟨v,·⟩ in every sequence, for any of its tokens z_i."""
    values = batch.projections(v)
    found = []
    for a, b in batch.spans():
        own = values[a:b]
        high, low = max(own), min(own)
        looked_at = {t for t, seen in ((high, high > 0), (low, low < 0)) if seen}
        if 0 in own:  # a token with ⟨v,z_i⟩ = 0 attends to all
            looked_at.update(own)
        found.append(tuple(i for i, t in enumerate(own) if t in looked_at))
    return tuple(found)


def _seen_leaders(batch: Tokens, v: Vector) -> tuple[tuple[int, ...], ...]:
    """The same under a mask, where token i attends to tokens 1, …, i only."""
    values = batch.projections(v)
    found = []
    for a, b in batch.spans():
        led: set[int] = set()
        for i in range(b - a):
            seen = [values[a + i] * t for t in values[a : a + i + 1]]
            led.update(l for l, t in enumerate(seen) if t == max(seen))
        found.append(tuple(sorted(led)))
    return tuple(found)
