"""Compare the models that two versions of the code build, byte by byte.

    python -m tests.same_models --save before.json      # on the version before a change
    python -m tests.same_models --against before.json   # on the version after it

Each entry is the SHA-256 of a model's arrays, stages and meta, together with the verdict on the
data it was built from. The data are the examples, Gaussian and text-like data, the adversarial
families and data sets that Hypothesis draws. Run both on one machine: floats propose
directions, and another processor may round them differently.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings

import hardmax as hm
from benchmarks.data import gaussian, text_like, words
from hardmax.model.parameters import NAMES
from hardmax.testing import FAMILIES, KINDS, adversarial, datasets

STRATEGIES = ("paper", "peel", "cover", "auto")
EXAMPLES = Path(__file__).parent.parent / "examples"
DRAWN = 60  # data sets that Hypothesis draws


def data_sets() -> Iterator[tuple[str, hm.Dataset]]:
    """Data sets to build from, each with a name."""
    for name in ("figure2.json", "text.json", "zen.json", "vowels.json.gz"):
        yield name, hm.load(EXAMPLES / name)
    yield "gaussian 1000", gaussian(1000, 16)
    yield "gaussian 3000", gaussian(3000, 32)
    yield "text-like 300", text_like(300)
    yield "words 1000", words(1000, positional=True)
    yield "bags of letters 1000", words(1000, positional=False)
    for name in FAMILIES:
        for count, draw in ((6, 0), (17, 1), (40, 2)):
            yield f"{name} {count} {draw}", adversarial(name, count, draw)
    drawn: list[hm.Dataset] = []

    @seed(0)
    @settings(
        max_examples=DRAWN,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(datasets(), datasets(kinds=KINDS))
    def draw_some(first: hm.Dataset, second: hm.Dataset) -> None:
        drawn.extend((first, second))

    draw_some()
    for k, data in enumerate(drawn):
        yield f"drawn {k}", data


def fingerprint(model: hm.Transformer) -> str:
    """The SHA-256 of everything that a model file holds."""
    digest = hashlib.sha256()
    for name in NAMES:
        array = model.parameters.arrays[name]
        digest.update(np.ascontiguousarray(array.values).tobytes())
        exact = ((place, *x.as_integer_ratio()) for place, x in sorted(array.exact.items()))
        digest.update(repr([tuple(map(hex, entry)) for entry in exact]).encode())
    digest.update(json.dumps([list(model.stages), model.meta], default=str).encode())
    return digest.hexdigest()


def entries() -> Iterator[tuple[str, str]]:
    """Name and outcome of every build."""
    for name, data in data_sets():
        for strategy in STRATEGIES:
            if strategy == "paper" and len(data) > 2000:
                continue
            try:
                model = hm.build(data, strategy)
            except hm.ContradictionError:
                yield f"{name} {strategy}", "contradiction"
                continue
            verdict = hm.certify(model, data).verdict
            yield f"{name} {strategy}", f"{fingerprint(model)} {len(model)} {verdict}"


def main() -> int:
    """Save the fingerprints of this version, or compare them with saved ones."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--save", type=Path)
    parser.add_argument("--against", type=Path)
    options = parser.parse_args()
    found = dict(entries())
    print(f"{len(found)} builds")
    if options.save:
        options.save.write_text(json.dumps(found, indent=1))
    if options.against:
        before = json.loads(options.against.read_text())
        names = sorted(before.keys() | found.keys())
        changed = [name for name in names if before.get(name) != found.get(name)]
        for name in changed:
            print(f"{name}: {before.get(name)} -> {found.get(name)}")
        print(f"{len(changed)} differ")
        return int(bool(changed))
    return 0


if __name__ == "__main__":
    sys.exit(main())
