"""The verdict: does every sequence's exact output lie in its label set? (2.6)"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from typing import Any

import numpy as np

from .. import __version__
from ..dataset import Dataset
from ..dataset.measures import count_measures
from ..engine import Search, Targets, evaluate
from ..engine.points import Points
from ..engine.rounding import Array
from ..errors import InputError
from ..float_mode import check_float_mode
from ..labels import Point
from ..model.transformer import Transformer
from ..numbers import Vector, show_vector
from ..threads import one_blas_thread
from ..words import html_table, kind, plural
from .bounds import Bounds, Structure, bounds_of, parameter_bits, structure_of
from .literal import double_check
from .membership import outside, surely_inside
from .separation import separation_entries, unwritable

FORMAT = "hardmax-certificate/1"
WITNESSES = 10  # that a refutation names, unless more are asked for


@dataclass(frozen=True)
class Witness:
    """A sequence whose exact output lies outside its label set."""

    sequence: int  # from 0
    name: str
    label: str
    output: Vector

    def sentence(self) -> str:
        """The witness in words."""
        return (
            f"{self.name} has the exact output {show_vector(self.output)}, "
            f"outside the set of its label {self.label!r}"
        )


@dataclass(frozen=True, repr=False)
class Certificate:
    """What is proved about a model and a data set; docs/certificate.md defines every field.

    ``bool(certificate)`` is true where the verdict is "proved".
    ``verdict`` is "proved" or "refuted"; it speaks of classification alone, ``bounds`` is a
    separate matter. N counts the sequences after merging equal empirical measures, M the
    labels that have a set. The SHA-256 values are None for what did not come from a file.
    ``more`` says that the search for ``witnesses`` stopped at a limit, so that other sequences may
    be wrong, too.
    """

    verdict: str
    witnesses: tuple[Witness, ...]
    sha256: dict[str, str | None]
    strategy: str | None
    numbers: str
    positional: bool
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

    @property
    def proved(self) -> bool:
        """Whether every sequence is classified, exactly."""
        return self.verdict == "proved"

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
        from ..formats.certificate_file import write_certificate

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
        bounds = self.bounds
        return {
            "format": FORMAT,
            "verdict": self.verdict,
            "sha256": self.sha256,
            "strategy": self.strategy,
            "numbers": self.numbers,
            "positional": self.positional,
            "sequences": self.sequences,
            "N": self.N,
            "d": self.d,
            "M": self.M,
            "tokens": self.tokens,
            "blocks": bounds.blocks,
            "stages": self.stages,
            "block_bound": bounds.block_bound,
            "parameters": bounds.parameters,
            "parameter_bound": bounds.parameter_bound,
            "bounds": bounds.status,
            "total_bits": self.total_bits,
            "max_bits": self.max_bits,
            "separation": list(self.separation),
            "float64": self.float64,
            "radius": self.radius,
            "versions": {"hardmax": __version__},
        }


def misclassified(
    model: Transformer,
    data: Dataset,
    progress: Callable[[int], None] | None = None,
    most: int = sys.maxsize,
) -> list[tuple[int, Vector]]:
    """The sequences whose exact output lies outside their label set, with that output.

    None means that the model is proved on the data. Dimensions must agree, and every sequence
    needs a label.
    """
    return search(model, data, progress, most)[0]


def search(
    model: Transformer, data: Dataset, progress: Callable[[int], None] | None, most: int
) -> tuple[list[tuple[int, Vector]], bool]:
    """As `misclassified`, but at most so many; and whether the search stopped before its end."""
    if model.parameters is None:
        return _search_general(model, data, progress, most)
    codes, names = data.label_codes
    sets = [data.sets[name] for name in names]

    def inside(rows: Array, points: Points) -> Array:
        found = np.zeros(len(rows), dtype=bool)
        for k, label_set in enumerate(sets):
            mine = np.flatnonzero(codes[rows] == k)
            found[mine] = surely_inside(label_set, points.take(mine))
        return found

    single = np.array([isinstance(label_set, Point) for label_set in sets])
    of = np.where(single, np.cumsum(single) - 1, -1)[codes]
    targets = Targets([s.row for s in sets if isinstance(s, Point)], of)
    outputs = evaluate(
        model,
        data.tokens,
        data.offsets,
        None if single.all() else inside,
        targets if single.any() else None,
        progress,
        Search(partial(outside, data), most) if most < sys.maxsize else None,
    )
    if not len(outputs) == len(codes) == len(data) > 0:
        raise AssertionError("every sequence needs exactly one output")
    found = outside(data, 0, outputs.number, outputs.constants, outputs.points)
    if outputs.stopped and not found:
        raise AssertionError("a search stops only where it found something")
    return [(j, outputs[j]) for j in found[:most]], outputs.stopped or len(found) > most


def _search_general(
    model: Transformer, data: Dataset, progress: Callable[[int], None] | None, most: int
) -> tuple[list[tuple[int, Vector]], bool]:
    found: list[tuple[int, Vector]] = []
    labels = data.need_labels()
    for j, label in enumerate(labels):
        output = model.output(data.sequence(j))
        if not data.sets[label].contains(output):
            if len(found) == most:
                return found, True
            found.append((j, output))
        if progress is not None:
            progress(len(model) * (j + 1) // len(labels))
    return found, False


def _sha256(data: Dataset) -> str | None:
    """SHA-256 of the file that is the data set; None where its label sets come from elsewhere."""
    return None if "sets" in data.source else data.source.get("sha256")


def certify(
    model: Transformer | str | PathLike[str],
    data: Dataset | str | PathLike[str],
    progress: Callable[[int], None] | None = None,
    *,
    radius: bool = False,
    executor: str | None = None,
    witnesses: int = WITNESSES,
) -> Certificate:
    """Run a model exactly on every sequence and judge each output.

    ``model`` and ``data`` may be the names of files. ``radius`` also computes robust radii
    (`hardmax.certify.radius`), ``executor="float64"`` a certificate for float executors.
    Only the model's numbers are used. ``progress`` is called with the number of blocks done. A
    refutation names at most so many ``witnesses``, fewer where exact outputs are dear. Of a proved
    model some sequences are run again without the engine (`literal`).
    Raises InputError where dimensions differ or a sequence has no label, FloatModeError where
    float arithmetic in this process breaks IEEE 754.

    >>> import hardmax as hm
    >>> data = hm.Dataset([[(0, 0)], [(1, 0)]], ["a", "b"])
    >>> certify(hm.build(data), data).verdict
    'proved'
    """
    check_float_mode()
    if witnesses < 1:
        raise InputError("a refutation needs at least one witness")
    model, data = _given(model, data)
    labels = data.need_labels()
    if model.dimension != data.dimension:
        raise InputError(
            f"the model has dimension {model.dimension}, the data set {data.dimension}"
        )
    with one_blas_thread():
        found, more = search(model, data, progress, witnesses)
        if not found:
            double_check(model, data)
    check_float_mode()  # whatever ran in between, ``progress`` included
    sizes = parameter_bits(model)
    strategy = model.meta.get("strategy")
    distinct = count_measures(data)
    certificate = Certificate(
        verdict="refuted" if found else "proved",
        witnesses=tuple(Witness(j, data.name(j), labels[j], output) for j, output in found),
        more=more,
        sha256={"data": _sha256(data), "model": model.sha256},
        strategy=strategy if isinstance(strategy, str) else None,
        numbers=data.source.get("numbers", "exact"),
        positional=data.positional,
        sequences=len(data),
        N=distinct,
        d=data.dimension,
        M=len(data.sets),
        tokens=len(data.tokens),
        stages=model.stage_counts(),
        bounds=bounds_of(model, distinct),
        structure=structure_of(model),
        total_bits=sum(sizes),
        max_bits=max(sizes, default=0),
        overrides=model.parameters.overrides() if model.parameters is not None else 0,
        separation=separation_entries(data),
        unwritable=unwritable(data),
    )
    if radius:
        from .radius import radii

        certificate = replace(certificate, radius=radii(model, data).to_json())
    if executor is not None:
        from .floating import certify_float

        if executor != "float64":
            raise InputError(
                f"the executor {executor!r} has no place in a certificate; float64 has"
            )
        certificate = replace(certificate, float64=certify_float(model, data, executor).to_json())
    return certificate


def _given(model: Any, data: Any) -> tuple[Transformer, Dataset]:
    """Model and data set, read from files where their names are given."""
    if isinstance(model, Dataset) or isinstance(data, Transformer):
        raise InputError("the model comes first: certify(model, data)")
    if isinstance(model, str | PathLike):
        model = Transformer.load(model)
    if not isinstance(model, Transformer):
        raise InputError(f"{kind(model)} is no model; give a Transformer or its file")
    if isinstance(data, str | PathLike):
        from ..formats.data import load_for

        data = load_for(model, data)
    if not isinstance(data, Dataset):
        raise InputError(f"{kind(data)} is no data set; give hardmax.Dataset(sequences, labels)")
    return model, data
