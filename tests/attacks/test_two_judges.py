"""Inputs on which hardmax and its checker once differed."""

import io
import json
import struct
import subprocess
import sys
import zipfile
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hardmax as hm
import hardmax.labels
from hardmax import checker
from hardmax.model.layers import RankOneBlock

from . import judges
from .test_crashes import both, model_bytes, saved

IDENTITY = hm.Transformer([RankOneBlock.of(1)])
DATA = b'{"dimension": 1, "sequences": [{"tokens": [[0]], "label": "a"}]}'


@pytest.fixture(scope="module")
def members(tmp_path_factory):
    """The members of a model that changes nothing."""
    raw = model_bytes(IDENTITY, tmp_path_factory.mktemp("identity"))
    with np.load(io.BytesIO(raw)) as archive:
        return dict(archive)


@pytest.mark.parametrize(
    ("entries", "code"),
    [
        ('[[0, "0/1"], [-0, "0/1"]]', 2),
        ('[[-0, "0/1"], [0, "0/1"]]', 2),
        ('[[0, "0/1"], [0, "0/1"]]', 2),
        ('[[-0, "0/1"]]', 0),
        ('[[-0, "1/1"]]', 2),
        ('[[0.0, "0/1"]]', 2),
        ('[["0", "0/1"]]', 2),
    ],
)
def test_two_names_of_one_entry(members, entries, code):
    raw = np.frombuffer(f'{{"w": {entries}}}'.encode(), np.uint8)
    assert both(saved(members | {"exact": raw}), DATA) == (code, code)


@pytest.mark.parametrize(
    ("meta", "code"),
    [
        ('{"seed": %s}' % ("7" * 5000), 0),
        ('{"seed": -%s}' % ("7" * 10_000), 0),
        ('{"seed": %s}' % ("7" * 10_001), 2),
        (r'{"strategy": "\ud800"}', 2),
        (r'{"other": ["\uDC00"]}', 2),
        (r'{"\ud83d": 1}', 2),
        (r'{"strategy": "\ud83d\ude00"}', 0),
        (r'{"strategy": "\\ud800"}', 0),
    ],
)
def test_meta(members, meta, code):
    assert both(saved(members | {"meta": np.array(meta)}), DATA) == (code, code)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_the_keys_of_a_header_in_any_order(members, order):
    parts = ["'descr': '<f8'", "'fortran_order': False", "'shape': (1, 1)"]
    header = ("{" + ", ".join(parts[i] for i in order) + "}\n").encode()
    raw = b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + bytes(8)
    stream = io.BytesIO(saved({name: x for name, x in members.items() if name != "u"}))
    with zipfile.ZipFile(stream, "a") as archive:
        archive.writestr("u.npy", raw)
    assert both(stream.getvalue(), DATA) == (0, 0)


@pytest.mark.parametrize(
    ("label", "code"),
    [(r'"\ud800"', 2), (r'"\ud83d\ude00"', 0), (r'"\\ud800"', 0), ("-0", 0), ("9" * 5000, 0)],
)
def test_labels(members, label, code):
    data = f'{{"dimension": 1, "sequences": [{{"tokens": [[0]], "label": {label}}}]}}'
    assert both(saved(members), data.encode()) == (code, code)


@pytest.mark.parametrize(
    ("A", "b", "code"),
    [
        ([[1], [-1]], [1, -2], 2),
        ([[1], [-1]], [1, -1], 2),  # 1 < x < 1
        ([[1], [-1]], [2, -1], 0),
        ([[0]], [0], 2),
        ([[0], [-1]], [1, -1], 0),
        ([[1], [-1], [0]], [3, -1, -1], 2),
    ],
)
def test_a_polyhedron_that_no_sequence_has(members, A, b, code):
    sets = {"a": {"kind": "point", "point": [0]}, "p": {"kind": "polyhedron", "A": A, "b": b}}
    table = {"dimension": 1, "labels": sets, "sequences": [{"tokens": [[0]], "label": "a"}]}
    assert both(saved(members), json.dumps(table).encode()) == (code, code)


