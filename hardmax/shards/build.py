"""Building from shards: collapse each of them, then choose blocks for the points.

The strategy `cover` needs the means of the sequences alone, and these are collected shard by shard
(`points`). Other strategies, and data in which two labels share a mean, need all tokens in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..construct.build import build, describe
from ..construct.cover.strategy import cover_means
from ..dataset import ContradictionError, Dataset, Reading
from ..dataset.digests import Node, data_digest, root
from ..dataset.measures import merge
from ..errors import VerdictError
from ..exact.array import Array, ExactArray
from ..formats.model_file import pack, read_model
from ..formats.npz import write_npz
from ..formats.whole_files import write_whole
from ..model.transformer import Transformer
from ..stages import tell
from .engines import Engine, Serial
from .folder import Shard, Shards
from .journal import Journal
from .points import Collapsed, Points, collapse_shard, measure_digests, points_sha256

MASKED = "masked models are built from tokens, not from means"


class _AllTokensError(Exception):
    """The means alone are not enough; the message says why."""


@dataclass(frozen=True)
class Options:
    """What is asked of the construction, as `hardmax.build` takes it."""

    strategy: str = "cover"
    seed: int = 0
    learn: bool = True
    robust: bool = False
    masked: bool = False
    heads: int = 1


def build_shards(
    shards: Shards,
    output: str | Path,
    engine: Engine | None = None,
    options: Options | None = None,
    *,
    progress: Callable[[int], None] | None = None,
    say: Callable[[str], None] | None = None,
    resume: bool = False,
) -> tuple[Transformer, Journal]:
    """Construct a transformer that classifies every sequence of every shard.

    Finished shards, and the model, are kept beside the name ``output`` until the caller ends the
    journal that comes back. ``say`` hears why all tokens are loaded, where they are. Raises
    ContradictionError as `hardmax.build`.

    >>> import tempfile
    >>> import hardmax as hm
    >>> data = hm.Dataset([[(0, 0)], [(1, 2)], [(2, 1)]], ["a", "b", "a"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     data.save(folder + "/data", shards=2)
    ...     model, journal = build_shards(Shards.open(folder + "/data"), folder + "/model.npz")
    >>> hm.certify(model, data).verdict
    'proved'
    """
    options, engine = options or Options(), engine or Serial()
    kept = Journal(f"{output}.build", _identity(shards, options))
    kept.begin(resume)
    folder = kept.need_folder()
    collapsed = _collapse(shards, folder, engine, kept, progress)
    tree = root(
        (Node(k, i, bytes.fromhex(x)) for each in collapsed for k, i, x in each.nodes),
        shards.sequences,
    )
    digest = data_digest(tree, shards.labels_text()) if shards.beside else None
    done = folder / f"model-{(digest or tree.hex())[:16]}.npz"
    if done.is_file():
        return read_model(done), kept
    try:
        model = _model(shards, collapsed, folder, engine, options, digest, say)
    except ContradictionError:
        kept.end()
        raise
    arrays = pack(model)
    write_whole(done, lambda temporary: write_npz(temporary, arrays))
    return model, kept


def _model(
    shards: Shards,
    collapsed: Sequence[Collapsed],
    folder: Path,
    engine: Engine,
    options: Options,
    digest: str | None,
    say: Callable[[str], None] | None,
) -> Transformer:
    """The model, from the points or, where they are not enough, from all tokens."""
    try:
        model = _from_points(shards, collapsed, folder, engine, options)
    except _AllTokensError as reason:
        if say is not None:
            say(f"{reason}, so all {shards.sequences} sequences are loaded")
        model = build(
            gathered(shards), None, options.strategy, options.seed, learn=options.learn,
            robust=options.robust, masked=options.masked, heads=options.heads,
        )  # fmt: skip
        model.meta["dataset"] = digest
        return model
    whole = all(each.whole for each in collapsed)
    chosen = {"learn": options.learn}
    said = describe(shards.example, digest, "cover", options.seed, whole, chosen)
    model.meta = said | model.meta
    return model


def gathered(shards: Shards) -> Dataset:
    """All sequences in memory, as one data set."""
    values: list[Array] = []
    lengths: list[Array] = []
    exact: dict[int, Fraction] = {}
    labels: list[Any] = []
    ids: list[str | None] = []
    size = 0
    for data in shards:
        written = data.read_as(Reading())
        exact |= {size + k: x for k, x in written.tokens.exact.items()}
        size += written.tokens.values.size
        values.append(written.tokens.values)
        lengths.append(np.diff(written.offsets))
        labels += data.labels
        ids += data.ids
    offsets = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    tokens = ExactArray.owning(np.concatenate(values), exact)
    source = {"numbers": shards.numbers}
    default = shards.labels if isinstance(shards.labels, tuple) else ()
    whole = Dataset.from_arrays(tokens, offsets, labels, ids=ids, source=source, classes=default)
    whole = whole.read_as(shards.reading)
    sets = None if default else shards.label_sets(whole.written_dimension)
    return whole if sets is None else whole.with_sets(sets)


def _identity(shards: Shards, options: Options) -> dict[str, Any]:
    return {
        "labels": repr(shards.labels),
        "numbers": shards.numbers,
        "reading": repr(shards.reading),
        "options": vars(options),
    }


def _collapse(
    shards: Shards,
    folder: Path,
    engine: Engine,
    kept: Journal,
    progress: Callable[[int], None] | None,
) -> list[Collapsed]:
    """All shards collapsed, those apart whose files are there from an earlier run."""
    done: dict[Shard, Collapsed] = {}
    for shard, entry in kept.known(shards.shards):
        if _points_are(folder, shard, entry["points"]):
            done[shard] = Collapsed(**entry)
    left = [shard for shard in shards.shards if shard not in done]
    count = sum(shard.count for shard in done)
    tell("collapse", shards.sequences)
    work = partial(collapse_shard, shards.frame, str(folder.absolute()))
    for place, each in engine.run(work, left):
        done[left[place]] = each
        kept.put(left[place], vars(each))
        count += each.count
        if progress is not None:
            progress(count)
    return [done[shard] for shard in shards.shards]


def _points_are(folder: Path, shard: Shard, digest: str) -> bool:
    try:
        return points_sha256(str(folder), shard) == digest
    except OSError:
        return False


def _from_points(
    shards: Shards,
    collapsed: Sequence[Collapsed],
    folder: Path,
    engine: Engine,
    options: Options,
) -> Transformer:
    if options.masked:
        raise _AllTokensError(MASKED)
    if options.strategy != "cover":
        raise _AllTokensError(f"strategy {options.strategy} starts from all tokens")
    points = Points(shards, collapsed, str(folder))
    chosen = _representatives(points, engine)
    names = [*shards.example.sets]
    codes = points.codes[chosen]
    if points.dimension < 2 or len(np.unique(codes)) < 2:
        raise _AllTokensError("cover needs two dimensions and two labels")
    tell("cover")
    means = points.means(chosen)
    if not (codes[means.cloud.first_equal()] == codes).all():
        raise _AllTokensError("two labels share a mean")
    labels = [names[code] for code in codes.tolist()]

    def peel(why: str, counts: Mapping[str, int] | None, final: bool) -> Transformer:
        raise _AllTokensError(why)

    model = cover_means(
        means, [], labels, shards.example.sets, options.seed, None, options.learn, peel
    )
    model.meta |= {"N": len(chosen), "M": len(np.unique(points.codes))}
    return model


def _representatives(points: Points, engine: Engine) -> Array:
    """The first sequence of each measure; raises ContradictionError where labels differ."""
    _, place, counts = np.unique(points.hashes, return_inverse=True, return_counts=True)
    doubtful = np.flatnonzero(counts[place] > 1)
    if not len(doubtful):
        return np.arange(len(points))
    shard = np.searchsorted(points.starts, doubtful, side="right") - 1
    pieces = [(points.shards.shards[k], doubtful[shard == k]) for k in np.unique(shard).tolist()]
    digests: dict[int, bytes] = {}
    for k, found in engine.run(partial(measure_digests, points.shards.frame), pieces):
        digests |= dict(zip(pieces[k][1].tolist(), found, strict=True))
    first: dict[bytes, int] = {}
    keep = np.ones(len(points), dtype=bool)
    for j in doubtful.tolist():
        other = first.setdefault(digests[j], j)
        keep[j] = other == j
        if points.codes[other] != points.codes[j]:
            _contradict(points.shards, other, j)
    return np.flatnonzero(keep)


def _contradict(shards: Shards, *rows: int) -> None:
    """Raise the proof that two sequences contradict each other, from their tokens."""
    parts = []
    for row in rows:
        shard = next(x for x in shards.shards if x.start <= row < x.start + x.count)
        part = shards.read(shard).part(np.array([row - shard.start]))
        part.first = row
        parts.append(part)
    both = Dataset(
        [part.sequence(0) for part in parts],
        [part.names[0] for part in parts],
    )
    try:
        merge(both)
    except ContradictionError as found:
        first, second = (part.name(0) for part in parts)
        raise ContradictionError(replace(found.tied, first=first, second=second)) from None
    raise VerdictError(f"sequences {rows[0] + 1} and {rows[1] + 1} have one digest, two measures")
