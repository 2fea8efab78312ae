"""Write zen_lines.json: every line of the Zen of Python, with the next word of every word.

A sequence is a line of the poem. A token is (number of the word, position in the line), as in
zen.json; output i is the word that follows word i, a line break after the last one. So a proved
model maps a line to the line that is one word ahead. Run:

    python examples/make_zen_lines.py       # writes examples/zen_lines.json
"""

from __future__ import annotations

import sys
from pathlib import Path

from make_zen import poem, text, vocabulary, words


def dataset() -> dict[str, object]:
    """The data set, as data.json holds it."""
    number = vocabulary(words(poem()))
    lines = [line.split() for line in poem().split("\n") if line]
    return {
        "format": "hardmax-dataset/1",
        "dimension": 2,
        "labels": {word: {"kind": "point", "point": [k, 0]} for word, k in number.items()},
        "sequences": [
            {
                "tokens": [[number[word], i] for i, word in enumerate(line, start=1)],
                "outputs": [*line[1:], "\n"],
                "id": " ".join(line),
            }
            for line in lines
        ],
    }


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("zen_lines.json")
    target.write_text(text(dataset()), encoding="utf-8")
