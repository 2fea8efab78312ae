"""The sizes of the pieces in which the engine works. No answer depends on any of them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """How a plan is cut into panels, and data into chunks; measured on 2 cores of a 2 GHz Xeon.

    panel         feed-forward layers of a panel, about: one matrix product with all points
    tents         the same for tents, which need less work each
    few           panels with at most so many layers apply all layers to all points, in order
    straight      so many consecutive layers that read one coordinate each form their own panel
    rounds        items of one point that are applied one by one, before the rest is done in order
    patterns      new activation patterns of a chunk that get an exact affine map each; where there
                  are more, the exact outputs are computed point by point
    alone         data with at most so many sequences run in one thread
    chunk         sequences of a chunk
    tokens        tokens of a chunk, about
    probe         sequences that a search for wrong outputs looks at before all others

    >>> Sizes(panel=2).panel
    2
    """

    panel: int = 256
    tents: int = 3072
    few: int = 24
    straight: int = 4
    rounds: int = 6
    patterns: int = 256
    alone: int = 2048
    chunk: int = 4096
    tokens: int = 1 << 16
    probe: int = 64


SIZES = Sizes()
