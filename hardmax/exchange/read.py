"""Models from files of any form, told apart by content."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..formats.contents import kind_of
from ..formats.files import STANDARD, read_bytes, sha256, shown_name
from ..formats.model_file import read_model
from ..model.transformer import Transformer
from ..network.file import FORMAT, read_network, unpack
from ..network.network import Network
from .files import is_onnx, is_safetensors, parse_onnx, parse_safetensors, read_exported
from .from_onnx import from_onnx


def read(path: str | PathLike[str]) -> Transformer | Network:
    """The model in a file: .npz (a model or a network), .onnx or .safetensors.

    A file that `hardmax export` wrote gives the Transformer of its floats. Other ONNX graphs give
    the `Network` of `from_onnx`; other safetensors files that of `from_safetensors`. Raises
    InputError with one line where a file is none of these.
    """
    if path == STANDARD:
        return read_model(path)
    content = read_bytes(path)
    if is_onnx(content):
        props = parse_onnx_of(path, content).metadata_props
        exported = any(each.key == "hardmax.format" for each in props)
        return read_exported(path) if exported else from_onnx(path)
    if is_safetensors(content):
        return read_exported(path) if _exported(content) else from_safetensors(path)
    return read_network(path) if kind_of(content)[0] == "network" else read_model(path)


def read_transformer(path: str | PathLike[str]) -> Transformer:
    """As `read`, where a network would be of no use; InputError where the file holds one."""
    found = read(path)
    if isinstance(found, Network):
        raise InputError(f"{shown_name(path)}: this is a network, not a model of rank-1 blocks")
    return found


def holds_network(path: str | PathLike[str]) -> bool:
    """Whether a file looks like one of a network; false where it can't be read."""
    if path == STANDARD:
        return False
    try:
        content = read_bytes(path)
    except InputError:
        return False
    if is_onnx(content):
        return b"hardmax.format" not in content
    if is_safetensors(content):
        return not _exported(content)
    return kind_of(content)[0] == "network"


def _exported(content: bytes) -> bool:
    """Whether a safetensors file has the metadata of `hardmax export`."""
    return b'"hardmax":' in content[:200]


def parse_onnx_of(path: str | PathLike[str], content: bytes) -> Any:
    """As `parse_onnx`; an error names the file."""
    try:
        return parse_onnx(content)
    except InputError as problem:
        raise InputError(f"{shown_name(path)}: {problem}") from None


def from_safetensors(
    path: str | PathLike[str], architecture: str | PathLike[str] | None = None
) -> Network:
    """The network whose arrays a safetensors file holds, with an architecture in JSON.

    The architecture is that of the format hardmax-network/1, {"dimension": d, "classes": […],
    "layers": […]}, and the tensors have its names: "0.W" is the array W of the first layer. It
    stands in the file ``architecture``, or in the file of the same name that ends in .json. Raises
    InputError where one of the two is missing or does not fit the other.
    """
    content = read_bytes(path)
    beside = Path(architecture) if architecture is not None else Path(path).with_suffix(".json")
    try:
        tensors, _ = parse_safetensors(content)
        if not beside.is_file():
            raise InputError(f"the file {beside} with its architecture is missing (docs/export.md)")
        document = _document(beside)
        wide = {name: _wide(name, array) for name, array in tensors.items()}
        clash = {"format", "meta", "architecture", "exact"} & set(wide)
        if clash:
            raise InputError(
                f"a tensor has the name {clash.pop()!r}, which no array of a layer has"
            )
        network = unpack({
            "format": np.array(FORMAT), "meta": np.array(json.dumps(document.pop("meta", {}))),
            "architecture": np.array(json.dumps(document)), **wide,
        })  # fmt: skip
    except InputError as problem:
        raise InputError(f"{shown_name(path)}: {problem}") from None
    network.sha256 = sha256(content)
    return network


def _document(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(read_bytes(path))
    except (ValueError, RecursionError):
        raise InputError(f"{path} is not JSON") from None
    if not isinstance(document, dict):
        raise InputError(f"{path} is not a JSON object")
    if document.pop("format", FORMAT) != FORMAT:
        raise InputError(f"{path} is not of the format {FORMAT}")
    return document


def _wide(name: str, array: np.ndarray) -> np.ndarray:
    if array.dtype.kind != "f":
        raise InputError(f"the tensor {name!r} has the type {array.dtype}; floats are expected")
    return array.astype(np.float64)
