"""Data in and out: what is written reads as the same data, whatever the form."""

from __future__ import annotations

import gzip
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from importlib.util import find_spec
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import hardmax as hm
from hardmax.errors import InputError
from hardmax.testing import KINDS, disjoint_sets

F = Fraction


def library(name):
    return pytest.importorskip(name)


def facts(data, *, ids=True):
    found = list(data), data.names, dict(data.sets), data.reading
    return (*found, data.ids) if ids else found


# ------------------------------------------------------------- what is written reads as the same

NUMBERS = st.one_of(
    st.integers(-3, 3).map(Fraction),
    st.floats(-(2.0**90), 2.0**90).map(Fraction),
    st.sampled_from([F(1, 3), F(-(2**70) - 1), F(10) ** 40 / 7, F(1, 2**1074), F(0)]),
)
WORDS = st.text(min_size=1, max_size=6)


@st.composite
def any_data(draw, numbers=NUMBERS):
    """Sequences of any numbers with labels, ids and label sets, or without."""
    d = draw(st.integers(1, 3))
    tokens = st.lists(st.tuples(*[numbers] * d), min_size=1, max_size=4)
    given = draw(st.lists(tokens, min_size=1, max_size=5))
    words = st.one_of(WORDS, st.integers(-9, 9)) if draw(st.booleans()) else WORDS
    names = draw(st.lists(words, min_size=1, max_size=3, unique_by=str))
    labels = [draw(st.sampled_from([*names, *[None] * draw(st.booleans())])) for _ in given]
    ids = [draw(st.one_of(st.none(), WORDS)) for _ in given] if draw(st.booleans()) else None
    sets = None
    if draw(st.booleans()):
        sets = disjoint_sets([str(x) for x in names], d, draw(st.randoms()), KINDS)
    argmax = sets is None and draw(st.booleans())
    reading = hm.Reading(
        positional=draw(st.booleans()),
        window=draw(st.integers(1, 3)),
        stride=draw(st.integers(1, 2)),
        label_sets="argmax" if argmax else "points",
    )
    return hm.Dataset(given, labels, sets, ids=ids, reading=reading)


def again(folder, data, name):
    """The data after writing and reading; None where the form says that it can't hold them."""
    path = folder / name
    reason = ""
    try:
        data.save(path)
    except InputError as problem:
        reason = str(problem)
    assert path.exists() == (not reason)
    assert not reason or "save as .json" in reason
    return None if reason else hm.load(path, reading=data.reading)


