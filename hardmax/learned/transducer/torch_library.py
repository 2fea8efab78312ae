"""PyTorch, or an error that names the extra which brings it."""

from __future__ import annotations

from .extras import need

need("torch")

import torch  # noqa: E402
from torch import nn  # noqa: E402

__all__ = ["nn", "torch"]
