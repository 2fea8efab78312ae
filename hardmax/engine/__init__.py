"""The engine: exact outputs at the speed of floating point (theory part C)."""

from .outputs import Outputs, evaluate, float_outputs
from .plan import Plan

__all__ = ["Outputs", "Plan", "evaluate", "float_outputs"]
