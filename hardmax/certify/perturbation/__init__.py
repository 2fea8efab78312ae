"""How perturbed tokens move: Jacobians along the exact run, and the decisions that limit them."""
