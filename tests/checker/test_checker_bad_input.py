"""What is unusable or not understood gives exit code 2 and one line, never a traceback."""

import gzip
import io
import json
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest
from checker_files import (
    checker,
    data_file,
    data_table,
    identity,
    model_arrays,
    model_file,
    run,
    saved,
    verdict,
)
from hypothesis import given, settings
from hypothesis import strategies as st

GOOD_MODEL = model_file([identity(1)])
GOOD_DATA = data_file([[[0]], [[1]]], ["a", "b"])
ZIP = b"PK\3\4"


def table(**changed):
    return json.dumps(data_table([[[0]], [[1]]], ["a", "b"]) | changed).encode()


def with_token(written):
    return b'{"dimension": 1, "sequences": [{"tokens": [[%s]], "label": "a"}]}' % written


def with_sets(**sets):
    return table(labels={"a": {"kind": "point", "point": [0]}} | sets)


def npz(**changed):
    arrays = {
        "tokens": np.zeros((2, 1)),
        "offsets": np.array([0, 1, 2]),
        "label": np.array(["a", "a"]),
    } | changed
    return saved({name: x for name, x in arrays.items() if x is not None})


def raw_zip(members, compression=zipfile.ZIP_DEFLATED):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return stream.getvalue()


def npy(header, content=b""):
    head = header.encode()
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + content


def header(descr="<f8", fortran="False", shape="(2, 1)"):
    return f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n"


def npz_with(member, content):
    stream = io.BytesIO(npz())
    with zipfile.ZipFile(stream) as archive:
        kept = [(x.filename, archive.read(x)) for x in archive.infolist()]
    return raw_zip([(name, content if name == member else x) for name, x in kept])


def pickled():
    stream = io.BytesIO()
    np.savez(stream, tokens=np.array([[0], None], dtype=object), offsets=[0, 1, 2], label=[1, 2])
    return stream.getvalue()


