"""The verdict on a data set in shards: each shard is judged alone, and what comes back is merged.

A shard comes back as a small value (`Judged`): counts, the parts of the Merkle tree over its
sequences, hashes of their measures, witnesses. The merged verdict is "proved" only where these
parts make up the whole tree, every sequence in it once. Nothing in it depends on the engine, the
number of workers, or how the sequences are cut into shards.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from ..certify.certificate import Certificate, Witness
from ..certify.floating import FloatCertificate, certify_float
from ..certify.radius import Radii, Radius, radii
from ..certify.verify import WITNESSES, conclude, judge
from ..dataset.digests import Node, data_digest, leaves, measure_digest, order_digest, root, subtrees
from ..dataset.grouping import measure_hashes
from ..dataset.ordered import order_representatives
from ..errors import InputError, VerdictError
from ..exact.array import Array
from ..exchange.read import read_transformer
from ..model.transformer import Transformer
from .engines import Engine, Serial
from .folder import Shard, Shards
from .journal import Journal

_MARGIN_BITS = 24  # of the least margin of a float certificate


@dataclass(frozen=True)
class Job:
    """What every worker needs: where the model is, how shards are read, what is asked of them."""

    model: str
    model_sha256: str
    frame: Shards  # without its shards
    witnesses: int = WITNESSES
    evaluator: str = "engine"
    radius: bool = False
    executor: str | None = None

    def identity(self) -> dict[str, Any]:
        """What a result depends on, beside the shard, as JSON."""
        return {
            "model": self.model_sha256,
            "labels": repr(self.frame.labels),
            "numbers": self.frame.numbers,
            "reading": repr(self.frame.reading),
            "asked": [self.witnesses, self.evaluator, self.radius, self.executor],
        }


@dataclass(frozen=True)
class Judged:
    """What one shard comes back as; everything in it is JSON."""

    start: int
    count: int
    sha256: str
    tokens: int
    nodes: list[list[Any]]  # level, index, digest in hexadecimal digits
    measures: str  # sorted hashes of the different measures, 8 bytes each, base64
    witnesses: list[list[Any]]  # number, name, label, output as texts
    more: bool
    radii: list[str | None] | None = None
    set_by: list[str] | None = None  # name and decision of the least radius
    floats: list[Any] | None = None  # certified, least margin, distance, reason

    def hashes(self) -> Array:
        """The measures as integers."""
        return np.frombuffer(base64.b64decode(self.measures), dtype="<u8")


def judge_shard(job: Job, shard: Shard) -> Judged:
    """Judge one shard."""
    model = _model(job.model, job.model_sha256)
    data = job.frame.read(shard)
    data.refuse_outputs("shards")
    data.first = shard.start  # sequences are named by their number in the whole
    found, more = judge(model, data, None, job.witnesses, job.evaluator)
    hashes, _ = _hashes(model, data)
    values, set_by, floats = None, None, None
    if job.radius:
        reach = radii(model, data)
        values = [None if each.value is None else _text(each.value) for each in reach.each]
        constraint = reach.each[reach.binding].constraint
        sentence = "?" if constraint is None else constraint.sentence()
        set_by = [data.name(reach.binding), sentence]
    if job.executor is not None:
        each = certify_float(model, data, job.executor)
        numbers = (None if x is None else _text(x) for x in (each.least_margin, each.distance))
        floats = [each.certified, *numbers, each.reason]
    return Judged(
        shard.start,
        len(data),
        str(data.source["sha256"]),
        len(data.tokens),
        [[x.level, x.index, x.digest.hex()] for x in subtrees(leaves(data), shard.start)],
        base64.b64encode(np.sort(hashes).astype("<u8").tobytes()).decode(),
        [
            [shard.start + w.sequence, w.name, w.label, [_text(x) for x in w.output]]
            for w in found
        ],
        more,
        values,
        set_by,
        floats,
    )


@lru_cache(maxsize=1)
def _model(path: str, digest: str) -> Transformer:
    """The model, read and compiled once a worker."""
    model = read_transformer(path)
    if model.sha256 != digest:
        raise InputError(f"{path}: the file changed while it was being judged")
    return model


def _hashes(model: Transformer, data: Any) -> tuple[Array, list[int]]:
    """Hashes of the different measures (masked: sequences) of a shard, and who has them."""
    if model.masked:
        chosen = order_representatives(data)
        digests = [order_digest(data, j)[:8] for j in chosen]
        return np.frombuffer(b"".join(digests), dtype="<u8"), chosen
    chosen = data.merged.representatives
    return measure_hashes(data.tokens, data.offsets)[chosen], chosen


def _digests(job: Job, doubtful: bytes, shard: Shard) -> list[tuple[int, bytes]]:
    """Digests of those measures of a shard whose hashes are among the doubtful ones."""
    model, data = _model(job.model, job.model_sha256), job.frame.read(shard)
    digest = order_digest if model.masked else measure_digest
    hashes, chosen = _hashes(model, data)
    some = np.flatnonzero(np.isin(hashes, np.frombuffer(doubtful, dtype="<u8")))
    return [(int(hashes[i]), digest(data, chosen[i])) for i in some.tolist()]


@dataclass(frozen=True)
class Verdict:
    """The certificate of all shards, and what commands print beside it."""

    certificate: Certificate
    radii: Radii | None
    set_by: tuple[str, str] | None
    floats: FloatCertificate | None
    shards: tuple[dict[str, Any], ...]  # file, sequences, sha256


def certify_shards(
    model: str | Path,
    shards: Shards,
    engine: Engine | None = None,
    progress: Callable[[int], None] | None = None,
    *,
    witnesses: int = WITNESSES,
    evaluator: str = "engine",
    radius: bool = False,
    executor: str | None = None,
    resume: bool = False,
    journal: str | Path | None = None,
) -> Verdict:
    """Judge a model file on every sequence of every shard.

    ``progress`` is called with the number of sequences done. Finished shards are kept beside
    ``journal`` (by default the model) until all are done; with ``resume`` they are not done again.

    >>> import tempfile
    >>> import hardmax as hm
    >>> data = hm.Dataset([[(0,)], [(1,)], [(2,)]], ["a", "b", "a"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     data.save(folder + "/data", shards=2)
    ...     hm.build(data).save(folder + "/model.npz")
    ...     shards = Shards.open(folder + "/data")
    ...     certify_shards(folder + "/model.npz", shards).certificate.verdict
    'proved'
    """
    loaded = read_transformer(model)
    sha = str(loaded.sha256)
    where = str(Path(model).absolute())
    job = Job(where, sha, shards.frame, witnesses, evaluator, radius, executor)
    kept = Journal(f"{journal or model}.verify", job.identity())
    kept.begin(resume)
    engine = engine or Serial()
    done = {shard: Judged(**entry) for shard, entry in kept.known(shards.shards)}
    left = [shard for shard in shards.shards if shard not in done]
    count = sum(shard.count for shard in done)
    for place, judged in engine.run(partial(judge_shard, job), left):
        shard = left[place]
        done[shard] = judged
        kept.put(shard, vars(judged))
        count += shard.count
        if progress is not None:
            progress(count)
    if len(done) < len(shards.shards):
        raise VerdictError(f"{len(shards.shards) - len(done)} shards were not judged")
    verdict = _merged(loaded, shards, [done[shard] for shard in shards.shards], engine, job)
    kept.end()
    return verdict


def _merged(
    model: Transformer, shards: Shards, judged: Sequence[Judged], engine: Engine, job: Job
) -> Verdict:
    nodes = [Node(level, i, bytes.fromhex(x)) for each in judged for level, i, x in each.nodes]
    try:
        tree = root(nodes, shards.sequences)
    except ValueError as problem:
        raise VerdictError(f"the shards do not make up the data set: {problem}") from None
    found = [
        Witness(j, name, label, tuple(map(_number, output)))
        for each in judged
        for j, name, label, output in each.witnesses
    ]
    certificate = conclude(
        model,
        shards.example,
        tuple(found[: job.witnesses]),
        any(each.more for each in judged) or len(found) > job.witnesses,
        sha256={
            "merkle": data_digest(tree, shards.labels_text()) if shards.beside else None,
            "model": model.sha256,
        },
        sequences=shards.sequences,
        distinct=_distinct(judged, shards, engine, job),
        tokens=sum(each.tokens for each in judged),
    )
    reach, set_by, floats = _radii(judged), None, _floats(judged, job.executor)
    if reach is not None:
        certificate = replace(certificate, radius=reach.to_json())
        least = [_radii([each]) for each in judged]
        first = next(k for k, each in enumerate(least) if each and each.least == reach.least)
        set_by = tuple(judged[first].set_by or ())
    if floats is not None and floats.format == "float64":
        certificate = replace(certificate, float64=floats.to_json())
    files = tuple(
        {"file": Path(shard.path).name, "sequences": each.count, "sha256": each.sha256}
        for shard, each in zip(shards.shards, judged, strict=True)
    )
    return Verdict(certificate, reach, set_by, floats, files)  # type: ignore[arg-type]


def _distinct(judged: Sequence[Judged], shards: Shards, engine: Engine, job: Job) -> int:
    """N: hashes that stand in several places are looked at again, by digests of the measures."""
    own = [each.hashes() for each in judged]
    hashes, counts = np.unique(np.concatenate(own), return_counts=True)
    doubtful = hashes[counts > 1]
    if not len(doubtful):
        return len(hashes)
    some = [
        shard for shard, each in zip(shards.shards, own, strict=True)
        if np.isin(each, doubtful).any()
    ]  # fmt: skip
    work = partial(_digests, job, doubtful.astype("<u8").tobytes())
    digests = {pair for _, pairs in engine.run(work, some) for pair in pairs}
    return len(hashes) - len(doubtful) + len(digests)


def _radii(judged: Sequence[Judged]) -> Radii | None:
    values = [x for each in judged for x in each.radii or ()]
    if not values:
        return None
    return Radii(tuple(Radius(None if x is None else _number(x), None) for x in values))


def _floats(judged: Sequence[Judged], executor: str | None) -> FloatCertificate | None:
    """All shards together; the margin is rounded down, to hide in which order sums were made."""
    if executor is None:
        return None
    each = [entry.floats for entry in judged if entry.floats is not None]
    wrong = next((reason for certified, _, _, reason in each if not certified), None)
    if wrong is not None:
        return FloatCertificate(executor, False, None, None, wrong)
    margins = [_number(margin) for _, margin, _, _ in each if margin is not None]
    distances = [_number(distance) for _, _, distance, _ in each if distance is not None]
    least = _rounded_down(min(margins)) if margins else None
    return FloatCertificate(executor, True, least, max(distances, default=None))


def _text(x: Fraction) -> str:
    """A fraction in hexadecimal digits, of which Python writes any number."""
    return f"{x.numerator:x}/{x.denominator:x}"


def _number(text: str) -> Fraction:
    p, q = text.split("/")
    return Fraction(int(p, 16), int(q, 16))


def _rounded_down(x: Fraction) -> Fraction:
    """The number with its first bits only.

    >>> _rounded_down(Fraction(2**30 + 1))
    Fraction(1073741824, 1)
    """
    if x <= 0:
        return x
    shift = x.numerator.bit_length() - x.denominator.bit_length() - _MARGIN_BITS
    step = Fraction(2) ** shift
    return x // step * step
