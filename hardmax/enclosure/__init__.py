"""Floats with proven bounds on their errors: what may be concluded from them, and what not."""
