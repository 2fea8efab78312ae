"""Bad npz files, data and models: one line that names the place, exit 2, nothing written."""

from __future__ import annotations

import copy
import io
import json
import pickle
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_bad_input import GOOD, refused
from test_data_formats import DOCUMENT

import hardmax as hm
from hardmax.errors import InputError
from hardmax.formats.data import json_file, npz_file
from hardmax.formats.model_file import label_sets, unpack
from hardmax.formats.npz import read_npz
from hardmax.model.parameters import NAMES


def archive(members) -> bytes:
    """An npz of arrays, or of raw bytes as they are."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, value in members.items():
            if not isinstance(value, bytes):
                content = io.BytesIO()
                np.lib.format.write_array(content, np.asanyarray(value))
                value = content.getvalue()
            file.writestr(name, value)
    return buffer.getvalue()


TOKENS, OFFSETS, LABEL = np.eye(3), np.array([0, 1, 3]), np.array(["a", "b"])


def npz(**members):
    base = {"tokens": TOKENS, "offsets": OFFSETS, "label": LABEL}
    base.update(members)
    return archive({f"{name}.npy": value for name, value in base.items() if value is not None})


def member(descr, shape, body=b""):
    """An array file whose header says what it likes."""
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    return b"\x93NUMPY\x01\x00v\x00" + header.encode().ljust(117) + b"\n" + body


def with_entry(value):
    tokens = np.eye(3)
    tokens[2, 1] = value
    return tokens


WHOLE = npz()
SETS = (
    '{"a": {"kind": "point", "point": [0, 0, 0]},'
    ' "b": {"kind": "ball", "center": [%s], "radius": 1}}'
)
BAD_NPZ = {
    "truncated": (WHOLE[: len(WHOLE) // 2], "npz"),
    "without its end": (WHOLE[:-30], "npz"),
    "wrong checksum": (WHOLE.replace(TOKENS.tobytes()[:8], b"\0" * 6 + b"\xf1\x3f"), "npz"),
    "empty zip": (archive({}), "'tokens'"),
    "no tokens": (npz(tokens=None), "'tokens'"),
    "no offsets": (npz(offsets=None), "'offsets'"),
    "foreign member": (npz(other=np.eye(2)), "other.npy"),
    "foreign file": (archive({"word/document.xml": b"<xml/>"}), "word/document.xml"),
    "pickled tokens": (npz(tokens=np.array([None, {}])), "tokens"),
    "pickle for an array": (archive({"tokens.npy": pickle.dumps([1])}), "tokens"),
    "structured": (npz(tokens=np.zeros(3, dtype="f8,f8,f8")), "tokens"),
    "member twice": (archive({"tokens.npy": TOKENS, "tokens": TOKENS}), "tokens"),
    "NaN": (npz(tokens=with_entry(np.nan)), "sequence 2, token 2"),
    "infinity": (npz(tokens=with_entry(-np.inf)), "sequence 2, token 2"),
    "2^1000": (npz(tokens=with_entry(2.0**1000)), "sequence 2, token 2"),
    "flat tokens": (npz(tokens=np.zeros(3)), "'tokens' has shape (3,)"),
    "deep tokens": (npz(tokens=np.zeros((3, 1, 1))), "'tokens' has shape (3, 1, 1)"),
    "no coordinates": (npz(tokens=np.zeros((3, 0))), "'tokens' has shape (3, 0)"),
    "complex": (npz(tokens=np.eye(3) * 1j), "tokens"),
    "booleans": (npz(tokens=np.eye(3) > 0), "tokens"),
    "long doubles": (npz(tokens=np.eye(3, dtype=np.longdouble)), "tokens"),
    "text tokens": (npz(tokens=np.eye(3).astype(str)), "'tokens'"),
    "float offsets": (npz(offsets=np.array([0.0, 1, 3])), "'offsets'"),
    "falling offsets": (npz(offsets=np.array([0, 4, 3])), "'offsets'"),
    "negative offsets": (npz(offsets=np.array([-1, 1, 3])), "'offsets'"),
    "short offsets": (npz(offsets=np.array([0, 1, 2])), "'offsets'"),
    "wrapping offsets": (npz(offsets=np.array([0, 2**64 - 1, 3], dtype=np.uint64)), "'offsets'"),
    "square offsets": (npz(offsets=np.array([[0, 3]])), "'offsets'"),
    "one offset": (npz(offsets=np.array([0])), "'offsets'"),
    "empty sequence": (npz(offsets=np.array([0, 3, 3])), "sequence 2 has no tokens"),
    "labels too few": (npz(label=np.array(["a"])), "'label'"),
    "float labels": (npz(label=np.array([0.5, 1])), "'label'"),
    "byte labels": (npz(label=np.array([b"a", b"b"])), "label"),
    "impossible shape": (npz(tokens=member("<f8", "(999999999, 9)")), "needs"),
    "negative shape": (npz(tokens=member("<f8", "(-1, 3)")), "tokens"),
    "endless shape": (npz(tokens=member("<f8", "(10**99999, 0)")), "tokens"),
    "10^18 by 0": (npz(tokens=member("<f8", f"({10**18}, 0)")), "tokens"),
    "sets no JSON": (npz(labels=np.array("{")), "broken JSON"),
    "sets of floats": (npz(labels=np.eye(2)), "'labels'"),
    "sets overlap": (npz(labels=np.array(SETS % "0, 0, 0.5")), "'a' and 'b' overlap"),
    "unknown label": (npz(label=np.array(["a", "z"]), labels=np.array(SETS % "9, 9, 9")), "'z'"),
    "broken text": (npz(label=member("<U1", "(2,)", b"a\0\0\0\0\xd8\0\0")), "broken text"),
    "no character": (npz(label=member("<U1", "(2,)", b"a\0\0\0" + b"\xff" * 4)), "broken text"),
}  # fmt: skip


@pytest.mark.parametrize(("content", "place"), BAD_NPZ.values(), ids=BAD_NPZ)
def test_npz(run, tmp_path, content, place):
    (tmp_path / "data.npz").write_bytes(content)
    refused(run, tmp_path, tmp_path / "data.npz", place)


def test_the_good_archive_is_good(run, tmp_path):
    (tmp_path / "data.npz").write_bytes(WHOLE)
    assert run("build", tmp_path / "data.npz", "-o", tmp_path / "model.npz").code == 0


# ------------------------------------------------------------------------------ model files


@pytest.fixture(scope="module")
def good_model(tmp_path_factory):
    """Members of a model file with an override."""
    path = tmp_path_factory.mktemp("model") / "model.npz"
    hm.build(hm.Dataset([[("1/3", 0)], [(1, 0)]], ["a", "b"])).save(path)
    with np.load(path, allow_pickle=False) as file:
        assert "exact" in file
        return dict(file)


def model_file(members):
    return archive({f"{name}.npy": value for name, value in members.items()})


def exact(text):
    return np.frombuffer(text.encode(), dtype=np.uint8)


def nan_in(array):
    array = array.copy()
    array.flat[0] = np.nan
    return array


BAD_MODEL = {
    "no format": (lambda m: m.pop("format"), "format"),
    "other format": (lambda m: m.update(format=np.array("hardmax-model/2")), "hardmax-model/1"),
    "format no text": (lambda m: m.update(format=np.array(1)), "'format'"),
    "no w": (lambda m: m.pop("w"), "'w'"),
    "no stage": (lambda m: m.pop("stage"), "'stage'"),
    "foreign member": (lambda m: m.update(x=np.eye(2)), "x.npy"),
    "NaN": (lambda m: m.update(u=nan_in(m["u"])), "'u'"),
    "float32": (lambda m: m.update(u=m["u"].astype("f4")), "'u'"),
    "integers": (lambda m: m.update(b=m["b"].astype(int)), "'b'"),
    "pickled": (lambda m: m.update(v=np.array([None])), "v"),
    "row too few": (lambda m: m.update(rho=m["rho"][1:]), "parameter rho"),
    "column too few": (lambda m: m.update(v=m["v"][:, 1:]), "parameter v"),
    "flat": (lambda m: m.update(w=m["w"].ravel()), "'w'"),
    "dimension 0": (
        lambda m: m.update({n: m[n][:, :0] for n in "uwv"}, exact=exact("{}")), "dimension 0"),
    "stages too few": (lambda m: m.update(stage=m["stage"][1:]), "'stage'"),
    "stages of numbers": (lambda m: m.update(stage=np.arange(len(m["stage"]))), "'stage'"),
    "meta no JSON": (lambda m: m.update(meta=np.array("{")), "'meta'"),
    "meta NaN": (lambda m: m.update(meta=np.array('{"x": NaN}')), "'meta'"),
    "meta list": (lambda m: m.update(meta=np.array("[]")), "'meta'"),
    "meta nested": (lambda m: m.update(meta=np.array("[" * 100_000)), "'meta'"),
    "overrides no JSON": (lambda m: m.update(exact=exact("{")), "'exact'"),
    "overrides a list": (lambda m: m.update(exact=exact("[]")), "'exact'"),
    "overrides of floats": (lambda m: m.update(exact=np.eye(2)), "'exact'"),
    "unknown array": (lambda m: m.update(exact=exact('{"x": []}')), "'x'"),
    "no pair": (lambda m: m.update(exact=exact('{"w": [[0]]}')), "'w'"),
    "index too large": (lambda m: m.update(exact=exact('{"w": [[999, "1/2"]]}')), "index 999"),
    "negative index": (lambda m: m.update(exact=exact('{"w": [[-1, "1/2"]]}')), "index -1"),
    "index true": (lambda m: m.update(exact=exact('{"w": [[true, "1/2"]]}')), "index True"),
    "number for a quotient": (lambda m: m.update(exact=exact('{"w": [[0, 1]]}')), "p/q"),
    "decimal": (lambda m: m.update(exact=exact('{"w": [[0, "0.5"]]}')), "p/q"),
    "prefix": (lambda m: m.update(exact=exact('{"w": [[0, "0x1/2"]]}')), "p/q"),
    "negative q": (lambda m: m.update(exact=exact('{"w": [[0, "1/-2"]]}')), "p/q"),
    "divides by zero": (lambda m: m.update(exact=exact('{"w": [[0, "1/0"]]}')), "zero"),
    "not nearest": (lambda m: m.update(exact=exact('{"rho": [[0, "fffffffffff/3"]]}')), "nearest"),
    "past float64": (
        lambda m: m.update(exact=exact('{"rho": [[0, "1%s/1"]]}' % ("0" * 300))), "nearest"),
    "twice": (
        lambda m: m.update(exact=exact('{"rho": [[0, "0/1"], [0, "0/1"]]}'), rho=m["rho"] * 0),
        "twice"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "place"), BAD_MODEL.values(), ids=BAD_MODEL)
def test_models(run, tmp_path, good_model, change, place):
    members = dict(good_model)
    change(members)
    file, data = tmp_path / "model.npz", tmp_path / "data.json"
    file.write_bytes(model_file(members))
    data.write_text(json.dumps(GOOD))
    for command in (["info", file], ["verify", file, data], ["run", file, data]):
        result = run(*command)
        assert (result.code, result.out) == (2, "")
        assert result.err.count("\n") == 1
        assert str(file) in result.err
        assert place in result.err


def test_data_and_models_in_each_others_place(run, tmp_path, good_model):
    model, data = tmp_path / "model.npz", tmp_path / "data.json"
    model.write_bytes(model_file(good_model))
    data.write_text(json.dumps(GOOD))
    for command in (["info", data], ["verify", data, model], ["verify", model, model],
                    ["build", model, "-o", tmp_path / "x"], ["run", model, tmp_path]):  # fmt: skip
        result = run(*command)
        assert (result.code, result.err.count("\n")) == (2, 1)


def test_dimensions_must_agree(run, tmp_path, good_model):
    model, data = tmp_path / "model.npz", tmp_path / "data.csv"
    model.write_bytes(model_file(good_model))
    data.write_text("sequence,label,x1\na,b,1\n")
    for command in ("verify", "run"):
        result = run(command, model, data)
        assert (result.code, result.err.count("\n")) == (2, 1)
        assert "dimension 1, the model 2" in result.err


# --------------------------------------------------------------------- whatever comes along

JUNK = [None, True, 0, -1, 1.5, 1e400, "x", "1/0", "", [], {}, [[]], [None], "NaN", 10**30,
        -(2**70), {"kind": "point"}, "\ud800", [1, 2, 3], [["a"]], "1/3"]  # fmt: skip


def paths(value, path=()):
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from paths(value[key], (*path, key))


def read_or_refuse(read):
    """Whatever is wrong is an InputError of one line; any other exception fails the test."""
    message = ""
    try:
        read()
    except InputError as problem:
        message = str(problem)
    assert "\n" not in message


def check_json(rng):
    document = copy.deepcopy(DOCUMENT)
    *path, last = rng.choice([path for path in paths(document) if path])
    place = document
    for key in path:
        place = place[key]
    if rng.random() < 0.2:
        del place[last]
    else:
        place[last] = copy.deepcopy(rng.choice(JUNK))
    content = json.dumps(document).encode()
    numbers = rng.choice(["exact", "binary64"])
    reading = hm.Reading(positional=rng.random() < 0.3, window=rng.choice([1, 1, 4]))
    read_or_refuse(lambda: json_file.read(content, numbers, {}).read_as(reading))


def mutated(members, rng):
    """Change bytes inside one member, behind the back of the zip file's checksum."""
    with zipfile.ZipFile(io.BytesIO(model_file(members))) as file:
        raw = {name: file.read(name) for name in file.namelist()}
    name = rng.choice(sorted(raw))
    content = bytearray(raw[name])
    at = rng.randrange(min(len(content), rng.choice([130, 10**6])))
    match rng.randint(0, 3):
        case 0:
            content[at] = rng.randrange(256)
        case 1:
            content[at] = rng.choice(b"0123456789()<>|=ufiOU,' -")
        case 2:
            del content[at : at + rng.randint(1, 8)]
        case _:
            content = bytearray(raw[rng.choice(sorted(raw))])
    return archive({**raw, name: bytes(content)})


def check_npz(rng):
    content = mutated({"tokens": TOKENS, "offsets": OFFSETS, "label": LABEL,
                       "labels": np.array(SETS % "9, 9, 9")}, rng)  # fmt: skip
    read_or_refuse(lambda: npz_file.read(content, "exact", {}))


def check_model(rng, members):
    content = mutated(members, rng)

    def use():
        model = unpack(read_npz(content, {"format", "meta", "stage", "exact", *NAMES}))
        label_sets(model)
        model.outputs([[(1,) * model.dimension]])

    read_or_refuse(use)


@given(st.randoms(use_true_random=True))
@settings(max_examples=150)
def test_anything_is_read_or_refused(good_model, rng):
    check_json(rng)
    check_npz(rng)
    check_model(rng, good_model)


@pytest.mark.slow
@given(st.randoms(use_true_random=True))
@settings(max_examples=3000)
def test_anything_is_read_or_refused_more(good_model, rng):
    check_json(rng)
    check_npz(rng)
    check_model(rng, good_model)
