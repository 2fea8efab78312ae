"""Regress three operators that the committed model never saw, and draw the estimates.

python -m studies.transducer.demo -o out/transducer.png
"""

from __future__ import annotations

from pathlib import Path

import click
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from hardmax.learned.transducer import Transducer
from studies.transducer.figures import fields


@click.command()
@click.option("--model", type=click.Path(exists=True, path_type=Path),
              default=Path("examples/transducer_adr.safetensors"))  # fmt: skip
@click.option("-o", "--out", type=click.Path(path_type=Path), default=Path("out/transducer.png"))
def main(model: Path, out: Path) -> None:
    """Draw OUT."""
    figure, axes = plt.subplots(1, 3, figsize=(9, 2.6), sharey=True)
    fields(Transducer.load(model), axes)
    figure.tight_layout()
    out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(out, dpi=110)
    click.echo(f"{out}: three unseen operators, 10 examples each")


if __name__ == "__main__":
    main()
