"""Bad input through the command line: one line that names the place, exit 2, nothing written."""

from __future__ import annotations

import copy
import gzip
import json
import pickle

import numpy as np
import pytest


def refused(run, tmp_path, file, place, *more):
    """Build from a file: the contract's refusal, with ``place`` in its one line."""
    before = sorted(path.name for path in tmp_path.iterdir())
    result = run("build", file, "-o", tmp_path / "model.npz", *more)
    assert result.code == 2
    assert result.out == ""
    assert result.err.startswith("hardmax: ")
    assert result.err.count("\n") == 1
    assert result.err.endswith("\n")
    assert len(result.err) < 400 + len(str(file))
    assert place in result.err
    assert str(file) in result.err or place.endswith("has no label")
    assert "Traceback" not in result.err
    assert sorted(path.name for path in tmp_path.iterdir()) == before


GOOD = {
    "dimension": 2,
    "labels": {"a": {"kind": "point", "point": [0, 0]}, "b": {"kind": "point", "point": [1, 0]}},
    "sequences": [
        {"tokens": [[0, 1], [2, 3]], "label": "a"},
        {"tokens": [[4, 5]], "label": "b"},
    ],
}


def changed(*path_and_value):
    """GOOD with one entry replaced."""
    *path, last, value = path_and_value
    document = copy.deepcopy(GOOD)
    place = document
    for key in path:
        place = place[key]
    place[last] = value
    return json.dumps(document)


def token(text):
    """GOOD with the number 3 of sequence 1, token 2 written as ``text``."""
    return json.dumps(GOOD).replace("[2, 3]", f"[2, {text}]")


def labels(**sets):
    return json.dumps({**GOOD, "labels": {**GOOD["labels"], **sets}})


