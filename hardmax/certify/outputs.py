"""The verdict on output sequences: does every asked token end in its point or set?

Behind the last attention layer every token goes its own way. So exact tokens are followed up to
there, block by block (`model.tokens`), and behind it every different token that has an output is a
sequence of its own for the engine. By ``definition`` every block is applied as it is printed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..dataset import Dataset
from ..dataset.outputs import Outputs
from ..engine import evaluate
from ..errors import VerdictError
from ..exact.array import Array, ExactArray
from ..exact.numbers import Vector
from ..exact.rows import vector_of
from ..model.blocks import apply
from ..model.parameters import Parameters
from ..model.tokens import Tokens
from ..model.transformer import Transformer
from .certificate import Witness
from .definition import tokens_by_definition

_AGAIN = 200_000  # what a second opinion may cost: blocks × tokens × d, over its sequences


def token_witnesses(
    model: Transformer,
    data: Dataset,
    outputs: Outputs,
    progress: Callable[[int], None] | None,
    most: int,
    evaluator: str = "engine",
) -> tuple[tuple[Witness, ...], bool]:
    """The tokens that end outside what is asked of them, as witnesses; whether there are more.

    Where the engine finds none, some sequences are run again by the definition alone.
    """
    found, more = wrong_tokens(model, data, outputs, progress, most, evaluator)
    if not found and evaluator == "engine":
        check_again(model, data, outputs)
    names = [outputs.names[code] for code in outputs.codes.tolist()]
    witnesses = (
        Witness(x.sequence, data.name(x.sequence), names[x.k], x.token, x.place + 1) for x in found
    )
    return tuple(witnesses), more


@dataclass(frozen=True)
class WrongToken:
    """Output number ``k``, token ``place`` of sequence ``sequence``, and what it became."""

    k: int
    sequence: int
    place: int
    token: Vector


def wrong_tokens(
    model: Transformer,
    data: Dataset,
    outputs: Outputs,
    progress: Callable[[int], None] | None,
    most: int,
    evaluator: str = "engine",
) -> tuple[list[WrongToken], bool]:
    """Tokens that end outside what is asked of them, at most so many; and whether there are more.

    >>> import hardmax as hm
    >>> data = Dataset([[(0,), (4,)]], outputs=[[[1], [2]]])
    >>> shift = hm.Transformer([hm.RankOneBlock.translation((1,))])
    >>> wrong_tokens(shift, data, data.outputs, None, 5)[0][0].token
    (Fraction(5, 1),)
    """
    engine = evaluator == "engine" and not model.masked and model.heads == 1
    if model.parameters is None or not engine:
        ends = _by_definition(model, data, outputs, progress)
    else:
        ends = _by_engine(model, model.parameters, data, outputs, progress)
    found: list[WrongToken] = []
    for k, end in enumerate(ends):
        if not outputs.regions[outputs.codes[k]].contains(end):
            if len(found) == most:
                return found, True
            found.append(WrongToken(k, int(outputs.owner[k]), int(outputs.place[k]), end))
    return found, False


def _by_definition(
    model: Transformer,
    data: Dataset,
    outputs: Outputs,
    progress: Callable[[int], None] | None,
) -> Iterator[Vector]:
    counts = np.bincount(outputs.owner, minlength=len(data)).tolist()
    for j, tokens in enumerate(tokens_by_definition(model, data)):
        yield from tokens.rows()[: counts[j]]
        if progress is not None:
            progress(len(model) * (j + 1) // len(data))


def _by_engine(
    model: Transformer,
    parameters: Parameters,
    data: Dataset,
    outputs: Outputs,
    progress: Callable[[int], None] | None,
) -> Iterator[Vector]:
    attends = np.flatnonzero(parameters.alpha.values).tolist() + list(parameters.alpha.exact)
    last = max(attends) + 1 if attends else 0
    batch = Tokens.from_array(data.tokens, data.offsets)
    for k, block in enumerate(parameters[:last]):
        apply(batch, block)
        if progress is not None:
            progress(k + 1)
    keys = batch.token_keys()
    number: dict[tuple[int, ...], int] = {}
    places = [number.setdefault(keys[row], len(number)) for row in _rows(batch, data, outputs)]
    points = [vector_of(key) for key in number]
    if last < len(model):
        tokens = ExactArray.from_rows(points, model.dimension)
        found = evaluate(model[last:], tokens, np.arange(len(points) + 1))
        points = [found[k] for k in range(len(points))]
    if progress is not None:
        progress(len(model))
    return (points[k] for k in places)


def _rows(batch: Tokens, data: Dataset, outputs: Outputs) -> list[int]:
    """The row of each asked token; in a collapsed sequence one row stands for all."""
    starts = np.array(batch.starts)
    whole = np.diff(starts) == np.diff(data.offsets)
    rows: Array = starts[outputs.owner] + np.where(whole[outputs.owner], outputs.place, 0)
    found: list[int] = rows.tolist()
    return found


def check_again(model: Transformer, data: Dataset, outputs: Outputs) -> int:
    """Follow some sequences of a proved model by the definition alone; the number of them.

    Raises VerdictError where a token ends outside what is asked of it.
    """
    order = np.random.default_rng(len(data)).permutation(len(data)).tolist()
    budget, done = _AGAIN, 0
    for j in order:
        work = len(model) * int(np.diff(data.offsets)[j]) * model.dimension
        budget -= work
        if budget < 0:
            break
        part = data.part(np.array([j]))
        asked = part.outputs
        if asked is None:
            raise AssertionError("a part asks for outputs where the whole does")
        if wrong_tokens(model, part, asked, None, 1, "definition")[0]:
            raise VerdictError(
                f"{data.name(j)} was proved, but layer by layer one of its tokens ends elsewhere"
            )
        done += 1
    return done
