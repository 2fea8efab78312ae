"""Floats with proven bounds on their errors."""
