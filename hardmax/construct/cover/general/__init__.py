"""Exact facets and tents for means in general position, where floats propose too many blocks."""