PLACE = "sequence 1, token 2, coordinate 2"
BAD_JSON = {
    # malformed
    "cut off": (json.dumps(GOOD)[:-7], "broken JSON at line 1"),
    "two values": ("{} {}", "broken JSON"),
    "trailing comma": ('{"dimension": 2,}', "broken JSON"),
    "single quotes": ("{'dimension': 2}", "broken JSON"),
    "empty": ("", "the file is empty"),
    "white space": ("  \n", "the file is empty"),
    "a list": ("[]", "is not an object"),
    "deeply nested": ("[" * 200_000, "nested too deeply"),
    "deeply nested tokens": (token("[" * 100_000 + "]" * 100_000), "nested too deeply"),
    "not json at all": ("hello", "not a data set"),
    # the dimension left out: the place is named, not the dimension
    "no tokens at first": ('{"sequences": [{"tokens": [], "label": "a"}]}', "1 has no tokens"),
    "no first tokens": ('{"sequences": [{"label": "a"}]}', "sequence 1 has no 'tokens'"),
    "no coordinates": ('{"sequences": [{"tokens": [[]]}]}', "token 1 has no coordinates"),
    "no list at first": ('{"sequences": [{"tokens": [[[1]]]}]}', "[1] is not a number"),
    "a number at first": ('{"sequences": [3]}', "sequence 1: 3 is not an object"),
    "a flat list": ('{"sequences": [{"tokens": [1, 2]}]}', "sequence 1, token 1: 1 is not a list"),
    "sequences in an object": ('{"sequences": {"a": 1}}', '{"a": 1} is not a list'),
    "an empty dimension": ('{"dimension": "", "sequences": [{"tokens": [[1]]}]}', "'dimension'"),
    "two equal keys": ('{"dimension": 2, "dimension": 2}', '"dimension" stands twice'),
    # numbers
    "NaN": (token("NaN"), PLACE),
    "Infinity": (token("Infinity"), PLACE),
    "-Infinity": (token("-Infinity"), PLACE),
    "huge exponent": (token("1e999999999"), PLACE),
    "tiny exponent": (token("1e-999999999"), PLACE),
    "huge exponent in text": (token('"1e999999999"'), PLACE),
    "past 2^1000": (token(str(2**1000)), PLACE),
    "10001 digits": (token("0." + "1" * 10_001), PLACE),
    "1/0": (token('"1/0"'), PLACE),
    "true": (token("true"), PLACE),
    "null": (token("null"), PLACE),
    "text": (token('"one"'), PLACE),
    "NaN in text": (token('"NaN"'), PLACE),
    "list for a number": (token("[3]"), PLACE),
    # shapes
    "short token": (changed("sequences", 0, "tokens", 1, [2]), "token 2 has 1 coordinates"),
    "long token": (changed("sequences", 1, "tokens", 0, [2, 3, 4]), "sequence 2, token 1 has 3"),
    "number for a token": (changed("sequences", 0, "tokens", 1, 5), "sequence 1, token 2"),
    "number for tokens": (changed("sequences", 0, "tokens", 5), "sequence 1: 5 is not a list"),
    "empty sequence": (changed("sequences", 1, "tokens", []), "sequence 2 has no tokens"),
    "no sequences": (changed("sequences", []), "no sequences"),
    "object of sequences": (changed("sequences", {}), "'sequences'"),
    "number for a sequence": (changed("sequences", 1, 5), "sequence 2: 5 is not an object"),
    "dimension 0": (changed("dimension", 0), "'dimension'"),
    "dimension -1": (changed("dimension", -1), "'dimension'"),
    "dimension 2.0": (changed("dimension", 2.0), "'dimension'"),
    "dimension in text": (changed("dimension", "2"), "'dimension'"),
    "dimension 3": (changed("dimension", 3), "expected 3"),
    "huge dimension": (changed("dimension", 10**12), "'dimension'"),
    # keys
    "no dimension": (json.dumps({"sequences": []}), "the data set has no sequences"),
    "no sequences key": (json.dumps({"dimension": 2}), "'sequences'"),
    "no tokens": (changed("sequences", 0, {"label": "a"}), "sequence 1 has no 'tokens'"),
    "unknown key": (changed("extra", 1), '"extra"'),
    "unknown key in a sequence": (changed("sequences", 1, "lable", "a"), '"lable"'),
    "other format": (changed("format", "hardmax-dataset/2"), "hardmax-dataset/1"),
    # labels
    "unknown label": (changed("sequences", 1, "label", "c"), "sequence 2 has the label 'c'"),
    "label true": (changed("sequences", 1, "label", True), "sequence 2, label"),
    "label list": (changed("sequences", 1, "label", ["a"]), "sequence 2, label"),
    "label 0.5": (changed("sequences", 1, "label", 0.5), "sequence 2, label"),
    "half a character": (changed("sequences", 1, "id", "\ud800"), "sequence 2, id"),
    "half a character in a name": (labels(**{"\ud800": GOOD["labels"]["a"]}), "surrogate"),
    "id true": (changed("sequences", 0, "id", True), "sequence 1, id"),
    "no label": (changed("sequences", 1, "label", None), "sequence 2 has no label"),
    "empty labels": (changed("labels", {}), "'labels' is empty"),
    "list of labels": (changed("labels", []), "'labels'"),
    "no kind": (labels(c={}), "label 'c'"),
    "unknown kind": (labels(c={"kind": "sphere"}), "label 'c': the kind"),
    "missing field": (labels(c={"kind": "ball", "center": [5, 5]}), "label 'c' has no 'radius'"),
    "field too many": (labels(c={"kind": "point", "point": [5, 5], "r": 1}), "label 'c'"),
    "wrong dimension": (labels(c={"kind": "point", "point": [5]}), "label 'c', point"),
    "negative radius": (labels(c={"kind": "ball", "center": [5, 5], "radius": -1}), "label 'c'"),
    "radius 0": (labels(c={"kind": "ball", "center": [5, 5], "radius": 0}), "label 'c'"),
    "radius 1/0": (labels(c={"kind": "ball", "center": [5, 5], "radius": "1/0"}), "c', radius"),
    "empty box": (labels(c={"kind": "box", "lower": [5, 5], "upper": [6, 5]}), "label 'c'"),
    "zero normal": (labels(c={"kind": "halfspace", "normal": [0, 0], "offset": -1}), "label 'c'"),
    "empty polyhedron": (
        labels(c={"kind": "polyhedron", "A": [[1, 0], [-1, 0]], "b": [0, 0]}), "label 'c'"),
    "no rows": (labels(c={"kind": "polyhedron", "A": [], "b": []}), "label 'c'"),
    "text for rows": (labels(c={"kind": "polyhedron", "A": "x", "b": []}), "label 'c', A"),
    "ragged rows": (
        labels(c={"kind": "polyhedron", "A": [[1, 0], [1]], "b": [9, 9]}), "A, row 2"),
    "equal points": (labels(c={"kind": "point", "point": [0, 0]}), "'a' and 'c' overlap"),
    "overlapping ball": (
        labels(c={"kind": "ball", "center": [2, 0], "radius": 1.001}), "'b' and 'c'"),
    "overlapping half-space": (
        labels(c={"kind": "halfspace", "normal": [1, 1], "offset": 0.5}), "'b' and 'c'"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "place"), BAD_JSON.values(), ids=BAD_JSON)
