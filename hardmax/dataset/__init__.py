"""Labelled token sequences, exact, and their empirical measures."""

from .dataset import Dataset
from .measures import ContradictionError, Merged, TiedSequences, merge
from .reading import Reading

__all__ = ["ContradictionError", "Dataset", "Merged", "Reading", "TiedSequences", "merge"]
