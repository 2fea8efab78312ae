"""One data set in every form; numbers to the digit."""

from __future__ import annotations

import gzip
import hashlib
import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import hardmax as hm
from hardmax.errors import InputError
from hardmax.formats.data.json_file import read
from hardmax.formats.files import read_bytes
from hardmax.formats.whole_files import keep_apart, write_whole
from hardmax.formats.written import NumberReader, Written
from hardmax.labels import Ball, Box, Halfspace, Point, Polyhedron
from hardmax.testing import datasets

F = Fraction

DOCUMENT = {
    "format": "hardmax-dataset/1",
    "dimension": 2,
    "labels": {
        "blue": {"kind": "point", "point": ["1/3", 2]},
        "orange": {"kind": "halfspace", "normal": [0, 1], "offset": "2.5"},
        "red": {"kind": "ball", "center": [9, 0], "radius": 0.1},
        "green": {"kind": "box", "lower": [-2, -2], "upper": [-1, "-1/2"]},
        "grey": {"kind": "polyhedron", "A": [[1, 0], [0, 1]], "b": [-5, -5]},
    },
    "sequences": [
        {"tokens": [[0.5, "1/3"], [1, 2]], "label": "blue", "id": "with id"},
        {"tokens": [["-1e-3", 0.1]], "label": "orange"},
        {"tokens": [[3, 4]], "id": 7},
    ],
}


def save(path, document):
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


def same(first: hm.Dataset, second: hm.Dataset) -> bool:
    return (
        list(first.sequences) == list(second.sequences)
        and first.names == second.names
        and first.sets == second.sets
    )


def test_json_to_the_letter(tmp_path):
    data = hm.load(save(tmp_path / "data.json", DOCUMENT))
    assert data.sequence(0) == ((F(1, 2), F(1, 3)), (1, 2))
    assert data.sequence(1) == ((F(-1, 1000), F(1, 10)),)
    assert data.labels == ["blue", "orange", None]
    assert data.ids == ["with id", None, "7"]
    assert data.sets == {
        "blue": Point((F(1, 3), 2)),
        "orange": Halfspace((0, 1), F(5, 2)),
        "red": Ball((9, 0), F(1, 10)),
        "green": Box((-2, -2), (-1, F(-1, 2))),
        "grey": Polyhedron([(1, 0), (0, 1)], [-5, -5]),
    }
    assert (
        data.source["sha256"] == hashlib.sha256((tmp_path / "data.json").read_bytes()).hexdigest()
    )


def test_format_labels_and_ids_can_be_left_out(tmp_path):
    text = (
        '\ufeff {"sequences": [{"tokens": [[1]]}, {"tokens": [[2]], "label": 5}], "dimension": 1}'
    )
    data = hm.load(save(tmp_path / "x", text))
    assert data.labels == [None, 5]
    assert data.sets == {"5": Point((0,))}


def test_binary64_reads_decimals_as_floats_and_leaves_the_rest(tmp_path):
    rows = [[0.1, "0.1", "1/3", 1e2, 2**53 + 1, "1e-400"]]
    document = {
        "dimension": 6,
        "labels": {"a": {"kind": "ball", "center": rows[0], "radius": 0.1}},
        "sequences": [{"tokens": rows, "label": "a"}],
    }
    path = save(tmp_path / "data.json", document)
    exact, rounded = hm.load(path), hm.load(path, numbers="binary64")
    assert exact.sequence(0)[0] == (F(1, 10), F(1, 10), F(1, 3), 100, 2**53 + 1, F(1, 10**400))
    assert rounded.sequence(0)[0] == (F(0.1), F(0.1), F(1, 3), 100, 2**53 + 1, 0)
    assert rounded.sets["a"] == Ball(rounded.sequence(0)[0], F(0.1))
    with pytest.raises(InputError, match="binary32"):
        NumberReader("binary32")


@st.composite
def written(draw):
    """A JSON number of any length, as text."""
    digits = draw(st.integers(0, 10 ** draw(st.sampled_from([2, 6, 9, 15, 18]))))
    text = draw(st.sampled_from(["", "-"])) + str(digits)
    if draw(st.booleans()):
        text += "." + draw(st.text("0123456789", min_size=1, max_size=6))
    if draw(st.integers(0, 4)) == 0:
        text += draw(st.sampled_from("eE")) + str(draw(st.integers(-9, 9)))
    return text


