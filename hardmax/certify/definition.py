"""The outputs of a model by the definition alone: (2.3), (2.4) or (4.2), and (2.2), over ℚ.

No floats, no plan and no shortcut take part: `hardmax.model.layers` applies every block to every
sequence as the paper prints it. It is slow, and the reference that tests hold the engine to.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..dataset import Dataset
from ..exact.matrix import Matrix
from ..exact.numbers import Vector
from ..model.layers import readout
from ..model.transformer import Transformer


def outputs_by_definition(model: Transformer, data: Dataset) -> Iterator[Vector]:
    """The exact output of every sequence, in order; each is computed when it is asked for.

    >>> import hardmax as hm
    >>> data = hm.Dataset([[(0,), (1,)], [(3,)]], ["a", "b"])
    >>> list(outputs_by_definition(hm.Transformer([hm.RankOneBlock.of(1, rho=0, alpha=1)]), data))
    [(Fraction(1, 2),), (Fraction(3, 1),)]
    """
    return map(readout, tokens_by_definition(model, data))


def tokens_by_definition(model: Transformer, data: Dataset) -> Iterator[Matrix]:
    """The exact tokens of every sequence behind the last block, each (n_j, d), likewise."""
    blocks = list(model.blocks)
    if model.parameters is not None:
        blocks = [block.general() for block in model.parameters]
    for j in range(len(data)):
        tokens = Matrix(data.sequence(j), model.dimension)
        for block in blocks:
            tokens = block(tokens, model.masked)
        yield tokens
