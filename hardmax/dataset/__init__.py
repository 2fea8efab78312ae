"""Labelled token sequences, exact, and their empirical measures."""

from .dataset import Dataset
from .measures import Merged, TiedSequences, merge

__all__ = ["Dataset", "Merged", "TiedSequences", "merge"]
