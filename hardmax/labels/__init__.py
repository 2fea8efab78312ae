"""Label sets S^c: exact membership, a witness inside, distance, pairwise disjointness."""

from .argmax import ArgmaxCone, argmax_sets, check_size
from .disjoint import CommonPoint, Separation, Separations, check_disjoint, separate
from .distance import Distance
from .given import read_ids, read_labels
from .names import NamedSets, in_order, read_sets
from .polyhedral import Box, Halfspace, Polyhedron
from .sets import Ball, LabelSet, Point, default_points

__all__ = [
    "ArgmaxCone",
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
    "Separations",
    "argmax_sets",
    "check_disjoint",
    "check_size",
    "default_points",
    "in_order",
    "read_ids",
    "read_labels",
    "read_sets",
    "separate",
]
