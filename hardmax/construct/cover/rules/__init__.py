"""Rules that a classifier proposes, as exact blocks, and their repair."""
