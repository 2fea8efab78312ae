"""Rows of floats, some of them overridden by exact numbers, as integers over one denominator."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import lcm

import numpy as np

from .dyadic import odd_parts


def integer_rows(values: np.ndarray, exact: Mapping[int, Fraction]) -> list[list[int]]:
    """Rows (Z, q) of integers, q > 0 least, with row = Z/q, of floats with exact overrides.

    >>> integer_rows(np.array([[0.5, 0.1]]), {1: Fraction(1, 10)})
    [[5, 1, 10]]
    """
    width = values.shape[1]
    plain = values
    overrides: dict[int, list[tuple[int, Fraction]]] = {}
    if exact:
        plain = plain.copy()
        plain.reshape(-1)[np.fromiter(exact, np.int64, len(exact))] = 0
        for k, number in exact.items():
            overrides.setdefault(k // width, []).append((k % width, number))
    odd, powers = odd_parts(plain)
    shifts = np.minimum(powers.min(axis=1, initial=0), 0)
    powers -= shifts[:, None]
    rows: list[list[int]]
    # float64 tells where the shifted integers fit int64
    with np.errstate(over="ignore"):  # infinity does not fit
        fits = (np.ldexp(np.abs(odd).astype(np.float64), powers) < 2.0**62).all()
    if fits and (shifts > -62).all():
        rows = np.c_[odd << powers, np.int64(1) << -shifts].tolist()
    else:
        rows = [
            [*(x << p for x, p in zip(row, power, strict=True)), 1 << -shift]
            for row, power, shift in zip(
                odd.tolist(), powers.tolist(), shifts.tolist(), strict=True
            )
        ]
    for i, given in overrides.items():
        ratios = [(j, *number.as_integer_ratio()) for j, number in given]
        common = lcm(rows[i][-1], *{q for _, _, q in ratios})
        if common != rows[i][-1]:
            factor = common // rows[i][-1]
            rows[i] = [factor * x for x in rows[i]]
        for j, p, q in ratios:
            rows[i][j] = p * (common // q)
    return rows
