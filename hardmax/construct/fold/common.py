"""What the stages share with the rest of `construct`, imported in one place."""

from __future__ import annotations

from ..classify import classify
from ..collapse import collapse_to_zero
from ..filtered import Array
from ..integer_points import IntegerPoints
from ..match import Points as Places
from ..packing import Staged
from ..peel import _distinct as distinct
from ..peel import _untied as untied
from ..peel import build_peel

__all__ = [
    "Array",
    "IntegerPoints",
    "Places",
    "Staged",
    "build_peel",
    "classify",
    "collapse_to_zero",
    "distinct",
    "untied",
]
