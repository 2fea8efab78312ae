"""Shells: d − 1 points of the convex hull at a time are parked at the height of their label."""
