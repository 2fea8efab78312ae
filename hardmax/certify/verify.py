"""The verdict: does every sequence's exact output lie in its label set? (2.6)"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import __version__
from ..dataset import Dataset
from ..dataset.measures import count_measures
from ..engine import evaluate
from ..engine.forward.points import Points
from ..errors import InputError
from ..exact.array import Array
from ..exact.numbers import Vector, show_vector
from ..labels import Point
from ..model.transformer import Transformer
from .bounds import Bounds, Structure, bounds_of, parameter_bits, structure_of
from .membership import outside, surely_inside
from .separation import separation_entries

FORMAT = "hardmax-certificate/1"


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


@dataclass(frozen=True)
class Certificate:
    """What is proved about a model and a data set; docs/certificate.md defines every field.

    ``verdict`` is "proved" or "refuted"; it speaks of classification alone, ``bounds`` is a
    separate matter. N counts the sequences after merging equal empirical measures, M the
    labels that have a set. The SHA-256 values are None for what did not come from a file.
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
    float64: dict[str, Any] | None = None  # stated only where it was asked for
    radius: dict[str, Any] | None = None  # likewise

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
    model: Transformer, data: Dataset, progress: Callable[[int], None] | None = None
) -> list[tuple[int, Vector]]:
    """The sequences whose exact output lies outside their label set, with that output.

    None means that the model is proved on the data. Dimensions must agree, and every sequence
    needs a label.
    """
    if model.parameters is None:
        exact = model.outputs(data.sequences, progress)
        if not len(exact) == len(data) > 0:
            raise AssertionError("every sequence needs exactly one output")
        return [
            (j, output)
            for j, (label, output) in enumerate(zip(data.need_labels(), exact, strict=True))
            if not data.sets[label].contains(output)
        ]
    codes, names = data.label_codes
    sets = [data.sets[name] for name in names]

    def inside(rows: Array, points: Points) -> Array:
        found = np.zeros(len(rows), dtype=bool)
        for k, label_set in enumerate(sets):
            mine = np.flatnonzero(codes[rows] == k)
            found[mine] = surely_inside(label_set, points.take(mine))
        return found

    points_alone = all(isinstance(label_set, Point) for label_set in sets)
    outputs = evaluate(model, data.tokens, data.offsets, None if points_alone else inside, progress)
    if not len(outputs) == len(codes) == len(data) > 0:
        raise AssertionError("every sequence needs exactly one output")
    return [(j, outputs[j]) for j in outside(outputs, data)]


def certify(
    model: Transformer, data: Dataset, progress: Callable[[int], None] | None = None
) -> Certificate:
    """Run a model exactly on every sequence and judge each output.

    Only the model's numbers are used. ``progress`` is called with the number of blocks done.
    Raises InputError where dimensions differ or a sequence has no label.

    >>> import hardmax as hm
    >>> data = hm.Dataset([[(0, 0)], [(1, 0)]], ["a", "b"])
    >>> certify(hm.build(data), data).verdict
    'proved'
    """
    labels = data.need_labels()
    if model.dimension != data.dimension:
        raise InputError(
            f"the model has dimension {model.dimension}, the data set {data.dimension}"
        )
    witnesses = tuple(
        Witness(j, data.name(j), labels[j], output)
        for j, output in misclassified(model, data, progress)
    )
    sizes = parameter_bits(model)
    strategy = model.meta.get("strategy")
    distinct = count_measures(data)
    return Certificate(
        verdict="refuted" if witnesses else "proved",
        witnesses=witnesses,
        sha256={"data": data.source.get("sha256"), "model": model.sha256},
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
    )
