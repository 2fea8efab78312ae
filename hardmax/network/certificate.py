"""What a verdict on a network says: the certificate, and the witnesses of a refutation."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from typing import Any

from .. import __version__
from ..dataset import Reading
from ..errors import InputError
from ..exact.numbers import json_number, power_of_two_below, show
from ..formats.whole_files import write_text
from ..words import html_table, plural
from .run import Box

FORMAT = "hardmax-network-certificate/1"


@dataclass(frozen=True)
class NetworkWitness:
    """A sequence whose class, over the real numbers, is not its label."""

    sequence: int  # from 0
    name: str
    label: str
    answer: str | None  # the class; None on a tie, or where no set holds the output
    box: Box  # the output lies in it

    def sentence(self) -> str:
        """The witness in words."""
        answer = "no class" if self.answer is None else f"the class {self.answer!r}"
        return (
            f"{self.name} has the label {self.label!r}, and {answer}; its output is {self.output()}"
        )

    def output(self) -> str:
        """The output: its exact numbers, or for each coordinate the middle of its enclosure."""
        spans = [span for span in self.box[:8] if span is not None]
        exact = all(low == high for low, high in spans)
        shown = [
            show(low, 24) if exact else f"{float((low + high) / 2):.6g}" for low, high in spans
        ]
        more = ", …" if len(self.box) > len(spans) else ""
        return f"({', '.join(shown)}{more})" if exact else f"near ({', '.join(shown)}{more})"


@dataclass(frozen=True)
class Floats:
    """Whether all runs of an executor provably give the classes of the real numbers."""

    format: str  # float32 or float64
    unsure: tuple[int, ...]  # sequences for which that is not proved, from 0
    margin: Fraction | None  # between the classes of all others, at least

    @property
    def certified(self) -> bool:
        """Whether it is proved for every sequence."""
        return not self.unsure

    def to_json(self) -> dict[str, Any]:
        """As the certificate holds it."""
        return {
            "format": self.format,
            "certified": self.certified,
            "unsure": len(self.unsure),
            "least_margin": _short(self.margin),
        }


@dataclass(frozen=True, repr=False)
class NetworkCertificate:
    """What is proved about a network and a data set; docs/certificate.md defines every field.

    ``bool(certificate)`` is true where the verdict is "proved". ``margin`` is a lower bound on the
    margins of all sequences that are proved; ``precisions`` counts how many sequences each
    precision decided (or, the last, left open).
    """

    verdict: str
    witnesses: tuple[NetworkWitness, ...]
    undecided: tuple[int, ...]
    sha256: dict[str, str | None]
    numbers: str
    reading: Reading
    sequences: int
    counts: dict[str, int]
    tokens: int
    classes: tuple[str, ...] | None
    rational: bool
    layers: int
    parameters: int
    margin: Fraction | None
    precisions: dict[str, int]
    separation: tuple[dict[str, Any], ...]
    executor: Floats | None = None

    @property
    def proved(self) -> bool:
        """Whether every sequence is proved to have its label."""
        return self.verdict == "proved"

    def __bool__(self) -> bool:
        return self.proved

    def save(self, path: str | PathLike[str]) -> None:
        """Write the certificate file; raises InputError as `text` does."""
        write_text(path, self.text())

    def text(self) -> str:
        """The text of the certificate file.

        Raises InputError where the verdict is not "proved", or where data or network did not come
        from files: a certificate is bound to both by their SHA-256.
        """
        if not self.proved:
            raise InputError("nothing is proved, so there is nothing to certify")
        if None in self.sha256.values():
            raise InputError(
                "a certificate names the data and the network by their files: save both and load "
                "them again"
            )
        return json.dumps(self.to_json(), ensure_ascii=False, indent=1) + "\n"

    def rows(self) -> list[tuple[str, str]]:
        """The certificate for people."""
        counted = ", ".join(f"{count} {name}" for name, count in self.counts.items() if count)
        numbers = "rational" if self.rational else "over the real numbers"
        precisions = ", ".join(
            f"{count} by {'exact numbers' if bits == 'exact' else 'balls of ' + bits + ' bits'}"
            for bits, count in self.precisions.items()
        )
        found = [
            ("data", f"{plural(self.sequences, 'sequence')}, {plural(self.tokens, 'token')}"),
            ("network", f"{plural(self.layers, 'layer')}, {self.parameters} parameters, {numbers}"),
            ("sequences", counted),
            ("decided", precisions),
        ]
        if self.margin is not None:
            found.append(("least margin", f"at least {float(self.margin):.3g}"))
        if self.executor is not None:
            floats = self.executor
            note = "certified: every executor gives the classes of the real numbers"
            if not floats.certified:
                note = f"not certified for {plural(len(floats.unsure), 'sequence')}"
            found.append((floats.format, note))
        return found

    def __repr__(self) -> str:
        return f"<NetworkCertificate: {self.verdict}; {dict(self.rows())['sequences']}>"

    def _repr_html_(self) -> str:
        return html_table("Certificate", [("verdict", self.verdict), *self.rows()])

    def to_json(self) -> dict[str, Any]:
        """The document "hardmax-network-certificate/1", as plain JSON values."""
        reading = self.reading.to_certificate()
        return {
            "format": FORMAT,
            "verdict": self.verdict,
            "sha256": self.sha256,
            "numbers": self.numbers,
            "positional": self.reading.positional,
            **({"reading": reading} if reading else {}),
            "sequences": self.sequences,
            "counts": self.counts,
            "tokens": self.tokens,
            "classes": None if self.classes is None else list(self.classes),
            "rational": self.rational,
            "layers": self.layers,
            "parameters": self.parameters,
            "least_margin": _short(self.margin),
            "precisions": self.precisions,
            "separation": list(self.separation),
            "executor": None if self.executor is None else self.executor.to_json(),
            "versions": {"hardmax": __version__},
        }


def _short(margin: Fraction | None) -> int | str | None:
    """A power of two below a margin, which is as good a bound and short."""
    if margin is None or margin <= 0:
        return None
    return json_number(power_of_two_below(margin))
