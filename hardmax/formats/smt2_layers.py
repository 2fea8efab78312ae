"""The layers of a rank-1 model as definitions of an SMT-LIB 2 script (`hardmax.formats.smt2`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from ..errors import InputError
from ..exact.numbers import Vector
from ..model.layers import RankOneBlock
from ..model.parameters import PackedBlock

Token = list[str]


class Script:
    """The lines of a script, and the names of what they define."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self.lines: list[str] = []
        self.name = ""
        self.block = 0
        self.scores: list[str] = []  # where tokens are held by sign, the score of each position

    def _define(self, stem: str, term: str) -> str:
        """A new name for a term; a name or a number is its own."""
        if not term.startswith("("):
            return term
        self.lines.append(f"(define-fun {stem} () Real {term})")
        return stem

    def box(self, tokens: Sequence[Vector], radius: Fraction) -> list[Token]:
        """Variables for one sequence."""
        names = []
        for i, token in enumerate(tokens):
            names.append([f"x{self.name}_{i + 1}_{k + 1}" for k in range(self.dimension)])
            for x, name in zip(token, names[-1], strict=True):
                self.lines.append(f"(declare-const {name} Real)")
                if radius:
                    low, high = number(x - radius), number(x + radius)
                    self.lines.append(f"(assert (and (<= {low} {name}) (<= {name} {high})))")
                else:
                    self.lines.append(f"(assert (= {name} {number(x)}))")
        return names

    def feed_forward(self, tokens: list[Token], block: PackedBlock) -> list[Token]:
        """Tokens after z ↦ z + w·max(0, ⟨u,z⟩ + b)."""
        if not any(block.w):
            return tokens
        result = []
        for i, token in enumerate(tokens):
            stem = f"{self.name}_{self.block}_{i + 1}"
            if any(block.u):
                value = self._define(f"a{stem}", linear(block.u, token, block.b))
                relu = self._define(f"h{stem}", f"(ite (> {value} 0.0) {value} 0.0)")
            else:
                relu = number(max(block.b, Fraction(0)))
            result.append(
                [
                    self._define(f"f{stem}_{k + 1}", linear((Fraction(1), w), (z, relu)))
                    if w
                    else z
                    for k, (z, w) in enumerate(zip(token, block.w, strict=True))
                ]
            )
        return result

    def attend(self, tokens: list[Token], block: RankOneBlock) -> list[Token]:
        """ρ z_i + α · mean over the maximisers; one token where all become the same."""
        rho, alpha = block.rho, block.alpha
        if rho == 1 and alpha == 0:
            return tokens
        tokens = self._positions(tokens)
        if len(tokens) == 1:
            return [self._sums("s", 0, [tokens[0]], (rho + alpha,))]
        if alpha == 0:
            if rho == 0:
                return [[number(Fraction(0))] * self.dimension]
            return [self._sums("s", i, [z], (rho,)) for i, z in enumerate(tokens)]
        share = Fraction(1, len(tokens))
        mean = self._sums("m", 0, tokens, (share,) * len(tokens))
        if not any(block.v):
            if rho == 0:
                return [self._sums("s", 0, [mean], (alpha,))]
            return [self._sums("s", i, [z, mean], (rho, alpha)) for i, z in enumerate(tokens)]
        stem = f"{self.name}_{self.block}"
        scores = [
            self._define(f"p{stem}_{i + 1}", linear(block.v, z)) for i, z in enumerate(tokens)
        ]
        top, low = (self._leaders(tokens, scores, sign) for sign in (">", "<"))
        if rho == 0:  # a token is what its sign selects: three are enough to go on with
            self.scores = scores
            return [self._sums("s", i, [z], (alpha,)) for i, z in enumerate((top, low, mean))]
        chosen = self._by_sign("c", (top, low, mean), scores)
        return [
            self._sums("s", i, [z, focus], (rho, alpha))
            for i, (z, focus) in enumerate(zip(tokens, chosen, strict=True))
        ]

    def attend_heads(
        self, tokens: list[Token], block: PackedBlock, masked: bool = False
    ) -> list[Token]:
        """The attention layer of a block, with any number of heads (4.1): the sum of theirs."""
        attend = self.attend_masked if masked else self.attend
        heads = [head for head in block.heads if head[0]] or block.heads[:1]
        own = (RankOneBlock(block.u, block.b, block.w, Fraction(0), *head) for head in heads)
        if len(heads) == 1:
            return attend(tokens, replace(next(own), rho=block.rho))
        tokens, name, parts = self._positions(tokens), self.name, []
        for h, head in enumerate(own, start=1):
            self.name = f"{name}_h{h}"
            parts.append(self._positions(attend(tokens, head)))
        self.name = name
        count = max(map(len, parts)) if not block.rho else len(tokens)
        parts = [part * count if len(part) < count else part for part in parts]
        if block.rho:
            parts.insert(0, tokens)
        factors = (block.rho or Fraction(1), *[Fraction(1)] * (len(parts) - 1))
        return [self._sums("s", i, z, factors) for i, z in enumerate(zip(*parts, strict=True))]

    def attend_masked(self, tokens: list[Token], block: RankOneBlock) -> list[Token]:
        """The same where token i attends to tokens 1, …, i only (4.2)."""
        rho, alpha = block.rho, block.alpha
        if rho == 1 and alpha == 0:
            return tokens
        stem = f"{self.name}_{self.block}"
        chooses = alpha != 0 and any(block.v)
        scores = [
            self._define(f"p{stem}_{i + 1}", linear(block.v, z)) if chooses else "0.0"
            for i, z in enumerate(tokens)
        ]
        total = tokens[0]
        result = [self._sums("s", 0, [total], (rho + alpha,))]
        for i, z in list(enumerate(tokens))[1:]:
            total = self._sums("m", i, [total, z], (Fraction(1), Fraction(1)))
            focus, share = total, alpha / (i + 1)
            if chooses:
                seen = tokens[: i + 1], scores[: i + 1]
                top, low = (self._leaders(*seen, sign, f"_{i + 1}") for sign in (">", "<"))
                mean = self._sums("n", i, [total], (Fraction(1, i + 1),))
                focus, share = self._by_sign("c", (top, low, mean), scores, [i])[0], alpha
            result.append(self._sums("s", i, [z, focus], (rho, share)))
        return result

    def _by_sign(
        self,
        letter: str,
        tokens: Sequence[Token],
        scores: list[str],
        places: Sequence[int] | None = None,
    ) -> list[Token]:
        """For each position, or some, the token that the sign of its score selects: +, −, 0."""
        top, low, mean = tokens
        return [
            [
                self._define(
                    f"{letter}{self.name}_{self.block}_{i + 1}_{k + 1}",
                    f"(ite (> {score} 0.0) {top[k]} (ite (< {score} 0.0) {low[k]} {mean[k]}))",
                )
                for k in range(self.dimension)
            ]
            for i, score in enumerate(scores)
            if places is None or i in places
        ]

    def _positions(self, tokens: list[Token]) -> list[Token]:
        """The tokens by position, where they were held by sign."""
        if not self.scores:
            return tokens
        scores, self.scores = self.scores, []
        return self._by_sign("e", tokens, scores)

    def _leaders(self, tokens: list[Token], scores: list[str], sign: str, place: str = "") -> Token:
        """Mean of the tokens whose score is largest (">") or smallest ("<").

        The sum over the leaders, divided by their number: by each number it can be, in turn.
        """
        stem = f"{'g' if sign == '>' else 'l'}{self.name}_{self.block}{place}"
        best = scores[0]
        for i, score in enumerate(scores[1:]):
            best = self._define(f"{stem}_b{i + 1}", f"(ite ({sign} {score} {best}) {score} {best})")
        leads = [f"(= {score} {best})" for score in scores]
        ones = " ".join(f"(ite {lead} 1.0 0.0)" for lead in leads)
        count = self._define(f"{stem}_n", f"(+ {ones})")
        result = []
        for k in range(self.dimension):
            parts = " ".join(
                f"(ite {lead} {z[k]} 0.0)" for lead, z in zip(leads, tokens, strict=True)
            )
            total = self._define(f"{stem}_t{k + 1}", f"(+ {parts})")
            mean = total
            for size in range(2, len(tokens) + 1):
                share = f"(* {number(Fraction(1, size))} {total})"
                mean = f"(ite (= {count} {size}.0) {share} {mean})"
            result.append(self._define(f"{stem}_m{k + 1}", mean))
        return result

    def output(self, tokens: list[Token]) -> Token:
        """The mean of the tokens; always new names."""
        self.block += 1
        tokens = self._positions(tokens)
        names = []
        for k in range(self.dimension):
            name = f"y{self.name}_{k + 1}"
            share = Fraction(1, len(tokens))
            term = linear((share,) * len(tokens), [z[k] for z in tokens])
            self.lines.append(f"(define-fun {name} () Real {term})")
            names.append(name)
        return names

    def _sums(
        self, letter: str, i: int, tokens: Sequence[Token], factors: Sequence[Fraction]
    ) -> Token:
        """Coordinates of a linear combination of tokens."""
        stem = f"{letter}{self.name}_{self.block}_{i + 1}"
        return [
            self._define(f"{stem}_{k + 1}", linear(factors, [z[k] for z in tokens]))
            for k in range(self.dimension)
        ]


