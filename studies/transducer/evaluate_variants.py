"""Errors of the small variants, for claims 8, 10 and 17.

python -m studies.transducer.evaluate_variants --folder out/variants
"""

from __future__ import annotations

import json
from pathlib import Path

import click
import numpy as np

from hardmax.formats.whole_files import write_text
from hardmax.learned.transducer import Transducer
from studies.transducer.evaluate_adr import QUERIES, floor, summary, tasks
from studies.transducer.metric import relative_error
from studies.transducer.variants import VARIANTS


@click.command()
@click.option("--folder", type=click.Path(path_type=Path), default=Path("out/variants"))
@click.option("--out", type=click.Path(path_type=Path),
              default=Path("studies/transducer/results/variants.json"))  # fmt: skip
@click.option("--operators", default=50, show_default=True)
def main(folder: Path, out: Path, operators: int) -> None:
    """Write the errors of every trained variant to OUT."""
    import torch

    torch.set_num_threads(1)
    v, u = tasks(90, operators, 500 + QUERIES)
    result = {}
    for name in VARIANTS:
        path = folder / f"{name}.st"
        if not path.exists():
            continue
        model = Transducer.load(path)
        found: dict[str, object] = {
            "parameters": model.parameters,
            "gflops": model.sizes.flops(50, 1) / 1e9,
            "floor": floor(model, u),
        }
        for n in (10, 20, 50, 100, 500):
            errors = [
                relative_error(model.predict((a[:n], b[:n]), a[-QUERIES:]), b[-QUERIES:])
                for a, b in zip(v, u, strict=True)
            ]
            found[str(n)] = summary([x for x in errors if np.isfinite(x)])
        result[name] = found
        click.echo(f"{name}: {found['50']}")
    out.parent.mkdir(parents=True, exist_ok=True)
    write_text(out, json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
