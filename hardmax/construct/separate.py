"""Separation: no token is shared by two sequences afterwards, (3.2); Lemma 3.5, mended.

Let G join two sequences that share a token. Every block below raises the number of connected
components of G and never joins two of them, so at most N − (components of G) ≤ N − 1 blocks
are needed, where the paper allows 2(N − 1):

Case 1. A generic direction v gives every sequence one leader. Pulling all tokens towards
        their leaders parts each pair with different leaders: two tokens z, z' meet for at
        most one α, (3.22)–(3.23), and α is taken outside this finite set for all pairs
        (theory A4).
Case 2. Pulling all tokens towards their means (v = 0) parts each pair with different means.
Case 3. Where neither parts anything, all sequences of a component have equal means. The
        feed-forward layer of Lemma 3.4, injective on all tokens, gives two neighbours
        different means, and Case 2's attention in the same block parts them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from random import Random

from ..errors import ConstructionError
from ..model.layers import RankOneBlock
from ..model.tokens import Tokens
from ..model.transformer import apply
from ..numbers import Vector
from .draw import directions
from .leaders import leader_shift
from .means import MeanSplit, split_means

_DRAWS = 8  # directions, or pairs of tied sequences, among which the best is kept


@dataclass(frozen=True)
class SeparationStep:
    """One block of the separation stage.

    ``case`` is the case of Lemma 3.5; ``components`` counts the groups of sequences linked
    by shared tokens after the block; ``leaders`` are the leading tokens (Case 1), ``split``
    is what Lemma 3.4 gave (Case 3).
    """

    case: int
    block: RankOneBlock
    components: int
    leaders: tuple[Vector, ...] = ()
    split: MeanSplit | None = None


class _Sharing:
    """Which sequences share which tokens, by the exact values of a batch."""

    def __init__(self, batch: Tokens) -> None:
        numbers: dict[Hashable, int] = {}
        self.rows = [numbers.setdefault(key, len(numbers)) for key in batch.token_keys()]
        self.tokens = [set(self.rows[a:b]) for a, b in batch.spans()]
        owners: dict[int, list[int]] = {}
        for j, tokens in enumerate(self.tokens):
            for token in tokens:
                owners.setdefault(token, []).append(j)
        self.shared = {token: owned for token, owned in owners.items() if len(owned) > 1}

    def components(self, focus: list[Hashable] | None = None) -> int:
        """Connected components of G; with ``focus``, after a block that pulls sequence j
        towards focus[j] and so parts sequences of different focus."""
        import networkx as nx

        graph: nx.Graph = nx.Graph()
        graph.add_nodes_from(range(len(self.tokens)))
        for token, owned in self.shared.items():
            for j in owned:
                graph.add_edge(j, (token, focus[j] if focus else None))
        # a token that lost all but one owner hangs on that owner and adds no component
        return int(nx.number_connected_components(graph))

    def images(self, focus: list[Hashable]) -> int:
        """How many different tokens there are after a block that merges none by chance."""
        return len({(token, focus[j]) for j, tokens in enumerate(self.tokens) for token in tokens})

    def pairs(self, rng: Random) -> Iterator[tuple[int, int]]:
        """Pairs of sequences that share a token, at random."""
        owned = list(self.shared.values())
        while True:
            first, second = rng.sample(rng.choice(owned), 2)
            yield min(first, second), max(first, second)


def separate(
    batch: Tokens,
    seed: int = 0,
    on_step: Callable[[SeparationStep], None] | None = None,
) -> list[SeparationStep]:
    """Part all sequences of a batch, in place, and return the steps (Lemma 3.5, mended).

    The sequences must have different empirical measures. Afterwards no token belongs to two
    sequences. At each step the case that leaves the most components is taken, the lower case
    on a tie; Case 3 only where Cases 1 and 2 part nothing.

    >>> batch = Tokens.from_sequences([[(Fraction(0),), (Fraction(1),)], [(Fraction(0),)]])
    >>> [step.case for step in separate(batch)]
    [1]
    """
    rng = Random(seed)
    steps: list[SeparationStep] = []
    sharing = _Sharing(batch)
    while sharing.shared:
        before = sharing.components()
        step = _next_step(batch, sharing, before, rng)
        sharing = _Sharing(batch)
        if sharing.components() != step.components or step.components <= before:
            raise ConstructionError("a separation block did not part what it promised to part")
        steps.append(step)
        if on_step is not None:
            on_step(step)
    return steps


def _next_step(batch: Tokens, sharing: _Sharing, before: int, rng: Random) -> SeparationStep:
    v, leaders, by_leader = _best_direction(batch, sharing, rng)
    means: list[Hashable] = list(batch.mean_keys())
    by_mean = sharing.components(means)
    if max(by_leader, by_mean) == before:
        return _case_3(batch, sharing, before, rng)
    if by_leader >= by_mean:
        focus: list[Hashable] = [sharing.rows[row] for row in leaders]
        led = tuple(batch.token(row) for row in leaders)
        block = _pull(batch, v, leader_shift(batch, v), sharing.images(focus))
        return SeparationStep(1, block, by_leader, led)
    zero = (Fraction(0),) * batch.dimension
    block = _pull(batch, zero, zero, sharing.images(means))
    return SeparationStep(2, block, by_mean)


def _best_direction(batch: Tokens, sharing: _Sharing, rng: Random) -> tuple[Vector, list[int], int]:
    """Among some generic directions the one whose leaders part the most."""
    best: tuple[Vector, list[int], int] | None = None
    valid = 0
    for v in directions(rng, batch.dimension):
        leaders = [row for row in batch.leaders(v) if row is not None]
        if len(leaders) < len(batch):
            continue
        count = sharing.components([sharing.rows[row] for row in leaders])
        if best is None or count > best[2]:
            best = v, leaders, count
        valid += 1
        if count == len(batch) or valid == _DRAWS:
            break
    if best is None:
        raise AssertionError("unreachable: directions never end")
    return best


def _pull(
    batch: Tokens,
    v: Vector,
    shift: Vector,
    images: int,
) -> RankOneBlock:
    """Translate, then pull tokens to what v selects, by the first α = 1/2, 1/4, … that
    merges no two tokens by chance: ``images`` different tokens must remain."""
    return _first(
        batch,
        images,
        lambda alpha: RankOneBlock.translation(shift, rho=1 - alpha, alpha=alpha, v=v),
    )


def _first(
    batch: Tokens, images: int, block_of: Callable[[Fraction], RankOneBlock]
) -> RankOneBlock:
    """Apply the block of the first α = 1/2, 1/4, … after which ``images`` tokens remain."""
    alpha = Fraction(1, 2)
    while not _accept(batch, block := block_of(alpha), images):
        alpha /= 2
    return block


def _accept(batch: Tokens, block: RankOneBlock, images: int) -> bool:
    """Apply the block if exactly ``images`` different tokens remain."""
    trial = batch.copy()
    apply(trial, block)
    if len(set(trial.token_keys())) != images:
        return False
    batch.become(trial)
    return True


def _case_3(batch: Tokens, sharing: _Sharing, before: int, rng: Random) -> SeparationStep:
    """Split the means of neighbours, choosing among some pairs the split that parts most."""
    best: tuple[int, MeanSplit, Vector, list[Hashable]] | None = None
    for first, second in islice(sharing.pairs(rng), _DRAWS):
        split = split_means(batch.sequence(first), batch.sequence(second), rng)
        w, means = _injective(batch, split, len(set(sharing.rows)), rng)
        count = sharing.components(means)
        if best is None or count > best[0]:
            best = count, split, w, means
    if best is None or best[0] <= before:
        raise ConstructionError("Lemma 3.4 parted no pair of neighbours")
    count, split, w, means = best
    block = _first(
        batch,
        sharing.images(means),
        lambda alpha: RankOneBlock.of(
            batch.dimension, u=split.u, b=split.b, w=w, rho=1 - alpha, alpha=alpha
        ),
    )
    return SeparationStep(3, block, count, split=split)


def _injective(
    batch: Tokens, split: MeanSplit, images: int, rng: Random
) -> tuple[Vector, list[Hashable]]:
    """A vector w for which the layer merges no two tokens, and the means it gives."""
    w = next(directions(rng, batch.dimension))
    while True:
        trial = batch.copy()
        trial.feed_forward(split.u, split.b, w)
        if len(set(trial.token_keys())) == images:
            return w, list(trial.mean_keys())
        w = tuple(x / 2 for x in w)
