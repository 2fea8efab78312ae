"""Recite the Zen of Python with a hardmax transformer, word after word.

Builds a model of zen.json (or loads one), starts with the first word and feeds every predicted
word back, with its position (a masked model needs none), until the poem is complete. Run:

    python examples/recite.py               # builds the model first
    python examples/recite.py model.npz     # uses a model made by: hardmax build zen.json
    python examples/recite.py --exact       # exact arithmetic instead of float64
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import hardmax as hm

DATA = Path(__file__).with_name("zen.json")


def recite(model: hm.Transformer, data: hm.Dataset, *, exact: bool = False) -> Iterator[str]:
    """The first word, then every word that the model predicts from all words before it."""
    number = {name: label_set.witness()[0] for name, label_set in data.sets.items()}
    (first,) = data.sequence(0)
    if model.masked:
        first = (first[0], Fraction(0))
    yield next(name for name, k in number.items() if k == first[0])
    tokens = [first]
    for position in range(2, len(data) + 2):
        output = model.output(tokens) if exact else model([tokens])[0].tolist()
        word = hm.predict(tuple(map(Fraction, output)), data.sets)
        tokens.append((number[word], Fraction(0 if model.masked else position)))
        yield word


def main(arguments: list[str]) -> None:
    from make_zen import join

    files = [argument for argument in arguments if argument != "--exact"]
    data = hm.load(DATA)
    model = hm.Transformer.load(files[0]) if files else hm.build(data)
    print(join(list(recite(model, data, exact="--exact" in arguments))))


if __name__ == "__main__":
    main(sys.argv[1:])
