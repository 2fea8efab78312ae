"""Verdicts on norm bounds, layer by layer, with how loose each bound is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from .enclosures.balls import Balls

CLAIMS = {
    "printed, no residual": "‖a + FFN(LN(a))‖ ≤ (1 + K/std a)‖a‖: (12) for the block of (10)",
    "printed, attention": "‖x'‖ ≤ (1 + K/std a)‖a‖: (12), f̃* = attention output a",
    "printed, residual": "‖x'‖ ≤ (1 + K/std u)‖u‖: (12), f̃* = residual stream u",
    "R1": "‖x'‖ ≤ ‖u‖ + F(u)",
    "R2 squares": "‖x_l − x_0‖² ≤ l Σ (1 + K/std a)²‖a‖²: the sum of (13), times l²",
    "R2": "‖x_l − x_0‖ ≤ Σ (‖a‖ + F(u))",
    "all inputs": "‖x_l − x_0‖ ≤ Σ (A + F)",
}


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