@given(any_data())
def test_json_and_parquet_hold_everything(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("all")
    for name in ("d.json", "d.json.gz", *["d.parquet"] * (find_spec("pyarrow") is not None)):
        found = again(folder, data, name)
        assert facts(found) == facts(data)


@given(any_data())
@example(hm.Dataset([[(1,)]], ["a\0"]))
@example(hm.Dataset([[(1,)]], ["a\rb"], ids=["\n"]))
def test_npz_and_csv_hold_what_they_can_or_say_so(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("some")
    found = again(folder, data, "d.npz")
    if found is not None:
        assert facts(found, ids=False) == facts(data, ids=False)
    found = again(folder, data, "d.csv")
    if found is not None:
        assert facts(found, ids=False) == facts(data, ids=False)
        assert found.ids == [name or str(j + 1) for j, name in enumerate(data.ids)]


@given(any_data(st.integers(-9, 9)))
def test_small_integers_with_default_sets_go_through_every_form(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("plain")
    plain = hm.Dataset([*data.read_as(hm.Reading())], [f"<{name}>" for name in data.names])
    for name in ("d.json", "d.npz", "d.csv"):
        assert facts(again(folder, plain, name), ids=False) == facts(plain, ids=False)


def test_csv_with_the_sets_beside_it(tmp_path):
    data = hm.Dataset([[(1,)], [(2,)]], ["a", "b"], {"a": [5], "b": [6]})
    with pytest.raises(InputError, match="not the default points; save as"):
        data.save(tmp_path / "d.csv")
    (tmp_path / "labels.json").write_text(
        '{"a": {"kind": "point", "point": [5]}, "b": {"kind": "point", "point": [6]}}'
    )
    assert facts(again(tmp_path, data, "d.csv"), ids=False) == facts(data, ids=False)
    with pytest.raises(InputError, match=r"labels\.json holds others"):
        hm.Dataset([[(1,)]], ["a"]).save(tmp_path / "e.csv")


# ---------------------------------------------------------------------------------------- Parquet


def test_parquet_in_two_forms(tmp_path):
    arrow, parquet = library("pyarrow"), library("pyarrow.parquet")
    sequences = [[[0.5, 1.0], [2.0, 0.1]], [[4.0, 4.0]]]
    nested = {"tokens": sequences, "label": ["blue", "orange"], "id": ["first", "second"]}
    parquet.write_table(arrow.table(nested), tmp_path / "nested")
    long = {
        "sequence": ["first", "second", "first"],
        "label": ["blue", "orange", "blue"],
        "x1": [0.5, 4.0, 2.0],
        "x2": [1.0, 4.0, 0.1],
    }
    parquet.write_table(arrow.table(long), tmp_path / "long")
    expected = hm.Dataset(sequences, ["blue", "orange"], ids=["first", "second"])
    for name in ("nested", "long"):
        assert facts(hm.load(tmp_path / name)) == facts(expected)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "i8", "u8"])
def test_parquet_numbers_are_what_they_hold(tmp_path, dtype):
    arrow, parquet = library("pyarrow"), library("pyarrow.parquet")
    value = {"i1": -128, "i8": 2**63 - 1, "u8": 2**64 - 1}.get(dtype, 0.1)
    row = np.array([value, 1], dtype=dtype)
    inner = arrow.ListArray.from_arrays([0, 2], arrow.array(row))
    table = arrow.table({"tokens": arrow.ListArray.from_arrays([0, 1], inner)})
    parquet.write_table(table, tmp_path / "d")
    assert hm.load(tmp_path / "d")[0] == ((F(row[0].item()), 1),)


def test_parquet_decimals_and_texts_mean_what_is_written(tmp_path):
    arrow, parquet = library("pyarrow"), library("pyarrow.parquet")
    table = arrow.table({"sequence": [1, 1], "x1": [Decimal("0.10"), Decimal("2.50")],
                         "x2": ["1/3", "0.1"]})  # fmt: skip
    parquet.write_table(table, tmp_path / "d")
    assert hm.load(tmp_path / "d")[0] == ((F(1, 10), F(1, 3)), (F(5, 2), F(1, 10)))
    rounded = hm.load(tmp_path / "d", numbers="binary64")
    assert rounded[0] == ((F(0.1), F(1, 3)), (F(5, 2), F(0.1)))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"tokens": [[[1.0, 2.0], [3.0]]]}, "sequence 1, token 2 has 1 coordinates, expected 2"),
        ({"tokens": [[[1.0]], [[float("nan")]]]}, "sequence 2, token 1 holds NaN"),
        ({"tokens": [[[1.0], [None]]]}, "sequence 1, token 2 holds NaN, an infinity or nothing"),
        ({"tokens": [[[1.0]], None]}, "a sequence is missing: entry 2"),
        ({"tokens": [[[1.0], None]]}, "a token is missing: entry 2"),
        ({"tokens": [[[1.0]], []]}, "sequence 2 has no tokens"),
        ({"tokens": [[1.0]]}, "expected lists of lists of numbers"),
        ({"tokens": [[[1.0]]], "y": [1]}, "found 'tokens, y'"),
        ({"tokens": [[[1e302]]]}, "sequence 1, token 1 holds NaN, an infinity or a number of 2"),
        ({"tokens": [[["a"]]]}, "sequence 1, token 1: 'a' is not a number"),
        ({"sequence": [1], "x2": [1]}, "found 'sequence, x2'"),
        ({"sequence": [1, None], "x1": [1, 2]}, "row 2 names no sequence"),
        ({"sequence": [1, 1], "label": ["a", "b"], "x1": [1, 2]}, "the labels 'a' and 'b'"),
        ({"sequence": [1, 2], "x1": [True, False]}, "sequence 1, token 1: True is not a number"),
    ],
)
def test_parquet_that_is_no_data_set(tmp_path, columns, message):
    arrow, parquet = library("pyarrow"), library("pyarrow.parquet")
    path = tmp_path / "d.parquet"
    parquet.write_table(arrow.table(columns), path)
    with pytest.raises(InputError) as problem:
        hm.load(path)
    assert str(problem.value).startswith(str(path))
    assert message in str(problem.value)


