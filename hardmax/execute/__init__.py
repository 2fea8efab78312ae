"""Running a model in floating point, on many sequences at once."""
