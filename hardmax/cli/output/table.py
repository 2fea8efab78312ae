"""Small tables for terminals of any width: words stay whole, no line ends in blanks."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from textwrap import wrap
from unicodedata import category, east_asian_width

import click

_ELSEWHERE = 120  # columns where stdout is no terminal
_LEAST = 16  # columns that a last column needs beside the others


def table(title: str, rows: Sequence[tuple[str, ...]], head: Sequence[str] = ()) -> None:
    """Print a table on stdout, as wide as the terminal at most."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _ELSEWHERE
    for line in lines(title, rows, head, width):
        click.echo(line)
    click.echo()


def lines(
    title: str, rows: Sequence[tuple[str, ...]], head: Sequence[str], width: int
) -> list[str]:
    """The lines of a table; the last column is wrapped between words, and below the others
    where there is no room beside them.

    >>> lines("model", [("bits", "1200 in all"), ("verdict", "proved")], (), 80)
    ['model', '', '  bits      1200 in all', '  verdict   proved']
    """
    every = [tuple(head), *rows] if head else list(rows)
    sizes = [max(_width(row[k]) for row in every) for k in range(len(every[0]) - 1)]
    indent = 2 + sum(sizes) + 3 * len(sizes)
    room = width - indent
    beside = room >= min(_LEAST, max(_width(row[-1]) for row in every))
    found = [*wrap(title, width, break_on_hyphens=False), ""]
    for number, row in enumerate(every):
        cells = [
            _padded(cell, size, right=bool(head) and k > 0)
            for k, (cell, size) in enumerate(zip(row[:-1], sizes, strict=True))
        ]
        start = "  " + "   ".join(cells)
        longest = max(map(_width, row[-1].split()), default=0)
        if beside and longest <= room:
            parts = wrap(row[-1], room, break_on_hyphens=False) or [""]
            found.append(f"{start}   {parts[0]}".rstrip())
            found += [" " * indent + part for part in parts[1:]]
        else:
            found += [start.rstrip()] if _width(start) <= width else wrap(start, width)
            found += ["    " + x for x in wrap(row[-1], max(width - 4, 8), break_on_hyphens=False)]
        if head and number == 0:
            last = max(_width(other[-1]) for other in every)
            found.append("  " + "─" * (min(width, indent + last) - 2))
    return found


def _width(text: str) -> int:
    """Columns that a text takes on a terminal."""
    return sum(
        0 if category(x) in ("Mn", "Me") else 2 if east_asian_width(x) in "WF" else 1 for x in text
    )


def _padded(text: str, size: int, *, right: bool) -> str:
    blanks = " " * (size - _width(text))
    return blanks + text if right else text + blanks
