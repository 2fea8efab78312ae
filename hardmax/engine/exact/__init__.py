"""Exact outputs from what is known of the active layers."""
