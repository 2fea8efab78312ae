"""The results of all shards as one verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..certify.certificate import Certificate, Witness
from ..certify.floating import FloatCertificate
from ..certify.radius import Radii, Radius
from ..certify.verify import conclude
from ..dataset.digests import Node, data_digest, root
from ..errors import VerdictError
from ..model.transformer import Transformer
from .engines import Engine
from .folder import Shards
from .work import Job, Judged, doubtful_digests, number_of

_MARGIN_BITS = 24  # of the least margin of a float certificate


@dataclass(frozen=True)
class Verdict:
    """The certificate of all shards, and what commands print beside it."""

    certificate: Certificate
    radii: Radii | None
    set_by: tuple[str, str] | None
    floats: FloatCertificate | None
    shards: tuple[dict[str, Any], ...]  # file, sequences, sha256


def merged(
    model: Transformer, shards: Shards, judged: Sequence[Judged], engine: Engine, job: Job
) -> Verdict:
    """The verdict on all shards, given the result of each, in order.

    Raises VerdictError where these do not hold every sequence once.
    """
    nodes = [Node(level, i, bytes.fromhex(x)) for each in judged for level, i, x in each.nodes]
    try:
        tree = root(nodes, shards.sequences)
    except ValueError as problem:
        raise VerdictError(f"the shards do not make up the data set: {problem}") from None
    found = [
        Witness(j, name, label, tuple(map(number_of, output)))
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
    work = partial(doubtful_digests, job, doubtful.astype("<u8").tobytes())
    digests = {pair for _, pairs in engine.run(work, some) for pair in pairs}
    return len(hashes) - len(doubtful) + len(digests)


def _radii(judged: Sequence[Judged]) -> Radii | None:
    values = [x for each in judged for x in each.radii or ()]
    if not values:
        return None
    return Radii(tuple(Radius(None if x is None else number_of(x), None) for x in values))


def _floats(judged: Sequence[Judged], executor: str | None) -> FloatCertificate | None:
    """All shards together; the margin is rounded down, to hide in which order sums were made."""
    if executor is None:
        return None
    each = [entry.floats for entry in judged if entry.floats is not None]
    wrong = next((reason for certified, _, _, reason in each if not certified), None)
    if wrong is not None:
        return FloatCertificate(executor, False, None, None, wrong)
    margins = [number_of(margin) for _, margin, _, _ in each if margin is not None]
    distances = [number_of(distance) for _, _, distance, _ in each if distance is not None]
    least = _rounded_down(min(margins)) if margins else None
    return FloatCertificate(executor, True, least, max(distances, default=None))


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
