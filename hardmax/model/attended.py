"""Rank-1 attention (2.4) on one sequence of exact tokens, each an integer row (Z, q)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from math import lcm

from ..exact.matrix import primitive

Row = list[int]


def mean_row(rows: Sequence[Row]) -> Row:
    """Mean of tokens given as integer rows."""
    if len(rows) == 1:
        return rows[0]
    common = lcm(*(int(row[-1]) for row in rows))
    factors = [common // row[-1] for row in rows]
    if all(factor == 1 for factor in factors):
        sums = [sum(column) for column in zip(*rows, strict=True)]
    else:
        sums = [
            sum(x * f for x, f in zip(column, factors, strict=True))
            for column in zip(*rows, strict=True)
        ]
    sums[-1] = common * len(rows)
    return primitive(sums)


def attended(rows: list[Row], scores: list[int], rho: Fraction, alpha: Fraction) -> list[Row]:
    """One sequence after self-attention; a single row where all its tokens became equal."""
    signs = [(score > 0) - (score < 0) for score in scores]
    focus = {sign: _scaled(mean_row(_maximisers(rows, scores, sign)), alpha) for sign in set(signs)}
    if rho == 0:
        if len(focus) == 1:
            return [focus[signs[0]]]
        return [focus[sign] for sign in signs]
    return [_sum(_scaled(row, rho), focus[sign]) for row, sign in zip(rows, signs, strict=True)]


def added(parts: list[list[Row]]) -> list[Row]:
    """Sum over the heads of what each gives to each token; a single row goes to every token."""
    most = max(map(len, parts))
    full = [part * most if len(part) < most else part for part in parts]
    return [reduce(_sum, column) for column in zip(*full, strict=True)]


def _maximisers(rows: list[Row], scores: list[int], sign: int) -> list[Row]:
    """Tokens on which sign·⟨v,·⟩ is largest; all tokens for sign 0."""
    if sign == 0:
        return rows
    signed = scores if sign > 0 else [-score for score in scores]
    return [rows[i] for i in top_rows(signed, [row[-1] for row in rows])]


def top_rows(scores: list[int], scales: list[int]) -> list[int]:
    """Places where scores[i]/scales[i] is largest (all ties); the scales are positive."""
    best = [0]
    top, scale = scores[0], scales[0]
    for i in range(1, len(scores)):
        gain = scores[i] * scale - top * scales[i]
        if gain > 0:
            best, top, scale = [i], scores[i], scales[i]
        elif gain == 0:
            best.append(i)
    return best


def _scaled(row: Row, factor: Fraction) -> Row:
    if factor == 1:
        return row
    p, q = factor.numerator, factor.denominator
    return primitive([*(x * p for x in row[:-1]), row[-1] * q])


def _sum(left: Row, right: Row) -> Row:
    p, q = left[-1], right[-1]
    if p == q:
        return primitive([*(x + y for x, y in zip(left[:-1], right[:-1], strict=True)), p])
    return primitive([*(x * q + y * p for x, y in zip(left[:-1], right[:-1], strict=True)), p * q])
