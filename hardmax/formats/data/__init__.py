"""Data sets in files: JSON, npz, CSV, Parquet and .ts, read by what they hold and saved by name."""

from .loading import load, load_for

__all__ = ["load", "load_for"]
