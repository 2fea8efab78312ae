"""A small vision transformer on 8 × 8 digits with corruptions: λ × weight decay.

    python studies/dual_banach/digits.py [--seeds 3]
    python studies/dual_banach/digits.py --seeds 8 --brief

scikit-learn's digits stand in for CIFAR-10 (which no package ships): 500 training images drawn by
the seed, the other 1297 for testing. 16 patches of 2 × 2 pixels, width 32, 2 pre-LN blocks, 4
heads, hidden width 64, GELU, AdamW at 3e-3 with cosine decay, 300 steps of 64, no augmentation.
Eight corruptions, three severities each, as in CIFAR-10-C where 8 × 8 pixels allow it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
import torch
from ensemble import Member, train
from scipy import ndimage
from sklearn.datasets import load_digits
from statistics_of_runs import interval, shown, write
from torch import nn

Image = np.ndarray
STRENGTHS = (0.0, 1e-3, 1e-2)
DECAYS = (0.05, 0.5)


class VisionTransformer(nn.Module):
    """Patches of 2 × 2 → width 32 with positions → 2 pre-LN blocks → mean → 10 logits."""

    def __init__(self, width: int = 32, layers: int = 2, heads: int = 4, hidden: int = 64) -> None:
        super().__init__()
        self.embedding = nn.Linear(4, width)
        self.position = nn.Parameter(0.02 * torch.randn(16, width))
        self.blocks = nn.Sequential(*(
            nn.TransformerEncoderLayer(
                width, heads, hidden, 0.0, "gelu", batch_first=True, norm_first=True
            )
            for _ in range(layers)
        ))  # fmt: skip
        self.norm, self.readout = nn.LayerNorm(width), nn.Linear(width, 10)

    def tokens(self, x: torch.Tensor) -> torch.Tensor:
        """Tokens (B, 16, width) that enter the first block, of images (B, 8, 8)."""
        patches = (
            x.unflatten(2, (4, 2)).unflatten(1, (4, 2)).transpose(2, 3).flatten(3).flatten(1, 2)
        )
        return self.embedding(patches) + self.position

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.readout(self.norm(self.blocks(self.tokens(x))).mean(1))


def corruptions(rng: np.random.Generator) -> dict[str, list[Callable[[Image], Image]]]:
    """Functions of images (N, 8, 8) in [0, 1], three severities each."""
    blurred = ndimage.gaussian_filter
    kernel = np.eye(3)[None] / 3

    def impulse(x: Image, share: float) -> Image:
        return np.where(rng.random(x.shape) < share, rng.integers(0, 2, x.shape), x)

    def pixelate(x: Image, share: float) -> Image:
        coarse = x.reshape(-1, 4, 2, 4, 2).mean((2, 4)).repeat(2, 1).repeat(2, 2)
        return (1 - share) * x + share * coarse

    def elastic(x: Image, size: float) -> Image:
        grid = np.stack(np.meshgrid(*map(np.arange, x.shape), indexing="ij")).astype(float)
        for axis in (1, 2):
            grid[axis] += size * blurred(rng.normal(size=x.shape), (0, 1.5, 1.5)) * 4
        return ndimage.map_coordinates(x, grid, order=1, mode="nearest")

    made = {
        "gaussian noise": (lambda x, s: x + s * rng.normal(size=x.shape), (0.1, 0.2, 0.3)),
        "shot noise": (lambda x, s: rng.poisson(np.maximum(x, 0) * s) / s, (20, 8, 4)),
        "impulse noise": (impulse, (0.05, 0.1, 0.2)),
        "blur": (lambda x, s: blurred(x, (0, s, s)), (0.5, 0.7, 0.9)),
        "motion blur": (
            lambda x, s: (1 - s) * x + s * ndimage.convolve(x, kernel, mode="nearest"),
            (0.4, 0.7, 1.0),
        ),
        "contrast": (
            lambda x, s: (x - x.mean((1, 2), keepdims=True)) * s + x.mean(),
            (0.7, 0.5, 0.3),
        ),
        "pixelate": (pixelate, (0.4, 0.7, 1.0)),
        "elastic": (elastic, (0.3, 0.6, 0.9)),
    }
    return {
        name: [lambda x, f=f, s=s: np.clip(f(x, s), 0, 1) for s in levels]
        for name, (f, levels) in made.items()
    }


def data(seed: int) -> tuple[torch.Tensor, ...]:
    """500 training images with labels and 1297 test images with labels; pixels in [0, 1]."""
    digits = load_digits()
    order = np.random.default_rng(seed).permutation(len(digits.target))
    x, y = digits.images[order].astype(np.float32) / 16, digits.target[order]
    return tuple(map(torch.from_numpy, (x[:500], y[:500], x[500:], y[500:])))


def trained(members: list[Member], steps: int = 300) -> tuple[list[nn.Module], list[float]]:
    """Trained models in evaluation mode, and their regulariser's terms (λ = 1)."""
    sets = {member.seed: data(member.seed) for member in members}
    draws = {seed: np.random.default_rng(seed).integers(0, 500, (steps, 64)) for seed in sets}

    def batch(step: int) -> tuple[torch.Tensor, torch.Tensor]:
        x, y = ([sets[m.seed][k][draws[m.seed][step]] for m in members] for k in (0, 1))
        return torch.stack(x), torch.stack(y)

    return train(VisionTransformer, members, batch, steps=steps, rate=3e-3, cosine=True)


