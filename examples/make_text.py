"""Write text.json: sentences whose words are small vectors in which analogies hold.

Each word is a point with eight features, so that king + woman = queen + man, and warm and cool
lie between hot and cold. The sentences share most of their words, and each group asks for
another case of the separation lemma (Lemma 3.5):

people    "the king met the woman", "the queen met the man": equal means, different hulls;
praise    "a very good song", "a very very good song": equal hulls, different means;
weather   "… never hot and never cold but warm then cool", "… but mild then mild": equal hulls
          and equal means.

The label says who acts, how warm the praise is, or how the weather was. Run:

    python examples/make_text.py            # writes examples/text.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

FEATURES = ("royal", "female", "young", "heat", "good", "emphasis", "verb", "noun")


def vector(**features: int | str) -> list[int | str]:
    """Features of a word, 0 where none is given."""
    return [features.get(name, 0) for name in FEATURES]


WORDS = {
    # people: royal and young or not, −1 or 1 for female
    "man": vector(female=-1),
    "woman": vector(female=1),
    "boy": vector(female=-1, young=1),
    "girl": vector(female=1, young=1),
    "king": vector(royal=1, female=-1),
    "queen": vector(royal=1, female=1),
    "prince": vector(royal=1, female=-1, young=1),
    "princess": vector(royal=1, female=1, young=1),
    # weather: five points on one line, a third apart
    "hot": vector(heat=2),
    "warm": vector(heat="5/3"),
    "mild": vector(heat="4/3"),
    "cool": vector(heat=1),
    "cold": vector(heat="2/3"),
    # praise
    "good": vector(good=1),
    "very": vector(emphasis=1),
    # what is done, and small words
    "met": vector(verb=1),
    "thanked": vector(verb=2),
    "heard": vector(verb=3),
    "was": vector(verb="1/2"),
    "the": vector(noun="1/2"),
    "a": vector(noun="-1/2"),
    "and": vector(verb="1/2", noun="1/2"),
    "but": vector(verb="-1/2", noun="1/2"),
    "then": vector(verb="1/2", noun="-1/2"),
    "never": vector(verb=-1),
    # things
    "song": vector(noun=1),
    "story": vector(noun=2),
    "dinner": vector(noun=3),
    "garden": vector(noun=4),
    "wind": vector(noun=5, heat=-1),
    "sea": vector(noun=6, heat=-1),
    "night": vector(noun=7, heat=-1),
}

PAIRS = [  # the first and the second pair of people have the same sum
    (("king", "woman"), ("queen", "man")),
    (("prince", "girl"), ("princess", "boy")),
    (("king", "girl"), ("queen", "boy")),
    (("prince", "woman"), ("princess", "man")),
]


def sentences() -> list[tuple[str, str]]:
    """All sentences with their labels."""
    found = []
    for verb in ("met", "thanked", "heard"):
        for (he, her), (she, him) in PAIRS:
            found.append((f"the {he} {verb} the {her}", "he"))
            found.append((f"the {she} {verb} the {him}", "she"))
    for thing in ("song", "story", "dinner", "garden"):
        found.append((f"a good {thing}", "liked"))
        found.append((f"a very good {thing}", "praised"))
        found.append((f"a very very good {thing}", "adored"))
    for thing in ("wind", "sea", "night", "garden"):
        frame = f"the {thing} was never hot and never cold but"
        found.append((f"{frame} warm then cool", "changing"))
        found.append((f"{frame} mild then mild", "steady"))
    for he, she in (("king", "queen"), ("prince", "princess"), ("man", "woman"), ("boy", "girl")):
        found.append((f"the {he} and the {she} heard a story", "they"))
    return found


def dataset() -> dict[str, object]:
    """The data set, as data.json holds it."""
    return {
        "format": "hardmax-dataset/1",
        "dimension": len(FEATURES),
        "sequences": [
            {"tokens": [WORDS[word] for word in sentence.split()], "label": label, "id": sentence}
            for sentence, label in sentences()
        ],
    }


def text(document: dict[str, object]) -> str:
    """JSON with one sequence a line."""
    *head, (_, sequences) = document.items()
    lines = [f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}," for key, value in head]
    rows = [f"  {json.dumps(row, ensure_ascii=False)}" for row in sequences]  # type: ignore[attr-defined]
    return "\n".join(["{", *lines, ' "sequences": [', ",\n".join(rows), " ]", "}"]) + "\n"


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("text.json")
    target.write_text(text(dataset()), encoding="utf-8")
