"""The study's figures, from runs, in the style of ``hardmax figures``.

Run ``python studies/convex_attention/figures.py`` after instance.py; it writes figures/*.svg and
results/figures.json (what is drawn, and how far the closed form of Figure 2 is from a search).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from hardmax.draw.style import BLACK, BLUE, GREEN, GREY, ORANGE, look, panels, plot_axes, write
from hardmax.learned.convex import (
    Head,
    Problem,
    beta_path,
    factored,
    proximal_gradient,
    random_gates,
)
from hardmax.learned.convex.cones import cone_norm

HERE = Path(__file__).parent
ORTHANT = np.array([1.0, 0.0]), np.array([0.0, 1.0])


def case(activation: str, n: int = 40) -> Problem:
    """Self-attention on Gaussian tokens in eighths; four classes of different correlations."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 4
    X = rng.normal(size=(n, 6, 4))
    for k in (0, 1):
        sign = 2 * (y[:, None] >> k & 1) - 1
        X[..., k + 1] = X[..., 0] * sign + rng.normal(size=(n, 6))
    X[..., 3] = 1.0
    head = Head("self-attention", activation)
    gates = random_gates(head, 6, 4, 3) if activation == "gated" else None
    return Problem(
        head, np.rint(8 * X) / 8, np.eye(4)[y][:, None], 1.0, "cross-entropy", True, gates
    )


def gap_against_time() -> tuple[Any, dict[str, Any]]:
    """(a) linear, (b) gated: the relative gap of both solvers against time."""
    figure, axes = panels(1, 2, size=2.6, gap=0.62, left=0.6)
    kept: dict[str, Any] = {}
    for ax, activation in zip(axes, ("linear", "gated"), strict=True):
        plot_axes(ax, "seconds of processor time", "relative duality gap")
        ax.set_ylim(1e-9, 3)
        ax.set_yscale("log")
        end = 0.0
        for name, solver, colour in (("proximal gradient", proximal_gradient, BLUE),
                                     ("Burer–Monteiro", factored, ORANGE)):  # fmt: skip
            found = solver(case(activation, 80), tolerance=1e-8)
            times = [t for t, _, _ in found.history]
            gaps = [(u - low) / u for _, u, low in found.history]
            ax.plot(times, gaps, color=colour, label=name)
            kept[f"{activation}, {name}"] = [times, gaps]
            end = max(end, times[-1])
        ax.set_xlim(0, end * 1.03)
        ticks = [round(end * part, 1 if end > 1 else 2) for part in (0, 0.25, 0.5, 0.75, 1)]
        ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        ax.legend(frameon=False, fontsize=8.5, loc="upper right")
        ax.text(0.03, 0.04, activation, transform=ax.transAxes)
    axes[1].set_ylabel("")
    return figure, kept


def searched_norm(Z: np.ndarray, steps: int = 400) -> float:
    """‖Z‖_{*,I} by a search over pairs of directions in the quadrant; an upper bound."""
    angles = np.linspace(0, np.pi / 2, steps + 1)
    one, two = np.meshgrid(angles, angles, indexing="ij")
    area = np.sin(two - one)
    with np.errstate(divide="ignore", invalid="ignore"):
        a = (np.sin(two)[..., None] * Z[0] - np.cos(two)[..., None] * Z[1]) / area[..., None]
        b = (np.cos(one)[..., None] * Z[1] - np.sin(one)[..., None] * Z[0]) / area[..., None]
        total = np.linalg.norm(a, axis=-1) + np.linalg.norm(b, axis=-1)
    return float(np.nanmin(np.where(np.isfinite(total), total, np.inf)))


