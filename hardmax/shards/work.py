"""The work on one shard, which comes back as a small value (`Judged`)."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from ..certify.floating import certify_float
from ..certify.radius import radii
from ..certify.verify import WITNESSES, judge
from ..dataset import Dataset
from ..dataset.digests import leaves, measure_digest, order_digest, subtrees
from ..dataset.hashes import measure_hashes
from ..dataset.ordered import order_representatives
from ..errors import InputError
from ..exact.array import Array
from ..exchange.read import read_transformer
from ..model.transformer import Transformer
from .folder import Shard, Shards


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
    data = job.frame.read_labelled(shard)
    found, more = judge(model, data, None, job.witnesses, job.evaluator)
    hashes, _ = _hashes(model, data)
    values, set_by, floats = None, None, None
    if job.radius:
        reach = radii(model, data)
        values = [None if each.value is None else text_of(each.value) for each in reach.each]
        constraint = reach.each[reach.binding].constraint
        sentence = "?" if constraint is None else constraint.sentence()
        set_by = [data.name(reach.binding), sentence]
    if job.executor is not None:
        each = certify_float(model, data, job.executor)
        numbers = (None if x is None else text_of(x) for x in (each.least_margin, each.distance))
        floats = [each.certified, *numbers, each.reason]
    return Judged(
        shard.start,
        len(data),
        str(data.source["sha256"]),
        len(data.tokens),
        [[x.level, x.index, x.digest.hex()] for x in subtrees(leaves(data), shard.start)],
        base64.b64encode(np.sort(hashes).astype("<u8").tobytes()).decode(),
        [
            [shard.start + w.sequence, w.name, w.label, [text_of(x) for x in w.output]]
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


def _hashes(model: Transformer, data: Dataset) -> tuple[Array, list[int]]:
    """Hashes of the different measures (masked: sequences) of a shard, and who has them."""
    if model.masked:
        chosen = order_representatives(data)
        digests = [order_digest(data, j)[:8] for j in chosen]
        return np.frombuffer(b"".join(digests), dtype="<u8"), chosen
    chosen = data.merged.representatives
    return measure_hashes(data.tokens, data.offsets)[chosen], chosen


def doubtful_digests(job: Job, doubtful: bytes, shard: Shard) -> list[tuple[int, bytes]]:
    """Digests of those measures of a shard whose hashes are among the doubtful ones."""
    model, data = _model(job.model, job.model_sha256), job.frame.read(shard)
    digest = order_digest if model.masked else measure_digest
    hashes, chosen = _hashes(model, data)
    some = np.flatnonzero(np.isin(hashes, np.frombuffer(doubtful, dtype="<u8")))
    return [(int(hashes[i]), digest(data, chosen[i])) for i in some.tolist()]


def text_of(x: Fraction) -> str:
    """A fraction in hexadecimal digits, of which Python writes any number."""
    return f"{x.numerator:x}/{x.denominator:x}"


def number_of(text: str) -> Fraction:
    """The fraction that `text_of` wrote."""
    p, q = text.split("/")
    return Fraction(int(p, 16), int(q, 16))
