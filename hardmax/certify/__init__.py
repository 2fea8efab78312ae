"""Verdicts: exact statements about a model and data. How the model was built is unknown here."""

import sys
from types import ModuleType
from typing import Any

from .bounds import Bounds, bounds_of
from .predict import predict
from .verify import Certificate, Witness, certify

__all__ = ["Bounds", "Certificate", "Witness", "bounds_of", "certify", "predict"]


class _Certify(ModuleType):
    """The folder and its main function share a name: ``hardmax.certify(model, data)`` works
    whether this package has been imported before or not."""

    def __call__(self, *args: Any, **kwargs: Any) -> Certificate:
        return certify(*args, **kwargs)


sys.modules[__name__].__class__ = _Certify
