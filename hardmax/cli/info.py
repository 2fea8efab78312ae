"""``hardmax info``: what a model file holds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from ..words import plural
from .common import json_option, print_json
from .output.summary import UNIFORM
from .output.table import table

if TYPE_CHECKING:
    from ..dataset import Reading
    from ..model.parameters import Parameters
    from ..model.transformer import Transformer


@click.command(short_help="Show stages, counts and bits of a model.")
@click.argument("model", metavar="MODEL")
@json_option
def info(model: str, as_json: bool) -> int:
    """Show what MODEL holds: stages, blocks, parameters, bits, and where it came from.

    The bounds are those for the data that MODEL says it was built from (docs/bounds.md).

    \b
    Example:
      hardmax info model.npz
    """
    from ..certify.bounds import is_uniform
    from ..model.transformer import Transformer

    loaded = Transformer.load(model)
    parameters = loaded.parameters
    if parameters is None:
        raise AssertionError("a model file holds rank-1 blocks")
    sizes = parameters.bit_lengths()
    shapes = [array.shape for array in parameters.arrays.values()]
    facts = {
        "dimension": loaded.dimension,
        "blocks": len(loaded),
        "stages": loaded.stage_counts(),
        "parameters": parameters.nonzero(),
        "total_bits": sum(sizes),
        "max_bits": max(sizes, default=0),
        "overrides": parameters.overrides(),
        "attention": "uniform" if is_uniform(loaded) else None,
        "bounds": _bounds(loaded),
        "masked": loaded.masked,
        "heads": loaded.heads,
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
            f"{facts['parameters']} non-zero of {sum(map(math.prod, shapes))}",
        ),
        ("bits", f"{facts['total_bits']} in all, {facts['max_bits']} in the longest"),
        ("overrides", f"{plural(parameters.overrides(), 'parameter')} past what float64 holds"),
        *([("attention", UNIFORM)] if facts["attention"] else []),
        *([("heads H", f"{loaded.heads}, {_used(parameters)}")] if loaded.heads > 1 else []),
        ("strategy", str(meta.get("strategy", "unknown"))),
        ("seed", str(meta.get("seed", "unknown"))),
        *_learned(meta.get("learned")),
        ("labels", str(len(labels)) if isinstance(labels, dict | list) else "not recorded"),
        *([("outputs", str(meta["outputs"]))] if type(meta.get("outputs")) is int else []),
        *_reading(loaded.reading),
        ("attention", "masked: token i sees tokens 1 to i" if loaded.masked else "not masked"),
        ("sha256", str(loaded.sha256)),
    ]
    table(model, rows)
    _show_bounds(facts)
    return 0


def _used(parameters: Parameters) -> str:
    """How many heads have α ≠ 0 in some block, in words."""
    used = sum(any(block.heads[h][0] for block in parameters) for h in range(parameters.heads))
    return f"{used} of them with α ≠ 0"


def _reading(reading: Reading) -> list[tuple[str, str]]:
    """How data are read: positions, and what else is not the default."""
    said = reading.to_meta()
    return [(key.replace("_", " "), str(said[key]).lower().strip("[]")) for key in said]


def _bounds(model: Transformer) -> dict[str, int | None] | None:
    """Bounds for the N and M of the model's meta; None where it does not say them.

    A bound that is not about this model's strategy, dimension or label sets is None.
    """
    from ..certify.bounds import bounds_of
    from ..certify.lower_bounds import counting_lower_bound, lower_block_bound

    count, labels = model.meta.get("N"), model.meta.get("M")
    if type(count) is not int or type(labels) is not int or not 1 <= labels <= count:
        return None
    limits = bounds_of(model, count)
    built = _built_as(model)
    plain = not model.masked and model.heads == 1  # what the lower bounds are about
    papers = built == "paper" and model.heads == 1
    extra = {"block_bound_masked": _separation_bound(model, count)} if built == "masked" else {}
    return extra | {
        "N": count,
        "M": labels,
        "block_bound": limits.block_bound if papers else None,
        "parameter_bound": limits.parameter_bound if papers else None,
        "block_bound_theorem_b": max(2 * count - 1, 1) if built == "peel" else None,
        "blocks_for_almost_all_targets": lower_block_bound(count, model.dimension)
        if labels == count and plain and _targets_spread_out(model)
        else None,
        "block_counting_bound": counting_lower_bound(count, model.dimension, labels)
        if plain
        else None,
    }


def _separation_bound(model: Transformer, count: int) -> int | None:
    """S + 1 + 4N of Theorem 9, with the S that the meta records."""
    separation = model.meta.get("separation")
    return separation + 1 + 4 * count if type(separation) is int else None


def _targets_spread_out(model: Transformer) -> bool:
    """Whether all label sets are points that lie as almost all points do (Theorem 7)."""
    from ..certify.lower_bounds import spread_out
    from ..errors import HardmaxError
    from ..exact.numbers import as_vector

    sets = model.meta.get("labels")
    if not isinstance(sets, dict) or not all(
        isinstance(x, dict) and x.get("kind") == "point" for x in sets.values()
    ):
        return False
    try:
        points = [as_vector(x["point"]) for x in sets.values()]
    except (HardmaxError, KeyError, TypeError, ValueError):
        return False
    return all(len(point) == model.dimension for point in points) and spread_out(points)


def _learned(learned: Any) -> list[tuple[str, str]]:
    """What strategy learn found on the data that the model was built of."""
    if not isinstance(learned, dict):
        return []
    error, wrong = learned.get("cross_validated_error"), learned.get("repaired")
    rows = []
    if isinstance(error, float):
        rows.append(("learned", f"{100 * (1 - error):.1f} % right in cross-validation"))
    if type(learned.get("features")) is int:
        rows.append(("features", f"{learned['features']}, chosen among random ones"))
    if type(wrong) is int:
        rows.append(("repaired", f"{plural(wrong, 'sequence')} that the scores got wrong"))
    if isinstance(learned.get("ending"), str):
        rows.append(("ending", f"cover ({learned['ending']}), for label sets of the data"))
    return rows


def _built_as(model: Transformer) -> str | None:
    """The construction that made a model: what `auto` chose, `peel` where `cover` was no better."""
    meta = model.meta
    strategy = meta.get("built", meta.get("strategy"))
    return "peel" if strategy == "cover" and meta.get("form") == "peel" else strategy


def _show_bounds(facts: dict[str, Any]) -> None:
    limits = facts["bounds"]
    if limits is None:
        note = "not recorded in the model; verify it on its data to see the bounds"
        table("bounds", [("N", note)])
        return
    blocks, parameters = str(facts["blocks"]), str(facts["parameters"])
    upper, bits = limits["parameter_bound"], str(facts["total_bits"])
    rows = [
        ("blocks", blocks, "≤", limits["block_bound"], "8N+4, the paper's Theorem 2.4"),
        ("blocks", blocks, "≤", limits["block_bound_theorem_b"], "2N−1, Theorem B"),
        ("blocks", blocks, "≤", limits.get("block_bound_masked"), "S+1+4N, Theorem 9"),
        ("blocks", blocks, "", limits["blocks_for_almost_all_targets"],
          "(Nd−1)/(2d+1): almost all targets need so many; these may need fewer"),
        ("blocks", blocks, "", limits["block_counting_bound"],
         "Theorem 13: for N points, half of all labellings need so many; this one may need fewer"),
        ("parameters", parameters, "≤", upper, "54Nd, the paper's Theorem 2.4"),
    ]  # fmt: skip
    shown = [(*row[:2], f"{row[2]} {row[3]}".strip(), row[4]) for row in rows if row[3] is not None]
    shown.append(("total bits", bits, "", "to be weighed against the number of parameters"))
    title = (
        f"bounds for N = {plural(limits['N'], 'distinct sequence')}, {plural(limits['M'], 'label')}"
    )
    table(title, shown, ("", "model", "bound", "source"))
