"""The forward pass in float64 with error bounds: which layers are active on which points."""
