"""Label sets S^c: exact membership, a witness inside, distance, pairwise disjointness."""

from .disjoint import CommonPoint, Separation, check_disjoint, separate
from .distance import Distance
from .names import NamedSets, in_order, read_labels, read_sets
from .sets import Ball, Box, Halfspace, LabelSet, Point, Polyhedron, default_points, lift

__all__ = [
    "Ball",
    "Box",
    "CommonPoint",
    "Distance",
    "Halfspace",
    "LabelSet",
    "NamedSets",
    "Point",
    "Polyhedron",
    "Separation",
    "check_disjoint",
    "default_points",
    "in_order",
    "lift",
    "read_labels",
    "read_sets",
    "separate",
]