@given(st.randoms(use_true_random=False))
def test_broken_parquet_is_refused(tmp_path_factory, rng):
    library("pyarrow")
    folder = tmp_path_factory.mktemp("broken")
    path = folder / "d.parquet"
    hm.Dataset(np.eye(3)[:, None], ["a", "b", "a"], {"a": [0, 0, 0], "b": [1, 1, 1]}).save(path)
    content = bytearray(path.read_bytes())
    for _ in range(rng.randint(1, 3)):
        content[rng.randrange(4, len(content))] = rng.randrange(256)
    if rng.random() < 0.2:
        del content[rng.randrange(4, len(content)) :]
    path.write_bytes(content)
    message = str(path)
    try:
        hm.load(path)
    except InputError as problem:
        message = str(problem)
    assert message.startswith(str(path))


def test_parquet_of_many_equal_numbers_does_not_fill_the_memory(tmp_path, monkeypatch):
    """A million zeros take a few kilobytes in the file."""
    arrow, parquet = library("pyarrow"), library("pyarrow.parquet")
    zeros = np.zeros(10**6)
    parquet.write_table(arrow.table({"sequence": zeros, "x1": zeros}), tmp_path / "d")
    assert (tmp_path / "d").stat().st_size < 10**5
    assert len(hm.load(tmp_path / "d")) == 1
    monkeypatch.setattr("hardmax.formats.files.MAX_BYTES", 10**6)
    with pytest.raises(InputError, match="unpacks to more than 1000000 bytes"):
        hm.load(tmp_path / "d")


def test_every_command_takes_parquet_and_ts(tmp_path, run):
    library("pyarrow")
    model, data = tmp_path / "m.npz", hm.load("examples/figure2.json")
    data.save(tmp_path / "d.parquet")
    (tmp_path / "d.ts").write_text(TS)
    for name in ("d.parquet", "d.ts"):
        path = tmp_path / name
        assert run("build", path, "-o", model).code == 0
        assert run("verify", model, path).code == 0
        assert run("run", model, path).code == 0
        assert run("report", model, path, "-o", tmp_path / "r.html").code == 0
        assert run("export", model, path, "--to", "smt2", "-o", tmp_path / "x.smt2").code == 0
        found = run("verify", path, path)
        assert found.code == 2
        assert "this is a data set, not a model" in found.err
        certificate = tmp_path / "c.json"
        found = run("verify", model, path, "--certificate", certificate)
        assert found.code == 2
        assert "the checker reads JSON, npz and CSV" in found.err
        assert not certificate.exists()
        with pytest.raises(InputError, match="save both and load them again"):
            hm.certify(model, path).save(certificate)


def test_the_extra_is_named(tmp_path):
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import hardmax as hm\n"
        f"try: hm.Dataset([[(1,)]], ['a']).save({str(tmp_path / 'd.parquet')!r})\n"
        "except ImportError as error: print(error)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'hardmax[parquet]'" in found.stdout
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "d.parquet").write_bytes(b"PAR1 and more")
    code = "import sys; sys.modules['pyarrow'] = None\nfrom hardmax.cli import main\nmain()"
    command = [sys.executable, "-c", code, "verify", "m.npz", str(tmp_path / "d.parquet")]
    hm.build(hm.Dataset([[(1,)]], ["a"])).save(tmp_path / "m.npz")
    found = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert found.returncode == 2
    assert found.stderr.count("\n") == 1
    assert "pip install 'hardmax[parquet]'" in found.stderr


# -------------------------------------------------------------------------------------------- .ts

TS = """# a comment
@problemName Toy
@timeStamps false
@missing false
@univariate false
@dimensions 2
@equalLength false
@classLabel true up down flat
@data
0,0.1,2:1,1,1:up
2,1e0:0,-3:down
"""


def test_ts_to_the_letter(tmp_path):
    (tmp_path / "d.ts").write_text(TS)
    data = hm.load(tmp_path / "d.ts")
    assert [*data] == [((0, 1), (F(1, 10), 1), (2, 1)), ((2, 0), (1, -3))]
    assert data.labels == ["up", "down"]
    assert [*data.sets] == ["down", "flat", "up"]  # all that are declared, sorted
    assert [*data[:1].sets] == [*data.split(0.5)[0].sets] == [*data.sets]
    cones = hm.load(tmp_path / "d.ts", label_sets="argmax")
    assert [*cones.sets] == [*data.sets]
    assert cones.dimension == 3
    assert hm.load(tmp_path / "d.ts", numbers="binary64")[0][1][0] == F(0.1)
    (tmp_path / "d").write_bytes(gzip.compress(TS.encode()))
    assert [*hm.load(tmp_path / "d")] == [*data]


