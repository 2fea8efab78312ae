"""Compare the models that two versions of the code build, byte by byte.

    python -m tests.same_models --save before.json      # on the version before a change
    python -m tests.same_models --against before.json   # on the version after it

Each entry is the SHA-256 of a model's arrays, stages and meta, together with the verdict on the
data it was built from; for few sequences also the robust radius and what is certified about float64
runs. The data are the examples, Gaussian and text-like data, the adversarial families and data sets
that Hypothesis draws. Every strategy builds, also with masked attention and with several heads. Run
both on one machine: floats propose directions, and another processor may round them differently.
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
from hardmax.certify.floating import certify_float
from hardmax.model.parameters import NAMES
from hardmax.testing import FAMILIES, KINDS, adversarial, datasets

BUILDS: dict[str, dict[str, object]] = {
    **{name: {"strategy": name} for name in ("paper", "peel", "cover", "auto", "fold", "learn")},
    "masked": {"masked": True},
    "heads": {"heads": 3},
}
MOST = {"paper": 2000, "heads": 400, "masked": 400, "learn": 60}  # sequences
SMALL = 40  # sequences up to which radii and float certificates are compared
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


def certified(model: hm.Transformer, data: hm.Dataset) -> str:
    """The verdict; for few sequences also the robust radius, and what holds for float64 runs."""
    small = len(data) <= SMALL
    found = hm.certify(model, data, radius=small, executor=None)
    try:
        floats = certify_float(model, data) if small else None
    except hm.InputError as refusal:
        return f"{found.verdict} {found.radius} {refusal}"
    return f"{found.verdict} {found.radius} {floats}"


def entries(builds: dict[str, dict[str, object]]) -> Iterator[tuple[str, str]]:
    """Name and outcome of every build."""
    for name, data in data_sets():
        for build, options in builds.items():
            if len(data) > MOST.get(build, 10**6):
                continue
            try:
                model = hm.build(data, **options)
            except hm.HardmaxError as refusal:
                yield f"{name} {build}", f"{type(refusal).__name__} {refusal}"
                continue
            outcome = certified(model, model.read(data))
            yield f"{name} {build}", f"{fingerprint(model)} {len(model)} {outcome}"


def main() -> int:
    """Save the fingerprints of this version, or compare them with saved ones."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--save", type=Path)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--only", choices=BUILDS, action="append", help="some strategies only")
    options = parser.parse_args()
    found = dict(entries({name: BUILDS[name] for name in options.only or BUILDS}))
    print(f"{len(found)} builds")
    if options.save:
        options.save.write_text(json.dumps(found, indent=1))
    if options.against:
        before = json.loads(options.against.read_text())
        if options.only:
            before = {name: x for name, x in before.items() if name.split()[-1] in options.only}
        names = sorted(before.keys() | found.keys())
        changed = [name for name in names if before.get(name) != found.get(name)]
        for name in changed:
            print(f"{name}: {before.get(name)} -> {found.get(name)}")
        print(f"{len(changed)} differ")
        return int(bool(changed))
    return 0


if __name__ == "__main__":
    sys.exit(main())
