"""Labelled token sequences, exact, and their empirical measures."""

from .dataset import Dataset
from .measures import ContradictionError, Merged, TiedSequences, merge

__all__ = ["ContradictionError", "Dataset", "Merged", "TiedSequences", "merge"]