def test_ts_without_labels(tmp_path):
    (tmp_path / "d.ts").write_text("@timestamps false\n@classlabel false\n@data\n1,2,3\n4\n")
    data = hm.load(tmp_path / "d.ts")
    assert (data.labels, data.dimension, [*map(len, data)]) == ([None, None], 1, [3, 1])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("@timeStamps false", "@timeStamps true", "store the values alone"),
        ("@classLabel true", "@targetLabel true", "not labels"),
        ("2,1e0:", "2,?:", "line 11 (sequence 2), token 2 misses its value in channel 1"),
        ("2,1e0:", "2,NaN:", "line 11 (sequence 2), token 2"),
        ("2,1e0:", "2:", "channel 2 has 2 values, channel 1 has 1"),
        ("2,1e0:", "", "line 11 (sequence 2) has 1 channels, expected 2"),
        ("2,1e0:", "2,1_0:", "line 11 (sequence 2), token 2, coordinate 1: '1_0' is not a number"),
        ("2,1e0:", "2,e0:", "line 11 (sequence 2), token 2, coordinate 1: 'e0' is not a number"),
        ("2,1e0:", "2,1e:", "line 11 (sequence 2), token 2, coordinate 1: '1e' is not a number"),
        ("2,1e0:", "2,\u0661:", "line 11 (sequence 2), token 2, coordinate 1: '\u0661' is not"),
        (":down", ":sideways", "'sideways', which @classLabel does not declare"),
        (":down", ":", "no label"),
        ("@missing", "@attribute", "is no line of a .ts header"),
        ("@data", "# data", "line 10: '0,0.1,2:1,1,1:up' is no line of a .ts header"),
    ],
)
def test_ts_that_is_no_data_set(tmp_path, old, new, message):
    (tmp_path / "d.ts").write_text(TS.replace(old, new))
    with pytest.raises(InputError) as problem:
        hm.load(tmp_path / "d.ts")
    assert str(problem.value).startswith(str(tmp_path / "d.ts"))
    assert message in str(problem.value)


@given(st.randoms(use_true_random=False))
def test_broken_ts_is_refused(tmp_path_factory, rng):
    path = tmp_path_factory.mktemp("broken") / "d.ts"
    lines = TS.splitlines(keepends=True)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(lines))
        match rng.randint(0, 2):
            case 0:
                del lines[at]
            case 1:
                lines.insert(at, rng.choice(lines))
            case _:
                k = rng.randrange(len(lines[at]))
                extra = rng.choice(["", ",", ":", "?", "\n", "#", "@", "e", "é", "\0", "9" * 999])
                lines[at] = lines[at][:k] + extra + lines[at][k + 1 :]
    path.write_text("".join(lines))
    message = str(path)
    try:
        hm.load(path)
    except InputError as problem:
        message = str(problem)
    assert message.startswith(str(path))


def test_ts_as_aeon_reads_it(tmp_path):
    aeon = pytest.importorskip("aeon.datasets")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(6, 2, 5)), np.array(["a", "b"] * 3)
    aeon.save_to_ts_file(X, y, label_type="classification", path=str(tmp_path))
    path = next(tmp_path.glob("*.ts"))
    X, y = aeon.load_from_ts_file(str(path))
    data = hm.load(path, numbers="binary64")
    assert np.array_equal(np.array(data.arrays()), X.transpose(0, 2, 1))
    assert data.labels == y.tolist()


# ---------------------------------------------------------------------------------- Python's forms

LONG = {
    "sequence": ["s", "t", "s", "u"],
    "label": [7, 8, 7, 8],
    "x1": [0.5, 0.1, 2.0, 4.0],
    "x2": [1, 2, 3, 2**53 + 1],
}
EXPECTED = [((F(1, 2), 1), (2, 3)), ((F(0.1), 2),), ((4, 2**53 + 1),)]


