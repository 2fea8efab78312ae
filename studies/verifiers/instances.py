"""Make the instances: small adversarial data sets, models by `cover`, two gaps.

python -m studies.verifiers.instances FOLDER
"""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path

import hardmax as hm
from hardmax.exchange.folder import write_folder
from hardmax.exchange.vnnlib import benchmark
from hardmax.testing import adversarial

FAMILIES = ("count-vectors", "integer-grid", "point-labels", "halfspace-labels", "box-labels")
GAPS = {"wide": Fraction(1, 512), "narrow": Fraction(1, 10**8)}
SEQUENCES = 12


def main(folder: str) -> None:
    for family in FAMILIES:
        data = adversarial(family, SEQUENCES)
        model = hm.build(data, strategy="cover")
        for name, gap in GAPS.items():
            made = benchmark(model, data, gap=gap)
            write_folder(Path(folder) / f"{family}-{name}", made.files, "ground_truth.csv")
            print(family, name, made.counts, f"{made.exact} exact radii", flush=True)


if __name__ == "__main__":
    Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    main(sys.argv[1])
