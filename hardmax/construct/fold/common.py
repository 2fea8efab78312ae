"""What the stages share with the rest of `construct`, imported in one place."""

from __future__ import annotations

from ...exact.array import Array
from ...exact.points import IntegerPoints
from ..paper.classify import classify
from ..paper.match import LabelledPoints as Places
from ..peel.strategy import build_peel
from ..shared.collapse import collapse_to_zero
from ..shared.staged import Staged
from ..shared.untied import distinct_means as distinct
from ..shared.untied import representatives
from ..shared.untied import untied_means as untied

__all__ = [
    "Array",
    "IntegerPoints",
    "Places",
    "Staged",
    "build_peel",
    "classify",
    "collapse_to_zero",
    "distinct",
    "representatives",
    "untied",
]