BAD_DATA = {
    "nothing": b"",
    "space": b"   \n",
    "text": b"hello",
    "a list": b"[]",
    "parquet": b"PAR1" + bytes(20),
    "not utf-8": b'{"dimension": 1, "\xff": 1}',
    "truncated json": GOOD_DATA[:-5],
    "json and more": GOOD_DATA + b"x",
    "unknown key": table(extra=1),
    "unknown key in a sequence": table(sequences=[{"tokens": [[0]], "label": "a", "x": 1}]),
    "same key twice": b'{"dimension": 1, "dimension": 1, "sequences": []}',
    "other format": table(format="hardmax-dataset/2"),
    "dimension 0": table(dimension=0),
    "dimension text": table(dimension="1"),
    "dimension true": table(dimension=True),
    "dimension 1.0": table(dimension=1.0),
    "dimension false": table(dimension=False),
    "dimension -1": table(dimension=-1),
    "dimension huge": table(dimension=10**30),
    "no sequences": table(sequences=[]),
    "sequences object": table(sequences={}),
    "sequences null": table(sequences=None),
    "empty sequence": table(sequences=[{"tokens": [], "label": "a"}]),
    "tokens text": table(sequences=[{"tokens": "1", "label": "a"}]),
    "token text": table(sequences=[{"tokens": ["1"], "label": "a"}]),
    "token number": table(sequences=[{"tokens": [1], "label": "a"}]),
    "ragged": table(sequences=[{"tokens": [[0], [0, 1]], "label": "a"}]),
    "no label": table(sequences=[{"tokens": [[0]]}]),
    "label null": table(sequences=[{"tokens": [[0]], "label": None}]),
    "label true": table(sequences=[{"tokens": [[0]], "label": True}]),
    "label 1.0": table(sequences=[{"tokens": [[0]], "label": 1.0}]),
    "id true": table(sequences=[{"tokens": [[0]], "label": "a", "id": True}]),
    "id list": table(sequences=[{"tokens": [[0]], "label": "a", "id": []}]),
    "id 0.5": table(sequences=[{"tokens": [[0]], "label": "a", "id": 0.5}]),
    "label list": table(sequences=[{"tokens": [[0]], "label": ["a"]}]),
    "unknown label": with_sets(c={"kind": "point", "point": [1]}),
    "labels empty": table(labels={}),
    "labels null": table(labels=None),
    "labels list": table(labels=[]),
    "true": with_token(b"true"),
    "null": with_token(b"null"),
    "NaN": with_token(b"NaN"),
    "Infinity": with_token(b"-Infinity"),
    "text nan": with_token(b'"nan"'),
    "text inf": with_token(b'"inf"'),
    "1/0": with_token(b'"1/0"'),
    "1/-2": with_token(b'"1/-2"'),
    "1.5/2": with_token(b'"1.5/2"'),
    "hexadecimal": with_token(b'"0x10"'),
    "underscore": with_token(b'"1_000"'),
    "arabic digits": with_token('"\u0663"'.encode()),
    "empty text": with_token(b'""'),
    "a point": with_token(b'"."'),
    "e5": with_token(b'"e5"'),
    "2^1000": with_token(str(2**1000).encode()),
    "-2^1000": with_token(str(-(2**1000)).encode()),
    "1e999999999": with_token(b"1e999999999"),
    "1e-999999999": with_token(b"1e-999999999"),
    "1e99999999999999999999": with_token(b"1e99999999999999999999"),
    "0e999999": with_token(b"0e999999"),
    "10 001 digits": with_token(b"0." + b"1" * 10_000),
    "a million digits": with_token(b"1" * 1_000_000),
    "a million digits below": with_token(b'"1/' + b"1" * 1_000_000 + b'"'),
    "a million zeros in the exponent": with_token(b"1e" + b"0" * 1_000_000),
    "deep": b'{"dimension": 1, "sequences": ' + b"[" * 200_000,
    "deep and closed": b'{"sequences": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "deep objects": b'{"a":' * 100_000,
    "kind unknown": with_sets(b={"kind": "disc", "center": [0], "radius": 1}),
    "kind list": with_sets(b={"kind": ["point"], "point": [0]}),
    "kind missing": with_sets(b={"point": [0]}),
    "set no object": with_sets(b=[1]),
    "set unknown key": with_sets(b={"kind": "point", "point": [1], "radius": 0}),
    "point wrong dimension": with_sets(b={"kind": "point", "point": [1, 2]}),
    "ball radius 0": with_sets(b={"kind": "ball", "center": [1], "radius": 0}),
    "ball radius -1": with_sets(b={"kind": "ball", "center": [1], "radius": "-1"}),
    "box flat": with_sets(b={"kind": "box", "lower": [1], "upper": [1]}),
    "halfspace no normal": with_sets(b={"kind": "halfspace", "normal": [0], "offset": -1}),
    "halfspace null": with_sets(b={"kind": "halfspace", "normal": [1], "offset": None}),
    "polyhedron no rows": with_sets(b={"kind": "polyhedron", "A": [], "b": []}),
    "polyhedron ragged": with_sets(b={"kind": "polyhedron", "A": [[1], [1, 2]], "b": [1, 2]}),
    "polyhedron short": with_sets(b={"kind": "polyhedron", "A": [[1], [2]], "b": [1]}),
    "gzip truncated": gzip.compress(GOOD_DATA)[:-9],
    "gzip damaged": gzip.compress(GOOD_DATA)[:20] + b"xxxx" + gzip.compress(GOOD_DATA)[24:],
    "gzip of gzip": gzip.compress(gzip.compress(GOOD_DATA)),
    "gzip of nothing": gzip.compress(b""),
    "csv empty": b"sequence,label,x1\n",
    "csv no coordinates": b"sequence,label\ns,a\n",
    "csv other columns": b"sequence,label,x1,y\ns,a,1,2\n",
    "csv short row": b"sequence,label,x1,x2\ns,a,1\n",
    "csv no label": b"sequence,label,x1\ns,,1\n",
    "csv two labels": b"sequence,label,x1\ns,a,1\ns,b,1\n",
    "csv nan": b"sequence,label,x1\ns,a,nan\n",
    "csv quote": b'sequence,label,x1\n"s,a,1\n',
    "csv nul": b"sequence,label,x1\ns,a,1\0\n",
    "csv long field": b"sequence,label,x1\n" + b"s" * 200_000 + b",a,1\n",
    "npz truncated": npz()[:-30],
    "npz damaged": npz().replace(b"NUMPY", b"NUMPX", 1),
    "zip magic only": ZIP + bytes(100),
    "zip empty": raw_zip([]),
    "npz pickled": pickled(),
    "npz unknown member": npz(extra=np.zeros(1)),
    "npz no tokens": npz(tokens=None),
    "npz no label": npz(label=None),
    "npz flat tokens": npz(tokens=np.zeros(2)),
    "npz bool tokens": npz(tokens=np.zeros((2, 1), dtype=bool)),
    "npz complex tokens": npz(tokens=np.zeros((2, 1), dtype=complex)),
    "npz half tokens": npz(tokens=np.zeros((2, 1), dtype=np.float16)),
    "npz structured": npz(tokens=np.zeros((2, 1), dtype=[("x", "f8")])),
    "npz no columns": npz(tokens=np.zeros((2, 0))),
    "npz nan": npz(tokens=np.array([[np.nan], [0]])),
    "npz inf": npz(tokens=np.array([[0], [np.inf]])),
    "npz 2^1000": npz(tokens=np.array([[0], [2.0**1000]])),
    "npz offsets short": npz(offsets=np.array([0, 2])),
    "npz offsets long": npz(offsets=np.array([0, 1, 3])),
    "npz offsets from 1": npz(offsets=np.array([1, 1, 2])),
    "npz offsets back": npz(offsets=np.array([0, 3, 2])),
    "npz offsets negative": npz(offsets=np.array([0, -1, 2])),
    "npz offsets floats": npz(offsets=np.array([0.0, 1.0, 2.0])),
    "npz offsets none": npz(offsets=np.zeros(0, dtype=int), label=np.zeros(0, dtype=int)),
    "npz no sequence": npz(tokens=np.zeros((0, 1)), offsets=np.array([0]), label=np.zeros(0, int)),
    "npz empty sequence": npz(offsets=np.array([0, 0, 2])),
    "npz labels floats": npz(label=np.zeros(2)),
    "npz labels matrix": npz(label=np.array([["a"], ["a"]])),
    "npz labels bytes": npz(label=np.array([b"a", b"a"])),
    "npz label sets no json": npz(labels=np.array("{")),
    "npz label sets null": npz(labels=np.array("null")),
    "npz label sets many": npz(labels=np.array(["{}", "{}"])),
    "npy no header": npz_with("tokens.npy", b"\x93NUMPY"),
    "npy version 9": npz_with("tokens.npy", b"\x93NUMPY\x09\0" + bytes(200)),
    "npy header cut": npz_with("tokens.npy", npy(header())[:40]),
    "npy header code": npz_with("tokens.npy", npy("__import__('os').abort()\n", bytes(16))),
    "npy deep header": npz_with("tokens.npy", npy("(" * 9000, bytes(16))),
    "npy object": npz_with("tokens.npy", npy(header("|O"), bytes(16))),
    "npy short": npz_with("tokens.npy", npy(header(), bytes(15))),
    "npy long": npz_with("tokens.npy", npy(header(), bytes(17))),
    "npy huge shape": npz_with("tokens.npy", npy(header(shape="(1000000000000, 1)"), bytes(16))),
    "npy huge empty": npz_with("tokens.npy", npy(header(shape="(1000000000000000, 0)"))),
    "npy huge fortran": npz_with("tokens.npy", npy(header("<f8", "True", "(100000000000, 0)"))),
    "npy many small": npz(tokens=np.zeros((1, 2**24 + 1), dtype=np.int8)),
    "npy shape negative": npz_with("tokens.npy", npy(header(shape="(-2, -1)"), bytes(16))),
    "npy empty text": npz_with("label.npy", npy(header("<U0", shape="(1000000000000,)"))),
    "npy bad unicode": npz_with("label.npy", npy(header("<U1", shape="(2,)"), b"\xff" * 8)),
}  # fmt: skip


@pytest.mark.parametrize("data", [pytest.param(x, id=name) for name, x in BAD_DATA.items()])
def test_bad_data(data):
    code, reason = verdict(GOOD_MODEL, data)
    assert code == 2, reason
    assert reason.startswith("data: ")
    assert "\n" not in reason
    assert len(reason) < 400


def changed_model(**changed):
    arrays = model_arrays([identity(2, u=["1/3", 2])]) | changed
    return saved({name: x for name, x in arrays.items() if x is not None})


def override(document, **blocks):
    content = document if isinstance(document, bytes) else json.dumps(document).encode()
    arrays = model_arrays([identity(2, **blocks)])
    return saved(arrays | {"exact": np.frombuffer(content, dtype=np.uint8)})


BAD_MODEL = {
    "nothing": b"",
    "json": GOOD_DATA,
    "truncated": GOOD_MODEL[:-40],
    "no format": changed_model(format=None),
    "other format": changed_model(format=np.array("hardmax-model/2")),
    "format list": changed_model(format=np.array(["hardmax-model/1"])),
    "no meta": changed_model(meta=None),
    "meta no json": changed_model(meta=np.array("{")),
    "meta list": changed_model(meta=np.array("[]")),
    "meta deep": changed_model(meta=np.array("[" * 100_000)),
    "meta twice": changed_model(meta=np.array('{"seed": 1, "seed": 2}')),
    "meta numbers": changed_model(meta=np.array('{"numbers": "float"}')),
    "meta numbers null": changed_model(meta=np.array('{"numbers": null}')),
    "meta positional": changed_model(meta=np.array('{"positional": 1}')),
    "meta positional text": changed_model(meta=np.array('{"positional": "no"}')),
    "no v": changed_model(v=None),
    "unknown member": changed_model(mask=np.zeros(1)),
    "b float32": changed_model(b=np.zeros(1, dtype=np.float32)),
    "meta uint16": changed_model(meta=np.frombuffer(b"{\0}\0", dtype=np.uint16)),
    "b integers": changed_model(b=np.zeros(1, dtype=int)),
    "integers": changed_model(w=np.zeros((1, 2), dtype=int)),
    "u flat": changed_model(u=np.zeros(2)),
    "u scalar": changed_model(u=np.array(1.0)),
    "v narrow": changed_model(v=np.zeros((1, 1))),
    "b long": changed_model(b=np.zeros(2)),
    "b matrix": changed_model(b=np.zeros((1, 1))),
    "stage short": changed_model(stage=np.array(["a", "b"])),
    "stage integers": changed_model(stage=np.array([1])),
    "stage scalar": changed_model(stage=np.array("a")),
    "nan": changed_model(rho=np.array([np.nan])),
    "inf": changed_model(alpha=np.array([-np.inf])),
    "no columns": changed_model(u=np.zeros((1, 0)), w=np.zeros((1, 0)), v=np.zeros((1, 0))),
    "no blocks": saved(
        {"format": np.array("hardmax-model/1"), "meta": np.array("{}"), "stage": np.array([], "U1")}
        | {name: np.zeros((0, 2) if name in "uwv" else 0) for name in checker.PARAMETERS}
    ),
    "override no json": override(b"{"),
    "override not utf-8": override(b'{"\xff": []}'),
    "override list": override([]),
    "override unknown": override({"x": []}),
    "override object": override({"u": {"0": "0/1"}}),
    "override flat": override({"u": [0, "0/1"]}),
    "override triple": override({"u": [[0, "0/1", 1]]}),
    "override text index": override({"u": [["0", "0/1"]]}),
    "override list index": override({"u": [[[0], "0/1"]]}),
    "override index 0.0": override({"u": [[0.0, "0/1"]]}),
    "override index -1": override({"u": [[-1, "0/1"]]}),
    "override index 2": override({"u": [[2, "0/1"]]}),
    "override index long": override(b'{"u": [[' + b"1" * 2_000_000 + b', "0/1"]]}'),
    "override number": override({"u": [[0, 0]]}),
    "override twice": override({"u": [[0, "0/1"], [0, "0/1"]]}),
    "override p": override({"u": [[0, "0"]]}),
    "override p/0": override({"u": [[0, "0/0"]]}),
    "override p/-q": override({"u": [[0, "0/-1"]]}),
    "override 0x": override({"u": [[0, "0x0/1"]]}),
    "override space": override({"u": [[0, " 0/1"]]}),
    "override +": override({"u": [[0, "+0/1"]]}),
    "override underscore": override({"u": [[0, "0_0/1"]]}),
    "override not nearest": override({"u": [[0, "1/3"]]}),
    "override one ulp": override({"u": [[0, "10000000000001/10000000000000"]]}, u=[1, 0]),
    "override past float64": override({"u": [[0, "1" + "0" * 300 + "/1"]]}),
    "override long": override({"u": [[0, "0/" + "1" * 300_000]]}),
    "exact floats": changed_model(exact=np.zeros(3)),
    "exact matrix": changed_model(exact=np.zeros((2, 2), dtype=np.uint8)),
}


@pytest.mark.parametrize("model", [pytest.param(x, id=name) for name, x in BAD_MODEL.items()])
def test_bad_models(model):
    code, reason = verdict(model, data_file([[[0, 0]]], ["a"]))
    assert code == 2, reason
    assert reason.startswith("model: ")
    assert "\n" not in reason
    assert len(reason) < 400


def test_good_overrides():
    """Nearest floats with ties to even, tiny numbers, zeros of either sign, no lowest terms."""
    data = data_file([[[0, 0]]], ["a"])
    for document, blocks in [
        ({"u": [[0, "20000000000001/20000000000000"]]}, {"u": [1, 0]}),  # tie: 1 + 2^-53
        ({"u": [[0, "-2/4"], [1, "a/a"]]}, {"u": ["-1/2", 1]}),
        ({"b": [[0, "-1/" + "1" + "0" * 400]]}, {"b": 0}),
        ({"w": []}, {}),
        ({}, {}),
    ]:
        assert verdict(override(document, **blocks), data)[0] == 0, document


def test_an_override_counts_though_its_float_is_zero():
    tiny = "1/1" + "0" * 400
    move = {"b": [[0, "1/1"]], "w": [[0, tiny]]}
    code, reason = verdict(override(move, b=1), data_file([[[0, 0]]], ["a"]))
    assert code == 1
    assert f'["1/{16**400}", "0"]' in reason


def test_the_wrong_dimension_is_named():
    code, reason = verdict(GOOD_MODEL, data_file([[[0, 0]]], ["a"]))
    assert (code, reason) == (2, "the tokens have 2 coordinates, the model takes 1")


def test_the_message_names_sequence_and_token():
    document = table(sequences=[
        {"tokens": [[0]], "label": "a"}, {"tokens": [[0], ["x"]], "label": "a", "id": 7},
    ])  # fmt: skip
    assert "sequence 2 (id '7'), token 2: no number" in verdict(GOOD_MODEL, document)[1]
    assert "sequence 2, token 1: no finite number" in verdict(GOOD_MODEL, BAD_DATA["npz inf"])[1]
    assert "line 3: " in verdict(GOOD_MODEL, b"sequence,label,x1\ns,a,1\ns,b,1\n")[1]


def test_labels_of_any_text_stay_on_one_line():
    name = "a\nb\u2028\x1b[31m\U0001f600"
    content = json.dumps(data_table([[[0]], [[5]]], ["c", name])).encode()
    code, reason = verdict(GOOD_MODEL, content)
    assert code == 1
    assert reason.isascii()
    assert reason.isprintable()


def test_the_same_member_twice():
    members = [("tokens.npy", npy(header(), bytes(16)))] * 2
    with pytest.warns(UserWarning, match="Duplicate"):
        content = raw_zip(members)
    assert verdict(GOOD_MODEL, content) == (
        2, "data: a member is unknown, repeated or compressed in an unknown way"
    )  # fmt: skip


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compressions_are_refused(method):
    assert verdict(raw_zip([("u.npy", b"")], method), GOOD_DATA)[0] == 2


def test_encrypted_and_overstated_members():
    content = bytearray(GOOD_MODEL)
    directory = content.index(b"PK\1\2")
    encrypted = content.copy()
    encrypted[6] |= 1
    encrypted[directory + 8] |= 1
    assert verdict(bytes(encrypted), GOOD_DATA)[0] == 2
    for size in (0, 1):
        content[directory + 24 : directory + 28] = struct.pack("<I", size)
        assert verdict(bytes(content), GOOD_DATA)[0] == 2


def test_bombs_are_unpacked_up_to_the_limit_only(monkeypatch):
    """64 MiB in 64 KiB; the limits are lowered so that the test is quick."""
    monkeypatch.setattr(checker, "MAX_BYTES", 2**20)
    monkeypatch.setattr(checker, "MAX_TEXT", 2**20)
    bombs = [
        gzip.compress(b'{"dimension": 1}' + b" " * 2**26),
        gzip.compress(b"sequence,label,x1\n" + b"\n" * 2**26),
        npz_with("tokens.npy", npy(header(shape=f"({2**23}, 1)"), bytes(2**26))),
    ]
    for bomb in bombs:
        assert len(bomb) < 2**18
        tracemalloc.start()
        code, reason = verdict(GOOD_MODEL, bomb)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert (code, "more than 1048576 bytes" in reason) == (2, True)
        assert peak < 2**23


@settings(max_examples=5 * settings.default.max_examples // 2, deadline=None)
@given(st.data())
def test_damaged_files_never_prove_nor_crash(data):
    """Bytes of true files are changed, cut or inserted: code 0 needs the same content."""
    target = data.draw(st.sampled_from(["model", "data", "npz", "gz"]))
    content = {
        "model": GOOD_MODEL, "data": GOOD_DATA, "npz": npz(), "gz": gzip.compress(GOOD_DATA),
    }[target]  # fmt: skip
    damaged = bytearray(content)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(damaged) - 1))
        damaged[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    model, other = (
        (bytes(damaged), GOOD_DATA) if target == "model" else (GOOD_MODEL, bytes(damaged))
    )
    code, reason = verdict(model, other)
    assert code in (0, 1, 2)
    if code == 0:  # what was damaged carries no meaning; the evaluation says so
        assert reason[0] == "proved"


@settings(max_examples=5 * settings.default.max_examples // 2, deadline=None)
@given(st.binary(max_size=200), st.sampled_from([b"", b"{", ZIP, b"\x1f\x8b\x08\0", b"sequence,"]))
def test_arbitrary_bytes(content, start):
    assert verdict(GOOD_MODEL, start + content)[0] == 2
    assert verdict(start + content, GOOD_DATA)[0] == 2


class TestCommandLine:
    """What a user sees: one line, on stderr for exit code 2."""

    @pytest.fixture
    def files(self, tmp_path):
        paths = {}
        for name, content in (("model.npz", GOOD_MODEL), ("data.json", GOOD_DATA)):
            paths[name] = tmp_path / name
            paths[name].write_bytes(content)
        return paths["model.npz"], paths["data.json"]

    def test_proved(self, files, capsys):
        code, out, err = run(capsys, *files)
        assert (code, out.splitlines()[0], err) == (0, "proved", "")
        assert out.splitlines()[2].startswith("disjointness of the label sets was not checked")

    def test_refuted(self, files, tmp_path, capsys):
        other = tmp_path / "other.json"
        other.write_bytes(data_file([[[0]], [[2]]], ["a", "b"]))
        code, out, err = run(capsys, files[0], other)
        assert (code, out.count("\n"), err) == (1, 1, "")
        assert out.startswith('refuted: sequence 2: output ["2"] is not in ["point", ["1"], null]')

    @pytest.mark.parametrize("arguments", [0, 1, 3, 4, 5])
    def test_usage(self, files, capsys, arguments):
        code, out, err = run(capsys, *(files * 3)[:arguments])
        assert (code, out) == (2, "")
        assert err.startswith("error: usage: checker.py MODEL DATA [--certificate CERT] [--sample")
        assert err.count("\n") == 1

    def test_missing_file_and_folder(self, files, tmp_path, capsys):
        for path in (tmp_path / "none.npz", tmp_path):
            code, out, err = run(capsys, path, files[1])
            assert (code, out, err.count("\n")) == (2, "", 1)
            assert path.name in err

    def test_bad_input_is_one_line_on_stderr(self, files, tmp_path, capsys):
        bad = tmp_path / "bad.json"
        bad.write_bytes(BAD_DATA["deep"])
        code, out, err = run(capsys, files[0], bad)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.startswith("error: data: ")

    @pytest.mark.parametrize(
        ("raised", "code", "start"),
        [
            (MemoryError(), 3, "undecided: MemoryError"),
            (KeyboardInterrupt(), 130, "interrupted\n"),
            (RecursionError("deep\nline"), 70, "bug: RecursionError"),
            (ZeroDivisionError("x"), 70, "bug: ZeroDivisionError"),
        ],
    )
    def test_what_goes_wrong_inside(self, files, capsys, monkeypatch, raised, code, start):
        def fail(*_):
            raise raised

        monkeypatch.setattr(checker, "outputs", fail)
        found, out, err = run(capsys, *files)
        assert found == code
        assert (out + err).startswith(start)
        assert (out + err).count("\n") == 1


def test_the_crc_of_a_member_counts():
    content = bytearray(GOOD_MODEL)
    place = content.index(b"PK\1\2") + 16
    content[place] ^= 1
    assert verdict(bytes(content), GOOD_DATA)[0] == 2