def evaluate(model: VisionTransformer, seed: int) -> dict[str, float]:
    """Accuracy on training, clean and corrupted test images, and the mean over corruptions."""
    x, y, clean, labels = data(seed)

    def right(images: torch.Tensor, truth: torch.Tensor) -> float:
        with torch.no_grad():
            return (model(images).argmax(1) == truth).float().mean().item()

    result = {"train": right(x, y), "clean": right(clean, labels)}
    kinds = corruptions(np.random.default_rng(1000 + seed))
    for name, levels in kinds.items():
        changed = [torch.from_numpy(f(clean.numpy()).astype(np.float32)) for f in levels]
        result[name] = float(np.mean([right(images, labels) for images in changed]))
    result["corrupted"] = float(np.mean([result[name] for name in kinds]))
    return result


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--brief", action="store_true", help="λ = 0 and 1e-3, decay 0.05 only")
    arguments = parser.parse_args()
    seeds = range(arguments.seeds)
    strengths, decays = ((0.0, 1e-3), (0.05,)) if arguments.brief else (STRENGTHS, DECAYS)
    torch.set_num_threads(1)
    members = [Member(seed, lam, decay) for decay in decays for lam in strengths for seed in seeds]
    models, terms = trained(members)
    runs = {
        member: {**evaluate(model, member.seed), "term": term}
        for member, model, term in zip(members, models, terms, strict=True)
    }
    results = []
    print(f"{'decay':6}{'λ':>6}{'clean':>14}{'gain':>14}{'corrupted':>14}{'gain':>14}{'term':>10}")
    for decay in decays:
        plain = [runs[Member(seed, 0.0, decay)] for seed in seeds]
        for lam in strengths:
            row = [runs[Member(seed, lam, decay)] for seed in seeds]
            columns, gains = [], {}
            for key in ("clean", "corrupted"):
                gains[key] = [a[key] - b[key] for a, b in zip(row, plain, strict=True)]
                columns += [shown([r[key] for r in row], 100), shown(gains[key], 100)]
            results.append({"decay": decay, "strength": lam, "runs": row,
                            "gains": {key: interval(g) for key, g in gains.items()}})  # fmt: skip
            print(f"{decay:<6}{lam:>6g}" + "".join(f"{c:>14}" for c in columns)
                  + f"{np.mean([r['term'] for r in row]):10.1f}", flush=True)  # fmt: skip
    write("digits_brief" if arguments.brief else "digits", results)


if __name__ == "__main__":
    main()
