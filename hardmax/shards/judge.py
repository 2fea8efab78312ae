"""The verdict on a data set in shards: each shard is judged alone, and what comes back is merged.

A shard comes back as a small value (`work.Judged`): counts, the parts of the Merkle tree over its
sequences, hashes of their measures, witnesses. The merged verdict is "proved" only where these
parts make up the whole tree, every sequence in it once. Nothing in it depends on the engine, the
number of workers, or how the sequences are cut into shards.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from ..certify.verify import WITNESSES
from ..errors import VerdictError
from ..exchange.read import read_transformer
from .engines import Engine, Serial
from .folder import Shards
from .journal import Journal
from .merge import Verdict, merged
from .work import Job, Judged, judge_shard


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
    verdict = merged(loaded, shards, [done[shard] for shard in shards.shards], engine, job)
    kept.end()
    return verdict
