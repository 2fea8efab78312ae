"""Pictures of exact runs: the paper's figures, an interactive page, an animation.

Every position drawn is an exact token of a run, turned into a float for the picture alone.
matplotlib is imported where it is used.
"""
