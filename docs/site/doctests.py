"""An extension of griffe: the examples of a docstring become blocks of code."""

from __future__ import annotations

import re
from typing import Any

import griffe


def fenced(text: str) -> str:
    """A docstring whose doctests stand in fences."""
    return re.sub(
        r"(?m)^>>> (?:.*\n?(?!\s*\n))*.*$",
        lambda match: f"```pycon\n{match[0].rstrip()}\n```\n",
        text,
    )


class Doctests(griffe.Extension):
    """Rewrite every docstring before it is parsed."""

    def on_instance(self, *, obj: Any, **_: Any) -> None:
        """Called for every module, class, function and attribute."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
