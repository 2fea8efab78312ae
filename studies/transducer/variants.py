"""Meta-train small variants for claims 8, 9, 10 and 17, one after another.

    python -m studies.transducer.variants --folder out/variants

Every run has 3000 steps, one seed, one thread; what is already done is left as it is.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click

VARIANTS: dict[str, list[str]] = {
    "depth4": ["--depth", "4"],
    "depth1": ["--depth", "1"],
    "depth2": ["--depth", "2"],
    "depth4-tied": ["--depth", "4", "--tied"],
    "rbf": ["--depth", "4", "--kernel", "rbf"],
    "l2": ["--depth", "4", "--kernel", "l2"],
    "no-lift": ["--depth", "4", "--width", "0", "--heads", "10"],
    "fourier": ["--depth", "4", "--coding", "fourier"],
    "trunk": ["--depth", "4", "--coding", "trunk"],
    "depth8": ["--depth", "8"],
}


@click.command()
@click.option("--folder", type=click.Path(path_type=Path), default=Path("out/variants"))
@click.option("--steps", default=3000, show_default=True)
@click.option("--only", multiple=True, type=click.Choice(list(VARIANTS)))
def main(folder: Path, steps: int, only: tuple[str, ...]) -> None:
    """Train the variants that have no log yet."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, options in VARIANTS.items():
        log = folder / f"{name}.log"
        if (only and name not in only) or (log.exists() and f"{steps:7d}  loss" in log.read_text()):
            continue
        command = [
            sys.executable, "-m", "studies.transducer.train_adr", "--out", folder / f"{name}.st",
            "--steps", steps, "--halvings", 5, "--operators", 2000, *options,
        ]  # fmt: skip
        click.echo(name)
        with open(log, "w") as file:
            subprocess.run([str(part) for part in command], stdout=file, check=True)


if __name__ == "__main__":
    main()
