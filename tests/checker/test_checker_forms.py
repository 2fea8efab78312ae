"""Every form of data means the same; numbers are exact, or binary64 where the model says so."""

import gzip
import io
import json
from fractions import Fraction

import numpy as np
import pytest
from checker_files import (
    checker,
    data_file,
    data_table,
    identity,
    model_file,
    saved,
    verdict,
)

POINTS = {"a": {"kind": "point", "point": [2, 3]}, "7": {"kind": "point", "point": ["1/2", 0]}}
SEQUENCES = [[[1, 2], [3, 4]], [["1/2", 0]], [[2, 3]]]
LABELS = ["a", 7, "a"]
TABLE = {
    "dimension": 2,
    "labels": POINTS,
    "sequences": [{"tokens": Z, "label": c} for Z, c in zip(SEQUENCES, LABELS, strict=True)],
}
FLAT = [[1, 2], [3, 4], [0.5, 0], [2, 3]]
MODEL = model_file([identity(2)])


def npz(tokens=None, label=None, labels=POINTS, **changed):
    arrays = {
        "tokens": np.array(FLAT) if tokens is None else tokens,
        "offsets": np.array([0, 2, 3, 4]),
        "label": np.array(["a", "7", "a"]) if label is None else label,
        "labels": np.array(json.dumps(labels)),
    }
    return saved({name: x for name, x in (arrays | changed).items() if x is not None})


CSV = "sequence,label,x1,x2\ns,a,1,2\nt,7,1/2,0\ns,a,3,4.0\n\nr,a,2e0,+3\n"
CSV_SETS = [[[0, 0]], [["1", "0"]], [[1, 0]]]


def json_forms():
    plain = json.dumps(TABLE).encode()
    yield "json", plain
    yield "with a byte order mark", b"\xef\xbb\xbf" + plain
    yield "with space before", b" \n\t" + plain
    yield "gzip", gzip.compress(plain)
    yield "gzip in two members", gzip.compress(plain[:50]) + gzip.compress(plain[50:])
    yield "with format", json.dumps(TABLE | {"format": "hardmax-dataset/1"}).encode()
    yield "with ids", plain.replace(b'"label"', b'"id": null, "label"')
    yield "npz", npz()
    yield "npz, fortran order", npz(np.asfortranarray(np.array(FLAT)))
    yield "npz, float32", npz(np.array(FLAT, dtype=np.float32))
    yield "npz, big endian", npz(np.array(FLAT, dtype=">f8"), offsets=np.array([0, 2, 3, 4], ">i4"))
    as_bytes = np.frombuffer(json.dumps(POINTS).encode(), dtype=np.uint8)
    yield "npz, big endian text", npz(label=np.array(["a", "7", "a"], ">U9"))
    yield "npz, text as bytes", saved({
        "tokens": np.array(FLAT), "offsets": np.array([0, 2, 3, 4], dtype=np.uint8),
        "label": np.array(["a", "7", "a"]), "labels": as_bytes,
    })  # fmt: skip


@pytest.mark.parametrize("data", [pytest.param(x, id=name) for name, x in json_forms()])
def test_the_same_data_in_every_form(data):
    assert verdict(MODEL, data)[0] == 0
    # and the tokens are really read: a model that moves them is refuted
    code, reason = verdict(model_file([identity(2, b=1, w=[0, "1/1024"])]), data)
    assert code == 1
    assert reason == (
        'sequence 1: output ["2", "3073/1024"] is not in ["point", ["2", "3"], null], '
        "the set of label 'a'"
    )


def test_compressed_npz():
    stream = io.BytesIO()
    arrays = {"tokens": np.array(FLAT), "offsets": np.array([0, 2, 3, 4]), "label": np.arange(3)}
    np.savez_compressed(stream, **arrays)
    sets, columns, rows, _ = (*checker.read_data(stream.getvalue(), "exact"), None)
    assert [label for _, label, _ in sets] == ["0", "1", "2"]
    assert columns["2"] == ("point", [2, 0], None)
    assert rows == 2


