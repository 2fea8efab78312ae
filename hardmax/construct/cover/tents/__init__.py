"""Tents: three blocks raise the points in a slab and leave all others in place."""
