"""Data sets in many files: read, judged and built shard by shard, on one machine or on many."""

from .folder import Shard, Shards

__all__ = ["Shard", "Shards"]
