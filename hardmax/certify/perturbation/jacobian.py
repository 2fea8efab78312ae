"""Exact derivatives of token states with respect to the input tokens.

As long as no decision changes, every token of a state is an affine function of the tokens of
the input sequence: its Jacobian is one block c·M for each input token (*source*), c a
rational number and M a primitive integer matrix of shape (d, d). Few different matrices
occur, so each is kept once; so is each list of blocks, under a number: its *handle*. Two
tokens have the same handle exactly where their blocks were found equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import lcm

from ...exact.matrix import IntegerRows, clear_denominators

Term = tuple[int, Fraction, int]  # source, c, number of M
Blocks = tuple[Term, ...]


class Jacobians:
    """All Jacobians of a run; ``keep_sources`` keeps the input tokens apart after a collapse.

    A matrix is stored transposed: row = coordinate of the source, column = of the state.

    >>> pool = Jacobians(2)
    >>> mean = pool.combined([(Fraction(1, 2), pool.source(0)), (Fraction(1, 2), pool.source(1))])
    >>> pool.functional([Fraction(1), Fraction(-2)]).norm(mean)
    Fraction(3, 1)
    """

    def __init__(self, dimension: int, keep_sources: bool = False) -> None:
        self.dimension = dimension
        self.keep_sources = keep_sources
        self.matrices: list[IntegerRows] = []
        self.blocks: list[Blocks] = []
        self._numbers: dict[tuple[object, ...], int] = {}
        self._handles: dict[Blocks, int] = {}
        self._combinations: dict[tuple[tuple[int, int, int], ...], int] = {}
        self.zero = self._handle(())
        unit = [[int(i == j) for j in range(dimension)] for i in range(dimension)]
        self._identity = self._number(IntegerRows(unit))[1]

    def source(self, index: int) -> int:
        """Handle of input token ``index`` itself."""
        return self._handle(((index, Fraction(1), self._identity),))

    def functional(self, u: Sequence[Fraction]) -> Functional:
        """The linear functional ⟨u, ·⟩ on states."""
        return Functional(self, u)

    def combined(self, parts: Iterable[tuple[Fraction, int]]) -> int:
        """Handle of the Jacobian Σ factor·J over pairs (factor, handle)."""
        merged: dict[int, Fraction] = {}
        for factor, handle in parts:
            merged[handle] = merged.get(handle, Fraction(0)) + factor
        chosen = [(handle, x) for handle, x in merged.items() if x and self.blocks[handle]]
        if not chosen:
            return self.zero
        if len(chosen) == 1 and chosen[0][1] == 1:
            return chosen[0][0]
        key = tuple((handle, x.numerator, x.denominator) for handle, x in chosen)
        if key not in self._combinations:
            self._combinations[key] = self._handle(self._sum(chosen))
        return self._combinations[key]

    def _sum(self, chosen: Iterable[tuple[int, Fraction]]) -> Blocks:
        found: dict[int, dict[int, Fraction]] = {}
        for handle, factor in chosen:
            for source, c, number in self.blocks[handle]:
                here = found.setdefault(source, {})
                here[number] = here.get(number, Fraction(0)) + factor * c
        terms = []
        for source, parts in sorted(found.items()):
            c, number = self._single([(x, number) for number, x in parts.items() if x])
            if c:
                terms.append((source, c, number))
        return tuple(terms)

    def _single(self, parts: list[tuple[Fraction, int]]) -> tuple[Fraction, int]:
        """A sum of multiples of matrices as the multiple of one."""
        if not parts:
            return Fraction(0), self._identity
        c, number = parts[0]
        for x, other in parts[1:]:
            common = lcm(c.denominator, x.denominator)
            matrix = self.matrices[number].combined(
                c.numerator * (common // c.denominator),
                self.matrices[other],
                x.numerator * (common // x.denominator),
            )
            content, number = self._number(matrix)
            c = Fraction(content, common)
        return c, number

    def collapsed(self, handle: int) -> int:
        """Handle for the one token of a collapsed sequence.

        From there on layers only multiply the Jacobian from the left, and Σ|c|·‖uM‖₁ is all
        that is asked for, so sources with the same M become one.
        """
        if self.keep_sources:
            return handle
        sizes: dict[int, Fraction] = {}
        for _, c, number in self.blocks[handle]:
            sizes[number] = sizes.get(number, Fraction(0)) + abs(c)
        return self._handle(tuple((k, c, number) for k, (number, c) in enumerate(sizes.items())))

    def tied(self, handles: Sequence[int], source: int) -> int | None:
        """Handle for whatever convex combination of equal tokens a broken tie may select.

        The tokens must share all blocks but one each, and those with the same c·M: then any
        convex combination moves like a token whose own source is a convex combination of
        theirs, which moves no further than they do. This source gets the given number.
        None where the blocks differ in another way.
        """
        shared = set(self.blocks[handles[0]]).intersection(*(self.blocks[h] for h in handles))
        own = {term[1:] for h in handles for term in self.blocks[h] if term not in shared}
        if len(own) != 1 or any(len(self.blocks[h]) != len(shared) + 1 for h in handles):
            return None
        return self._handle(tuple(sorted([*shared, (source, *own.pop())])))

    def moved(self, handle: int, u: Functional, w: tuple[list[int], int]) -> int:
        """Handle after an active feed-forward layer, (I + w uᵀ) J; w = integers / denominator."""
        direction, step = w
        scale = u.denominator * step
        terms = []
        for source, c, number in self.blocks[handle]:
            matrix = self.matrices[number].plus_outer(scale, u.vector(number), direction)
            content, moved = self._number(matrix)
            if content:
                terms.append((source, c * Fraction(content, scale), moved))
        return self._handle(tuple(terms))

    def _number(self, matrix: IntegerRows) -> tuple[int, int]:
        """Content and number of an integer matrix."""
        rows, content = matrix.primitive()
        number = self._numbers.setdefault(rows.key(), len(self.matrices))
        if number == len(self.matrices):
            self.matrices.append(rows)
        return int(content), number

    def _handle(self, blocks: Blocks) -> int:
        handle = self._handles.setdefault(blocks, len(self.blocks))
        if handle == len(self.blocks):
            self.blocks.append(blocks)
        return handle


class Functional:
    """⟨u, ·⟩ on states: its gradients with respect to the input, and their 1-norms.

    ‖gradient‖₁ is the largest change of ⟨u, x⟩ where every input coordinate moves by at
    most 1. What was computed for a Jacobian is kept.
    """

    def __init__(self, pool: Jacobians, u: Sequence[Fraction]) -> None:
        self._pool = pool
        self.u = tuple(u)
        self._u, self.denominator = clear_denominators(u)
        self._vectors: dict[int, list[int]] = {}
        self._lengths: dict[int, int] = {}
        self._norms: dict[int, Fraction] = {}
        self._gaps: dict[tuple[int, int], Fraction] = {}

    def vector(self, number: int) -> list[int]:
        """uᵀM times the denominator, in the coordinates of the source."""
        if number not in self._vectors:
            self._vectors[number] = self._pool.matrices[number].dot(self._u)
        return self._vectors[number]

    def _length(self, number: int) -> int:
        if number not in self._lengths:
            self._lengths[number] = int(sum(abs(x) for x in self.vector(number)))
        return self._lengths[number]

    def norm(self, handle: int) -> Fraction:
        """‖uᵀJ‖₁."""
        if handle not in self._norms:
            total = sum(
                (abs(c) * self._length(number) for _, c, number in self._pool.blocks[handle]),
                Fraction(0),
            )
            self._norms[handle] = total / self.denominator
        return self._norms[handle]

    def gap(self, first: int, second: int) -> Fraction:
        """‖uᵀ(J − J')‖₁ of two tokens."""
        if first == second:
            return Fraction(0)
        key = (min(first, second), max(first, second))
        if key not in self._gaps:
            one = Fraction(1)
            self._gaps[key] = sum(
                (sum(map(abs, row), Fraction(0)) for row in self.gradient(
                    [(one, first), (-one, second)]).values()),
                Fraction(0),
            )  # fmt: skip
        return self._gaps[key]

    def gradient(self, parts: Iterable[tuple[Fraction, int]]) -> dict[int, list[Fraction]]:
        """uᵀ Σ factor·J, one row of length d for each source; zero rows may be left out."""
        rows: dict[int, list[Fraction]] = {}
        for factor, handle in parts:
            for source, c, number in self._pool.blocks[handle]:
                scale = factor * c / self.denominator
                row = rows.setdefault(source, [Fraction(0)] * self._pool.dimension)
                for k, x in enumerate(self.vector(number)):
                    row[k] += scale * int(x)
        return rows
