"""The transformer T = TB^L ∘ … ∘ TB^1 (2.5), exact, with its provenance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, pairwise
from os import PathLike
from typing import Any

import numpy as np

from ..dataset import Dataset, Reading
from ..errors import InputError, ResourceLimitError
from ..exact.numbers import Vector
from ..words import html_table, kind, plural
from .blocks import apply, packed_states, states, whole
from .given import checked_dimension, exact_sequence, listed
from .heads import MultiHeadBlock
from .layers import Block, RankOneBlock, readout
from .parameters import PackedBlock, Parameters
from .tokens import Tokens

Progress = Callable[[int], None]


class Transformer:
    """Hardmax transformer, exact over the rationals.

    ``blocks`` are `RankOneBlock`s and `MultiHeadBlock`s (packed, fast) or general `Block`s;
    ``stages`` names the stage of each; ``meta`` says where the model came from and decides nothing.
    In a ``masked`` transformer token i attends to the tokens 1, …, i only (4.2).

    >>> model = Transformer([RankOneBlock.translation((1, 0))])
    >>> model.output([(0, 0), (0, 2)])
    (Fraction(1, 1), Fraction(1, 1))
    """

    def __init__(
        self,
        blocks: Parameters | Sequence[PackedBlock | Block],
        *,
        dimension: int | None = None,
        stages: Sequence[str] | None = None,
        meta: Mapping[str, Any] | None = None,
        masked: bool = False,
    ) -> None:
        self.masked = masked
        self.dimension = checked_dimension(blocks, dimension)
        self.parameters: Parameters | None = None
        if isinstance(blocks, Parameters):
            self.parameters = blocks
        elif all(isinstance(block, RankOneBlock | MultiHeadBlock) for block in blocks):
            self.parameters = Parameters.pack(blocks, self.dimension)  # type: ignore[arg-type]
        self.blocks: Sequence[PackedBlock | Block] = (
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

    def __getitem__(self, which: int | slice) -> Any:
        """Block k, from 0; for a slice the transformer of these blocks."""
        if isinstance(which, slice):
            chosen = range(*which.indices(len(self)))
            blocks = [self.blocks[k] for k in chosen]
            stages = [self.stages[k] for k in chosen]
            return Transformer(blocks, dimension=self.dimension, stages=stages, masked=self.masked)
        if not hasattr(which, "__index__"):
            raise InputError(f"model[{which!r}]: blocks have numbers, from 0 to {len(self) - 1}")
        if not -len(self) <= which < len(self):
            raise IndexError(f"there are {plural(len(self), 'block')}, numbered from 0")
        return self.blocks[which]

    def __iter__(self) -> Iterator[PackedBlock | Block]:
        """The blocks, from the first that acts to the last."""
        return iter(self.blocks)

    def __eq__(self, other: object) -> bool:
        """Whether blocks and mask are exactly equal; stages and meta do not count."""
        if not isinstance(other, Transformer):
            return NotImplemented
        shapes = ((m.dimension, len(m), m.masked, m.heads) for m in (self, other))
        if len(set(shapes)) > 1:
            return False
        if self.parameters is not None and other.parameters is not None:
            return self.parameters.equal(other.parameters)
        return list(self.blocks) == list(other.blocks)

    def __hash__(self) -> int:
        return hash((self.dimension, len(self)))

    def __repr__(self) -> str:
        strategy = self.meta.get("strategy")
        made = f", {strategy}" if isinstance(strategy, str) else ""
        blocks = plural(len(self), "block")
        return f"<Transformer: {blocks}, dimension {self.dimension}{made}>"

    def _repr_html_(self) -> str:
        stages = (f"{plural(count, 'block')} {name}" for name, count in self.stage_counts().items())
        rows = [
            ("dimension", str(self.dimension)),
            ("blocks", str(len(self))),
            ("stages", ", ".join(islice(stages, 8))),
            ("strategy", str(self.meta.get("strategy", "unknown"))),
        ]
        if self.parameters is not None:
            rows.insert(2, ("parameters", f"{self.parameters.nonzero()} non-zero"))
        return html_table("Transformer", rows)

    @property
    def reading(self) -> Reading:
        """How data become its tokens, as its meta says; InputError where that is nonsense."""
        return Reading.from_meta(self.meta)

    def read(self, data: Dataset) -> Dataset:
        """A data set as this model reads it; data that were read in another way stay as they are.

        Data without lifted coordinates get those of the model.

        >>> model = Transformer([RankOneBlock.of(2)], meta={"positional": True})
        >>> model.read(Dataset([[(5,), (7,)]]))[0] == ((5, 1), (7, 2))
        True
        """
        mine = self.reading
        if data.own_sets or mine.label_sets == "points":
            mine = replace(mine, label_sets=data.reading.label_sets)
        bare = replace(mine, lift=0, label_sets=data.reading.label_sets)
        plain = data.reading in (bare, Reading(label_sets=data.reading.label_sets))
        if not plain or mine == data.reading:
            return data
        if mine.dimension(data.written_dimension) != self.dimension:
            return data
        return data.read_as(mine)

    @property
    def heads(self) -> int:
        """Number of heads H of its blocks (4.1); 1 is the paper's attention (2.4).

        >>> Transformer([RankOneBlock.of(2)]).heads
        1
        """
        if self.parameters is not None:
            return self.parameters.heads
        return max((len(whole(x).attention.heads) for x in self.blocks), default=1)

    def need_one_head(self, what: str) -> None:
        """Raise InputError for a model of several heads; ``what`` is the thing that needs one."""
        if self.heads > 1:
            raise InputError(f"{what} know one head in each block; this model has {self.heads}")

    def stage_counts(self) -> dict[str, int]:
        """Number of blocks of each stage, in order of first appearance."""
        counts: dict[str, int] = {}
        for stage in self.stages:
            counts[stage] = counts.get(stage, 0) + 1
        return counts

    def outputs(self, sequences: Any, progress: Progress | None = None) -> list[Vector]:
        """Exact outputs (R ∘ T)(Z) of the sequences of a `Dataset`, or what it takes.

        ``progress`` is called with a number of blocks out of len(model). Raises InputError
        where a sequence is empty or has tokens of another dimension.

        >>> Transformer([RankOneBlock.translation((1, 0))]).outputs([[(0, 0), (0, 2)]])
        [(Fraction(1, 1), Fraction(1, 1))]
        """
        from .. import evaluate
        from ..dataset.arrays import packed

        if isinstance(sequences, Dataset):
            read = self.read(sequences)
            tokens, offsets = read.tokens, read.offsets
        else:
            given = listed(sequences)
            if not len(given):
                return []
            try:
                tokens, offsets = packed(given)
            except ResourceLimitError:  # past the range of float64
                return self._outputs_by_definition(given, progress)
            if tokens.shape[1] != self.dimension and self.advice(tokens.shape[1]):
                tokens, offsets = self.reading.tokens(tokens, offsets)
        if tokens.shape[1] != self.dimension or not np.diff(offsets).all():
            for j, (start, end) in enumerate(pairwise(offsets.tolist())):
                self._checked(j, [tokens.row(i) for i in range(start, end)])
        if self.parameters is None:
            rows = ([tokens.row(i) for i in range(*span)] for span in pairwise(offsets.tolist()))
            return [self._general_output(Z) for Z in rows]
        found = evaluate(self, tokens, offsets, progress=progress)
        return [found[j] for j in range(len(found))]

    def _outputs_by_definition(self, sequences: Any, progress: Progress | None) -> list[Vector]:
        exact = [self._checked(j, sequence) for j, sequence in enumerate(sequences)]
        if self.parameters is None:
            return [self._general_output(Z) for Z in exact]
        return self.run(Tokens.from_sequences(exact), progress)

    def predict(self, sequences: Any, sets: Any = None) -> list[Any]:
        """Labels of the sequences of a `Dataset`, or what it takes: `hardmax.predict` of `outputs`.

        The label sets are ``sets`` (those of a data set: ``sets=data``), else the data set's
        own, if it was given some, else those that the model remembers from its construction.

        >>> import hardmax as hm
        >>> data = hm.Dataset([[(0,)], [(5,)]], [1, 2])
        >>> hm.build(data).predict([[(5,)], [(0,)]])
        [2, 1]
        """
        from .. import predict, sets_for

        if isinstance(sequences, Dataset):
            sequences = self.read(sequences)
        found: list[Any] = predict(self.outputs(sequences), sets_for(self, sequences, sets))
        return found

    def run(self, batch: Tokens, progress: Progress | None = None) -> list[Vector]:
        """Exact outputs for a batch of sequences, which is changed; rank-1 blocks only."""
        if self.parameters is None:
            raise InputError("a batch runs through rank-1 blocks; this model has general layers")
        for k, block in enumerate(self.parameters):
            apply(batch, block, self.masked)
            if progress is not None:
                progress(k + 1)
        return batch.means()

    def output(self, sequence: Iterable[Sequence[object]]) -> Vector:
        """Exact output (R ∘ T)(Z) of one sequence."""
        return self.outputs([sequence])[0]

    def trace(self, sequence: Iterable[Sequence[object]]) -> list[tuple[Vector, ...]]:
        """Exact tokens of one sequence before the first block and after each block.

        Tokens of a file are read as the model says (`reading`), where that is needed.
        """
        given = listed(sequence)
        if len(given) and isinstance(given[0], Sequence) and self.advice(len(given[0])):
            given = Dataset([given], reading=self.reading)[0]
        tokens = self._checked(0, given)
        if self.parameters is not None:
            return packed_states(self.parameters, tokens, self.masked)
        return [x.rows() for x in states(self.blocks, tokens, self.dimension, self.masked)]

    def __call__(self, sequences: Iterable[Any], *, backend: str | None = None) -> Any:
        """Outputs in float64, shape (N, d), for a `Dataset` or N sequences of shape (n_j, d).

        Runs where the sequences are (NumPy, CuPy, PyTorch, JAX), or in the backend named.
        """
        from .. import float_outputs

        if isinstance(sequences, Dataset):
            given = self.read(sequences).arrays()
        else:
            given = listed(sequences)
        return float_outputs(self, given, backend=backend)

    def to_torch(self, dtype: Any = "float64", **options: Any) -> Any:
        """A PyTorch module with these parameters, rounded to ``dtype`` (docs/export.md)."""
        from .. import to_torch

        return to_torch(self, dtype, **options)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model file "hardmax-model/1"; the old file stays if anything fails."""
        from .. import write_model

        if not isinstance(path, str | PathLike):
            raise InputError(f"{kind(path)} is not the name of a file")
        write_model(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Transformer:
        """Read a model file; raises InputError where it is not one."""
        from .. import read_model

        if not isinstance(path, str | PathLike):
            raise InputError(f"{kind(path)} is not the name of a file")
        found: Transformer = read_model(path)
        return found

    def _general_output(self, tokens: Sequence[Vector]) -> Vector:
        return readout(states(self.blocks, tokens, self.dimension, self.masked)[-1])

    def _checked(self, j: int, sequence: Any) -> tuple[Vector, ...]:
        return exact_sequence(j, sequence, self.dimension, self.advice)

    def advice(self, width: int) -> str:
        """Advice to read tokens of another dimension, where that helps; otherwise empty."""
        reading = self.reading
        if reading.keeps_tokens or reading.dimension(width) != self.dimension:
            return ""
        return f"; it reads tokens by {reading!r}: give data.read_as(model.reading), a Dataset"
