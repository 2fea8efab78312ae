"""Blocks, label sets, verdicts and bounds in words and plain numbers, for the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from ..certify import Certificate
from ..exact.numbers import Vector, nearest_float, show
from ..labels import Ball, Halfspace, LabelSet, Point
from ..labels.polyhedral import Polyhedral
from ..model.parameters import PackedBlock
from .film import Frame
from .style import STEPS


def moment_title(frame: Frame) -> str:
    """When in the run a frame is."""
    if frame.number == 0:
        return "before the first block"
    return f"after block {frame.number}, {frame.layer} layer"


def block_card(block: PackedBlock, masked: bool = False) -> dict[str, Any]:
    """A block in words and formulas, and what of it can be drawn."""
    rows = []
    if not any(block.w):
        rows.append(("feed-forward", "none: every token stays"))
    elif not any(block.u):
        rows.append(
            ("feed-forward", f"z ↦ z + {short(max(block.b, Fraction(0)) * x for x in block.w)}")
        )
    else:
        rows += [
            ("feed-forward", "z ↦ z + w·max(0, ⟨u,z⟩ + b)"),
            ("u", short(block.u)), ("b", show(block.b, 40)), ("w", short(block.w)),
        ]  # fmt: skip
    heads = [head for head in block.heads if head[0]] or block.heads[:1]
    if not block.mixes:
        rows.append(("attention", "none: every token stays"))
    else:
        kept = [f"{show(block.rho, 24)}·z"] if block.rho else []
        names = ["m", "v"] if len(heads) == 1 else ["m{}", "v{}"]
        shares = [
            (f"{show(alpha, 24)}·" if alpha != 1 else "") + names[0].format(h)
            for h, (alpha, _) in enumerate(heads, start=1)
        ]
        rows.append(("attention", f"z ↦ {' + '.join(kept + shares)}"))
        whole = "the tokens up to it" if masked else "the token's whole sequence"
        led = "its leaders up to it" if masked else "the token's leaders"
        for h, (_, v) in enumerate(heads, start=1):
            m, direction = (name.format(h) for name in names)
            rows.append((m, f"mean of {led if any(v) else whole}"))
            rows.append((direction, short(v)))
    chosen = [v for alpha, v in block.heads if alpha and any(v)]
    plane = any(block.u) and any(block.w)
    return {
        "rows": rows,
        "plane": {"u": _floats(block.u), "b": nearest_float(block.b)} if plane else None,
        "w": _floats(block.w) if any(block.w) else None,
        "v": _floats(chosen[0]) if chosen else None,
        "attends": any(alpha for alpha, _ in block.heads),
    }


def height(blocks: Iterable[PackedBlock]) -> int | None:
    """The coordinate, from 0, that most blocks change alone; None where fewer than half do.

    >>> from hardmax import RankOneBlock
    >>> height([RankOneBlock.translation((0, 1)), RankOneBlock.translation((0, 2))])
    1
    """
    moves = [[i for i, x in enumerate(block.w) if x] for block in blocks if any(block.w)]
    alone = Counter(axes[0] for axes in moves if len(axes) == 1)
    if not alone:
        return None
    axis, count = max(alone.items(), key=lambda item: (item[1], -item[0]))
    return axis if 2 * count >= len(moves) else None


def short(vector: Iterable[Fraction], most: int = 4) -> str:
    """An exact vector in few words: its first entries, or those that are not zero.

    >>> short([Fraction(1), Fraction(1, 2), Fraction(3)], most=2)
    '(1, 1/2, … 1 more)'
    >>> short([Fraction(0), Fraction(1, 2), Fraction(0)], most=2)
    '1/2·e2'
    """
    entries = list(vector)
    marked = [(i, x) for i, x in enumerate(entries, start=1) if x]
    if len(entries) > most and len(marked) <= most // 2:
        return " + ".join(f"{show(x, 20)}·e{i}" for i, x in marked) or "0"
    texts = [show(x, 20) for x in entries[:most]]
    if len(entries) > most:
        texts.append(f"… {len(entries) - most} more")
    return "(" + ", ".join(texts) + ")"


def _floats(vector: Vector) -> list[float]:
    return [nearest_float(x) for x in vector]


def label_card(label_set: LabelSet, name: str) -> dict[str, Any]:
    """A label, its set in words, and the set's geometry for drawing."""
    if isinstance(label_set, Point):
        shape: dict[str, Any] = {"centre": _floats(label_set.point)}
        text = short(label_set.point)
    elif isinstance(label_set, Ball):
        centre = (*label_set.center, *(label_set.radius * 0 for _ in range(label_set.free)))
        shape = {"centre": _floats(centre), "radius": nearest_float(label_set.radius)}
        text = f"|x − {short(label_set.center)}| < {show(label_set.radius, 20)}"
    else:
        assert isinstance(label_set, Polyhedral)
        A, b = label_set.rows
        shape = {
            "rows": [
                [[-x for x in _floats(row)], nearest_float(bound)]
                for row, bound in zip(A, b, strict=True)
            ]
        }
        text = f"⟨{short(A[0])}, x⟩ < {show(b[0], 20)}"
        if isinstance(label_set, Halfspace):
            text = f"⟨{short(label_set.normal)}, x⟩ > {show(label_set.offset, 20)}"
        if len(b) > 1:
            text += f", and {len(b) - 1} more inequalities"
    return {"name": name, "text": text, **shape}


def verdict_rows(certificate: Certificate) -> list[tuple[str, str]]:
    """The certificate's summary."""
    rows = [
        ("verdict", certificate.verdict),
        ("meaning", "every sequence's exact output lies in the set of its label"
         if certificate.proved else "some exact output lies outside the set of its label"),
        ("distinct sequences N", str(certificate.N)),
        ("dimension d", str(certificate.d)),
        ("labels M", str(certificate.M)),
        ("tokens", str(certificate.tokens)),
        *([("attention", "masked: a token sees itself and those before it")]
          if certificate.masked else []),
        *([("heads H", str(certificate.structure.heads))]
          if certificate.structure.heads > 1 else []),
    ]  # fmt: skip
    rows += [(f"blocks: {STEPS.get(s, s)}", str(count)) for s, count in certificate.stages.items()]
    rows += [("witness", witness.sentence()) for witness in certificate.witnesses[:3]]
    return rows


def bound_rows(certificate: Certificate) -> list[tuple[str, str, str]]:
    """Counts beside their bounds."""
    limits = certificate.bounds
    # Theorem 2.4 is about one head without mask
    if certificate.masked or certificate.structure.heads > 1:
        return [
            ("", "model", "bound"),
            ("blocks", str(limits.blocks), ""),
            ("parameters", str(limits.parameters), ""),
            ("bits of all parameters", str(certificate.total_bits), "none stated"),
            ("bits of the longest", str(certificate.max_bits), "none stated"),
        ]
    rows = [
        ("", "model", "bound"),
        ("blocks, 8N+4", str(limits.blocks), str(limits.block_bound)),
        ("parameters, (3d+3)(8N+4)", str(limits.parameters), str(limits.block_parameter_bound)),
    ]
    if limits.parameter_bound is not None:
        rows.append(("parameters, 54Nd", str(limits.parameters), str(limits.parameter_bound)))
    rows.append(("bits of all parameters", str(certificate.total_bits), "none stated"))
    rows.append(("bits of the longest", str(certificate.max_bits), "none stated"))
    rows.append(("Theorem 2.4's bounds", limits.status, ""))
    return rows
