"""From a model to a plan: which blocks are fused, and which run side by side."""
