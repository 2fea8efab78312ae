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

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from random import Random

from ...errors import ConstructionError
from ...exact.array import Array
from ...exact.numbers import Vector
from ...model.blocks import apply
from ...model.layers import RankOneBlock
from ...model.tokens import Tokens
from ...stages import tell
from ..shared.directions import directions
from ..shared.sharing import Sharing
from ..shared.split_means import MeanSplit, split_means
from .leaders import shift_above
from .pulls import Pull
from .state import TokenState

_DRAWS = 8  # directions, or pairs of tied sequences, among which the best is kept
_LAYERS = 4  # blocks of Case 3 after which all tokens are worked out


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

    def told(step: Step) -> None:
        found = step.found
        if step.leaders is not None:
            led = tuple(batch.token(row) for row in step.leaders.tolist())
            found = replace(found, leaders=led)
        apply(batch, found.block)
        steps.append(found)
        if on_step is not None:
            on_step(found)

    steps: list[SeparationStep] = []
    separate_state(TokenState.of_tokens(batch), seed, told)
    return steps


@dataclass(frozen=True)
class Step:
    """One step, the rows of the leaders in Case 1, and the state after it."""

    found: SeparationStep
    leaders: Array | None
    state: TokenState


def separate_state(
    state: TokenState, seed: int = 0, on_step: Callable[[Step], None] | None = None
) -> TokenState:
    """`separate` for a `TokenState`; return the state after the last step."""
    rng = Random(seed)
    sharing = Sharing(state.owner, state.token)
    while sharing.any:
        before = sharing.components()
        tell("separate", sharing.count - before)
        step = _next_step(state, sharing, before, rng)
        state, count = step.state, step.found.components
        sharing = Sharing(state.owner, state.token)
        if sharing.components() != count or count <= before:
            raise ConstructionError("a separation block did not part what it promised to part")
        if on_step is not None:
            on_step(step)
    return state


def _next_step(state: TokenState, sharing: Sharing, before: int, rng: Random) -> Step:
    v, leaders, by_leader = _best_direction(state, sharing, rng)
    means = state.mean_numbers()
    by_mean = sharing.components(means)
    if max(by_leader, by_mean) == before:
        return _case_3(state, sharing, before, rng)
    if by_leader >= by_mean:
        shift = shift_above(state.least(v), v)
        block, state = _pull(state, v, shift, leaders, state.token[leaders])
        return Step(SeparationStep(1, block, by_leader), leaders, state)
    zero = (Fraction(0),) * state.dimension
    block, state = _pull(state, zero, zero, None, means)
    return Step(SeparationStep(2, block, by_mean), None, state)


def _best_direction(state: TokenState, sharing: Sharing, rng: Random) -> tuple[Vector, Array, int]:
    """Among some generic directions the one whose leaders part the most."""
    best: tuple[Vector, Array, int] | None = None
    valid = 0
    for v in directions(rng, state.dimension):
        leaders = state.leaders(v)
        if leaders is None:
            continue
        count = sharing.components(state.token[leaders])
        if best is None or count > best[2]:
            best = v, leaders, count
        valid += 1
        if count == sharing.count or valid == _DRAWS:
            break
    if best is None:
        raise AssertionError("unreachable: directions never end")
    return best


def _pull(
    state: TokenState, v: Vector, shift: Vector, leaders: Array | None, numbers: Array
) -> tuple[RankOneBlock, TokenState]:
    """Translate, then pull tokens to what v selects, by the first α = 1/2, 1/4, … that
    merges no two tokens by chance; ``numbers`` says which sequences are pulled to one point."""
    alpha = Fraction(1, 2)
    while (after := state.pulled(Pull(shift, alpha, leaders), numbers)) is None:
        alpha /= 2
    return RankOneBlock.translation(shift, rho=1 - alpha, alpha=alpha, v=v), after


def _case_3(state: TokenState, sharing: Sharing, before: int, rng: Random) -> Step:
    """Split the means of neighbours, choosing among some pairs the split that parts most."""
    best: tuple[int, MeanSplit, Vector, TokenState, Array] | None = None
    for first, second in islice(sharing.pairs(rng), _DRAWS):
        split = split_means(state.exact.sequence(first), state.exact.sequence(second), rng)
        w, fed = _injective(state, split, rng)
        means = fed.mean_numbers()
        count = sharing.components(means)
        if best is None or count > best[0]:
            best = count, split, w, fed, means
    if best is None or best[0] <= before:
        raise ConstructionError("Lemma 3.4 parted no pair of neighbours")
    count, split, w, fed, means = best
    zero = (Fraction(0),) * state.dimension
    pull, after = _pull(fed, zero, zero, None, means)
    block = RankOneBlock.of(
        state.dimension, u=split.u, b=split.b, w=w, rho=pull.rho, alpha=pull.alpha
    )
    if after.exact.layers == _LAYERS:
        after = after.worked_out()
    return Step(SeparationStep(3, block, count, split=split), None, after)


def _injective(state: TokenState, split: MeanSplit, rng: Random) -> tuple[Vector, TokenState]:
    """A vector w for which the layer merges no two tokens, and the state behind the layer."""
    w = next(directions(rng, state.dimension))
    while (fed := state.fed_forward(split.u, split.b, w)) is None:
        w = tuple(x / 2 for x in w)
    return w, fed
