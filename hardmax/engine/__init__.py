"""The engine: exact outputs at the speed of floating point (theory part C)."""

from .outputs import Outputs, evaluate, float_outputs
from .plan import Plan
from .search import Search
from .targets import Targets

__all__ = ["Outputs", "Plan", "Search", "Targets", "evaluate", "float_outputs"]