def test_integer_tokens_keep_every_digit():
    big = 2**62 + 1
    data = saved({
        "tokens": np.array([[big]], dtype=np.int64), "offsets": np.array([0, 1]),
        "label": np.array([5]),
        "labels": np.array(json.dumps({"5": {"kind": "point", "point": [big]}})),
    })  # fmt: skip
    assert verdict(model_file([identity(1)]), data)[0] == 0


def test_csv():
    sequences, sets, d = checker.read_data(CSV.encode(), "exact")
    assert d == 2
    assert [label for _, label, _ in sequences] == ["a", "7", "a"]
    assert [tokens for *_, tokens in sequences] == [
        [[1, 2], [3, 4]], [[Fraction(1, 2), 0]], [[2, 3]]
    ]  # fmt: skip
    assert sets == {"7": ("point", [0, 0], None), "a": ("point", [1, 0], None)}
    quoted = CSV.replace("s,a", '"s","a"').replace("\n", "\r\n")
    assert checker.read_data(quoted.encode("utf-8-sig"), "exact")[0] == sequences
    assert checker.read_data(gzip.compress(CSV.encode()), "exact")[0] == sequences


def test_default_points_in_the_order_of_the_sorted_labels():
    data = data_file([[[2, 0]], [[1, 0]], [[2, 0], [2, 0]], [[0, 0]]], ["z", "y", "z", "b"])
    assert verdict(MODEL, data)[0] == 0
    assert verdict(MODEL, data.replace(b'"y"', b'"w"'))[0] == 0
    data = data_file([[[1, 0]], [[0, 0]]], ["y", "z"])
    assert verdict(MODEL, data)[0] == 1


SORTED = [
    ["-2", "9", "10"], ["-10", "-9", "-0"], ["9", "10", "00"], ["7", "", "a"], ["-1", "B", "b"],
    ["-3", "2", "²"], ["1" * 99, "2" + "0" * 98], ["z", "\uffff", "\U00010000"], ["5", "+5", "5.0"],
]  # fmt: skip


@pytest.mark.parametrize("labels", SORTED)
def test_integers_by_value_then_text_by_code_point(labels):
    for names in (labels, labels[::-1], sorted(labels)):
        _, sets, _ = checker.read_data(
            data_file([[[k, 0]] for k in range(len(names))], names), "exact"
        )
        assert {name: point for name, (_, point, _) in sets.items()} == {
            name: [k, 0] for k, name in enumerate(labels)
        }


def test_the_dimension_is_that_of_the_first_token():
    data = json.loads(data_file([[[0, 0]], [[1, 0]]], ["y", "z"]))
    del data["dimension"]
    assert verdict(MODEL, json.dumps(data).encode())[0] == 0
    data["sequences"][0]["tokens"][0].append(0)
    assert verdict(MODEL, json.dumps(data).encode())[0] == 2


@pytest.mark.parametrize(
    ("written", "exact"),
    [
        ("0.1", Fraction(1, 10)),
        ("-12.50e-1", Fraction(-5, 4)),
        ("1E+2", 100),
        ('"1/3"', Fraction(1, 3)),
        ('"-4/6"', Fraction(-2, 3)),
        ('"+.5"', Fraction(1, 2)),
        ('" 5. "', 5),
        ('"007e0"', 7),
        ("1e300", 10**300),
        ("9007199254740993", 9007199254740993),
        ("-0.0", 0),
        ("1" + "0" * 298 + "7", 10**299 + 7),
        ("0." + "0" * 4000 + "7", Fraction(7, 10**4001)),
        ("1e-9999", Fraction(1, 10**9999)),
    ],
)
def test_written_numbers_are_exact(written, exact):
    value = checker.parse_json(written.encode())
    assert checker.number(value, "exact", "here") == exact
    decimal = any(mark in written for mark in ".eE")
    rounded = Fraction(float(Fraction(exact))) if decimal else Fraction(exact)
    assert checker.number(value, "binary64", "here") == rounded


