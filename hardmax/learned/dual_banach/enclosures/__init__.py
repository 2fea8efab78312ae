"""Floats with proven radii: arrays of balls, functions of them, blocks and networks on them."""