def unit_balls() -> tuple[Any, dict[str, Any]]:
    """Figure 2: the balls of ‖·‖_{*,I} and ‖·‖_* for Z = [[z1, z2], [0, z4]]."""
    from matplotlib.figure import Figure

    theta, phi = np.meshgrid(np.linspace(0, np.pi, 37), np.linspace(0, 2 * np.pi, 73))
    points = np.stack(
        [np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)], axis=-1
    )

    def matrix(x: np.ndarray) -> np.ndarray:
        return np.array([[x[0], x[1]], [0.0, x[2]]])

    figure = Figure(figsize=(6.4, 3.3), facecolor="white")
    norms = {
        r"$\Vert Z\Vert_{*,I}\leq 1$": lambda Z: cone_norm(Z, *ORTHANT),
        r"$\Vert Z\Vert_*\leq 1$": lambda Z: float(np.linalg.svd(Z, compute_uv=False).sum()),
    }
    for place, (title, norm) in enumerate(norms.items(), start=1):
        ax = figure.add_subplot(1, 2, place, projection="3d")
        sizes = np.array([[norm(matrix(x)) for x in row] for row in points])
        x, y, z = np.moveaxis(points / sizes[..., None], -1, 0)
        ax.plot_surface(x, y, z, color=GREEN if place == 1 else BLUE, linewidth=0, alpha=0.9)
        ax.set_xlabel("$z_1$", labelpad=-10)
        ax.set_ylabel("$z_2$", labelpad=-10)
        ax.set_zlabel("$z_4$", labelpad=-12)
        ax.set_xticklabels([])
        ax.set_yticklabels([])
        ax.set_zticklabels([])
        ax.set_title(f"({'ab'[place - 1]}) {title}", fontsize=10)
        ax.set_box_aspect((1, 1, 1), zoom=0.95)
        ax.view_init(22, -50)
    figure.subplots_adjust(left=0.0, right=0.98, bottom=0.02, top=0.92, wspace=0.02)
    rng, differences = np.random.default_rng(0), []
    for _ in range(40):
        Z = rng.normal(size=(2, 2))
        Z[1, 0] = 0
        differences.append(searched_norm(Z) - cone_norm(Z, *ORTHANT))
    return figure, {"searched minus closed form": [min(differences), max(differences)]}


def staircase() -> tuple[Any, dict[str, Any]]:
    """Best objective of m heads above the certified optimum, from instance.json."""
    found = json.loads((HERE / "results" / "instance.json").read_text())
    figure, (ax,) = panels(1, 1, size=2.8, gap=0.45, left=0.62, edge=0.1)
    plot_axes(ax, "heads $m$", "best of 12 starts, above the optimum")
    widths = [row["heads"] for row in found["stairs"]]
    above = [max(row["above"], 1e-14) for row in found["stairs"]]
    ax.set_xlim(0.5, 8.5)
    ax.set_xticks(widths, [str(width) for width in widths])
    ax.set_ylim(1e-14, 300)
    ax.set_yscale("log")
    certified = float(found["upper"]) - float(found["lower"])
    ax.axhline(certified, color=GREY, linewidth=1.0)
    ax.text(8.4, certified * 1.6, "certified gap", ha="right", fontsize=8.5, color=BLACK)
    ax.axvline(found["rank"], color=GREY, linewidth=0.8, dashes=(2, 2))
    ax.text(found["rank"] + 0.1, 30, "rank $Z^*$", fontsize=8.5)
    ax.plot(widths, above, "o", color=BLUE, markersize=4.5)
    return figure, {}


def ranks() -> tuple[Any, dict[str, Any]]:
    """Singular values of Z above 0 along a path of β."""
    figure, axes = panels(1, 2, size=2.6, gap=0.62, left=0.5)
    kept: dict[str, Any] = {}
    for ax, activation in zip(axes, ("linear", "gated"), strict=True):
        made = case(activation)
        most = made.largest_beta()
        betas = most * np.logspace(0.05, -2.5, 18)
        counts = [
            [int((np.linalg.svd(Z, compute_uv=False) > 1e-4).sum()) for Z in found.Zs]
            for _, found in beta_path(made, betas.tolist(), 1e-7, 6000)
        ]
        plot_axes(ax, r"$\beta$ / least $\beta$ with $Z = 0$", "singular values kept")
        ax.set_xlim(betas[-1] / most / 1.3, 1.5)
        ax.set_xscale("log")
        for j, line in enumerate(zip(*counts, strict=True)):
            colour = (BLUE, ORANGE, GREEN)[j % 3]
            ax.step(betas / most, line, where="mid", color=colour, label=f"gate {j + 1}")
        top = max(map(max, counts))
        ax.set_ylim(-0.3, top + 1.3)
        ax.set_yticks(range(top + 1), [str(k) for k in range(top + 1)])
        ax.text(0.97, 0.93, activation, transform=ax.transAxes, ha="right", va="top")
        if activation == "gated":
            ax.legend(frameon=False, fontsize=8.5, loc="upper right", bbox_to_anchor=(1.0, 0.9))
        kept[activation] = {"beta": betas.tolist(), "ranks": counts}
    axes[1].set_ylabel("")
    return figure, kept


def main() -> None:
    kept = {}
    (HERE / "figures").mkdir(exist_ok=True)
    for name, draw in (("gap", gap_against_time), ("balls", unit_balls), ("staircase", staircase),
                       ("ranks", ranks)):  # fmt: skip
        with look():
            figure, kept[name] = draw()
        write(figure, "svg", HERE / "figures" / f"{name}.svg")
        write(figure, "png", Path("/tmp") / f"convex_{name}.png")
        print(name, flush=True)
    (HERE / "results" / "figures.json").write_text(json.dumps(kept))


if __name__ == "__main__":
    main()
