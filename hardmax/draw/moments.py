"""The moments of an exact run that a picture can show: after every layer that does something."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..errors import InputError
from ..exact.numbers import Vector
from ..model.parameters import PackedBlock
from ..model.tokens import Tokens
from ..model.transformer import Transformer

Key = tuple[int, ...]

LAYERS = ("input", "feed-forward", "attention")


@dataclass(frozen=True)
class Attention:
    """Where the tokens of one sequence look (2.4a), as positions in the sequence.

    Token i attends to ``sets[choice[i]]``, in equal parts.
    """

    sets: tuple[tuple[int, ...], ...]
    choice: tuple[int, ...]

    @classmethod
    def of(cls, values: Sequence[Fraction]) -> Attention:
        """From ⟨v,z_i⟩ for every token of the sequence.

        >>> Attention.of([Fraction(1), Fraction(2), Fraction(-1)])
        Attention(sets=((1,), (2,)), choice=(0, 0, 1))
        """
        high, low = max(values), min(values)
        by_sign = {
            1: tuple(i for i, t in enumerate(values) if t == high),
            -1: tuple(i for i, t in enumerate(values) if t == low),
            0: tuple(range(len(values))),  # ⟨v,z_i⟩ = 0: all scores are 0
        }
        signs = [(t > 0) - (t < 0) for t in values]
        used = list(dict.fromkeys(signs))
        return cls(tuple(by_sign[sign] for sign in used), tuple(used.index(sign) for sign in signs))

    @classmethod
    def behind_a_mask(cls, values: Sequence[Fraction]) -> Attention:
        """The same where token i sees tokens 1, …, i only.

        >>> Attention.behind_a_mask([Fraction(1), Fraction(2), Fraction(-1)])
        Attention(sets=((0,), (1,), (2,)), choice=(0, 1, 2))
        """
        found: dict[tuple[int, ...], int] = {}
        choice = []
        for i, own in enumerate(values):
            scores = [own * t for t in values[: i + 1]]
            top = max(scores)
            led = tuple(k for k, score in enumerate(scores) if score == top)
            choice.append(found.setdefault(led, len(found)))
        return cls(tuple(found), tuple(choice))

    @classmethod
    def joined(cls, heads: Sequence[Attention]) -> Attention:
        """Whom the tokens of one sequence attend to by any of the heads.

        >>> one, two = (Attention.of([Fraction(x), Fraction(1)]) for x in (0, 2))
        >>> Attention.joined([one, two])
        Attention(sets=((0, 1),), choice=(0, 0))
        """
        if len(heads) == 1:
            return heads[0]
        found: dict[tuple[int, ...], int] = {}
        choices = zip(*(head.choice for head in heads), strict=True)
        choice = []
        for chosen in choices:
            seen = {i for head, c in zip(heads, chosen, strict=True) for i in head.sets[c]}
            choice.append(found.setdefault(tuple(sorted(seen)), len(found)))
        return cls(tuple(found), tuple(choice))

    @property
    def leaders(self) -> tuple[int, ...]:
        """The positions that some token attends to."""
        return tuple(sorted({i for chosen in self.sets for i in chosen}))


@dataclass(frozen=True)
class Moment:
    """All tokens at one moment of a run.

    ``number`` counts blocks from 1 (0 is the input), ``layer`` is one of ``LAYERS``; ``block``
    and ``stage`` are those that act. ``batch`` is the state itself, which the run changes when
    it goes on; ``lengths`` are the lengths of the sequences before any collapse. ``attention``
    says for every sequence who attends to whom in this block, by any head; it is empty where v = 0,
    where all attend to all, and where α = 0, where nobody attends.
    """

    number: int
    layer: str
    stage: str
    block: PackedBlock | None
    batch: Tokens
    lengths: tuple[int, ...]
    attention: tuple[Attention, ...] = ()

    @property
    def leaders(self) -> tuple[tuple[int, ...], ...]:
        """The leaders of every sequence: the positions that some token attends to."""
        return tuple(attention.leaders for attention in self.attention)

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
    >>> from hardmax import RankOneBlock
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
        attends = block.mixes
        batch.feed_forward(block.u, block.b, block.w)
        attention = _attention(batch, block, model.masked)
        if layers and moves:
            yield Moment(k, "feed-forward", stage, block, batch, lengths, attention)
        batch.attend_heads(block.rho, block.heads, model.masked)
        if attends or not moves or not layers:
            yield Moment(k, "attention", stage, block, batch, lengths, attention)


def _attention(batch: Tokens, block: PackedBlock, masked: bool) -> tuple[Attention, ...]:
    """For every sequence who attends to whom by some head with v ≠ 0; under a mask by any head."""
    look = Attention.behind_a_mask if masked else Attention.of
    heads = [batch.projections(v) for alpha, v in block.heads if alpha and (any(v) or masked)]
    if not heads:
        return ()
    spans = list(batch.spans())
    return tuple(Attention.joined([look(values[a:b]) for values in heads]) for a, b in spans)
