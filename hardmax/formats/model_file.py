"""The model file "hardmax-model/1": an .npz that numpy.load reads without pickle."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from fractions import Fraction
from os import PathLike
from typing import Any

import numpy as np

from ..dataset import Reading
from ..errors import InputError
from ..exact.array import ExactArray
from ..exact.numbers import MAX_DIGITS, any_digits, integer, is_binary64, nearest_float
from ..labels import LabelSet, argmax_sets, in_order
from ..model.parameters import HEADED, NAMES, VECTORS, Parameters
from ..model.transformer import Transformer
from .contents import instead
from .data.label_sets import read_label_sets
from .files import read_bytes, sha256, shown_name
from .npz import read_npz, text, write_npz
from .whole_files import write_whole
from .written import NumberReader, parse

FORMAT = "hardmax-model/1"
_HALF = re.compile(r"\\u[dD][89a-fA-F]")  # an escape that may be half a surrogate pair
_HEX = re.compile(r"-?[0-9a-f]+", re.ASCII | re.IGNORECASE)
_MAX_QUOTIENT = 1 << 18  # characters of an override p/q


def write_model(model: Transformer, path: str | PathLike[str]) -> None:
    """Write a model of rank-1 blocks; equal models give equal bytes."""
    arrays = pack(model)
    write_whole(path, lambda temporary: write_npz(temporary, arrays))


def pack(model: Transformer) -> dict[str, np.ndarray]:
    """The members of the model file."""
    if model.parameters is None:
        raise InputError(f"{FORMAT} holds rank-1 blocks only; this model has general layers")
    arrays = {
        "format": np.array(FORMAT),
        "meta": np.array(meta_text(_with_mask(model))),
        "stage": np.array(model.stages, dtype=np.str_),
    }
    return arrays | array_members(model.parameters.arrays)


def array_members(arrays: Mapping[str, ExactArray]) -> dict[str, np.ndarray]:
    """The float64 members of exact arrays, and "exact" where they have overrides."""
    found = {name: array.values for name, array in arrays.items()}
    overrides = {
        name: [[k, f"{q.numerator:x}/{q.denominator:x}"] for k, q in sorted(array.exact.items())]
        for name, array in arrays.items()
        if array.exact
    }
    if overrides:
        content = json.dumps(overrides, separators=(",", ":")).encode()
        found["exact"] = np.frombuffer(content, dtype=np.uint8)
    return found


def _with_mask(model: Transformer) -> dict[str, Any]:
    """The meta, in which the key ``masked`` stands exactly for masked models."""
    rest = {key: value for key, value in model.meta.items() if key != "masked"}
    return {**rest, "masked": True} if model.masked else rest


def meta_text(meta: Mapping[str, Any]) -> str:
    """The meta with its keys sorted, all but the labels: ties go by their order."""
    with any_digits():
        ordered = {
            str(key): value if key == "labels" else json.loads(json.dumps(value, sort_keys=True))
            for key, value in sorted(meta.items(), key=lambda item: str(item[0]))
        }
        content = json.dumps(ordered)
    read_meta(content)  # what can't be read back is not written
    return content


def read_model(path: str | PathLike[str]) -> Transformer:
    """Read a model file; raise InputError with one line where it is not one."""
    content = read_bytes(path)
    try:
        model = unpack(read_npz(content, {"format", "meta", "stage", "exact", *NAMES}))
    except InputError as problem:
        reason = instead(content, "model") or problem
        raise InputError(f"{shown_name(path)}: {reason}") from None
    except MemoryError:
        raise InputError(f"{shown_name(path)}: too large for this machine's memory") from None
    model.sha256 = sha256(content)
    return model


def unpack(arrays: dict[str, np.ndarray]) -> Transformer:
    """The transformer that the members of a model file hold."""
    if "format" not in arrays:
        raise InputError("not a model file: it has no member 'format'")
    if arrays["format"].dtype.kind != "U" or text(arrays, "format") != FORMAT:
        raise InputError(f"the format is {text(arrays, 'format')!r}, expected {FORMAT!r}")
    for name in ("meta", "stage", *NAMES):
        if name not in arrays:
            raise InputError(f"the model file has no member {name!r}")
    overrides = read_overrides(arrays)
    heads = _heads(arrays["alpha"])
    packed = {
        name: _parameter(name, arrays[name], overrides.pop(name, []), heads) for name in NAMES
    }
    if overrides:
        raise InputError(f"'exact' overrides the unknown array {next(iter(overrides))!r}")
    parameters = Parameters(**packed)
    if not len(parameters) or not parameters.dimension:
        raise InputError("the model has no blocks, or dimension 0")
    stage = arrays["stage"]
    if stage.shape != (len(parameters),) or stage.dtype.kind != "U":
        raise InputError(f"'stage' has shape {stage.shape}, expected ({len(parameters)},) text")
    try:
        stages = [str(name) for name in stage.tolist()]
    except (ValueError, UnicodeError):
        raise InputError("'stage' holds broken text") from None
    meta = read_meta(text(arrays, "meta"))
    masked = meta.get("masked", False)
    if not isinstance(masked, bool):
        raise InputError("the model's meta: 'masked' is true or false")
    return Transformer(parameters, stages=stages, meta=meta, masked=masked)


def label_sets(model: Transformer, *, lifted: bool = True) -> Mapping[str, LabelSet]:
    """The label sets that a model's meta records; empty where it records none.

    ``lifted`` sets have the dimension of the model's outputs, the others that of the data
    before the reading.
    """
    recorded, reading = model.meta.get("labels"), Reading.from_meta(model.meta)
    if recorded is None:
        return {}
    try:
        sets = _recorded(recorded, reading, model.dimension)
    except InputError as problem:
        raise InputError(f"the model's meta: {problem}") from None
    if lifted:
        return {name: x.lifted(model.dimension - x.dimension) for name, x in sets.items()}
    return sets


def _recorded(recorded: Any, reading: Reading, dimension: int) -> Mapping[str, LabelSet]:
    """The sets of a meta: an object of sets, or for argmax the list of the sorted labels."""
    if reading.label_sets == "argmax":
        names = recorded if isinstance(recorded, list) else [None]
        if {*map(type, names)} != {str} or names != in_order({*names}) or len(names) > dimension:
            raise InputError("'labels' is no list of at most d sorted labels, as argmax needs")
        return argmax_sets(names)
    width, rest = divmod(dimension - reading.dimension(0), len(reading.offsets))
    if rest or width < 1:
        raise InputError(f"its reading {reading!r} does not lead to dimension {dimension}")
    with any_digits():
        document = parse(json.dumps(recorded).encode())
    return read_label_sets(document, NumberReader("exact"), width)


def read_meta(content: str, name: str = "meta") -> dict[str, Any]:
    """The JSON object in a member, the meta or another."""
    try:
        content = content.removeprefix("\ufeff")
        meta = json.loads(
            content, parse_int=_integer, parse_constant=_no_constant, object_pairs_hook=_once
        )
        if _HALF.search(content):
            json.dumps(meta, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise InputError(f"{name!r} holds half a surrogate pair, which is no text") from None
    except (ValueError, RecursionError):
        raise InputError(f"{name!r} is not JSON") from None
    if not isinstance(meta, dict):
        raise InputError(f"{name!r} is not a JSON object")
    return meta


def _integer(text: str) -> int:
    if len(text) - (text[0] == "-") > MAX_DIGITS:
        raise InputError(f"'meta' holds an integer of more than {MAX_DIGITS} digits")
    return integer(text)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def read_overrides(arrays: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """The member "exact": for each name of an array its pairs of an index and a quotient."""
    if "exact" not in arrays:
        return {}
    try:
        content = text(arrays, "exact").removeprefix("\ufeff")
        overrides = json.loads(content, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise InputError("'exact' is not JSON") from None
    if not isinstance(overrides, dict):
        raise InputError("'exact' is not a JSON object")
    return overrides


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key stands twice")
    return result


def _parameter(name: str, values: np.ndarray, entries: Any, heads: tuple[int, ...]) -> ExactArray:
    of_heads = heads if name in HEADED else ()
    depth = 2 if name in VECTORS else 1
    if values.ndim != depth + len(of_heads) or not _is_float64(values):
        axes = ["L", *map(str, of_heads), *(["d"] if name in VECTORS else [])]
        expected = f"({', '.join(axes)}{',' if len(axes) == 1 else ''})"
        raise InputError(
            f"parameter {name!r} has shape {values.shape} and type {values.dtype}, expected "
            f"{expected} float64"
        )
    return exact_member(name, values, entries)


def _heads(alpha: np.ndarray) -> tuple[int, ...]:
    """(H,) where alpha has the shape (L, H), H ≥ 2, of several heads; else nothing."""
    if alpha.ndim == 2 and alpha.shape[1] < 2:
        raise InputError(
            f"parameter 'alpha' has shape {alpha.shape}: one head has (L,), and v (L, d); "
            f"H ≥ 2 heads have (L, H) and (L, H, d)"
        )
    return alpha.shape[1:2]


def _is_float64(values: np.ndarray) -> bool:
    return values.dtype == np.dtype(np.float64).newbyteorder(values.dtype.byteorder)


def exact_member(name: str, values: np.ndarray, entries: Any) -> ExactArray:
    """A float64 member with its overrides; each must lie nearest to the float it overrides."""
    if not _is_float64(values):
        raise InputError(f"parameter {name!r} has the type {values.dtype}, expected float64")
    values = values.astype(np.float64)
    if not np.isfinite(values).all():
        raise InputError(f"parameter {name!r} holds NaN or an infinity")
    if not isinstance(entries, list):
        raise InputError(f"the overrides of {name!r} are not a list")
    exact: dict[int, Fraction] = {}
    seen: set[int] = set()
    for entry in entries:
        k, number = _override(name, entry, values.size)
        if k in seen:
            raise InputError(f"entry {k} of {name!r} is overridden twice")
        seen.add(k)
        try:
            nearest = nearest_float(number)
        except OverflowError:
            nearest = float("inf")
        if float(values.flat[k]) != nearest:
            raise InputError(
                f"entry {k} of {name!r} is not the nearest float64 of its exact override"
            )
        if not is_binary64(number):
            exact[k] = number
    return ExactArray.owning(values + 0.0, exact)


def _override(name: str, entry: Any, size: int) -> tuple[int, Fraction]:
    place = f"an override of {name!r}"
    if not isinstance(entry, list) or len(entry) != 2:
        raise InputError(f"{place} is not a pair of an index and a quotient")
    k, quotient = entry
    if not isinstance(k, int) or isinstance(k, bool) or not 0 <= k < size:
        raise InputError(f"{place} has the index {str(k)[:20]}, allowed are 0 to {size - 1}")
    if not isinstance(quotient, str) or len(quotient) > _MAX_QUOTIENT:
        raise InputError(f"{place} is not a text p/q of at most {_MAX_QUOTIENT} characters")
    p, slash, q = quotient.partition("/")
    if not slash or not _HEX.fullmatch(p) or not _HEX.fullmatch(q) or q[0] == "-":
        raise InputError(f"{place} is not p/q in hexadecimal integers: {quotient[:30]!r}")
    divisor = int(q, 16)
    if divisor == 0:
        raise InputError(f"{place} divides by zero")
    return k, Fraction(int(p, 16), divisor)
