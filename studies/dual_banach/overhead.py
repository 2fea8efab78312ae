"""Step time with and without the regulariser, in turns in one run, beside the FLOP formulas.

    python studies/dual_banach/overhead.py

Full training steps (forward, loss, backward, AdamW) of vision transformers on random images: the
digits model of this study at two batch sizes, and a ViT-T block layout (width 192, 3 heads) with
4 blocks. One thread; processor time, so that neighbours on the machine count less. Median of the
ratio of neighbouring steps.
"""

from __future__ import annotations

import time

import numpy as np
import torch
from digits import VisionTransformer
from statistics_of_runs import write
from torch import nn

from hardmax.learned.dual_banach.flops import Shape
from hardmax.learned.dual_banach.regularizer import DualBanachRegularizer

CASES = {
    "digits, batch 64": ((32, 2, 4, 64), 64, 60),
    "digits, batch 256": ((32, 2, 4, 64), 256, 40),
    "width 192, 4 blocks, batch 64": ((192, 4, 3, 768), 64, 12),
}


def step(model: nn.Module, optimiser: torch.optim.Optimizer, regularizer: object, x, y) -> float:
    """Processor seconds of one training step, in one thread."""
    start = time.process_time()
    loss = nn.functional.cross_entropy(model(x), y)
    if regularizer is not None:
        loss = loss + regularizer()
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    return time.process_time() - start


def measure(shape: tuple[int, ...], batch: int, steps: int, **choices: str) -> dict[str, float]:
    """Median times and the median ratio of neighbouring steps."""
    torch.manual_seed(0)
    models = [VisionTransformer(*shape) for _ in range(2)]
    optimisers = [torch.optim.AdamW(model.parameters(), 1e-3) for model in models]
    regularizer = DualBanachRegularizer(models[1], 1e-4, **choices)
    times = []
    for _ in range(steps):
        x, y = torch.rand(batch, 8, 8), torch.randint(10, (batch,))
        times.append([
            step(models[0], optimisers[0], None, x, y),
            step(models[1], optimisers[1], regularizer, x, y),
        ])  # fmt: skip
    array = np.array(times[3:])
    return {"plain ms": 1000 * float(np.median(array[:, 0])),
            "regularised ms": 1000 * float(np.median(array[:, 1])),
            "ratio": float(np.median(array[:, 1] / array[:, 0]))}  # fmt: skip


def main() -> None:
    torch.set_num_threads(1)
    results = []
    for name, (shape, batch, steps) in CASES.items():
        width, layers, heads, hidden = shape
        formula = float(Shape(16, width, heads, layers, hidden // width).overhead)
        for norm in ("frobenius", "spectral"):
            row = measure(shape, batch, steps, matrix_norm=norm)
            results.append({"case": name, "matrix norm": norm, **row,
                            "overhead by E.2, one image": formula})  # fmt: skip
            print(f"{name:32}{norm:11}{row['plain ms']:8.1f} ms{row['regularised ms']:8.1f} ms  "
                  f"ratio {row['ratio']:.3f}", flush=True)  # fmt: skip
    write("overhead", results)


if __name__ == "__main__":
    main()
