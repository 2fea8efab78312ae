"""Built and trained models side by side, on the same data, with what is certified about each."""

from .contender import Contender
from .table import Row, compare, contenders

__all__ = ["Contender", "Row", "compare", "contenders"]
