"""Verdicts: exact statements about a model and data. How the model was built is unknown here."""

import sys
from types import ModuleType
from typing import Any

from .bounds import Bounds, bounds_of
from .certificate import Certificate, Witness
from .verify import certify

__all__ = ["Bounds", "Certificate", "Witness", "bounds_of", "certify"]


class _Folder(ModuleType):
    """The folder; ``hardmax.certify`` is its function, so the function carries the modules too.

    With that, ``import hardmax.certify.radius as radius`` finds what it names.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if isinstance(value, ModuleType):
            setattr(certify, name, value)


for _name, _module in list(globals().items()):
    if isinstance(_module, ModuleType) and _module.__name__.startswith(__name__):
        setattr(certify, _name, _module)
sys.modules[__name__].__class__ = _Folder