@given(st.lists(st.tuples(written(), written()), min_size=1, max_size=5), st.booleans())
@example([("-0", "-0.0"), ("1e2", "1E-5")], False)
@example([("999999999999999", "1"), ("0", "-999999999999999")], False)
@example([("9999999999.9999", "0.00001")], False)  # 16 digits with as many places as the other
@example([("0.000000000000001", "-0.3")], False)
@example([("9007199254740993", "0.1")], True)
@example([("1e300", "1e-15")], False)  # the product overflows
@example([("1e300", "1e-15")], True)
def test_all_numbers_at_once_are_those_one_by_one(rows, binary64):
    text = ", ".join(f"[{x}, {y}]" for x, y in rows)
    content = f'{{"dimension": 2, "sequences": [{{"tokens": [{text}]}}]}}'.encode()
    reader = NumberReader("binary64" if binary64 else "exact")
    expected = [tuple(reader.number(Written(x), "here") for x in row) for row in rows]
    data = read(content, "binary64" if binary64 else "exact", {})
    assert list(data.sequence(0)) == expected
    assert not np.signbit(data.tokens.values[data.tokens.values == 0]).any()


@pytest.mark.parametrize(
    ("token", "place"),
    [
        ("[1, NaN]", "coordinate 2"),
        ("[1, -Infinity]", "coordinate 2"),
        ("[1, true]", "coordinate 2"),
        ("[1, null]", "coordinate 2"),
        ("[1, [2]]", "coordinate 2"),
        ("[1, 1e999]", "coordinate 2"),
        ("[1]", "1 coordinates"),
        ("[1, 2, 3]", "3 coordinates"),
        ("7", "not a list"),
    ],
)
def test_one_bad_token_among_good_ones_is_named(token, place):
    content = f'{{"dimension": 2, "sequences": [{{"tokens": [[1, 2.5], {token}]}}]}}'.encode()
    with pytest.raises(InputError, match=f"^sequence 1, token 2.*{place}"):
        read(content, "exact", {})


def test_long_numbers_within_the_limits(tmp_path):
    digits = "3" * 9999
    token = f'[0.{digits}, {"9" * 300}, "{"1" * 10_000}/{"2" * 10_000}"]'
    text = f'{{"dimension": 3, "sequences": [{{"tokens": [{token}]}}]}}'
    x, y, z = hm.load(save(tmp_path / "long.json", text)).sequence(0)[0]
    assert x == F(10**9999 - 1, 3 * 10**9999)
    assert y == 10**300 - 1
    assert z == F(1, 2)