def number(x: Fraction) -> str:
    """A rational number as a real constant of SMT-LIB.

    >>> number(Fraction(-1, 3))
    '(- (/ 1.0 3.0))'
    """
    try:
        p, q = str(abs(x.numerator)), str(x.denominator)
    except ValueError:
        raise InputError("a number has too many digits for an smt2 script") from None
    text = f"{p}.0" if x.denominator == 1 else f"(/ {p}.0 {q}.0)"
    return f"(- {text})" if x < 0 else text


def linear(
    factors: Sequence[Fraction], names: Sequence[str], constant: Fraction = Fraction(0)
) -> str:
    """A linear combination of terms, plus a constant.

    >>> linear((Fraction(1), Fraction(0), Fraction(-2)), ("x", "y", "z"), Fraction(3))
    '(+ x (* (- 2.0) z) 3.0)'
    """
    return joined("+", _summands(factors, names, constant), "0.0")


def _summands(
    factors: Sequence[Fraction], names: Sequence[str], constant: Fraction
) -> Iterator[str]:
    for factor, name in zip(factors, names, strict=True):
        if factor and name != "0.0":
            yield name if factor == 1 else f"(* {number(factor)} {name})"
    if constant:
        yield number(constant)


def joined(operator: str, terms: Iterable[str], empty: str) -> str:
    """An operator applied to terms; the term itself where there is one, ``empty`` for none.

    >>> joined("or", ["p", "q"], "false"), joined("or", [], "false")
    ('(or p q)', 'false')
    """
    parts = list(terms)
    if len(parts) < 2:
        return parts[0] if parts else empty
    return f"({operator} {' '.join(parts)})"
