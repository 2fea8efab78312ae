"""The sizes at which strategy `cover` takes another way; the model is right whatever they are."""

from __future__ import annotations

from dataclasses import dataclass

from ..shared.filtered_means import SMALL


@dataclass(frozen=True)
class Tuning:
    """What to do for how many points.

    ``small`` is the number of entries of all tokens up to which means are exact from the start.
    ``many`` is the number of points up to which there is time for what takes a step for each.
    ``work`` is the product n²·(d − 1), for n points, up to which hyperplanes are found in exact
    arithmetic (`general.forms`).
    ``much`` is the number of misplaced points times the number of points from which on they are
    repaired in panels, not one group after another.
    """

    small: int = SMALL
    many: int = 12_000
    work: float = 4e6
    much: float = 2e7


DEFAULT = Tuning()