@given(st.integers(1, 3).flatmap(lambda d: st.lists(
    st.tuples(st.lists(st.integers(-3, 3), min_size=d, max_size=d),
              st.fractions(-3, 3, max_denominator=3)), min_size=1, max_size=6)))  # fmt: skip
def test_which_polyhedra_are_empty(rows):
    A, b = [[Fraction(x) for x in row] for row, _ in rows], [bound for _, bound in rows]
    try:
        hm.labels.Polyhedron(A, b)
    except hm.InputError:
        assert checker.empty(A, b)
    else:
        assert not checker.empty(A, b)


def certified(tmp_path, sets, token):
    """Exit codes of building with a certificate, and of the checker with it."""
    table = {"dimension": len(token), "labels": sets,
             "sequences": [{"tokens": [token], "label": "a"}]}  # fmt: skip
    (tmp_path / "d.json").write_text(json.dumps(table))
    build = [sys.executable, "-m", "hardmax", "build", "d.json", "-o", "m.npz"]
    done = subprocess.run([*build, "--certificate", "c.json"], cwd=tmp_path)
    if done.returncode:
        return done.returncode, None
    raw = [(tmp_path / name).read_bytes() for name in ("m.npz", "d.json", "c.json")]
    return 0, judges.ask_checker(*raw)[0]


SQUARE = [[1, 0], [-1, 0], [0, 1], [0, -1]]


@pytest.mark.parametrize(
    "sets",
    [
        {"a": {"kind": "point", "point": ["1e200"]}, "b": {"kind": "point", "point": ["1e210"]}},
        {
            "a": {"kind": "point", "point": ["1/" + "7" * 6001]},
            "b": {"kind": "point", "point": ["1/" + "3" * 6000 + "1"]},
        },
        {
            "a": {"kind": "point", "point": ["1e200", 0]},
            "b": {"kind": "ball", "center": ["1e210", 0], "radius": 1},
        },
        {
            "a": {"kind": "box", "lower": ["1e200", 0], "upper": ["2e200", 1]},
            "b": {"kind": "polyhedron", "A": SQUARE, "b": ["1e250", "-1e240", 1, 0]},
        },
        {
            "a": {"kind": "ball", "center": ["1e-9000", "1e-9000"], "radius": "1e-9500"},
            "b": {"kind": "ball", "center": ["3e-9000", "1e-9000"], "radius": "1e-9500"},
        },
    ],
)
def test_separations_past_the_limits_of_the_format(tmp_path, sets):
    d = 1 if len(sets["a"].get("point", "12")) == 1 else 2
    assert certified(tmp_path, sets, [0] * d) == (0, 0)


def test_a_separation_that_no_certificate_can_hold(tmp_path):
    """No multiple of the hyperplane has short numbers: one line, no file."""
    center = ["1/" + "7" * 6001, "1/" + "3" * 6000 + "1"]
    sets = {"a": {"kind": "point", "point": ["5", "7"]},
            "b": {"kind": "ball", "center": center, "radius": "1/3"}}  # fmt: skip
    code, checked = certified(tmp_path, sets, [0, 0])
    assert (code, checked) in {(3, None), (0, 0)}
    assert (tmp_path / "c.json").exists() == (code == 0)
    assert (tmp_path / "m.npz").exists() == (code == 0)


def test_the_limit_on_digits_stays_as_it_was(members, tmp_path, capsys):
    (tmp_path / "m.npz").write_bytes(saved(members))
    (tmp_path / "d.json").write_bytes(DATA)
    before = sys.get_int_max_str_digits()
    assert checker.main([str(tmp_path / "m.npz"), str(tmp_path / "d.json")]) == 0
    assert sys.get_int_max_str_digits() == before
