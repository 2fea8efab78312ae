"""``hardmax info``: what a model file holds."""

from __future__ import annotations

import click

from .common import json_option, print_json, table


@click.command(short_help="Show stages, counts and bits of a model.")
@click.argument("model", metavar="MODEL")
@json_option
def info(model: str, as_json: bool) -> int:
    """Show what MODEL holds: stages, blocks, parameters, bits, and where it came from.

    \b
    Example:
      hardmax info model.npz
    """
    from ..model.transformer import Transformer

    loaded = Transformer.load(model)
    parameters = loaded.parameters
    if parameters is None:
        raise AssertionError("a model file holds rank-1 blocks")
    sizes = parameters.bit_lengths()
    facts = {
        "dimension": loaded.dimension,
        "blocks": len(loaded),
        "stages": loaded.stage_counts(),
        "parameters": parameters.nonzero(),
        "total_bits": sum(sizes),
        "max_bits": max(sizes, default=0),
        "overrides": parameters.overrides(),
        "sha256": loaded.sha256,
        "meta": loaded.meta,
    }
    if as_json:
        print_json(facts)
        return 0
    meta = loaded.meta
    labels = meta.get("labels")
    rows = [
        ("dimension d", str(loaded.dimension)),
        ("blocks L", str(len(loaded))),
        *((f"  {stage}", str(count)) for stage, count in loaded.stage_counts().items()),
        (
            "parameters P",
            f"{facts['parameters']} non-zero of {len(loaded) * (3 * loaded.dimension + 3)}",
        ),
        ("bits", f"{facts['total_bits']} in all, {facts['max_bits']} in the longest"),
        ("overrides", f"{facts['overrides']} parameters that float64 does not hold exactly"),
        ("strategy", str(meta.get("strategy", "unknown"))),
        ("seed", str(meta.get("seed", "unknown"))),
        ("labels", str(len(labels)) if isinstance(labels, dict) else "not recorded"),
        ("positional", str(meta.get("positional", False)).lower()),
        ("sha256", str(loaded.sha256)),
    ]
    table(model, rows)
    return 0
