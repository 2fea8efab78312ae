"""The engine: exact outputs at the speed of floating point (theory part C)."""

from .compile.plan import Plan
from .cut import evaluate
from .outputs import Outputs, float_outputs
from .search import Search
from .sizes import Sizes

__all__ = ["Outputs", "Plan", "Search", "Sizes", "evaluate", "float_outputs"]
