"""The PyTorch network of the softmax transformer classifier."""

from __future__ import annotations

from typing import Any

import numpy as np

from .enclosures.balls import Array


def build(torch: Any, dimension: int, classes: int, shape: tuple[Any, ...]) -> Any:
    """Module from tokens (B, n, dimension) and padding (B, n) to logits (B, classes).

    ``shape`` is (width, layers, heads, hidden, activation).
    """
    width, layers, heads, hidden, activation = shape
    nn = torch.nn

    class Network(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Linear(dimension, width)
            self.blocks = nn.ModuleList(
                nn.TransformerEncoderLayer(
                    width, heads, hidden, 0.0, activation, norm_first=True, batch_first=True
                )
                for _ in range(layers)
            )
            self.norm = nn.LayerNorm(width)
            self.readout = nn.Linear(width, classes)

        def forward(self, x: Any, padding: Any) -> Any:
            x = self.embedding(x)
            for block in self.blocks:
                x = block(x, src_key_padding_mask=padding)
            real = (~padding).to(x.dtype)[..., None]
            pooled = (self.norm(x) * real).sum(1) / real.sum(1)
            return self.readout(pooled)

    return Network()


def pad(torch: Any, arrays: list[Array], dtype: str) -> tuple[Any, Any]:
    """Sequences side by side (B, n, d), and where there is padding (B, n)."""
    longest = max(map(len, arrays))
    padded = np.zeros((len(arrays), longest, arrays[0].shape[1]))
    padding = np.ones((len(arrays), longest), dtype=bool)
    for k, array in enumerate(arrays):
        padded[k, : len(array)] = array
        padding[k, : len(array)] = False
    return torch.from_numpy(padded).to(getattr(torch, dtype)), torch.from_numpy(padding)
