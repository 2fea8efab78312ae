"""The command line: eight commands, one module each, and what they share."""

from .main import main

__all__ = ["main"]
