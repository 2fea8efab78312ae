"""Data and models to test transformers with: adversarial families and Hypothesis strategies.

The families need nothing but hardmax; the strategies need hypothesis, which
``pip install 'hardmax[test]'`` brings.

>>> from hardmax.testing import FAMILIES, adversarial
>>> len(adversarial("collinear", 20)), len(FAMILIES) >= 18
(20, True)
"""

from .families import DISCRETE, FAMILIES, adversarial
from .label_sets import KINDS, disjoint_sets
from .strategies import (
    adversarial_datasets,
    datasets,
    general_models,
    label_sets,
    rank_one_models,
    rationals,
    sequences,
)

__all__ = [
    "DISCRETE",
    "FAMILIES",
    "KINDS",
    "adversarial",
    "adversarial_datasets",
    "datasets",
    "disjoint_sets",
    "general_models",
    "label_sets",
    "rank_one_models",
    "rationals",
    "sequences",
]
