"""Draw the measurements: error against n, layers and depth, extrapolation, ROC, fields.

python -m studies.transducer.figures
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

RESULTS = Path("studies/transducer/results")
COLOURS = {
    "Transducer": "#0b5fa5",
    "kernel ridge, linear, CV": "#d98200",
    "kernel ridge, quadratic, CV": "#b03a2e",
    "kernel ridge, rbf, CV": "#2e8b57",
    "1-NN": "#888888",
    "mean operator": "#bbbbbb",
}


def read(name: str) -> Any:
    """A file of results, or None where it was not measured."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else None


def error_against_n(adr: Any, axis: Any) -> None:
    """Claims 5 to 7, with 95 % bands over operators and the floor of the coding."""
    for name, colour in COLOURS.items():
        rows = adr["against_n"][name] | adr.get("against_large_n", {}).get(name, {})
        n = np.array([int(key) for key in rows])
        mean = np.array([row["mean"] for row in rows.values()])
        half = np.array([row["half_width"] for row in rows.values()])
        axis.plot(n, mean, color=colour, label=name, lw=2 if name == "Transducer" else 1.2)
        low = np.maximum(mean - half, mean / 10)
        axis.fill_between(n, low, mean + half, color=colour, alpha=0.2, lw=0)
    axis.axhline(adr["floor"], color="black", ls=":", lw=1)
    axis.text(3, adr["floor"] * 0.6, "floor of the coding", fontsize=8)
    first, last = adr.get("trained_on", (4, 40))
    axis.axvspan(first, last, color="black", alpha=0.06, lw=0)
    axis.set(xscale="log", yscale="log", xlabel="examples n (shaded: seen in meta-training)",
             ylabel="relative squared error", ylim=(1e-6, 3))  # fmt: skip
    axis.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))


def layers(adr: Any, variants: Any, axes: Any) -> None:
    """Claims 8 and 9."""
    for n, values in adr["by_layer"].items():
        axes[0].plot(range(1, len(values) + 1), values, "o-", label=f"n = {n}")
    axes[0].set(yscale="log", xlabel="layer ℓ", ylabel="relative squared error of uˡ")
    axes[0].legend(fontsize=8)
    if variants:
        depths = {1: "depth1", 2: "depth2", 4: "depth4", 8: "depth8"}
        known = {d: variants[name] for d, name in depths.items() if name in variants}
        for n in ("10", "50"):
            axes[1].errorbar(
                list(known), [row[n]["mean"] for row in known.values()],
                [row[n]["half_width"] for row in known.values()], fmt="o-", label=f"n = {n}",
            )  # fmt: skip
            if "depth4-tied" in variants:
                tied = variants["depth4-tied"][n]["mean"]
                axes[1].plot([4], [tied], "x", color="black",
                             label="tied" if n == "10" else None)  # fmt: skip
        axes[1].set(yscale="log", xlabel="depth L, 3000 steps each",
                    ylabel="relative squared error")  # fmt: skip
        axes[1].legend(fontsize=8)


def extrapolation(adr: Any, axes: Any) -> None:
    """Claim 11."""
    for axis, key, fixed in ((axes[0], "time", 0.2), (axes[1], "length", 1.0)):
        other = "length" if key == "time" else "time"
        rows = sorted((r for r in adr["extrapolation"] if r[other] == fixed), key=lambda r: r[key])
        for name, colour in (("Transducer", "#0b5fa5"), ("kernel ridge", "#b03a2e"),
                             ("identity", "#bbbbbb")):  # fmt: skip
            axis.errorbar(
                [r[key] for r in rows], [r[name]["mean"] for r in rows],
                [r[name]["half_width"] for r in rows], color=colour, fmt="o-", label=name,
            )  # fmt: skip
        axis.plot([r[key] for r in rows], [r["floor"] for r in rows], "k:", lw=1, label="floor")
        axis.set(yscale="log", ylabel="relative squared error",
                 xlabel="target time t" if key == "time" else "length scale of δ, ν")  # fmt: skip
        axis.axvline(1.0 if key == "time" else 0.2, color="black", alpha=0.15, lw=6)
    axes[0].legend(fontsize=8)


def fields(model: Any, axes: Any) -> None:
    """Targets and estimates of three unseen operators, n = 10."""
    from studies.transducer.evaluate_adr import tasks

    v, u = tasks(7, 3, 12)
    x = np.linspace(0, 1, 100)
    for axis, a, b in zip(axes, v, u, strict=True):
        found = model.predict((a[:10], b[:10]), a[10:])
        for k, colour in enumerate(("#0b5fa5", "#b03a2e")):
            axis.plot(x, a[10 + k], color=colour, lw=0.8, ls=":")
            axis.plot(x, b[10 + k], color=colour, lw=1.4)
            axis.plot(x, found[k], color="black", lw=1, ls="--")
        axis.set(xlabel="x")
    axes[0].set_title("dotted v, solid u, dashed estimate from 10 examples", fontsize=8, loc="left")


def roc(rows: Any, axes: Any) -> None:
    """Claim 14: outliers for several gaps."""
    for axis, method in zip(axes, ("Transducer", "kernel ridge"), strict=True):
        for row in rows:
            curve = row[method]
            axis.plot(curve["fpr"], curve["tpr"],
                      label=f"gap {row['gap']}: AUC {curve['auc']:.3f}")  # fmt: skip
        axis.set(xlabel="false positives", ylabel="true positives", title=method)
        axis.legend(fontsize=8, loc="lower right")


@click.command()
@click.option("--model", type=click.Path(exists=True, path_type=Path),
              default=Path("examples/transducer_adr.safetensors"))  # fmt: skip
@click.option("--out", type=click.Path(path_type=Path), default=Path("studies/transducer/figures"))
def main(model: Path, out: Path) -> None:
    """Write the figures as SVG; those whose results are missing are left out."""
    from hardmax.learned.transducer import Transducer

    out.mkdir(parents=True, exist_ok=True)
    matplotlib.rcParams["svg.hashsalt"] = "transducer"
    drawn: dict[str, Any] = {}
    if (adr := read("adr")) and (others := read("adr_baselines")):
        for part in ("against_n", "against_large_n"):
            adr[part] |= others.get(part, {})
        drawn["error"], axis = plt.subplots(figsize=(7.6, 4))
        error_against_n(adr, axis)
        drawn["depth"], axes = plt.subplots(1, 2, figsize=(8, 3.2))
        layers(adr, read("variants"), axes)
        drawn["extrapolation"], axes = plt.subplots(1, 2, figsize=(8, 3.2))
        extrapolation(adr, axes)
        drawn["fields"], axes = plt.subplots(1, 3, figsize=(9, 2.6), sharey=True)
        fields(Transducer.load(model), axes)
    if rows := read("outliers"):
        drawn["outliers"], axes = plt.subplots(1, 2, figsize=(8, 3.4))
        roc(rows, axes)
    for name, figure in drawn.items():
        figure.tight_layout()
        figure.savefig(out / f"{name}.svg", metadata={"Date": None})
        figure.savefig(Path("out") / f"transducer_{name}.png", dpi=70)


if __name__ == "__main__":
    main()
