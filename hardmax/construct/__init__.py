"""From data to parameters: the lemmas and stages of the paper's Section 3.

The lemmas are imported when they are first used: a strategy needs its own modules only.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .paper.hyperplane import Hyperplane, separating_hyperplane
    from .paper.leaders import Leader, NotExtreme, common_direction, extreme_token, leader_shift
    from .paper.separate import SeparationStep, separate
    from .shared.split_means import MeanSplit, split_means

_WHERE = {  # name -> module
    "Hyperplane": "paper.hyperplane",
    "Leader": "paper.leaders",
    "MeanSplit": "shared.split_means",
    "NotExtreme": "paper.leaders",
    "SeparationStep": "paper.separate",
    "common_direction": "paper.leaders",
    "extreme_token": "paper.leaders",
    "leader_shift": "paper.leaders",
    "separate": "paper.separate",
    "separating_hyperplane": "paper.hyperplane",
    "split_means": "shared.split_means",
}

__all__ = [
    "Hyperplane",
    "Leader",
    "MeanSplit",
    "NotExtreme",
    "SeparationStep",
    "common_direction",
    "extreme_token",
    "leader_shift",
    "separate",
    "separating_hyperplane",
    "split_means",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_WHERE[name]}", __name__), name)
