"""Inputs that once ended in an internal error."""

import copy
import io
import json
import os
import pickle
import struct
import subprocess
import sys
import zipfile
from fractions import Fraction as F

import numpy as np
import pytest

import hardmax as hm
from hardmax.model.layers import RankOneBlock

from . import judges


def saved(arrays):
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def both(model, data):
    """Exit codes of hardmax and of the checker."""
    with judges.Package() as package:
        return package(model, data)[0], judges.ask_checker(model, data)[0]


def model_bytes(model, tmp_path):
    model.save(tmp_path / "model.npz")
    return (tmp_path / "model.npz").read_bytes()


@pytest.mark.parametrize("v", [(1,), (-1,)])
@pytest.mark.parametrize("size", [2, 8, 9])
def test_tokens_that_overflow_float64_before_the_collapse(tmp_path, v, size):
    push = RankOneBlock.of(1, u=(2**290,), w=(2**290,))
    back = RankOneBlock.of(1, u=(1,), w=(F(-1),))  # what is positive becomes 0
    blocks = [push] * size + [back, RankOneBlock.of(1, rho=0, alpha=1, v=v)]
    model = model_bytes(hm.Transformer(blocks), tmp_path)
    point = json.dumps({x: {"kind": "point", "point": [x]} for x in (0, 1)})
    for label, code in ((0, 0), (1, 1)):
        data = saved({"tokens": np.array([[1.0], [2.0], [3.0], [1.0]]), "offsets": [0, 3, 4],
                      "label": [label, label], "labels": np.array(point)})  # fmt: skip
        assert both(model, data) == (code, code)


@pytest.mark.parametrize(
    "shape", ["(True,)", "(2, True)", "(False,)", "(-1,)", "[2, 1]", "2", "(2.0, 1)", "(2, 1, )"]
)
def test_odd_shapes_in_an_array(tmp_path, shape):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".encode()
    raw = b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + bytes(16)
    whole = saved({"offsets": [0, 1, 2], "label": ["a", "a"]})
    stream = io.BytesIO(whole)
    with zipfile.ZipFile(stream, "a") as archive:
        archive.writestr("tokens.npy", raw)
    model = model_bytes(hm.Transformer([RankOneBlock.of(1)]), tmp_path)
    code = 0 if shape == "(2, 1, )" else 2
    assert both(model, stream.getvalue()) == (code, code)


def test_half_a_surrogate_pair_as_strategy(tmp_path, run):
    data = hm.Dataset([[(0,)], [(1,)]], ["a", "b"])
    model = hm.build(data)
    model.save(tmp_path / "m.npz")
    (tmp_path / "d.csv").write_text("sequence,label,x1\ns,a,0\nt,b,1\n")
    with np.load(tmp_path / "m.npz") as archive:
        arrays = dict(archive)
    for meta in ('{"strategy":"\\ud800"}', '{"x":{"\\udfff":1}}'):
        arrays["meta"] = np.array(meta)
        (tmp_path / "m.npz").write_bytes(saved(arrays))
        result = run(
            "verify", tmp_path / "m.npz", tmp_path / "d.csv", "--certificate", tmp_path / "c"
        )
        assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
        assert not (tmp_path / "c").exists()
        assert both((tmp_path / "m.npz").read_bytes(), (tmp_path / "d.csv").read_bytes()) == (2, 2)
    model.meta["strategy"] = "\ud800"
    with pytest.raises(hm.InputError, match="surrogate"):
        model.save(tmp_path / "other.npz")
    assert not (tmp_path / "other.npz").exists()


LONG = """
import sys
from fractions import Fraction
import hardmax as hm
q = 10**int(sys.argv[1]) + 1
a, b = f"1/{'1' + '0' * (int(sys.argv[1]) - 1) + '1'}", "2." + "7" * 3000
data = hm.Dataset([[(a, 0), (b, 1)], [(b, 2)]], ["a", "b"])
model = hm.build(data)
assert hm.certify(model, data).proved
model.meta["seed"] = 7**3000
model.save("m.npz")
model = hm.Transformer.load("m.npz")
assert model.meta["seed"] == 7**3000
sets = {"a": data.sets["b"], "b": data.sets["a"]}
wrong = hm.Dataset([[(a, 0), (b, 1)], [(b, 2)]], ["a", "b"], sets)
print(len(hm.certify(model, wrong).witnesses[0].sentence()))
"""


@pytest.mark.parametrize(
    "limit", ["640", *(pytest.param(x, marks=pytest.mark.slow) for x in ("4300", "0"))]
)
def test_no_limit_on_digits_matters(tmp_path, limit):
    environment = {**os.environ, "PYTHONINTMAXSTRDIGITS": limit}
    options = {"cwd": tmp_path, "capture_output": True, "text": True, "env": environment}
    done = subprocess.run([sys.executable, "-c", LONG, "5000"], **options)
    assert done.returncode == 0, done.stderr
    tokens = [["0." + "3" * 5000, "1/" + "7" * 5000], [int("9" * 290), "1e-4000"]]
    items = [
        {"tokens": [z], "label": c} for z, c in zip(tokens, ["a", int("8" * 700)], strict=True)
    ]
    text = "{" + f'"dimension": 2, "sequences": {json.dumps(items)}' + "}"
    (tmp_path / "d.json").write_text(text)
    hardmax = [sys.executable, "-m", "hardmax"]
    command = [*hardmax, "build", "d.json", "-o", "n.npz", "--certificate", "c.json"]
    done = subprocess.run(command, **options)
    assert done.returncode == 0, done.stderr
    for command in (["verify", "n.npz", "d.json", "--json"], ["info", "n.npz"],
                    ["run", "n.npz", "d.json", "--exact"]):  # fmt: skip
        done = subprocess.run([*hardmax, *command], **options)
        assert done.returncode == 0, done.stderr
    checker = [sys.executable, "-m", "hardmax.checker", "n.npz", "d.json"]
    done = subprocess.run([*checker, "--certificate", "c.json"], **options)
    assert done.returncode == 0, done.stdout + done.stderr


def test_pickle_and_copies_after_a_verdict():
    data = hm.Dataset([[("1/3", 0), (1, 1)], [(0, 2)], [(5, 2)]], ["a", "b", "a"])
    model = hm.build(data)
    expected = hm.certify(model, data)
    for again in (lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy, copy.copy):
        for other, same in ((again(model), again(data)), (model, again(data))):
            assert list(other.blocks) == list(model.blocks)
            assert list(same.sequences) == list(data.sequences)
            assert hm.certify(other, same) == expected
            with pytest.raises(TypeError):
                same.tokens.exact[0] = F(1)
            with pytest.raises(ValueError, match="WRITEABLE"):
                same.offsets.setflags(write=True)
        assert again(expected) == expected


@pytest.mark.parametrize("strategy", ["paper", "peel", "cover", "fold", "auto"])
@pytest.mark.parametrize("size", [2.0**950, 2.0**970, 2.0**999])
def test_numbers_near_the_limit_of_files(strategy, size, tmp_path):
    """Their sums by pieces of floats ended in an OverflowError."""
    data = hm.Dataset([[(size,), (1.0,)], [(1.5 * size,), (2.0,)]], ["a", "b"], positional=True)
    data.save(tmp_path / "d.json")
    model = hm.build(data, strategy)
    assert hm.certify(model, data).proved
    codes = both(model_bytes(model, tmp_path), (tmp_path / "d.json").read_bytes())
    assert codes == (0, 0)
