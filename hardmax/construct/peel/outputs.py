"""Output sequences: every token that has an output goes there, one block each (Theorem 16).

Tie splitting (B1) where it is needed, one block that mixes each token with the mean of its
sequence, radial peeling (B3): at most K + R blocks for R different pairs (token, measure) with
outputs. Attention is uniform (v = 0) throughout. Tokens without an output go wherever the blocks
take them: no attention follows, so they disturb nobody.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ...dataset import Dataset
from ...dataset.grouping import token_keys
from ...dataset.outputs import Outputs
from ...dataset.required import Required, required
from ...errors import ConstructionError
from ...exact.array import Array, ranges
from ...exact.points import IntegerPoints
from ...model.layers import RankOneBlock
from ...model.tokens import Tokens
from ...model.transformer import Transformer
from ...stages import tell
from ..shared.collapse import collapse, collapse_to_zero
from ..shared.staged import Staged
from ..shared.tie_splitting import split_ties
from .radial import Target, peel_radially


def build_outputs(
    data: Dataset,
    outputs: Outputs,
    seed: int = 0,
    on_block: Callable[[str], None] | None = None,
) -> Transformer:
    """Build the transformer of Theorem 16; ``on_block`` is called with each block's stage.

    Raises ContradictionError where equal tokens of equal measures must become different things.

    >>> data = Dataset([[(0,), (1,)], [(0,), (2,)]], outputs=[[[5], [6]], [[7]]])
    >>> model = build_outputs(data, data.outputs)
    >>> len(model), model.trace(data[0])[-1]
    (3, ((Fraction(5, 1),), (Fraction(6, 1),)))
    """
    pairs = required(data, outputs)
    state = _State.of(data, pairs)
    staged = Staged()
    if state.tied():
        names = [str(k) for k in range(len(state.batch))]  # all means become different
        staged.add("split", split_ties(state.batch, names, seed))
    splits = len(staged)
    targets = {str(k): Target(outputs.regions[k]) for k in np.unique(pairs.codes).tolist()}
    if len(targets) == 1 and len(pairs) > 1:
        staged.add("mix", collapse_to_zero(next(iter(targets.values())).point))
    else:
        beta, points = state.mixed()
        aims = {name: target.point for name, target in targets.items()}
        block, cloud = collapse(points, [str(k) for k in pairs.codes.tolist()], aims)
        rho, alpha = block.alpha * (1 - beta), block.alpha * beta
        staged.add("mix", [RankOneBlock.translation(block.w, rho=rho, alpha=alpha)])
        tell("peel", len(pairs))
        staged.add("peel", peel_radially(cloud, targets))
    if len(staged) > splits + len(pairs):
        raise ConstructionError(f"{len(staged)} blocks break the bound {splits + len(pairs)}")
    meta = {"tie_splitting": splits, "outputs": len(outputs), "bound": splits + len(pairs)}
    return staged.transformer(data.dimension, meta, on_block)


@dataclass
class _State:
    """One sequence for each measure, and where the tokens with outputs are: their rows, owners."""

    batch: Tokens
    rows: Array
    owner: Array

    @classmethod
    def of(cls, data: Dataset, pairs: Required) -> _State:
        chosen = np.asarray(data.merged.representatives, dtype=np.int64)
        lengths = np.diff(data.offsets)[chosen]
        given = ranges(data.offsets[:-1][chosen], lengths)
        owners = np.repeat(np.arange(len(chosen)), lengths).tolist()
        place = {
            key: row
            for row, key in enumerate(
                zip(owners, token_keys(data.tokens, given.tolist()), strict=True)
            )
        }
        keys = token_keys(data.tokens, pairs.rows.tolist())
        found = [place[key] for key in zip(pairs.group.tolist(), keys, strict=True)]
        batch = Tokens.of_sequences(data.tokens, data.offsets, chosen)
        return cls(batch, np.array(found), pairs.group)

    def points(self) -> IntegerPoints:
        keys = self.batch.token_keys()
        return IntegerPoints([list(keys[row]) for row in self.rows.tolist()])

    def means(self) -> IntegerPoints:
        return IntegerPoints(self.batch.mean_rows()).reduced().select(self.owner)

    def tied(self) -> bool:
        """Whether two tokens with outputs are equal, and so are the means of their sequences."""
        pairs = zip(self.points().rows, self.means().rows, strict=True)
        return len({(tuple(x), tuple(m)) for x, m in pairs}) < len(self.rows)

    def mixed(self) -> tuple[Fraction, IntegerPoints]:
        """The first β of 0, 1/2, 1/4, … for which all (1 − β)·token + β·mean differ; these."""
        points, means = self.points(), self.means()
        beta, found = Fraction(0), points
        while len(set(map(tuple, found.reduced().rows))) < len(points):
            beta = beta / 2 or Fraction(1, 2)
            found = points.combined(1 - beta, means, beta)
        return beta, found
