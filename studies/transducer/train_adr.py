"""Meta-train a Transducer on ADR operators; stop and resume at will.

    python -m studies.transducer.train_adr --out out/adr.safetensors

The defaults are the reduced run whose weights are committed (studies/transducer/README.md).
"""

from __future__ import annotations

import time
from pathlib import Path

import click
import numpy as np

from hardmax.learned.transducer import (
    Configuration,
    Fourier,
    Plain,
    Settings,
    Sine,
    SineSquare,
    Transducer,
)
from studies.transducer.adr import make_tasks
from studies.transducer.metric import relative_error


def validate(model: Transducer, v: np.ndarray, u: np.ndarray) -> str:
    """Errors on unseen operators for a few numbers of examples."""
    parts = []
    for n in (5, 10, 20, 50):
        errors = [
            relative_error(model.predict((a[:n], b[:n]), a[-40:]), b[-40:])
            for a, b in zip(v, u, strict=True)
        ]
        parts.append(f"n={n} {np.mean(errors):.2e}")
    return "  ".join(parts)


def take_weights(model: Transducer, other: Transducer) -> None:
    """Copy the weights of a model of the same sizes; inputs that it lacks get the weight 0.

    The scales are those of ``model``; the first inputs of both are coded alike.
    """
    import torch

    weights = other.network.state_dict()
    with torch.no_grad():
        for name, tensor in model.network.state_dict().items():
            if name == "lift_input.weight":
                size = other.sizes.input_size
                ratio = torch.as_tensor(model.scale_v[:size] / other.scale_v).float()
                tensor.zero_()
                tensor[:, :size] = weights[name] * ratio
            elif name in ("lift_output.weight", "read.weight"):
                ratio = model.scale_u / other.scale_u
                tensor.copy_(weights[name] * (ratio if name[0] == "l" else 1 / ratio))
            else:
                tensor.copy_(weights[name])


@click.command()
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--steps", default=60_000, show_default=True)
@click.option("--operators", default=4000, show_default=True)
@click.option("--batch", default=8, show_default=True)
@click.option("--rate", default=1e-3, show_default=True)
@click.option("--halvings", default=7, show_default=True)
@click.option("--examples", type=(int, int), default=(5, 60), show_default=True)
@click.option("--depth", default=6, show_default=True)
@click.option("--heads", default=8, show_default=True)
@click.option("--width", default=64, show_default=True, help="0: no lift, as in the paper")
@click.option("--mlp", default=100, show_default=True)
@click.option(
    "--coding",
    type=click.Choice(["sine", "square", "fourier", "trunk"]),
    default="sine",
    help="square: v² as an input too; trunk: the variant (30) on samples",
)
@click.option("--kernel", default="exp-dot", show_default=True)
@click.option("--tied/--untied", default=False)
@click.option("--readout", default="state", show_default=True)
@click.option("--loss", default="relative", show_default=True)
@click.option("--seed", default=0, show_default=True)
@click.option(
    "--start",
    type=click.Path(exists=True, path_type=Path),
    help="a model to go on from; new inputs start with weight 0",
)
@click.option("--stop-at", default=0, help="stop after so many steps, for a later --start")
@click.option("--threads", default=1, show_default=True)
def main(
    out: Path,
    steps: int,
    operators: int,
    batch: int,
    rate: float,
    halvings: int,
    examples: tuple[int, int],
    depth: int,
    heads: int,
    width: int,
    mlp: int,
    coding: str,
    kernel: str,
    tied: bool,
    readout: str,
    loss: str,
    seed: int,
    start: Path | None,
    stop_at: int,
    threads: int,
) -> None:
    """Meta-train and write OUT; OUT.checkpoint keeps the state, and a second call resumes."""
    import torch

    torch.set_num_threads(threads)
    out.parent.mkdir(parents=True, exist_ok=True)
    codes = {"fourier": Fourier(25), "trunk": Plain(100)}
    code = codes.get(coding, Sine(50))
    code_v = SineSquare(50) if coding == "square" else code
    sizes = Configuration(
        code_v.size, code.size, trunk=64 if coding == "trunk" else 0, depth=depth, heads=heads,
        width=width or None, mlp=mlp, kernel=kernel, tied=tied, readout=readout,
    )  # fmt: skip
    model = Transducer(sizes, code_v, code, seed=seed)
    tasks = make_tasks(seed, operators, 100)
    unseen = make_tasks(10**6 + seed, 32, 100)
    settings = Settings(
        steps=steps, batch=batch, queries=20, examples=examples, loss=loss, learning_rate=rate,
        warmup=min(500, steps // 10), halvings=halvings, seed=seed,
    )  # fmt: skip
    trainer = model.trainer(tasks, settings)
    click.echo(f"{model.parameters} parameters, {steps} steps of {batch} of {operators} operators")
    if start is not None:
        take_weights(model, Transducer.load(start))
    clock, begun = time.perf_counter(), None

    def report(step: int, mean_loss: float) -> None:
        nonlocal begun
        passed = time.perf_counter() - clock
        begun = step - 500 if begun is None else begun
        left = passed / max(step - begun, 1) * (steps - step)
        line = f"{step:7d}  loss {mean_loss:.3e}  {passed / 60:.1f} min, {left / 60:.0f} left"
        if step % 2500 == 0 or step == steps:
            model.save(out, half=True)
            line += "  " + validate(model, *unseen)
        click.echo(line)
        if step == stop_at:
            model.save(out)
            raise SystemExit(0)

    trainer.run(Path(f"{out}.checkpoint"), every=500, report=report)


if __name__ == "__main__":
    main()
