"""Rigorous norm bounds of trained digit transformers, layer by layer: verdicts and looseness.

    python studies/dual_banach/looseness.py

Trains the digits model plain and regularised (λ = 1e-3; weight decay 0.05, seed 0, 400 steps),
reads its float32 parameters as exact numbers, and judges every claim on 100 test images.
"""

from __future__ import annotations

import torch
from digits import data, trained
from ensemble import Member
from matplotlib.figure import Figure
from statistics_of_runs import RESULTS, write

from hardmax.learned.dual_banach.report import draw_looseness
from hardmax.learned.dual_banach.torch_blocks import read_blocks, to_array
from hardmax.learned.dual_banach.verify import verify_blocks


def main() -> None:
    torch.set_num_threads(1)
    figure = Figure(figsize=(9, 4), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    results = {}
    images = data(0)[2][:100]
    strengths = (0.0, 1e-3)
    models, _ = trained([Member(0, strength, 0.05) for strength in strengths], 400)
    for panel, strength, model in zip(axes, strengths, models, strict=True):
        with torch.no_grad():
            tokens = to_array(model.tokens(images))  # floats: the exact inputs of block 1
        report = verify_blocks(read_blocks(model), list(tokens))
        name = f"λ = {strength:g}"
        print(f"{name}\n{report}\n", flush=True)
        results[name] = report.to_json()
        draw_looseness(report, panel)
        panel.set_title(name)
    axes[1].get_legend().remove()
    figure.savefig(RESULTS / "looseness.png", dpi=110)
    write("looseness", results)


if __name__ == "__main__":
    main()
