"""A model as floats: its rounded parameters, its label sets, and what is proved of them.

An exported file holds floats, so it holds another model than the exact one wherever a parameter
is no float. That other model is exact too: its numbers are the floats. It is judged as any model
is, and the verdict travels in the metadata of the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import __version__
from ..certify.floating import certify_float
from ..certify.predict import predicted
from ..certify.verify import certify
from ..dataset import Dataset
from ..errors import InputError
from ..exact.array import ExactArray
from ..formats.model_file import label_sets, pack
from ..labels import LabelSet
from ..model.parameters import NAMES, Parameters
from ..model.transformer import Transformer

FORMAT = "hardmax-export/1"
DTYPES = ("float64", "float32")
_READING = ("numbers", "positional", "window", "dilations", "stride", "lift", "label_sets")


@dataclass(frozen=True)
class Rounded:
    """The parameters u, b, w, rho, alpha, v of a model in one float type, as in the model file.

    ``changed`` counts the parameters whose float is another number; ``sets`` are the label sets
    that predictions are made from, in the order of the label ids 0, 1, 2, …
    """

    dtype: str
    arrays: Mapping[str, np.ndarray]
    changed: int
    sets: Mapping[str, LabelSet]
    source: Transformer

    @property
    def dimension(self) -> int:
        """Dimension d of the tokens."""
        return int(self.arrays["u"].shape[1])

    def transformer(self) -> Transformer:
        """The exact model whose parameters are these floats."""
        exact = {name: ExactArray.from_numpy(array) for name, array in self.arrays.items()}
        meta = self.source.meta
        return Transformer(Parameters(**exact), stages=self.source.stages, meta=meta)


def rounded(
    model: Transformer, dtype: str = "float64", sets: Mapping[str, LabelSet] | None = None
) -> Rounded:
    """Round the parameters of a model to nearest; ``sets`` default to those it remembers.

    Raises InputError for models with general layers, causal masks or several heads, for another
    ``dtype`` than float64 and float32, and where a parameter is past its range.

    >>> from hardmax.model.layers import RankOneBlock
    >>> found = rounded(Transformer([RankOneBlock.of(1, alpha="1/3")]), "float32")
    >>> found.changed, found.transformer().blocks[0].alpha.denominator == 2**25
    (1, True)
    """
    if dtype not in DTYPES:
        raise InputError(f"the type {dtype!r} is unknown; known are {' and '.join(DTYPES)}")
    parameters = model.parameters
    masked = getattr(model, "masked", False) or model.meta.get("masked")
    if parameters is None or parameters.heads > 1 or masked:
        raise InputError("only models of rank-1 blocks with one head and no mask can be exported")
    arrays, changed = {}, 0
    for name in NAMES:
        exact = parameters.arrays[name]
        with np.errstate(over="ignore"):
            values = exact.values.astype(dtype)
        if not np.isfinite(values).all():
            raise InputError(f"a parameter {name} is past the range of {dtype}; take float64")
        differs = values.astype(np.float64) != exact.values
        differs.flat[list(exact.exact)] = True
        changed += int(differs.sum())
        arrays[name] = values
    found = label_sets(model) if sets is None else sets
    return Rounded(dtype, arrays, changed, dict(found), model)


def judged(model: Transformer, dtype: str, data: Dataset | None) -> tuple[Rounded, dict[str, str]]:
    """The rounded model, with the metadata of its file: texts by name.

    Label sets are those of ``data`` where it has its own, else those that the model remembers.
    With ``data`` the rounded parameters are judged exactly: ``verdict`` says whether every
    output lies in its label set, ``prediction`` whether every label is predicted, and
    ``executor`` whether every float executor of this type provably predicts the same.
    """
    remembered = label_sets(model)
    if data is not None and (data.has_sets or not remembered):
        sets: Mapping[str, LabelSet] = data.sets
    else:
        sets = remembered
        if data is not None:
            data = data.with_sets(label_sets(model, lifted=False), "remembered by the model")
    source = model
    if data is not None and sets is data.sets:  # the file remembers what it predicts from
        told: Any = list(data.given_sets)  # of argmax the sorted labels say which cones are meant
        if model.meta.get("label_sets") != "argmax":
            told = {name: x.to_json() for name, x in data.given_sets.items()}
        meta = {**model.meta, "labels": told}
        source = Transformer(model.blocks, stages=model.stages, meta=meta)
        source.sha256 = model.sha256
    found = rounded(source, dtype, sets)
    facts = _described(found)
    if data is None:
        facts["verdict"] = facts["prediction"] = facts["executor"] = "not checked: no data given"
        return found, facts
    return found, facts | _verdict(found, data)


def _described(found: Rounded) -> dict[str, str]:
    meta = found.source.meta
    reading = {key: meta[key] for key in _READING if key in meta}
    return {
        "format": FORMAT,
        "architecture": "hardmax-model/1",
        "dtype": found.dtype,
        "parameters": str(sum(array.size for array in found.arrays.values())),
        "parameters_rounded": str(found.changed),
        "labels": json.dumps(list(found.sets)),
        "reading": json.dumps(reading, sort_keys=True),
        "expects": _expected(found.dimension, reading),
        "meta": str(pack(found.transformer())["meta"]),
        "stages": json.dumps(found.source.stages),
        "model_sha256": found.source.sha256 or "not from a file",
        "version": __version__,
    }


def _expected(dimension: int, reading: Mapping[str, Any]) -> str:
    """What the tokens given to the file have to be, in words."""
    steps = []
    if reading.get("window", 1) != 1:
        steps.append(f"windows of {reading['window']}")
    if reading.get("stride", 1) != 1:
        steps.append(f"every {reading['stride']}th token")
    if reading.get("positional"):
        steps.append("the position 1, 2, 3, … as a coordinate")
    if reading.get("lift"):
        steps.append(f"{reading['lift']} zero coordinates")
    if not steps:
        return f"tokens of dimension {dimension}, as the data file has them"
    return f"tokens of dimension {dimension}, made from those of the file: {', then '.join(steps)}"


def _verdict(found: Rounded, data: Dataset) -> dict[str, str]:
    model = found.transformer()
    verdict = certify(model, data).verdict
    labels = data.need_labels()
    wrong: list[int] = []
    if verdict != "proved":  # an output in its own set is predicted right
        outputs = model.outputs(data)
        wrong = [j for j, y in enumerate(outputs) if predicted(y, data.sets) != labels[j]]
    floats = certify_float(found.source, data, found.dtype)
    facts = {
        "verdict": verdict,
        "prediction": "refuted" if wrong else "proved",
        "executor": "certified" if floats.certified else f"not certified: {floats.reason}",
        "sequences": str(len(data)),
        "wrong": str(len(wrong)),
        "data_sha256": data.source.get("sha256") or "not from a file",
    }
    if wrong:
        facts["witness"] = data.name(wrong[0])
    return facts
