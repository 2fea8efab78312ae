"""Check the norm bounds on a concrete transformer and data, by enclosures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ...errors import InputError
from .bounds import BlockBounds, missing_hypotheses
from .enclosures.balls import Array, Balls
from .enclosures.enclose import feed_forward, layer_norm
from .enclosures.propagate import propagate
from .layers import Block
from .report import CLAIMS, Report, Row

_OF_STACKS = ("R2 squares", "R2", "all inputs")  # claims about several blocks together
_ITEMS = 2**21  # numbers in the largest array of a chunk


def verify_blocks(
    blocks: Sequence[Block],
    sequences: Iterable[Array | Balls],
    matrix_norm: str = "spectral",
    *,
    layerwise: bool = False,
) -> Report:
    """Judge every claim of `CLAIMS` on tokens (n, d) of every sequence that enters the first block.

    True norms and bounds are both enclosed, so "proved" and "refuted" hold for the real numbers
    that the floats of the model and the data stand for. Radii grow about a hundredfold a block, so
    beyond five to eight blocks claims become undecided. With ``layerwise`` every block starts
    afresh from floats near the tokens that enter it, whatever the depth; then only the claims
    about single blocks are judged. Raises InputError where shapes don't fit.

    >>> from .examples import random_block
    >>> report = verify_blocks([random_block(seed=0)], [np.eye(4)])
    >>> report.row(1, "R1").verdict
    'proved'
    """
    if not blocks:
        raise InputError("there are no blocks to verify")
    stack = [BlockBounds(block, matrix_norm) for block in blocks]
    claims = [claim for claim in CLAIMS if not (layerwise and claim in _OF_STACKS)]
    rows = {(l, claim): Row(l, claim) for l in range(1, len(blocks) + 1) for claim in claims}
    for places, x in batches(blocks, sequences):
        for l, claim, bound, true in _judge(stack, x, layerwise):
            if claim in claims:
                rows[l, claim].add(bound, true, places)
    return Report(list(rows.values()), [missing_hypotheses(b) for b in blocks], matrix_norm)


def batches(
    blocks: Sequence[Block], sequences: Iterable[Array | Balls]
) -> Iterator[tuple[list[int], Balls]]:
    """Sequences of equal length together, as balls (B, n, d), with their places."""
    by_length: dict[int, list[tuple[int, Balls]]] = {}
    d = blocks[0].dimension
    for j, sequence in enumerate(sequences):
        x = sequence if isinstance(sequence, Balls) else Balls.exact(sequence)
        if len(x.shape) != 2 or x.shape[1] != d or not x.shape[0]:
            raise InputError(f"sequence {j + 1} has shape {x.shape}, expected (n, {d}) with n > 0")
        if not np.isfinite(x.rad).all():
            raise InputError(f"sequence {j + 1} has an entry that is not finite")
        by_length.setdefault(x.shape[0], []).append((j, x))
    width = max(max(len(b.b1), 4 * d) for b in blocks)
    heads = max(b.attention.heads for b in blocks)
    for n, group in by_length.items():
        step = max(1, _ITEMS // (n * max(width, heads * n)))
        for start in range(0, len(group), step):
            part = group[start : start + step]
            mid, rad = (np.stack([getattr(x, name) for _, x in part]) for name in ("mid", "rad"))
            yield [j for j, _ in part], Balls(mid, rad)


def _judge(
    stack: Sequence[BlockBounds], x: Balls, layerwise: bool
) -> Iterator[tuple[int, str, Balls, Balls]]:
    """Layer, claim, bound and true norm (B, n), for all layers and claims."""
    start = x
    squares: Any = 0.0
    total: Any = 0.0
    reach: Any = 0.0
    steps = propagate([bounds.block for bounds in stack], x, layerwise)
    for l, (bounds, step) in enumerate(zip(stack, steps, strict=True), 1):
        length = step.out.norm()
        at_a = bounds.printed(step.a)
        alone = step.a + feed_forward(bounds.block, layer_norm(bounds.block.norm2, step.a))
        yield l, "printed, no residual", at_a, alone.norm()
        yield l, "printed, attention", at_a, length
        yield l, "printed, residual", bounds.printed(step.u), length
        yield l, "R1", bounds.r1(step.u), length
        moved = (step.out - start).norm()
        squares = squares + at_a.square()
        total = total + step.a.norm() + bounds.feed_forward(step.u)
        reach = reach + bounds.attention_of_all + bounds.feed_forward_of_all
        yield l, "R2 squares", (squares * float(l)).sqrt(), moved
        yield l, "R2", total, moved
        everywhere = Balls(np.broadcast_to(reach.mid, moved.shape),
                           np.broadcast_to(reach.rad, moved.shape))  # fmt: skip
        yield l, "all inputs", everywhere, moved
