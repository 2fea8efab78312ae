"""The two entries of `hardmax compare` on the vowels of examples/: accuracy and what is proved.

python studies/dual_banach/vowels.py
"""

from __future__ import annotations

import time
from pathlib import Path

from statistics_of_runs import write

import hardmax
from hardmax.learned.dual_banach.classifier import contenders

EXAMPLES = Path(__file__).parents[2] / "examples"
RADII = (0.0, 1e-7, 1e-6, 1e-5)


def main() -> None:
    train = hardmax.load(str(EXAMPLES / "vowels.json.gz"))
    test = hardmax.load(str(EXAMPLES / "vowels_test.json.gz"))
    results = []
    for entry in contenders():
        start = time.process_time()
        entry.fit(train)
        fitted = time.process_time()
        right = {
            name: sum(p == q for p, q in zip(entry.predict(data), data.labels, strict=True))
            for name, data in (("train", train), ("test", test))
        }
        proved = {
            str(radius): sum(label is not None for label in entry.prove(test, radius=radius))
            for radius in RADII
        }
        row = {
            "name": entry.name, "parameters": entry.parameters, "right": right,
            "of": {"train": len(train), "test": len(test)}, "certified": entry.certified,
            "test predictions proved, by radius": proved,
            "seconds to fit, to prove": [fitted - start, time.process_time() - fitted],
        }  # fmt: skip
        results.append(row)
        for key, value in row.items():
            print(f"{key:36}{value}")
    write("vowels", results)


if __name__ == "__main__":
    main()