@pytest.mark.parametrize("name", ["pandas", "polars", "pyarrow"])
def test_frames_in_long_form(name):
    module = library(name)
    frame = (module.table if name == "pyarrow" else module.DataFrame)(LONG)
    data = hm.Dataset(frame)
    assert [*data] == EXPECTED
    assert (data.labels, data.ids) == ([7, 8, 8], ["s", "t", "u"])
    assert hm.certify(hm.build(frame), data).proved
    assert hm.Dataset(frame, ["x", "y", "z"]).labels == ["x", "y", "z"]
    with pytest.raises(InputError, match="Dataset"):
        hm.build(data).predict(frame)


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_frames_of_other_types(name):
    module = library(name)
    exact = module.DataFrame({"sequence": [1, 1], "x1": [Decimal("0.1"), Decimal("2")]})
    assert hm.Dataset(exact)[0] == ((F(1, 10),), (2,))
    text = module.DataFrame({"sequence": [1, 1], "label": [None, None], "x1": ["1/3", "0.1"]})
    assert hm.Dataset(text)[0] == ((F(1, 3),), (F(1, 10),))
    assert hm.Dataset(text).labels == [None]
    single = module.DataFrame({"sequence": [1], "x1": np.array([0.1], dtype=np.float32)})
    assert hm.Dataset(single)[0] == ((F(float(np.float32(0.1))),),)
    for column in ([1.0, None], [1, None], [1.0, float("nan")]):
        frame = module.DataFrame({"sequence": ["a", "b"], "x1": column})
        with pytest.raises(InputError, match="sequence 2, token 1"):
            hm.Dataset(frame)
    with pytest.raises(InputError, match="long form has the columns"):
        hm.Dataset(module.DataFrame({"time": [1], "value": [2]}))


def test_a_frame_of_pandas_with_its_own_missing_values():
    pandas = library("pandas")
    frame = pandas.DataFrame(
        {"sequence": ["a", "b"], "label": pandas.array(["x", None], dtype="string"),
         "x1": pandas.array([2**62 + 1, 3], dtype="Int64")}
    )  # fmt: skip
    data = hm.Dataset(frame)
    assert (data.labels, data[0]) == (["x", None], ((2**62 + 1,),))
    frame["x1"] = pandas.array([1, None], dtype="Int64")
    with pytest.raises(InputError, match="sequence 2, token 1"):
        hm.Dataset(frame)
    frame["sequence"] = [["a"], ["b"]]
    with pytest.raises(InputError, match="neither text nor numbers"):
        hm.Dataset(frame)


@given(st.lists(st.tuples(st.integers(0, 3), NUMBERS), min_size=1, max_size=12))
def test_rows_of_a_table_in_any_order(rows):
    """Tokens keep the order of the rows, sequences that of their names."""
    pandas = library("pandas")
    frame = pandas.DataFrame({"sequence": [j for j, _ in rows], "x1": [x for _, x in rows]})
    expected = {}
    for j, x in rows:
        expected.setdefault(j, []).append((x,))
    assert [*hm.Dataset(frame)] == [*map(tuple, expected.values())]


@given(st.decimals(allow_nan=False, allow_infinity=False, places=5))
def test_decimals_mean_what_is_written(value):
    assert hm.Dataset([[(value,)]], ["a"])[0] == ((F(value),),)


@pytest.mark.parametrize("value", ["NaN", "sNaN", "Infinity", "1e999999999", "1e400"])
def test_decimals_that_are_no_numbers(value):
    with pytest.raises(InputError, match="sequence 1, token 1"):
        hm.Dataset([[(Decimal(value),)]], ["a"])


def test_tensors():
    torch = library("torch")
    X = torch.tensor([[[0.1, 2.0]], [[3.0, 4.0]]], requires_grad=True)
    y = [torch.tensor(3), torch.tensor(5)]
    data = hm.Dataset(X, y)
    assert data[0] == ((F(float(np.float32(0.1))), 2),)
    assert data.labels == hm.Dataset([*X], torch.tensor([3, 5])).labels == [3, 5]
    assert hm.build(X, y).predict(X) == [3, 5]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int8, np.uint64])
def test_arrays_and_their_parts_hold_the_same_numbers(dtype):
    rng = np.random.default_rng(0)
    tokens = (rng.normal(size=(9, 2)) * 99).astype(dtype)
    exact = [tuple(F(x) for x in row) for row in tokens.tolist()]
    assert [*hm.Dataset(tokens[None])] == [tuple(exact)]
    parts = [tokens[a:b] for a, b in pairwise([0, 4, 5, 9])]
    assert [z for Z in hm.Dataset(parts) for z in Z] == exact
