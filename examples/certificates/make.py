"""Write the example files of this folder: `python make.py`. The same bytes every time."""

import hashlib
import json
from fractions import Fraction
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
NAMES = ("u", "b", "w", "rho", "alpha", "v")
DATA = {
    "format": "hardmax-dataset/1",
    "dimension": 2,
    "labels": {
        "inside": {"kind": "ball", "center": [0, 0], "radius": 1},
        "above": {"kind": "halfspace", "normal": [0, 1], "offset": 1},
    },
    "sequences": [
        {"tokens": [[0, 0], [1, 2]], "label": "inside", "id": "first"},
        {"tokens": [[3.5, 1], [2.5, "2/2"]], "label": "above"},
    ],
}


def model(landing):
    """Collapse each sequence to its mean, (1/2, 1) and (3, 1); move the means one after another.

    The first one lands at (0, 1 + landing/2).
    """
    zero = [0, 0]
    return [
        ("cluster", zero, 0, zero, 0, 1, zero),
        ("match", [1, 0], -1, [0, Fraction(1, 3)], 1, 0, zero),
        ("classify", [-1, 0], 1, [-1, landing], 1, 0, zero),
    ]


def write_model(path, blocks):
    """A model file; an entry that float64 cannot hold goes to the member "exact", too."""
    meta = {"strategy": "by hand", "numbers": "exact", "positional": False}
    arrays = {
        "format": np.array("hardmax-model/1"),
        "meta": np.array(json.dumps(meta)),
        "stage": np.array([block[0] for block in blocks]),
    }
    overrides = {}
    for place, name in enumerate(NAMES, start=1):
        flat = [Fraction(x) for block in blocks for x in np.ravel(block[place])]
        shape = (len(blocks), 2) if name in "uwv" else (len(blocks),)
        arrays[name] = np.array([float(x) for x in flat]).reshape(shape)
        for k, x in enumerate(flat):
            if Fraction(float(x)) != x:
                entry = [k, f"{x.numerator:x}/{x.denominator:x}"]
                overrides.setdefault(name, []).append(entry)
    arrays["exact"] = np.frombuffer(json.dumps(overrides).encode(), dtype=np.uint8)
    np.savez(path, **arrays)


def write_json(path, table):
    path.write_text(json.dumps(table, indent=1) + "\n")


def main():
    inside, outside = Fraction(-4) + Fraction(1, 2**58), Fraction(-4) - Fraction(1, 2**58)
    write_model(HERE / "model.npz", model(inside))  # 2^-59 inside the ball
    write_model(HERE / "outside.npz", model(outside))  # 2^-59 outside it: the same floats
    write_model(HERE / "boundary.npz", model(-4))  # on its boundary, which is outside
    write_json(HERE / "data.json", DATA)
    moved = json.loads(json.dumps(DATA))
    moved["sequences"][1]["tokens"][0] = [1, 0]
    write_json(HERE / "moved.json", moved)
    (HERE / "nan.json").write_text(json.dumps(DATA).replace("3.5", "NaN") + "\n")
    np.savez(
        HERE / "data.npz",
        tokens=np.array([[0, 0], [1, 2], [3.5, 1], [2.5, 1]]),
        offsets=np.array([0, 2, 4]),
        label=np.array(["inside", "above"]),
        labels=np.array(json.dumps(DATA["labels"])),
    )
    # u: two; b: two; w: 1/3, -1 and the landing; rho: two; alpha: one
    overridden = (1 + 2, (2**60 - 1).bit_length() + 59)
    bits = [1, 1, 1, 1, *overridden, 1, 1, 1, 1]
    wall = {"a": "inside", "b": "above", "normal": [0, 1], "offset": 1}
    certificate = {
        "format": "hardmax-certificate/1",
        "verdict": "proved",
        "sha256": {
            name: hashlib.sha256((HERE / file).read_bytes()).hexdigest()
            for name, file in (("data", "data.json"), ("model", "model.npz"))
        },
        "strategy": "by hand",
        "numbers": "exact",
        "positional": False,
        "sequences": 2,
        "N": 2,
        "d": 2,
        "M": 2,
        "tokens": 4,
        "blocks": 3,
        "stages": {"cluster": 1, "match": 1, "classify": 1},
        "block_bound": 20,
        "parameters": len(bits),
        "parameter_bound": 216,
        "bounds": "holds",
        "total_bits": sum(bits),
        "max_bits": max(bits),
        "separation": [wall],
        "float64": None,
        "radius": None,
        "versions": {},
    }
    write_json(HERE / "certificate.json", certificate)
    write_json(HERE / "wrong_count.json", certificate | {"parameters": 11})
    low = wall | {"offset": "999999999999999999999/1000000000000000000000"}
    write_json(HERE / "wrong_wall.json", certificate | {"separation": [low]})
    write_json(HERE / "no_wall.json", certificate | {"separation": []})
    write_json(HERE / "unknown_field.json", certificate | {"time": "now"})
    expected = {
        "model.npz data.json -": 0,
        "model.npz data.npz -": 0,
        "model.npz data.json certificate.json": 0,
        "outside.npz data.json -": 1,
        "boundary.npz data.json -": 1,
        "model.npz moved.json -": 1,
        "model.npz data.npz certificate.json": 1,
        "outside.npz data.json certificate.json": 1,
        "model.npz data.json wrong_count.json": 1,
        "model.npz data.json wrong_wall.json": 1,
        "model.npz data.json no_wall.json": 1,
        "model.npz data.json unknown_field.json": 2,
        "model.npz nan.json -": 2,
        "data.npz data.json -": 2,
    }
    write_json(HERE / "expected.json", expected)


if __name__ == "__main__":
    main()
