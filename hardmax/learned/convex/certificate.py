"""Certificates: heads and a dual point as short rationals, and the interval they prove.

Floats propose heads and a dual point; both are rounded to dyadic rationals, and the checker, which
is exact, computes what they prove: lower ≤ optimum over all numbers of heads ≤ upper.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from os import PathLike
from typing import Any, Protocol

import numpy as np

from ...errors import InputError
from ...formats.whole_files import write_text
from . import checker
from .burer_monteiro import Factors, balanced
from .heads import Head
from .problem import Problem
from .proximal import Solution

_bounds: Callable[[dict[str, Any]], tuple[Fraction, Fraction, Fraction | None]] = checker.bounds
_DIGITS = 17  # of the stated bounds, rounded outwards


def certify(
    problem: Problem,
    solution: Solution | None = None,
    *,
    factors: Factors | None = None,
    dual: np.ndarray | None = None,
    descent: Factors | None = None,
) -> dict[str, Any]:
    """The certificate of a solution, as a dictionary for JSON.

    ``factors`` are the heads (by default those of the solution's Z), ``dual`` is V of the shape of
    the targets. ``descent`` are more heads, which prove that the first are not optimal. Raises
    InputError where the problem is too large for the exact checker, or the descent rises.
    """
    if solution is None and (factors is None or dual is None):
        raise InputError("a certificate needs a solution, or heads and a dual point")
    cert = instance(problem)
    if solution is not None:
        factors = balanced(solution.Zs, 1e-9) if factors is None else factors
        dual = solution.V if dual is None else dual
    cert["heads"] = heads_table(factors or [])
    cert["dual"] = dual_table(problem, np.asarray(dual))
    if descent is not None:
        cert["descent"] = {"heads": heads_table(descent), "drop": "0"}
    return finished(cert)


def finished(cert: dict[str, Any]) -> dict[str, Any]:
    """A certificate whose bounds are stated as the checker proves them, rounded outwards."""
    try:
        lower, upper, drop = _bounds(cert)
    except checker.Stop as stop:
        raise InputError(f"no certificate: {stop.args[1]}") from None
    cert["lower"], cert["upper"] = rounded(lower, ROUND_FLOOR), rounded(upper, ROUND_CEILING)
    if drop is not None:
        if drop <= 0:
            raise InputError("no certificate: the added heads do not lower the objective")
        cert["descent"]["drop"] = rounded(drop, ROUND_FLOOR)
    return cert


def save(cert: dict[str, Any], path: str | PathLike[str]) -> None:
    """Write a certificate whole, for ``python -m hardmax.learned.convex.checker``."""
    write_text(path, json.dumps(cert))


class Instance(Protocol):
    """What a certificate says of a problem: `Problem` and `relu.ReluProblem` have it."""

    head: Head
    tokens: np.ndarray
    targets: np.ndarray
    beta: float
    loss: str
    pooled: bool
    lengths: np.ndarray | None

    @property
    def gates(self) -> Sequence[np.ndarray] | None:
        """Gates for each group, or None."""


def instance(problem: Instance) -> dict[str, Any]:
    """What a certificate says of the problem, exactly as the floats mean it."""
    head, X = problem.head, problem.head.transformed(problem.tokens)
    tokens = integers(X)
    if problem.lengths is not None:
        pairs = zip(tokens["values"], problem.lengths, strict=True)
        tokens["values"] = [rows[: int(length)] for rows, length in pairs]
    fourier = head.mixing == "fourier"
    return {
        "format": checker.FORMAT,
        "head": {
            "mixing": head.mixing,
            "activation": head.activation,
            "penalty": head.penalty,
            "grid": list(head.grid_for(X.shape[1])) if fourier else None,
            "groups": head.groups,
            "pooled": problem.pooled,
        },
        "loss": problem.loss,
        "beta": str(Fraction(problem.beta)),
        "tokens": tokens,
        "targets": integers(problem.targets),
        "gates": None if problem.gates is None else integers(np.stack(list(problem.gates))),
        "heads": None,
        "dual": None,
        "lower": "0",
        "upper": "0",
    }


def integers(values: np.ndarray) -> dict[str, Any]:
    """An array of floats as integers over the least common power of two.

    >>> integers(np.array([0.5, 3.0]))
    {'denominator': 2, 'values': [1, 6]}
    """
    fractions = [float(x).as_integer_ratio() for x in values.ravel()]
    common = max((q for _, q in fractions), default=1)
    flat = np.empty(values.size, dtype=object)
    flat[:] = [p * (common // q) for p, q in fractions]
    return {"denominator": common, "values": flat.reshape(values.shape).tolist()}


def _grid(largest: float, bits: int) -> int:
    """The power of two by which numbers up to ``largest`` are rounded to about ``bits`` bits."""
    exponent = int(np.ceil(np.log2(largest))) if largest > 0 else 0
    return 1 << min(max(bits - exponent, 0), 1000)  # as a float it must stay finite


def _rounded_to(values: np.ndarray, scale: int) -> list[Any]:
    """Nearest multiples of 1/scale, as integers times scale."""
    flat = np.empty(values.size, dtype=object)
    flat[:] = [int(x) for x in np.rint(values.ravel() * float(scale))]
    rows: list[Any] = flat.reshape(values.shape).tolist()
    return rows


def heads_table(factors: Factors, bits: int = 34) -> dict[str, Any]:
    """Heads (u, v) of each block as integers over one power of two."""
    largest = max((float(abs(part).max(initial=0)) for pair in factors for part in pair), default=0)
    scale = _grid(largest, bits)
    rows = [(_rounded_to(U.T, scale), _rounded_to(V.T, scale)) for U, V in factors]
    pairs = [[[u, v] for u, v in zip(us, vs, strict=True)] for us, vs in rows]
    return {"denominator": scale, "values": pairs}


def dual_table(problem: Problem, V: np.ndarray) -> dict[str, Any]:
    """A feasible dual point near V: scaled, a little more than needed, and rounded."""
    _, tau = problem.lower_bound(V, problem.adjoints(V))
    size = max(min(shape) for shape in problem.shapes)
    inside = margin(size) if problem.head.penalty == "nuclear" else 1.0
    return rounded_dual(problem, V * tau * inside)


def margin(size: int) -> float:
    """The factor by which a dual point stays inside, so that a Cholesky factor proves it."""
    return float(1 - 1e-10 * np.sqrt(size))


def rounded_dual(problem: Instance, V: np.ndarray, bits: int = 44) -> dict[str, Any]:
    """V as integers over a power of two; for cross-entropy, Y − V stays in the simplex."""
    if problem.loss == "squared":
        scale = _grid(float(abs(V).max(initial=0)), bits)
        return {"denominator": scale, "values": _rounded_to(V, scale)}
    targets = integers(problem.targets)
    scale = max(targets["denominator"], 1 << bits)
    rows, outputs = [], V.shape[2]
    for y, v in zip(problem.targets.reshape(-1, outputs), V.reshape(-1, outputs), strict=True):
        q = [max(int(x), 0) for x in np.rint((y - v) * scale)]
        q[int(np.argmax(q))] += scale - sum(q)
        rows.append([int(a * scale) - b for a, b in zip(y, q, strict=True)])
    values = np.array(rows, dtype=object).reshape(V.shape).tolist()
    return {"denominator": scale, "values": values}


def rounded(value: Fraction, mode: str) -> str:
    """A decimal of some 17 digits on one side of a rational.

    >>> rounded(Fraction(2, 3), ROUND_FLOOR)
    '0.66666666666666666'
    """
    context = Context(prec=_DIGITS, rounding=mode)
    return format(context.divide(Decimal(value.numerator), Decimal(value.denominator)), "f")


def interval(cert: dict[str, Any]) -> tuple[Fraction, Fraction]:
    """The stated bounds of a certificate."""
    return Fraction(cert["lower"]), Fraction(cert["upper"])


def gap(cert: dict[str, Any]) -> float:
    """Relative gap that a certificate proves."""
    lower, upper = interval(cert)
    return float((upper - lower) / upper) if upper else 0.0
