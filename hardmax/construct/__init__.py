"""From data to parameters: the lemmas and stages of the paper's Section 3."""

from .paper.hyperplane import Hyperplane, separating_hyperplane
from .paper.leaders import Leader, NotExtreme, common_direction, extreme_token, leader_shift
from .paper.separate import SeparationStep, separate
from .shared.split_means import MeanSplit, split_means

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
