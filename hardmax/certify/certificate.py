"""What a verdict says: the certificate, and the witnesses of a refutation."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any

from .. import __version__
from ..dataset import Reading
from ..exact.numbers import Vector, show_vector
from ..words import html_table, plural
from .bounds import Bounds, Structure

FORMAT = "hardmax-certificate/1"


@dataclass(frozen=True)
class Witness:
    """A sequence whose exact output lies outside its label set.

    Where outputs are asked for, ``token`` (from 1) says which token ends outside, and ``label``
    what was asked of it.
    """

    sequence: int  # from 0
    name: str
    label: str
    output: Vector
    token: int | None = None

    def sentence(self) -> str:
        """The witness in words."""
        if self.token is not None:
            return (
                f"{self.name}: token {self.token} becomes {show_vector(self.output)}, exactly; "
                f"asked for is {self.label}"
            )
        return (
            f"{self.name} has the exact output {show_vector(self.output)}, "
            f"outside the set of its label {self.label!r}"
        )


@dataclass(frozen=True, repr=False)
class Certificate:
    """What is proved about a model and a data set; docs/certificate.md defines every field.

    ``bool(certificate)`` is true where the verdict is "proved".
    ``verdict`` is "proved" or "refuted"; it speaks of classification alone, ``bounds`` is a
    separate matter. N counts the sequences after merging equal empirical measures (for a
    ``masked`` model: sequences that are equal or repeat one token), M the labels that have a set.
    The SHA-256 values are None for what did not come from a file.
    ``more`` says that the search for ``witnesses`` stopped at a limit, so that other sequences may
    be wrong, too.
    """

    verdict: str
    witnesses: tuple[Witness, ...]
    sha256: dict[str, str | None]
    strategy: str | None
    numbers: str
    reading: Reading
    sequences: int
    N: int
    d: int
    M: int
    tokens: int
    stages: dict[str, int]
    bounds: Bounds
    structure: Structure
    total_bits: int
    max_bits: int
    overrides: int
    separation: tuple[dict[str, Any], ...]
    unwritable: tuple[str, str] | None = None  # labels whose entry passes the format's limits
    float64: dict[str, Any] | None = None  # stated only where it was asked for
    radius: dict[str, Any] | None = None  # likewise
    more: bool = False
    masked: bool = False  # attention as in (4.2)
    outputs: int | None = None  # Σ m_j, where the data ask for outputs
    uniform: bool = False  # v = 0 in every block: softmax gives the same outputs

    @property
    def proved(self) -> bool:
        """Whether every sequence is classified, exactly."""
        return self.verdict == "proved"

    @property
    def positional(self) -> bool:
        """Whether tokens have their positions as a coordinate."""
        return self.reading.positional

    @property
    def blocks(self) -> int:
        """Depth L."""
        return self.bounds.blocks

    @property
    def parameters(self) -> int:
        """Non-zero parameters P."""
        return self.bounds.parameters

    def __bool__(self) -> bool:
        """The verdict: whether every sequence is classified, exactly."""
        return self.proved

    def save(self, path: str | PathLike[str]) -> None:
        """Write the certificate file "hardmax-certificate/1".

        Raises InputError where the verdict is not "proved", or where data or model did not
        come from files: a certificate is bound to both by their SHA-256.
        """
        from .. import write_certificate

        write_certificate(self, path)

    def _rows(self) -> list[tuple[str, str]]:
        bounds = self.bounds
        rows = [
            ("verdict", self.verdict),
            ("data", f"{plural(self.sequences, 'sequence')}, {plural(self.N, 'distinct measure')}, "
             f"dimension {self.d}, {plural(self.M, 'label')}"),
            ("model", f"{plural(bounds.blocks, 'block')}, "
             f"{plural(bounds.parameters, 'non-zero parameter')}"),
            ("bounds", bounds.status),
        ]  # fmt: skip
        if self.witnesses:
            rows.append(("outside their sets", plural(len(self.witnesses), "sequence")))
        return rows

    def __repr__(self) -> str:
        facts = ", ".join(f"{key} {value}" for key, value in self._rows()[1:])
        return f"<Certificate: {self.verdict}; {facts}>"

    def _repr_html_(self) -> str:
        return html_table("Certificate", self._rows())

    def to_json(self) -> dict[str, Any]:
        """The document "hardmax-certificate/1", as plain JSON values."""
        bounds, reading = self.bounds, self.reading.to_certificate()
        return {
            "format": FORMAT,
            "verdict": self.verdict,
            "sha256": self.sha256,
            "strategy": self.strategy,
            "numbers": self.numbers,
            "positional": self.reading.positional,
            **({"reading": reading} if reading else {}),
            **({"masked": True} if self.masked else {}),
            **({"heads": self.structure.heads} if self.structure.heads > 1 else {}),
            "sequences": self.sequences,
            "N": self.N,
            "d": self.d,
            "M": self.M,
            **({} if self.outputs is None else {"outputs": self.outputs}),
            "tokens": self.tokens,
            "blocks": bounds.blocks,
            "stages": self.stages,
            "block_bound": bounds.block_bound,
            "parameters": bounds.parameters,
            "parameter_bound": bounds.parameter_bound,
            "bounds": bounds.status,
            **({"attention": "uniform"} if self.uniform else {}),
            "total_bits": self.total_bits,
            "max_bits": self.max_bits,
            "separation": list(self.separation),
            "float64": self.float64,
            "radius": self.radius,
            "versions": {"hardmax": __version__},
        }
