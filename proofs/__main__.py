"""Check everything: `python -m proofs` from the checkout root prints one table, exits non-zero
on failure.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from proofs import errata_page, quotes
from proofs.checking import require
from proofs.registry import Check, all_checks, errata_modules

ROCQ = Path(__file__).resolve().parent / "rocq"
INSTALL = "apt-get install coq libcoq-mathcomp-algebra libcoq-mathcomp-algebra-tactics"
WIDTHS = (10, 46, 15, 44, 9)


class Absent(Exception):
    """A tool that a check needs is not installed; the row says how to install it and does not
    fail.
    """


def errata_page_is_current() -> str:
    """Compare docs/errata.md with the errata."""
    require(
        errata_page.is_current(), "docs/errata.md is stale: run python -m proofs --write-errata"
    )
    return "docs/errata.md equals the page generated from the errata"


def rocq() -> str:
    """Compile the machine-checked proofs if coqc is present."""
    if shutil.which("coqc") is None:
        raise Absent(INSTALL)
    done = subprocess.run(["make", "-C", str(ROCQ)], capture_output=True, text=True, check=False)
    require(done.returncode == 0, f"make -C proofs/rocq: {(done.stdout + done.stderr)[-2000:]}")
    return "make -C proofs/rocq"


def row(cells: tuple[str, ...], what: str, width: int) -> str:
    """Lay out one row; the last column is cut to the width (0: not at all)."""
    line = "  ".join(
        f"{c[: w - 1] + '…' if len(c) > w else c:{w}}" for c, w in zip(cells, WIDTHS, strict=True)
    )
    line = f"{line}  {what}"
    return line if not width or len(line) <= width else line[: width - 1] + "…"


def run(check: Check) -> tuple[str, str, float]:
    """Run one check: (result, what was shown or why it failed, seconds)."""
    start = time.perf_counter()
    try:
        result, what = ("proved" if check.kind == "lemma" else "shown"), check.run()
    except Absent as missing:
        result, what = "absent", f"install it: {missing}"
    except Exception as error:
        result, what = "FAILED", f"{type(error).__name__}: {error}"
    return result, what, time.perf_counter() - start


def table(checks: list[Check], width: int) -> int:
    """Print the table and return the number of failures."""
    print(row(("kind", "name", "source", "place", "result"), "seconds  what", width))
    failures, absent, total = 0, [], 0.0
    for check in checks:
        result, what, seconds = run(check)
        failures += result == "FAILED"
        absent += [what] if result == "absent" else []
        total += seconds
        cut = 0 if result == "FAILED" else width
        print(
            row(
                (check.kind, check.name, check.source, check.place, result),
                f"{seconds:7.2f}  {what}",
                cut,
            ),
            flush=True,
        )
    print(f"\n{len(checks)} checks, {failures} failed, {len(absent)} absent, {total:.1f} s")
    for line in absent:
        print(f"coqc is not installed; {line}")
    return failures


def main(arguments: list[str] | None = None) -> int:
    """Parse the options and run."""
    parser = argparse.ArgumentParser(prog="python -m proofs", description=__doc__)
    parser.add_argument(
        "--write-errata", action="store_true", help="regenerate docs/errata.md and stop"
    )
    parser.add_argument(
        "--write-quotes",
        action="store_true",
        help="compare all quotes with the papers' texts, note their digests and stop",
    )
    parser.add_argument(
        "--no-rocq", action="store_true", help="leave out the machine-checked proofs"
    )
    parser.add_argument("--full", action="store_true", help="do not cut the last column")
    options = parser.parse_args(arguments)
    if options.write_quotes:
        quotes.write(errata_modules())
        return 0
    if options.write_errata:
        errata_page.write()
        return 0
    own: list[tuple[str, str, Callable[[], str]]] = [
        ("docs/errata.md", "proofs/errata", errata_page_is_current)
    ]
    if not options.no_rocq:
        own.append(("rocq", "proofs/rocq", rocq))
    checks = all_checks() + [
        Check("page" if name.startswith("docs") else "machine", name, "-", place, f)
        for name, place, f in own
    ]
    width = 0 if options.full else shutil.get_terminal_size((200, 24)).columns
    return 1 if table(checks, width) else 0


if __name__ == "__main__":
    sys.exit(main())
