"""Optional libraries of this folder, imported when they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..errors import MissingExtraError

_EXTRA = {"torch": "torch", "safetensors": "safetensors", "onnx": "onnx"}


def need(library: str) -> Any:
    """Import an optional library by name, such as "safetensors.numpy".

    Raises MissingExtraError, which names the extra to install, where it is missing.

    >>> need("json").dumps([1])
    '[1]'
    """
    try:
        return import_module(library)
    except ImportError:
        top = library.partition(".")[0]
        raise MissingExtraError(
            f"this needs {top}, which is not installed; install it with: "
            f"pip install 'hardmax[{_EXTRA.get(top, top)}]'"
        ) from None
