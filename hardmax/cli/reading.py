"""The options of ``hardmax build`` that say how tokens are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError

if TYPE_CHECKING:
    from ..dataset import Reading

_OPTIONS = (
    click.option(
        "--window",
        metavar="W",
        default=1,
        type=click.IntRange(1),
        help="Put W neighbours of each token side by side: what a model sees as one token.",
    ),
    click.option(
        "--dilation",
        metavar="LIST",
        help="Distances between the neighbours of a window, for instance 1,4,16.",
    ),
    click.option(
        "--stride",
        metavar="S",
        default=1,
        type=click.IntRange(1),
        help="Keep every S-th token of a sequence, the first one first.",
    ),
    click.option(
        "--label-sets",
        type=click.Choice(["points", "argmax"]),
        default="points",
        show_default=True,
        help="What labels without sets stand for: points, or open cones (the largest coordinate).",
    ),
)


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def read_options(
    positional: bool, window: int, dilation: str | None, stride: int, label_sets: str
) -> Reading:
    """The reading that the options describe."""
    from ..dataset import Reading

    if dilation is not None and window == 1:
        raise InputError("--dilation spreads a window; give --window, too")
    parts = "1" if dilation is None else dilation
    try:
        dilations = tuple(int(part) for part in parts.split(","))
    except ValueError:
        raise InputError(
            f"--dilation: {parts[:40]!r} is no list of whole numbers such as 1,4,16"
        ) from None
    return Reading(positional, window, dilations, stride, label_sets=label_sets)
