"""Array libraries on which a model can run; none is imported before it is asked for."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from ..errors import InputError, MissingExtraError

BACKENDS = ("numpy", "cupy", "torch", "jax")
_NAMESPACES = {
    "cupy": "array_api_compat.cupy",
    "torch": "array_api_compat.torch",
    "jax": "jax.numpy",
}


def namespace(backend: str) -> Any:
    """Array-API namespace of a backend by name.

    Raises InputError for an unknown name, MissingExtraError where its library is missing.

    >>> namespace("numpy").__name__
    'numpy'
    """
    if backend == "numpy":
        return np
    if backend not in _NAMESPACES:
        raise InputError(f"the backend {backend!r} is unknown; known are {', '.join(BACKENDS)}")
    try:
        if backend == "jax":
            import_module("jax").config.update("jax_enable_x64", True)
        return import_module(_NAMESPACES[backend])
    except ImportError as problem:
        raise MissingExtraError(
            f"the backend {backend!r} needs a library that is not installed ({problem.name}); "
            f"install it with: pip install 'hardmax[{backend}]'"
        ) from None


def backend_of(sequences: Sequence[Any]) -> str:
    """The backend that the first sequence's array belongs to; numpy for anything else.

    Looks only at libraries that are already imported.

    >>> backend_of([[(0, 1)]])
    'numpy'
    """
    for backend in ("torch", "cupy", "jax"):
        library = sys.modules.get(backend)
        kind = getattr(library, {"torch": "Tensor", "cupy": "ndarray"}.get(backend, "Array"), None)
        if kind is not None and sequences and isinstance(sequences[0], kind):
            return backend
    return "numpy"


def to_numpy(array: Any) -> np.ndarray:
    """A copy of an array in NumPy, from whatever device it is on."""
    if hasattr(array, "get") and not isinstance(array, np.ndarray):  # CuPy
        array = array.get()
    if hasattr(array, "detach"):  # PyTorch
        array = array.detach().cpu().numpy()
    if hasattr(array, "__array_namespace__") and not isinstance(array, np.ndarray):
        array = np.from_dlpack(array)
    return np.array(array)
