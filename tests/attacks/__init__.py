"""Attacks on the verifier, the checker, and the readers of files."""
