"""What `verify` prints beside the verdict: bounds, float and softmax certificates, radii."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...exact.numbers import show
from .table import table

if TYPE_CHECKING:
    from ...certify.certificate import Certificate
    from ...certify.floating import FloatCertificate
    from ...certify.radius import Radii
    from ...certify.softmax import SoftmaxCertificate


def show_bounds(found: Certificate) -> None:
    """The counts beside their bounds."""
    limits = found.bounds
    per_block, per_token = limits.block_parameter_bound, limits.parameter_bound
    rows = [
        ("blocks", str(limits.blocks), f"8N+4 = {limits.block_bound}"),
        ("parameters", str(limits.parameters), f"(3d+3)(8N+4) = {per_block}"),
        (
            "parameters",
            str(limits.parameters),
            f"54Nd = {per_token}" if per_token is not None else "54Nd needs d ≥ 2",
        ),
    ]
    table("bounds (Theorem 2.4)", rows, ("", "model", "bound"))


def float_notes(floats: FloatCertificate | None) -> list[tuple[str, str]]:
    """What a float certificate says, in words."""
    if floats is None:
        return []
    if not floats.certified:
        return [(floats.format, f"not certified: {floats.reason}")]
    parts = ["certified: every executor predicts what the exact run predicts"]
    if floats.least_margin is not None:
        parts.append(f"least margin {float(floats.least_margin):.3g}")
    if floats.distance is not None:
        parts.append(f"within {float(floats.distance):.3g} of the points")
    return [(floats.format, ", ".join(parts))]


def softmax_notes(found: SoftmaxCertificate | None) -> list[tuple[str, str]]:
    """What a softmax certificate says, in words."""
    if found is None:
        return []
    if not found.certified or found.beta is None:
        return [("softmax", f"not certified: {found.reason}")]
    where = f"at every inverse temperature β ≥ {show(found.beta, 24)}"
    if not found.beta:
        where = "at every temperature"
    parts = [f"certified: predicts what hardmax predicts, {where}"]
    if found.distance is not None:
        parts.append(f"within {float(found.distance):.3g} of the points")
    return [("softmax", ", ".join(parts))]


def radius_notes(
    reach: Radii | None, binding: str, decision: str | None = None
) -> list[tuple[str, str]]:
    """The radii in words; ``binding`` has the least, and ``decision`` sets it."""
    if reach is None:
        return []
    if reach.least is None:
        return [("radius", "no perturbation changes a prediction")]
    if decision is None:
        constraint = reach.each[reach.binding].constraint
        decision = constraint.sentence() if constraint is not None else "?"
    median = "none" if reach.median is None else show(reach.median, 24)
    return [
        ("radius", f"least {show(reach.least, 24)}, median {median} (moves of all tokens, ∞-norm)"),
        ("  set by", f"{binding}, {decision}"),
    ]
