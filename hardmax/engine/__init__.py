"""The engine: exact outputs at the speed of floating point (theory part C)."""

from .compile.plan import Plan
from .outputs import Outputs, evaluate, float_outputs

__all__ = ["Outputs", "Plan", "evaluate", "float_outputs"]