def test_json(run, tmp_path, text, place):
    file = tmp_path / "data.json"
    file.write_text(text)
    refused(run, tmp_path, file, place)
    file.write_bytes(gzip.compress(text.encode()))
    refused(run, tmp_path, file, place, "--positional", "--numbers", "binary64")


def test_the_good_document_is_good(run, tmp_path):
    (tmp_path / "data.json").write_text(json.dumps(GOOD))
    assert run("build", tmp_path / "data.json", "-o", tmp_path / "model.npz").code == 0
    assert (tmp_path / "model.npz").exists()


@pytest.mark.parametrize("depth", [100, 300, 400, 500, 700, 900, 950, 960, 970, 980, 990, 1000])
def test_every_depth_of_nesting(run, tmp_path, depth):
    """Also where the parser's limit is not reached, but that of the message is."""
    file = tmp_path / "data.json"
    file.write_text(token("[" * depth + "]" * depth))
    refused(run, tmp_path, file, "")


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b"\xff\xfe{", "not a data set"),
        (b'{"dimension": \xff}', "byte 14"),
        (b"\x1f\x8b\x08\x00", "gzip"),
        (gzip.compress(b"{}" * 1000)[:-9], "gzip"),
        (gzip.compress(b""), "empty"),
        (b"\x00\x01\x02", "not a data set"),
        (b"\x89PNG\r\n\x1a\n", "not a data set"),
        (pickle.dumps({"dimension": 1}), "not a data set"),
    ],
    ids=range(8),
)
def test_foreign_bytes(run, tmp_path, content, place):
    (tmp_path / "data").write_bytes(content)
    refused(run, tmp_path, tmp_path / "data", place)


BAD_CSV = {
    "header": ("sequence,label,x1,x3\n", "header"),
    "header with a line break": ('sequence,"la\nbel",x1\n', "header"),
    "no coordinates": ("sequence,label\na,b\n", "header"),
    "no rows": ("sequence,label,x1\n", "no sequences"),
    "short line": ("sequence,label,x1\na,b\n", "line 2"),
    "long line": ("sequence,label,x1\na,b,1\na,b,1,2\n", "line 3"),
    "bad number": ("sequence,label,x1\na,b,1\na,b,x\n", "line 3 (sequence 'a', token 2)"),
    "empty field": ("sequence,label,x1,x2\na,b,1,\n", "coordinate 2"),
    "NaN": ("sequence,label,x1\na,b,nan\n", "line 2"),
    "two labels": ("sequence,label,x1\na,b,1\na,c,1\n", "line 3: sequence 'a'"),
    "open quote": ('sequence,label,x1\na,"b,1\n', "broken CSV"),
    "not UTF-8": ("sequence,label,x1\na,\udcff,1\n", "UTF-8"),
    "no label": ("sequence,label,x1\na,,1\n", "sequence 1 (id 'a') has no label"),
}


@pytest.mark.parametrize(("text", "place"), BAD_CSV.values(), ids=BAD_CSV)
def test_csv(run, tmp_path, text, place):
    file = tmp_path / "data.csv"
    file.write_bytes(text.encode(errors="surrogateescape"))
    refused(run, tmp_path, file, place)


def test_missing_files_and_directories(run, tmp_path):
    refused(run, tmp_path, tmp_path / "missing.json", "No such file")
    (tmp_path / "folder").mkdir()
    refused(run, tmp_path, tmp_path / "folder", "no .npz or .parquet file")


def test_outputs_that_cannot_be_written(run, tmp_path):
    file = tmp_path / "data.json"
    file.write_text(json.dumps(GOOD))
    (tmp_path / "folder").mkdir()
    for target in (tmp_path / "folder", tmp_path / "no" / "model.npz", file):
        result = run("build", file, "-o", target)
        assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
        assert str(target) in result.err
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["data.json", "folder"]
    assert file.read_text() == json.dumps(GOOD)


def test_sizes_are_limited(run, tmp_path, monkeypatch):
    """What unpacks past the limit is refused before it is unpacked whole."""
    from hardmax.formats import files

    text = json.dumps(GOOD) + " " * 30_000_000
    (tmp_path / "a.json").write_text(text)
    (tmp_path / "b.json.gz").write_bytes(gzip.compress(text.encode()))
    np.savez_compressed(tmp_path / "c.npz", tokens=np.zeros((4_000_000, 1)), offsets=[0, 4_000_000])
    monkeypatch.setattr(files, "MAX_BYTES", 1 << 24)
    refused(run, tmp_path, tmp_path / "a.json", "larger than")
    refused(run, tmp_path, tmp_path / "b.json.gz", "unpacks")
    refused(run, tmp_path, tmp_path / "c.npz", "unpacks")
