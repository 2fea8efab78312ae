"""Exported files: written with their metadata, and read back as the exact model of their floats."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np

from ..errors import InputError
from ..formats.files import read_bytes, sha256, shown_name
from ..formats.model_file import label_sets, unpack
from ..formats.whole_files import bytes_writer, write_whole
from ..model.parameters import NAMES
from ..model.transformer import Transformer
from .extras import need
from .onnx_builder import with_metadata
from .onnx_model import onnx_model
from .rounded import DTYPES, FORMAT, Rounded, rounded

_KEY = "hardmax"  # one key: the library writes several in an order that changes
_PREFIX = "hardmax."


def write_safetensors(found: Rounded, facts: Mapping[str, str], path: str | PathLike[str]) -> None:
    """Write the tensors u, b, w, rho, alpha, v, the state_dict of the module of `to_torch`.

    The metadata have the key "hardmax", a JSON object of texts.
    """
    library = need("safetensors.numpy")
    arrays = {name: np.ascontiguousarray(array) for name, array in found.arrays.items()}
    content = library.save(arrays, {_KEY: json.dumps(dict(facts), sort_keys=True)})
    write_whole(path, bytes_writer(content))


def write_onnx(found: Rounded, facts: Mapping[str, str], path: str | PathLike[str]) -> None:
    """Write the graph of `onnx_model`; its metadata_props have the keys "hardmax.…"."""
    onnx = need("onnx")
    model = with_metadata(onnx, onnx_model(found), facts)
    onnx.checker.check_model(model)
    write_whole(path, bytes_writer(model.SerializeToString(deterministic=True)))


def read_exported(path: str | PathLike[str]) -> Transformer:
    """The exact model whose parameters are the floats of an exported .safetensors or .onnx file.

    A graph is taken for a model only if it is, byte for byte, the graph that `write_onnx` makes of
    its parameters. Nothing else in the metadata is believed; `facts_of` shows it. Raises
    InputError with one line where a file is broken or something in it was changed.
    """
    content = read_bytes(path)
    try:
        model = _from_onnx(content) if is_onnx(content) else _from_safetensors(content)
    except InputError as problem:
        raise InputError(f"{shown_name(path)}: {problem}") from None
    model.sha256 = sha256(content)
    return model


def facts_of(path: str | PathLike[str]) -> dict[str, str]:
    """The metadata of an exported file: the claims of whoever wrote it."""
    content = read_bytes(path)
    try:
        if is_onnx(content):
            return _onnx_facts(parse_onnx(content))
        return _safetensors_facts(content)
    except InputError as problem:
        raise InputError(f"{shown_name(path)}: {problem}") from None


def load_torch(path: str | PathLike[str], **options: Any) -> Any:
    """The PyTorch module of an exported file: `to_torch` of `read_exported`, in its own type."""
    from .torch_module import to_torch

    return to_torch(read_exported(path), facts_of(path)["dtype"], **options)


def is_onnx(content: bytes) -> bool:
    """Whether bytes begin as an ONNX file does, with its IR version."""
    return content[:1] == b"\x08"


def is_safetensors(content: bytes) -> bool:
    """Whether bytes begin as a safetensors file does: a length, and a JSON object."""
    return len(content) > 8 and content[8:9] == b"{" and content[5:8] == b"\0\0\0"


def parse_onnx(content: bytes) -> Any:
    """The `onnx.ModelProto` of a file."""
    onnx = need("onnx")
    try:
        return onnx.load_model_from_string(content)
    except Exception as problem:  # of the protocol buffers library, whose errors vary
        raise InputError(f"not an ONNX file: {type(problem).__name__}") from None


def parse_safetensors(content: bytes) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The tensors of a safetensors file, and its metadata."""
    library = need("safetensors.numpy")
    try:
        tensors = library.load(bytes(content))
        length = int.from_bytes(content[:8], "little")
        metadata = json.loads(content[8 : 8 + length]).get("__metadata__") or {}
    except Exception as problem:  # of the library, which has its own, or none
        raise InputError(f"not a safetensors file: {str(problem)[:100]}") from None
    return tensors, metadata


def _safetensors_facts(content: bytes) -> dict[str, str]:
    _, metadata = parse_safetensors(content)
    try:
        facts = json.loads(metadata.get(_KEY, "null"))
    except (ValueError, RecursionError):
        facts = None
    return _checked(facts)


def _onnx_facts(proto: Any) -> dict[str, str]:
    props = {p.key: p.value for p in proto.metadata_props}
    if not all(isinstance(text, str) for pair in props.items() for text in pair):
        raise InputError("its metadata hold broken text")
    facts = {k.removeprefix(_PREFIX): x for k, x in props.items() if k.startswith(_PREFIX)}
    return _checked(facts if len(props) == len(proto.metadata_props) else None)


def _checked(facts: Any) -> dict[str, str]:
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise InputError(f"no export of hardmax: its metadata do not say {FORMAT!r}")
    if not all(isinstance(text, str) for text in facts.values()):
        raise InputError("the metadata are not texts")
    if facts.get("dtype") not in DTYPES or not {"meta", "stages"} <= set(facts):
        raise InputError("the metadata lack dtype, meta or stages")
    return facts


def _from_safetensors(content: bytes) -> Transformer:
    facts = _safetensors_facts(content)
    tensors, _ = parse_safetensors(content)
    return _model(tensors, facts)


def _from_onnx(content: bytes) -> Transformer:
    proto = parse_onnx(content)
    facts = _onnx_facts(proto)
    to_array = need("onnx").numpy_helper.to_array
    try:
        tensors = {x.name: to_array(x) for x in proto.graph.initializer if x.name in NAMES}
    except Exception as problem:  # a tensor whose bytes do not fit its shape
        raise InputError(f"a parameter is broken: {type(problem).__name__}") from None
    model = _model(tensors, facts)
    expected = onnx_model(rounded(model, facts["dtype"], label_sets(model)))
    del proto.metadata_props[:]
    if proto.SerializeToString(deterministic=True) != expected.SerializeToString(
        deterministic=True
    ):
        raise InputError("its graph is not the one that hardmax writes for these parameters")
    return model


def _model(tensors: Mapping[str, np.ndarray], facts: Mapping[str, str]) -> Transformer:
    if set(tensors) != set(NAMES):
        raise InputError(
            f"its tensors are {', '.join(sorted(tensors))[:60]}, expected {', '.join(NAMES)}"
        )
    if any(str(array.dtype) != facts["dtype"] for array in tensors.values()):
        raise InputError(f"its tensors are not all {facts['dtype']}")
    try:
        stages = json.loads(facts["stages"])
    except (ValueError, RecursionError):
        stages = None
    if not isinstance(stages, list) or not all(isinstance(name, str) for name in stages):
        raise InputError("the metadata 'stages' are not a list of texts")
    members = {name: array.astype(np.float64) for name, array in tensors.items()}
    return unpack({
        "format": np.array("hardmax-model/1"), "meta": np.array(facts["meta"]),
        "stage": np.array(stages, dtype=np.str_), **members,
    })  # fmt: skip
