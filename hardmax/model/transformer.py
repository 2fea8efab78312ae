"""The transformer T = TB^L ∘ … ∘ TB^1 (2.5), exact, with its provenance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any

from ..errors import InputError
from ..exact.matrix import Matrix
from ..exact.numbers import Vector, as_vector
from .layers import Block, RankOneBlock, readout
from .parameters import Parameters
from .tokens import Tokens

Progress = Callable[[int], None]


class Transformer:
    """Hardmax transformer, exact over the rationals.

    ``blocks`` are `RankOneBlock`s (packed, fast) or general `Block`s; ``stages`` names the
    stage of each; ``meta`` says where the model came from and decides nothing.

    >>> model = Transformer([RankOneBlock.translation((1, 0))])
    >>> model.output([(0, 0), (0, 2)])
    (Fraction(1, 1), Fraction(1, 1))
    """

    def __init__(
        self,
        blocks: Parameters | Sequence[RankOneBlock | Block],
        *,
        dimension: int | None = None,
        stages: Sequence[str] | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        if dimension is None and isinstance(blocks, Parameters):
            dimension = blocks.dimension
        if dimension is None:
            if not len(blocks):
                raise InputError("a transformer without blocks needs its dimension")
            dimension = blocks[0].dimension
        self.dimension = dimension
        for index, block in enumerate(() if isinstance(blocks, Parameters) else blocks):
            if block.dimension != dimension:
                raise InputError(
                    f"block {index + 1} has dimension {block.dimension}, expected {dimension}"
                )
        self.parameters: Parameters | None = None
        if isinstance(blocks, Parameters):
            self.parameters = blocks
        elif all(isinstance(block, RankOneBlock) for block in blocks):
            self.parameters = Parameters.pack(blocks, dimension)  # type: ignore[arg-type]
        self.blocks: Sequence[RankOneBlock | Block] = (
            self.parameters if self.parameters is not None else list(blocks)
        )
        self.stages = list(stages) if stages is not None else ["block"] * len(blocks)
        if len(self.stages) != len(self.blocks):
            raise InputError(f"{len(self.stages)} stage names for {len(self.blocks)} blocks")
        self.meta = dict(meta or {})
        self.sha256: str | None = None  # of the file it was read from

    def __len__(self) -> int:
        """Depth L."""
        return len(self.blocks)

    def __repr__(self) -> str:
        return f"<Transformer: {len(self)} blocks, dimension {self.dimension}>"

    def stage_counts(self) -> dict[str, int]:
        """Number of blocks of each stage, in order of first appearance."""
        counts: dict[str, int] = {}
        for stage in self.stages:
            counts[stage] = counts.get(stage, 0) + 1
        return counts

    def outputs(
        self, sequences: Iterable[Iterable[Sequence[object]]], progress: Progress | None = None
    ) -> list[Vector]:
        """Exact outputs (R ∘ T)(Z) of sequences of tokens.

        ``progress`` is called with the number of blocks done. Raises InputError where a
        sequence is empty or has tokens of another dimension.
        """
        exact = [self._checked(j, sequence) for j, sequence in enumerate(sequences)]
        if not exact:
            return []
        if self.parameters is None:
            return [readout(self._general(Matrix(Z, self.dimension))[-1]) for Z in exact]
        return self.run(Tokens.from_sequences(exact), progress)

    def run(self, batch: Tokens, progress: Progress | None = None) -> list[Vector]:
        """Exact outputs for a batch of sequences, which is changed; rank-1 blocks only."""
        if self.parameters is None:
            raise InputError("a batch runs through rank-1 blocks; this model has general layers")
        for k, block in enumerate(self.parameters):
            apply(batch, block)
            if progress is not None:
                progress(k + 1)
        return batch.means()

    def output(self, sequence: Iterable[Sequence[object]]) -> Vector:
        """Exact output (R ∘ T)(Z) of one sequence."""
        return self.outputs([sequence])[0]

    def trace(self, sequence: Iterable[Sequence[object]]) -> list[tuple[Vector, ...]]:
        """Exact tokens of one sequence before the first block and after each block."""
        tokens = self._checked(0, sequence)
        if self.parameters is None:
            return [state.rows() for state in self._general(Matrix(tokens, self.dimension))]
        batch = Tokens.from_sequences([tokens])
        states = [batch.sequence(0)]
        for block in self.parameters:
            apply(batch, block)
            state = batch.sequence(0)
            # a collapsed sequence is carried as one token; show all its positions
            states.append(state * len(tokens) if len(state) < len(tokens) else state)
        return states

    def __call__(self, sequences: Iterable[Any], *, backend: str | None = None) -> Any:
        """Outputs in float64, shape (N, d), for N sequences of shape (n_j, d).

        Runs where the sequences are (NumPy, CuPy, PyTorch, JAX), or in the backend named.
        """
        from ..execute.floating import outputs

        return outputs(self, sequences, backend=backend)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model file "hardmax-model/1"; the old file stays if anything fails."""
        from ..formats.model_file import write_model

        write_model(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Transformer:
        """Read a model file; raises InputError where it is not one."""
        from ..formats.model_file import read_model

        return read_model(path)

    def _general(self, state: Matrix) -> list[Matrix]:
        states = [state]
        for block in self.blocks:
            states.append(block(states[-1]))
        return states

    def _checked(self, j: int, sequence: Iterable[Sequence[object]]) -> tuple[Vector, ...]:
        tokens = tuple(as_vector(token) for token in sequence)
        if not tokens:
            raise InputError(f"sequence {j + 1} has no tokens")
        for index, token in enumerate(tokens):
            if len(token) != self.dimension:
                raise InputError(
                    f"sequence {j + 1}, token {index + 1} has {len(token)} coordinates, "
                    f"the model has dimension {self.dimension}"
                )
        return tokens


def apply(batch: Tokens, block: RankOneBlock) -> None:
    """Apply one rank-1 block to all sequences of a batch, in place."""
    batch.feed_forward(block.u, block.b, block.w)
    batch.attend(block.rho, block.alpha, block.v)
