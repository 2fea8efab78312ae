"""Results of finished shards on disk, so that a job that ended early goes on where it was.

An entry is used only where its own checksum, the job and the SHA-256 of the shard's file as it is
now all agree. Otherwise the shard is done again: a journal saves time and decides nothing.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from .. import __version__
from ..errors import InputError
from ..formats.files import sha256
from ..formats.whole_files import write_text
from .folder import Shard


class Journal:
    """Entries of one job, a file for each shard, in a folder of their own.

    ``path`` is the folder's name without its ending, which comes from ``job``: what the results
    depend on beside the shards. ``folder`` is None where nothing can be written.
    """

    def __init__(self, path: str | Path, job: Any) -> None:
        identity = {"version": __version__, "job": job}
        self.job = sha256(json.dumps(identity, sort_keys=True).encode())
        self.folder: Path | None = Path(f"{path}.{self.job[:8]}.work")
        self.problem: str | None = None

    def begin(self, resume: bool) -> None:
        """Make the folder, empty unless the job is to ``resume``."""
        if self.folder is None:
            return
        if not resume:
            self.end()
        try:
            self.folder.mkdir(exist_ok=True)
        except OSError as problem:
            self._give_up(problem)

    def need_folder(self) -> Path:
        """The folder, for those who write more than entries."""
        if self.folder is None:
            raise InputError(f"beside the output nothing can be written: {self.problem}")
        return self.folder

    def end(self) -> None:
        """Remove the folder."""
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _give_up(self, problem: OSError | InputError) -> None:
        self.problem = str(getattr(problem, "strerror", None) or problem)
        with suppress(OSError):
            self.end()
        self.folder = None

    def place(self, shard: Shard, suffix: str = ".json") -> Path | None:
        """Where a shard's entry lies, or another file that belongs to it."""
        return self.folder and self.folder / f"{shard.start:012d}{suffix}"

    def put(self, shard: Shard, entry: dict[str, Any]) -> None:
        """Keep an entry; where the disk is full the job goes on, and can't be resumed."""
        place = self.place(shard)
        if place is None:
            return
        content = json.dumps(entry)
        try:
            write_text(place, f"{sha256(content.encode())} {self.job}\n{content}\n")
        except InputError as problem:
            self._give_up(problem)

    def get(self, shard: Shard) -> dict[str, Any] | None:
        """The entry of a shard whose file is as it was; None where there is none."""
        place = self.place(shard)
        if place is None:
            return None
        try:
            head, content, _ = place.read_text(encoding="utf-8").split("\n")
            if head != f"{sha256(content.encode())} {self.job}":
                return None
            entry: dict[str, Any] = json.loads(content)
        except (OSError, ValueError):
            return None
        same = entry["sha256"] == shard.content_sha256() and entry["start"] == shard.start
        return entry if same and entry["count"] == shard.count else None

    def known(self, shards: tuple[Shard, ...]) -> Iterator[tuple[Shard, dict[str, Any]]]:
        """The shards that have entries, with these."""
        for shard in shards:
            entry = self.get(shard)
            if entry is not None:
                yield shard, entry
