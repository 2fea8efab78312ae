"""Exact rational numbers, arrays, matrices and points, and the theorems of the alternative."""
