"""Small texts that several parts show: counts with their nouns, tables for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


def plural(count: int, thing: str) -> str:
    """A count with its noun.

    >>> plural(1, "block"), plural(2, "block")
    ('1 block', '2 blocks')
    """
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def kind(value: object) -> str:
    """The type of a value with its article, for messages.

    >>> kind(3), kind([])
    ('an int', 'a list')
    """
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIO' else 'a'} {name}"


def html_table(title: str, rows: Sequence[tuple[str, str]]) -> str:
    """A small HTML table with a title, as notebooks show it."""
    body = "".join(
        f"<tr><th style='text-align:left'>{escape(key)}</th>"
        f"<td style='text-align:left'>{escape(value)}</td></tr>"
        for key, value in rows
    )
    return f"<table><caption><b>{escape(title)}</b></caption>{body}</table>"
