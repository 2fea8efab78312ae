"""Frozen baselines, one file each; check.py compares them with the exact outputs."""
