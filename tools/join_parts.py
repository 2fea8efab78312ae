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

KEYS = {"share", "checked", "sha256", "lines"}


class UnusableError(Exception):
    """Answers that do not make a whole."""


def part(text: str) -> tuple[int, int, int, tuple[object, ...]]:
    """(i, k, sequences checked, what all parts must share) of the answer of one process."""
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
    return i, k, table["checked"], (table["sha256"], table["lines"])


def join(texts: list[str]) -> tuple[int, str]:
    """(exit code, lines to print) of all parts together."""
    for text in texts:
        if text.startswith("refuted: "):
            return 1, text.rstrip("\n")
    parts = [part(text) for text in texts]
    k, shared = (parts[0][1], parts[0][3]) if parts else (0, ([], []))
    if any(other[1] != k or other[3] != shared for other in parts):
        raise UnusableError("the parts are about other files, or of another number of parts")
    if k < 2 or sorted(i for i, *_ in parts) != list(range(1, k + 1)):
        raise UnusableError(f"{len(parts)} answers; each part 1 to {k} is needed once")
    hashes, lines = shared
    word, count = str(lines[0]).split(",")[0].split(" ")
    if word != "sequences" or any(n != len(range(i - 1, int(count), k)) for i, _, n, _ in parts):
        raise UnusableError("the parts have not checked as many sequences as there are")
    names = ("data", "model", "certificate")
    stated = [f"sha256 of the {name}: {x}" for name, x in zip(names, hashes, strict=False)]
    return 0, "\n".join(["proved", *lines, *stated])


def main(paths: list[str]) -> int:
    """Print the joint verdict and return its exit code."""
    try:
        code, text = join([Path(path).read_text(encoding="utf-8") for path in paths])
    except (UnusableError, OSError, ValueError, TypeError, LookupError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(text)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
