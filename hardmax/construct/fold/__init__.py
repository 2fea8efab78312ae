"""Depth about √N: slopes and folds, with one neuron in each block (docs/theory.md)."""

from .load import TooDeepError
from .strategy import build_fold, expected_blocks

__all__ = ["TooDeepError", "build_fold", "expected_blocks"]