def test_the_model_says_how_decimals_are_read():
    sets = {"a": {"kind": "point", "point": [Fraction(0.1)]}}
    table = data_table([[[0]]], ["a"], sets) | {
        "sequences": [{"tokens": [[0.1]], "label": "a"}],
    }
    data = json.dumps(table).encode()
    assert verdict(model_file([identity(1)]), data)[0] == 1
    assert verdict(model_file([identity(1)], {"numbers": "exact"}), data)[0] == 1
    assert verdict(model_file([identity(1)], {"numbers": "binary64"}), data)[0] == 0


@pytest.mark.parametrize(
    ("label_set", "code"),
    [
        ({"kind": "point", "point": [1]}, 1),
        ({"kind": "ball", "center": [1], "radius": "1/9"}, 0),
        ({"kind": "box", "lower": [0], "upper": [2]}, 0),
        ({"kind": "halfspace", "normal": [1], "offset": 0}, 0),
        ({"kind": "polyhedron", "A": [[1], [-1]], "b": [2, 0]}, 0),
        ({"kind": "polyhedron", "A": [[1], [-1]], "b": [1, 0]}, 1),
    ],
)
def test_positions_are_one_more_coordinate(label_set, code):
    """A position must end at 0 for a point, and is free for all other sets."""
    data = data_file([[[1], [1], [1]]], ["a"], {"a": label_set})
    keep = model_file([identity(2)], {"positional": True})
    assert verdict(keep, data)[0] == code
    # the mean position is 2; subtracting it brings the output to (1, 0)
    kill = model_file([identity(2, b=1, w=[0, -2])], {"positional": True})
    assert verdict(kill, data)[0] == (0 if label_set["kind"] == "point" else code)
    assert verdict(model_file([identity(2)]), data)[0] == 2


def test_positions_keep_the_order_apart():
    data = data_file([[[0], [1]], [[1], [0]]], ["a", "b"])
    meta = {"positional": True}
    model = model_file([identity(2)], meta)
    parts = verdict(model, data)
    assert parts[0] == 1
    read = verdict(model_file([identity(2, v=[1, 1], rho=0, alpha=1)], meta), data)
    assert read[0] == 1
    box = {"kind": "box", "lower": [0], "upper": [2]}
    lines = verdict(model, data_file([[[0], [1]], [[1], [0]]], ["a", "a"], {"a": box}))[1]
    assert "sequences 2, N 2, d 2, M 1, tokens 4" in lines[1]


def test_counts():
    blocks = [identity(2, u=[1, "1/3"], b="-3/8"), identity(2, w=[0, 5])]
    data = data_file([[[0, 0]], [[0, 0], [0, 0]], [[1, 0]]], ["a", "a", "b"])
    code, lines = verdict(model_file(blocks, stages=["x", "y"]), data)
    assert code == 0
    # u: 1, 1/3; b: -3/8; w: 5; rho: 1 twice
    assert lines[1] == (
        "sequences 3, N 2, d 2, M 2, tokens 4, blocks 2, block_bound 20, parameters 6, "
        'parameter_bound 216, bounds "holds", total_bits 15, max_bits 6, numbers "exact", '
        "positional false"
    )


def test_bounds_are_stated_apart_from_the_verdict():
    data = data_file([[[0, 0]]], ["a"])
    assert 'bounds "holds"' in verdict(model_file([identity(2)] * 12), data)[1][1]
    assert 'bounds "exceeded"' in verdict(model_file([identity(2)] * 13), data)[1][1]
    heavy = model_file([identity(2, u=[1, 1], b=1, v=[1, 1])] * 12)
    assert 'bounds "holds"' in verdict(heavy, data)[1][1]
    line = data_file([[[0]]], ["a"])
    lines = verdict(model_file([identity(1)] * 50), line)[1]
    assert "parameter_bound null" in lines[1]
    assert 'bounds "n/a"' in lines[1]
