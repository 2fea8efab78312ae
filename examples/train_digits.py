"""Train the network of examples/digits.npz: a softmax transformer on scikit-learn's digits.

    python examples/train_digits.py

needs PyTorch and scikit-learn. An image of 8 × 8 pixels is a sequence of 8 tokens, its rows, with
8 coordinates, the grey levels 0 to 16. The network has two encoder layers (width 32, 4 heads, GELU)
and learned positions; training stops when 98 % of the 1437 training images are right. Every fifth
image is for testing. It
writes examples/digits.npz (the network, hardmax-network/1) and the images, digits_train.npz and
digits_test.npz. The digits are those of E. Alpaydin and C. Kaynak, "Optical Recognition of
Handwritten Digits", UCI Machine Learning Repository, 1998 (CC BY 4.0), as scikit-learn ships them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn

import hardmax as hm
from hardmax.network.layers import Position

HERE = Path(__file__).parent
CLASSES = [str(digit) for digit in range(10)]


class Digits(nn.Module):
    """Rows of pixels → logits of the ten digits."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Linear(8, 32)
        self.embed.weight.data /= 16
        self.positions = nn.Parameter(torch.randn(8, 32) / 8)
        layer = nn.TransformerEncoderLayer(
            32, 4, 64, dropout=0.1, activation="gelu", batch_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(32, 10)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.head(self.encoder(self.embed(images) + self.positions).mean(1))


def exact(model: Digits) -> hm.Network:
    """The trained module as a network with exactly its parameters."""
    return hm.from_torch(
        model.embed, Position(model.positions), model.encoder, "mean", model.head, classes=CLASSES
    )


def images() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Training images and labels, test images and labels."""
    digits = load_digits()
    x, y = torch.tensor(digits.images), torch.tensor(digits.target)
    test = torch.arange(len(x)) % 5 == 0
    return x[~test], y[~test], x[test], y[test]


def train(model: Digits, x: torch.Tensor, y: torch.Tensor, goal: float = 0.98) -> None:
    """Adam on batches of 64 until the share of right training images reaches the goal."""
    optimiser = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for _ in range(200):
        model.train()
        for part in torch.randperm(len(x)).split(64):
            optimiser.zero_grad()
            nn.functional.cross_entropy(model(x[part]), y[part]).backward()
            optimiser.step()
        model.eval()
        with torch.no_grad():
            right = (model(x).argmax(1) == y).double().mean().item()
        if right >= goal:
            return


def main() -> None:
    torch.manual_seed(0)
    x, y, test_x, test_y = images()
    model = Digits()
    train(model, x.float(), y)
    exact(model).save(HERE / "digits.npz")
    for name, tokens, labels in (("train", x, y), ("test", test_x, test_y)):
        np.savez_compressed(
            HERE / f"digits_{name}.npz",
            tokens=tokens.numpy().astype(np.int8).reshape(-1, 8),
            offsets=8 * np.arange(len(tokens) + 1),
            label=labels.numpy(),
        )


if __name__ == "__main__":
    main()
