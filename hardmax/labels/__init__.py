"""Label sets S^c: exact membership, a witness inside, distance, pairwise disjointness."""

from .disjoint import CommonPoint, Separation, check_disjoint, separate
from .distance import Distance
from .sets import Ball, Box, Halfspace, LabelSet, Point, Polyhedron, default_points, lift

__all__ = [
    "Ball",
    "Box",
    "CommonPoint",
    "Distance",
    "Halfspace",
    "LabelSet",
    "Point",
    "Polyhedron",
    "Separation",
    "check_disjoint",
    "default_points",
    "lift",
    "separate",
]
