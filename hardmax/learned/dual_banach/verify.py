"""Check the norm bounds on a concrete transformer and data, by enclosures, and say how loose."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ...errors import InputError
from .balls import Array, Balls
from .bounds import BlockBounds, missing_hypotheses
from .enclose import feed_forward, layer_norm
from .layers import Block
from .propagate import propagate

CLAIMS = {
    "printed, no residual": "‖a + FFN(LN(a))‖ ≤ (1 + K/std a)‖a‖: (12) for the block of (10)",
    "printed, attention": "‖x'‖ ≤ (1 + K/std a)‖a‖: (12), f̃* = attention output a",
    "printed, residual": "‖x'‖ ≤ (1 + K/std u)‖u‖: (12), f̃* = residual stream u",
    "R1": "‖x'‖ ≤ ‖u‖ + F(u)",
    "R2 squares": "‖x_l − x_0‖² ≤ l Σ (1 + K/std a)²‖a‖²: the sum of (13), times l²",
    "R2": "‖x_l − x_0‖ ≤ Σ (‖a‖ + F(u))",
    "all inputs": "‖x_l − x_0‖ ≤ Σ (A + F)",
}
_OF_STACKS = ("R2 squares", "R2", "all inputs")  # claims about several blocks together
_ITEMS = 2**21  # numbers in the largest array of a chunk


@dataclass
class Row:
    """One claim at one layer: tokens where it provably holds, fails, or neither.

    ``looseness`` has the ratio bound/true norm of every token where both are known (floats, for
    figures only). ``witness`` is the sequence and token of the first proved failure, from 0.
    """

    layer: int
    claim: str
    holds: int = 0
    fails: int = 0
    open: int = 0
    witness: tuple[int, int] | None = None
    looseness: list[float] = field(default_factory=list, repr=False)

    @property
    def verdict(self) -> str:
        """Proved (on every token), refuted (on one), or undecided."""
        if self.fails:
            return "refuted"
        return "undecided" if self.open else "proved"

    def add(self, bound: Balls, true: Balls, places: Sequence[int]) -> None:
        """Judge tokens (B, n) of the sequences ``places``."""
        holds, fails = bound.lower >= true.upper, bound.upper < true.lower
        self.holds += int(holds.sum())
        self.fails += int(fails.sum())
        self.open += int((~holds & ~fails).sum())
        if self.witness is None and fails.any():
            k, token = (int(i) for i in np.argwhere(fails)[0])
            self.witness = places[k], token
        known = np.isfinite(bound.rad) & np.isfinite(true.rad) & (true.mid > 0)
        self.looseness += (bound.mid[known] / true.mid[known]).tolist()


@dataclass(frozen=True)
class Report:
    """Rows for every layer and claim, the hypotheses of (12) that each layer breaks."""

    rows: list[Row]
    missing: list[tuple[str, ...]]
    matrix_norm: str

    def row(self, layer: int, claim: str) -> Row:
        """The row of a claim (a key of `CLAIMS`) at a layer, counted from 1."""
        return next(r for r in self.rows if (r.layer, r.claim) == (layer, claim))

    def to_json(self) -> dict[str, Any]:
        """Plain numbers and texts; looseness as median and maximum."""
        rows = []
        for row in self.rows:
            entry = {k: v for k, v in asdict(row).items() if k != "looseness"}
            entry["verdict"] = row.verdict
            if row.looseness:
                entry["median looseness"] = float(np.median(row.looseness))
                entry["largest looseness"] = float(np.max(row.looseness))
            rows.append(entry)
        return {
            "matrix norm": self.matrix_norm,
            "claims": CLAIMS,
            "missing hypotheses": [list(words) for words in self.missing],
            "rows": rows,
        }

    def __str__(self) -> str:
        lines = [f"{'layer':>5}  {'claim':22}{'verdict':10}{'holds':>8}{'fails':>8}{'open':>6}"
                 f"{'bound/true: median':>20}{'largest':>12}"]  # fmt: skip
        for row in self.rows:
            line = f"{row.layer:5}  {row.claim:22}{row.verdict:10}"
            line += f"{row.holds:8}{row.fails:8}{row.open:6}"
            if row.looseness:
                line += f"{np.median(row.looseness):20.4g}{np.max(row.looseness):12.4g}"
            lines.append(line)
        for k, words in enumerate(self.missing):
            if words:
                lines.append(f"layer {k + 1} breaks hypotheses of (12): {'; '.join(words)}")
        return "\n".join(lines)


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


def draw_looseness(report: Report, axes: Any, colours: Callable[[int], Any] | None = None) -> None:
    """Median of bound/true by layer, one line a claim; the shaded band reaches from least to
    largest. Where a line is below 1 the claim fails.
    """
    layers = sorted({row.layer for row in report.rows})
    for k, claim in enumerate(dict.fromkeys(row.claim for row in report.rows)):
        values = [report.row(l, claim).looseness or [np.nan] for l in layers]
        colour = f"C{k}" if colours is None else colours(k)
        axes.plot(layers, [np.median(v) for v in values], marker="o", label=claim, color=colour)
        axes.fill_between(layers, [min(v) for v in values], [max(v) for v in values],
                          color=colour, alpha=0.12, linewidth=0)  # fmt: skip
    axes.axhline(1.0, color="black", linewidth=0.8)
    axes.set(yscale="log", xlabel="layer", ylabel="bound / true norm", xticks=layers)
    axes.legend(fontsize=7)
