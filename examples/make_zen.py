"""Write zen.json: predict the next word of the Zen of Python.

Sequence k is the first k words of the poem and its label is word k + 1, a line break counting
as a word. A token is (number of the word, position); the label set of a word is the one point
(number of the word, 0). So an exact classifier is an exact next-word predictor, and feeding its
outputs back recites the poem: see recite.py. Without positions a token is (number of the word, 0),
which is enough for a masked model: it sees the order. Run:

    python examples/make_zen.py                                  # writes examples/zen.json
    python examples/make_zen.py words.json --without-positions
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path


def poem() -> str:
    """The Zen of Python, by Tim Peters, as the module `this` holds it."""
    with contextlib.redirect_stdout(io.StringIO()):  # the module prints when first imported
        import this
    return "".join(this.d.get(letter, letter) for letter in this.s)


def words(text: str) -> list[str]:
    """Words and line breaks in order."""
    return re.findall(r"\n|[^ \n]+", text)


def join(tokens: Sequence[str]) -> str:
    """The text of words and line breaks: a space between two words of one line."""
    return re.sub(r" ?\n ?", "\n", " ".join(tokens))


def vocabulary(tokens: Sequence[str]) -> dict[str, int]:
    """Number of each distinct word, from 1, in order of first appearance."""
    return {word: k for k, word in enumerate(dict.fromkeys(tokens), start=1)}


def dataset(positions: bool = True) -> dict[str, object]:
    """The data set, as data.json holds it."""
    tokens = words(poem())
    number = vocabulary(tokens)
    row = [[number[word], k if positions else 0] for k, word in enumerate(tokens, start=1)]
    return {
        "format": "hardmax-dataset/1",
        "dimension": 2,
        "labels": {word: {"kind": "point", "point": [k, 0]} for word, k in number.items()},
        "sequences": [
            {"tokens": row[:k], "label": tokens[k], "id": f"first {k} words"}
            for k in range(1, len(tokens))
        ],
    }


def text(document: dict[str, object]) -> str:
    """JSON with one sequence a line."""
    *head, (_, sequences) = document.items()
    lines = [f" {json.dumps(key)}: {json.dumps(value)}," for key, value in head]
    rows = [f"  {json.dumps(row, separators=(',', ':'))}" for row in sequences]  # type: ignore[attr-defined]
    return "\n".join(["{", *lines, ' "sequences": [', ",\n".join(rows), " ]", "}"]) + "\n"


if __name__ == "__main__":
    names = [name for name in sys.argv[1:] if name != "--without-positions"]
    target = Path(names[0]) if names else Path(__file__).with_name("zen.json")
    document = dataset(positions="--without-positions" not in sys.argv)
    target.write_text(text(document), encoding="utf-8")
