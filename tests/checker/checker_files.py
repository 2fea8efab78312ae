"""Making model, data and certificate files for the tests of the checker, with NumPy alone."""

import hashlib
import importlib.util
import io
import json
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
CHECKER = ROOT / "hardmax" / "checker.py"
NAMES = ("u", "b", "w", "rho", "alpha", "v")


def load_checker():
    """The checker as a module, read from its file: the rest of the package is not touched."""
    specification = importlib.util.spec_from_file_location("checker_under_test", CHECKER)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


checker = load_checker()


def text(x):
    """An exact number as the data format writes it."""
    x = Fraction(x)
    return x.numerator if x.denominator == 1 else f"{x.numerator}/{x.denominator}"


def texts(value):
    """`text` inside lists and label sets."""
    if isinstance(value, dict):
        return {key: x if key == "kind" else texts(x) for key, x in value.items()}
    return [texts(x) for x in value] if isinstance(value, list | tuple) else text(value)


def saved(arrays):
    """Bytes of an npz file with these members."""
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def model_arrays(blocks, meta=None, stages=None):
    """Members of the model file of blocks (u, b, w, rho, alpha, v) of Fractions."""
    arrays = {
        "format": np.array("hardmax-model/1"),
        "meta": np.array(json.dumps(meta or {})),
        "stage": np.array(stages or ["stage"] * len(blocks)),
    }
    overrides = {}
    for place, name in enumerate(NAMES):
        values = np.array([[float(x) for x in np.ravel(block[place])] for block in blocks])
        arrays[name] = values if name in "uwv" else values[:, 0]
        flat = [Fraction(x) for block in blocks for x in np.ravel(block[place])]
        for k, x in enumerate(flat):
            if Fraction(float(x)) != x:
                entry = [k, f"{x.numerator:x}/{x.denominator:x}"]
                overrides.setdefault(name, []).append(entry)
    if overrides:
        arrays["exact"] = np.frombuffer(json.dumps(overrides).encode(), dtype=np.uint8)
    return arrays


def model_file(blocks, meta=None, stages=None):
    """Bytes of a model file."""
    return saved(model_arrays(blocks, meta, stages))


def data_table(sequences, labels, sets=None):
    """The JSON form of a data set as a Python object."""
    table = {
        "format": "hardmax-dataset/1",
        "dimension": len(sequences[0][0]),
        "sequences": [
            {"tokens": texts(Z), "label": label} for Z, label in zip(sequences, labels, strict=True)
        ],
    }
    return table | ({} if sets is None else {"labels": texts(sets)})


def data_file(sequences, labels, sets=None):
    """Bytes of a JSON data file."""
    return json.dumps(data_table(sequences, labels, sets)).encode()


def verdict(model, data, certificate=None):
    """(0, lines) or (exit code, reason) of the checker on the bytes of files."""
    try:
        return 0, checker.check(model, data, certificate)
    except checker.Stop as stop:
        return stop.args


def run(capsys, *paths):
    """Exit code, stdout and stderr of the checker's command line, in this process."""
    digits = sys.get_int_max_str_digits()
    try:
        code = checker.main([str(path) for path in paths])
    finally:
        sys.set_int_max_str_digits(digits)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def identity(d, **changed):
    """One block that changes nothing, except for what is given."""
    block = {"u": [0] * d, "b": 0, "w": [0] * d, "rho": 1, "alpha": 0, "v": [0] * d} | changed
    return tuple(
        [Fraction(x) for x in block[name]] if name in "uwv" else Fraction(block[name])
        for name in NAMES
    )


def certificate(model, data, **changed):
    """A true certificate of a true model over point labels, except for what is given."""
    code, lines = verdict(model, data)
    assert code == 0, lines
    stated = dict(entry.split(" ", 1) for entry in lines[1].split(", "))
    table = {key: json.loads(value) for key, value in stated.items()}
    with np.load(io.BytesIO(model)) as arrays:
        stages = [str(x) for x in arrays["stage"]]
        meta = json.loads(str(arrays["meta"]))
    table |= {
        "format": "hardmax-certificate/1",
        "verdict": "proved",
        "sha256": {
            "data": hashlib.sha256(data).hexdigest(),
            "model": hashlib.sha256(model).hexdigest(),
        },
        "strategy": meta.get("strategy"),
        "stages": {name: stages.count(name) for name in dict.fromkeys(stages)},
        "float64": None,
        "radius": None,
        "versions": {"hardmax": "0.0"},
        "separation": [],
    }
    return table | changed
