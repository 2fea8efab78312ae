"""The command line: eight commands of the contract, as far as they are built."""

from .main import main

__all__ = ["main"]
