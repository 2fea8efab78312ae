"""The file "hardmax-network/1": an .npz that numpy.load reads without pickle (docs/formats.md)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from os import PathLike
from typing import Any

import numpy as np

from ..errors import InputError
from ..exact.numbers import any_digits
from ..formats.contents import instead
from ..formats.files import read_bytes, sha256, shown_name
from ..formats.model_file import array_members, exact_member, meta_text, read_meta, read_overrides
from ..formats.npz import read_npz, text, write_npz
from ..formats.whole_files import write_whole
from .layer import Layer
from .layers import KINDS, Residual
from .network import Network

FORMAT = "hardmax-network/1"
_FIXED = ("format", "meta", "architecture")
_MOST_NESTED = 20  # residual branches in one another


def write_network(network: Network, path: str | PathLike[str]) -> None:
    """Write a network; equal networks give equal bytes."""
    arrays = members(network)
    write_whole(path, lambda temporary: write_npz(temporary, arrays))


def members(network: Network) -> dict[str, np.ndarray]:
    """The members of the file."""
    document = {
        "dimension": network.dimension,
        "classes": None if network.classes is None else list(network.classes),
        "layers": [_told(layer) for layer in network.layers],
    }
    with any_digits():
        architecture = json.dumps(document, ensure_ascii=False)
    return {
        "format": np.array(FORMAT),
        "meta": np.array(meta_text(network.meta)),
        "architecture": np.array(architecture),
        **array_members(network.arrays),
    }


def _told(layer: Layer) -> dict[str, Any]:
    told: dict[str, Any] = {"kind": layer.kind, **layer.options}
    if layer.arrays:
        told["arrays"] = list(layer.arrays)
    if isinstance(layer, Residual):
        told["layers"] = [_told(each) for each in layer.layers]
    return told


def read_network(path: str | PathLike[str]) -> Network:
    """Read a network file; raise InputError with one line where it is not one."""
    content = read_bytes(path)
    try:
        network = unpack(read_npz(content, None))
    except InputError as problem:
        reason = instead(content, "network") or problem
        raise InputError(f"{shown_name(path)}: {reason}") from None
    except (MemoryError, RecursionError):
        raise InputError(f"{shown_name(path)}: too large for this machine's memory") from None
    network.sha256 = sha256(content)
    return network


def unpack(arrays: Mapping[str, np.ndarray]) -> Network:
    """The network that the members of a file hold."""
    if "format" not in arrays or text(arrays, "format") != FORMAT:
        raise InputError(f"not a network file: its member 'format' is not {FORMAT!r}")
    for name in _FIXED:
        if name not in arrays:
            raise InputError(f"the network file has no member {name!r}")
    document = read_meta(text(arrays, "architecture"), "architecture")
    if set(document) != {"dimension", "classes", "layers"}:
        raise InputError(
            "'architecture' needs the keys dimension, classes and layers, and no other"
        )
    dimension, classes = document["dimension"], document["classes"]
    if type(dimension) is not int or not 1 <= dimension <= 1 << 20:
        raise InputError("'architecture': dimension is not an integer from 1 to 2^20")
    if classes is not None and not (
        isinstance(classes, list) and all(isinstance(name, str) for name in classes)
    ):
        raise InputError("'architecture': classes is neither null nor a list of texts")
    left = {name: array for name, array in arrays.items() if name not in (*_FIXED, "exact")}
    overrides = read_overrides(arrays)
    layers = _layers(document["layers"], "", left, overrides, 0)
    if left or overrides:
        raise InputError(
            f"{next(iter({**left, **overrides}))!r} belongs to no layer of the network"
        )
    meta = read_meta(text(arrays, "meta"), "meta")
    return Network(layers, dimension=dimension, classes=classes, meta=meta)


def _layers(
    told: Any, path: str, arrays: dict[str, np.ndarray], overrides: dict[str, Any], depth: int
) -> Sequence[Layer]:
    if not isinstance(told, list) or depth > _MOST_NESTED:
        raise InputError(
            f"'architecture': layers is no list, or nests more than {_MOST_NESTED} branches"
        )
    return [_layer(each, f"{path}{k}", arrays, overrides, depth) for k, each in enumerate(told)]


def _layer(
    told: Any, path: str, arrays: dict[str, np.ndarray], overrides: dict[str, Any], depth: int
) -> Layer:
    kind = told.get("kind") if isinstance(told, dict) else None
    known = KINDS.get(kind) if isinstance(kind, str) else None
    if known is None:
        raise InputError(
            f"layer {path}: the kind {str(told)[:60]} is unknown; known are {', '.join(KINDS)}"
        )
    given = {key: value for key, value in told.items() if key != "kind"}
    names = given.pop("arrays", [])
    if not isinstance(names, list) or any(name not in [*known.shapes] for name in names):
        raise InputError(f"layer {path} ({known.kind}): 'arrays' names unknown arrays")
    if set(given) != {x.name for x in fields(known)} - {*known.shapes}:
        raise InputError(
            f"layer {path} ({known.kind}): a key is missing or unknown: {sorted(given)}"[:200]
        )
    if any(isinstance(x, float) for x in given.values()):
        raise InputError(f"layer {path} ({known.kind}): a number is an integer or a text p/q")
    for name in names:
        member = f"{path}.{name}"
        if member not in arrays:
            raise InputError(f"layer {path} ({known.kind}): the file has no member {member!r}")
        given[name] = exact_member(member, arrays.pop(member), overrides.pop(member, []))
    if known is Residual:
        given["layers"] = _layers(given.get("layers"), f"{path}.", arrays, overrides, depth + 1)
    try:
        return known(**given)
    except TypeError:
        raise InputError(
            f"layer {path} ({known.kind}): a key is missing or unknown: {sorted(given)}"
        ) from None
    except InputError as problem:
        raise InputError(f"layer {path}: {problem}") from None
