"""From data to parameters: the lemmas and stages of the paper's Section 3."""

from .hyperplane import Hyperplane, separating_hyperplane
from .leaders import Leader, NotExtreme, common_direction, extreme_token, leader_shift
from .means import MeanSplit, split_means
from .separate import SeparationStep, separate

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
