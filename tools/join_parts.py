"""Join the answers of the k processes `hardmax.checker … --part i/k` into one verdict.

    python tools/join_parts.py ANSWER …      (files with what the processes printed)

Prints "proved" (exit code 0) only where all k parts are there, each once, about the same files,
with as many sequences as their share has. A refuted part refutes the whole (1); anything else is
no answer (2). docs/certificate.md, section 7, shows the use.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import NamedTuple

KEYS = {"share", "checked", "sha256", "lines"}


class UnusableError(Exception):
    """Answers that do not make a whole."""


class Part(NamedTuple):
    """The answer of one process: part i of k, and what it states."""

    i: int
    k: int
    checked: int
    sha256: list[str]
    lines: list[str]


def part(text: str) -> Part:
    """Read an answer; raises UnusableError, ValueError, TypeError or LookupError."""
    first, _, rest = text.partition("\n")
    if not first.startswith("undecided: a part: "):
        raise UnusableError(f"not the answer of a part: {first[:60]!r}")
    table = json.loads(rest)
    if not isinstance(table, dict) or set(table) != KEYS:
        raise UnusableError("a part has other fields")
    kind, k, i = table["share"]
    whole = all(type(x) is int for x in (k, i, table["checked"]))
    if kind != "part" or not whole or not 1 <= i <= k:
        raise UnusableError("a share is not that of a part")
    return Part(i, k, table["checked"], table["sha256"], table["lines"])


def join(texts: list[str]) -> tuple[int, str]:
    """(exit code, lines to print) of all parts together."""
    for text in texts:
        if text.startswith("refuted: "):
            return 1, text.rstrip("\n")
    parts = [part(text) for text in texts]
    if not parts:
        raise UnusableError("no answers")
    _, k, _, hashes, lines = parts[0]
    if any((other.k, other.sha256, other.lines) != (k, hashes, lines) for other in parts):
        raise UnusableError("the parts are about other files, or of another number of parts")
    if k < 2 or sorted(x.i for x in parts) != list(range(1, k + 1)):
        raise UnusableError(f"{len(parts)} answers; each part 1 to {k} is needed once")
    word, count = lines[0].split(",")[0].split(" ")
    if word != "sequences" or any(x.checked != len(range(x.i - 1, int(count), k)) for x in parts):
        raise UnusableError("the parts have not checked as many sequences as there are")
    names = ("data", "model", "certificate")
    stated = [f"sha256 of the {name}: {x}" for name, x in zip(names, hashes, strict=False)]
    return 0, "\n".join(["proved", *lines, *stated])


def main(paths: list[str]) -> int:
    """Print the joint verdict and return its exit code."""
    try:
        code, text = join([Path(path).read_text(encoding="utf-8") for path in paths])
    except (UnusableError, OSError, ValueError, TypeError, LookupError, AttributeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(text)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