@given(datasets(max_sequences=6))
def test_all_forms_hold_the_same_data(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("forms")
    rows = [[[int(x) for x in z] for z in Z] for Z in data.sequences]
    document = {
        "dimension": data.dimension,
        "sequences": [
            {"tokens": Z, "label": label} for Z, label in zip(rows, data.labels, strict=True)
        ],
    }
    text = json.dumps(document)
    forms = [save(folder / "data.json", text), folder / "a.json.gz", folder / "b", folder / "c"]
    forms[1].write_bytes(gzip.compress(text.encode()))
    with open(forms[2], "wb") as file:
        np.savez(
            file,
            tokens=np.array([z for Z in rows for z in Z], dtype=np.int16),
            offsets=np.cumsum([0] + [len(Z) for Z in rows]),
            label=np.array(data.labels),
        )
    lines = ["sequence,label," + ",".join(f"x{i + 1}" for i in range(data.dimension))]
    for j, (Z, label) in enumerate(zip(rows, data.labels, strict=True)):
        lines += [f"s{j},{label}," + ",".join(map(str, z)) for z in Z]
    forms[3].write_text("\n".join(lines) + "\n")
    for path in forms:
        assert same(hm.load(path), data)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8", "u8", ">f8"])
@pytest.mark.parametrize("compressed", [False, True])
def test_npz_of_every_type(tmp_path, dtype, compressed):
    tokens = np.array([[0, 1], [2, 3], [100, 7]], dtype=dtype) / (2 if "f" in dtype else 1)
    tokens = np.asfortranarray(tokens.astype(dtype))
    save_npz = np.savez_compressed if compressed else np.savez
    save_npz(
        tmp_path / "data.npz",
        tokens=tokens,
        offsets=np.array([0, 1, 3], dtype=np.int64),
        label=np.array([0, 1]),
        labels=np.array('{"0": {"kind": "point", "point": ["1/3", 0]},'
                        ' "1": {"kind": "halfspace", "normal": [0, 1], "offset": 1}}'),
    )  # fmt: skip
    data = hm.load(tmp_path / "data.npz")
    assert data.labels == [0, 1]
    assert data.sequence(1) == tuple(tuple(F(float(x)) for x in row) for row in tokens[1:])
    assert data.sets["0"] == Point((F(1, 3), 0))


def test_npz_integers_past_float64_are_exact(tmp_path):
    tokens = np.array([[2**63 - 1], [2**53 + 1]], dtype=np.int64)
    np.savez(tmp_path / "d.npz", tokens=tokens, offsets=[0, 1, 2])
    assert list(hm.load(tmp_path / "d.npz").sequences) == [((2**63 - 1,),), ((2**53 + 1,),)]


def test_csv_to_the_letter(tmp_path):
    text = (
        '\ufeffsequence,label,x1,x2\r\n"one, with comma",b,0.1,1/3\r\n'
        'two,a,1,2\r\n\r\n"one, with comma",b, 3 ,4\r\nthree,,5,6\r\n'
    )
    (tmp_path / "d.csv").write_bytes(text.encode())
    data = hm.load(tmp_path / "d.csv")
    assert data.ids == ["one, with comma", "two", "three"]
    assert data.labels == ["b", "a", None]
    assert data.sequence(0) == ((F(1, 10), F(1, 3)), (3, 4))
    rounded = hm.load(tmp_path / "d.csv", numbers="binary64")
    assert rounded.sequence(0)[0] == (F(0.1), F(1, 3))


def test_positions_are_appended_in_every_form(tmp_path):
    text = "sequence,label,x1\na,0,5\na,0,5\n"
    (tmp_path / "d.csv").write_text(text)
    assert hm.load(tmp_path / "d.csv", positional=True).sequence(0) == ((5, 1), (5, 2))


# ---------------------------------------------------------------------- writing files whole


def test_files_are_written_whole_or_not_at_all(tmp_path):
    target = tmp_path / "file"
    write_whole(target, lambda path: path.write_text("old"))

    def interrupted(path):
        path.write_text("new, half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_whole(target, interrupted)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert target.read_text() == "old"
    write_whole(target, lambda path: path.write_text("new"))
    assert target.read_text() == "new"


@pytest.mark.parametrize("place", ["folder", "missing/file"])
def test_targets_that_cannot_be_written(tmp_path, place):
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match=place):
        write_whole(tmp_path / place, lambda path: path.write_text("x"))
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["folder"]


def test_files_that_cannot_be_read(tmp_path):
    for place in (tmp_path, tmp_path / "missing"):
        with pytest.raises(InputError, match=str(place)):
            read_bytes(place)


def test_outputs_keep_apart_from_inputs(tmp_path):
    name = str(tmp_path / "a")
    with pytest.raises(InputError, match="overwrite"):
        keep_apart(inputs=[name], outputs=[str(tmp_path / "b" / ".." / "a")])
    with pytest.raises(InputError, match="overwrite"):
        keep_apart(inputs=[], outputs=[name, None, name])
    keep_apart(inputs=[name, None], outputs=[None, name + "b"])


@given(st.integers(0, 5), st.randoms(use_true_random=False))
def test_no_mutation_of_a_data_file_gets_past_the_reader(tmp_path_factory, kind, rng):
    """A file with random bytes changed is read, or refused by one InputError, nothing else."""
    folder = tmp_path_factory.mktemp("mutants")
    np.savez(folder / "a.npz", tokens=np.eye(3), offsets=[0, 1, 3], label=["a", "b"])
    np.savez_compressed(folder / "b.npz", tokens=np.eye(3), offsets=[0, 1, 3], label=[1, 2])
    text = json.dumps(DOCUMENT)
    save(folder / "c", text)
    (folder / "d").write_bytes(gzip.compress(text.encode()))
    (folder / "e").write_text("sequence,label,x1\na,0,5\na,0,5\n")
    path = sorted(folder.iterdir())[kind % 5]
    content = bytearray(path.read_bytes())
    for _ in range(rng.randint(1, 4)):
        match rng.randint(0, 3):
            case 0:
                content[rng.randrange(len(content))] = rng.randrange(256)
            case 1:
                del content[rng.randrange(len(content)) :]
            case 2:
                content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
            case _:
                at = rng.randrange(len(content))
                content[at:at] = bytes(rng.randrange(256) for _ in range(rng.randint(1, 9)))
        if not content:
            break
    path.write_bytes(content)
    message = str(path)
    try:
        hm.load(path)
    except InputError as problem:
        message = str(problem)
    assert message.startswith(str(path))
