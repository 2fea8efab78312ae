"""Optional libraries of the Transducer, imported when they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ...errors import MissingExtraError

_EXTRA = {"torch": "torch", "safetensors": "transducer"}


def need(library: str) -> Any:
    """Import an optional library by name, such as "safetensors.torch".

    Raises MissingExtraError, which names the extra to install, where it is missing.

    >>> need("json").dumps([1])
    '[1]'
    """
    try:
        return import_module(library)
    except ImportError:
        top = library.partition(".")[0]
        raise MissingExtraError(
            f"the Transducer needs {top}, which is not installed; "
            f"install it with: pip install 'hardmax[{_EXTRA.get(top, 'transducer')}]'"
        ) from None
