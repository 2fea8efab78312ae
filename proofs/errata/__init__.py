"""Printed claims that do not stand, each with an exact witness.

Each module has SOURCE, PLACE, CLAIM, MENDED and `witness()`, which computes the counterexample
exactly, raises `Refuted` if it fails, and returns one sentence that says what was shown.
"""
