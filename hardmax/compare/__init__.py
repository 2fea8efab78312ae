"""Built and trained models side by side, on the same data, with what is certified about each."""

from .contender import Contender

__all__ = ["Contender"]
