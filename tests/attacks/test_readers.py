"""Fuzzing of the readers within the tests, and what fuzzing found: kept as cases."""

import gzip
import io
import json
import zipfile
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from . import fuzz_readers, judges, pairs
from .readers import Readers, certificate

HEALTH = {"suppress_health_check": list(HealthCheck), "deadline": None, "database": None}


@pytest.fixture(scope="module")
def readers():
    with Readers() as found:
        yield found


@pytest.fixture(scope="module")
def target(readers, tmp_path_factory):
    return fuzz_readers.Target(tmp_path_factory.mktemp("target"), readers)


@pytest.fixture(scope="module")
def seeds(target):
    return list(target.seeds())


def test_seeds_are_accepted(target, seeds):
    wrong = [seed for seed in seeds if seed[0] not in (1,) and not target(seed)]
    assert not wrong


def mutate_often(target, seeds, count, seed):
    inputs, accepted = fuzz_readers.random_inputs(target, seeds, count, seed)
    assert inputs == count
    assert accepted > count / 200  # some are still files of these formats


def test_mutated_files(target, seeds):
    mutate_often(target, seeds, 1000, 1)


@pytest.mark.slow
def test_mutated_files_long(target, seeds):
    mutate_often(target, seeds, 30_000, 2)


@settings(max_examples=80, **HEALTH)
@given(raw=st.binary(max_size=200))
def test_bytes(target, raw):
    target(raw)


VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(),
        st.text(max_size=5), st.sampled_from(["1/3", "1/0", "1e999", "0x1", "-0", "a", "1 "]),
    ),
    lambda x: st.lists(x, max_size=3) | st.dictionaries(st.text(max_size=3), x, max_size=3),
    max_leaves=6,
)  # fmt: skip


def replaced(draw, document):
    """A JSON document with one part, anywhere, replaced, dropped or doubled."""
    holder, place, value = None, None, document
    while isinstance(value, dict | list) and value and (holder is None or draw(st.booleans())):
        holder = value
        place = draw(st.sampled_from(range(len(value)) if isinstance(value, list) else [*value]))
        value = holder[place]
    match draw(st.integers(0, 3)):
        case 0:
            del holder[place]
        case 1 if isinstance(holder, dict):
            holder[draw(st.text(max_size=4))] = value
        case 1:
            holder.insert(place, value)
        case _:
            holder[place] = draw(VALUES)
    return document


def written(document):
    """JSON bytes; NaN, infinities and lone surrogates are written as Python writes them."""
    return json.dumps(document).encode()


@settings(max_examples=100, **HEALTH)
@given(st.data())
def test_structures_of_data(target, data):
    pair = data.draw(st.sampled_from(target.true))
    table = replaced(data.draw, json.loads(json.dumps(pair.table)))
    target.readers.data(written(table), data.draw(st.sampled_from(["exact", "binary64"])))


@settings(max_examples=80, **HEALTH)
@given(st.data())
def test_structures_of_certificates(target, data):
    k = data.draw(st.integers(0, len(target.true) - 1))
    document = replaced(data.draw, json.loads(json.dumps(target.true[k].certificate)))
    certificate(*target.certified[k], written(document))


ARRAYS = st.one_of(
    st.builds(
        lambda shape, dtype: np.zeros(shape, dtype),
        st.lists(st.integers(0, 4), max_size=3),
        st.sampled_from(["f2", "<f4", ">f8", "i1", ">i4", "u8", "b1", "<U3", "S3", "c16"]),
    ),
    st.text(max_size=4).map(np.array),
    st.sampled_from([float("nan"), float("-inf"), 2.0**1000, -0.0, 5e-324]).map(
        lambda x: np.full((3, 2), x)
    ),
    VALUES.map(lambda x: np.array(json.dumps(x))),
    st.binary(max_size=30).map(lambda x: np.frombuffer(x, np.uint8)),
)


@settings(max_examples=120, **HEALTH)
@given(st.data())
def test_structures_of_archives(target, data):
    model = data.draw(st.booleans())
    pair = data.draw(st.sampled_from(target.true))
    if model:
        members = pair.model.members()
        if data.draw(st.booleans()):
            document = {"w": [[0, "1/3"]], "b": [[1, "-1/3"], [2, "ff/1"]]}
            members["exact"] = np.array(json.dumps(replaced(data.draw, document)))
    else:
        with zipfile.ZipFile(io.BytesIO(pairs.data_npz(target.true[0].table))) as archive:
            members = {
                info.filename.removesuffix(".npy"): np.load(io.BytesIO(archive.read(info)))
                for info in archive.filelist
            }
    name = data.draw(st.sampled_from([*members, "labels", "exact", "more"]))
    members[name] = data.draw(ARRAYS)
    raw = pairs.npz(members, data.draw(st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])))
    (target.readers.model if model else target.readers.data)(raw)


# findings


def packed(name, content, members):
    """An archive of true members, one of which has these bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for key, array in members.items():
            body = io.BytesIO()
            np.lib.format.write_array(body, np.asanyarray(array), allow_pickle=False)
            archive.writestr(f"{key}.npy", content if key == name else body.getvalue())
    return stream.getvalue()


def npy(header, body=b"", version=b"\1\0"):
    """Bytes of an .npy file with this header."""
    size = len(header).to_bytes(2 if version[0] == 1 else 4, "little")
    return b"\x93NUMPY" + version + size + header + body


def header(descr, shape):
    return f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()


REFUSED_MEMBERS = {
    "text of width 0 in a huge shape": npy(header("<U0", "(300000000,)")),
    "an impossible shape without entries": npy(header("<f8", f"({10**30}, 0)")),
    "a huge shape": npy(header("<f8", f"({10**18},)")),
    "a header of Python 2": npy(b"{'descr': '<f8', 'fortran_order': False, 'shape': (5L,), }\n"),
    "a minus in the shape": npy(header("<f8", "(-1, -5)"), bytes(40)),
    "objects": npy(header("|O", "(1,)"), bytes(8)),
    "an expression": npy(b"__import__('os')\n"),
    "deep nesting": npy(b"(" * 9000 + b")" * 9000, version=b"\2\0"),
    "half a surrogate pair": npy(header("<U1", "()"), b"\x00\xd8\x00\x00"),
    "no character": npy(header("<U1", "()"), b"\xff\xff\xff\xff"),
    "nothing": b"",
}


@pytest.mark.parametrize("raw", REFUSED_MEMBERS.values(), ids=REFUSED_MEMBERS)
@pytest.mark.parametrize("name", ["meta", "stage", "u", "rho", "exact"])
def test_members_that_are_refused(readers, target, name, raw):
    members = {"exact": np.array("{}"), **target.true[0].model.members()}
    assert not readers.model(packed(name, raw, members))


@pytest.mark.parametrize("flag", [1, 8, 9, 14, 93, 99])
def test_unknown_compression_is_refused(readers, target, flag):
    """LZMA and bzip2 raise errors of their own; only stored and deflated members are read."""
    raw = bytearray(target.true[0].model.raw())
    for mark, place in ((b"PK\1\2", 10), (b"PK\3\4", 8)):
        at = raw.find(mark) + place
        raw[at : at + 2] = flag.to_bytes(2, "little")
    assert not readers.model(bytes(raw))


def test_member_names_that_are_no_text_are_refused(readers, target):
    raw = bytearray(target.true[0].model.raw())
    at = raw.find(b"PK\1\2")
    raw[at + 8 : at + 10] = b"\0\x08"  # the name is UTF-8, says the flag
    raw[at + 46] = 0xFF
    assert not readers.model(bytes(raw))


def test_a_model_without_blocks_is_refused(readers, target):
    members = target.true[0].model.members()
    for name in (*pairs.NAMES, "stage"):
        members[name] = members[name][:0]
    assert not readers.model(pairs.npz(members))


META = {
    "a key twice": '{"positional": true, "positional": false}',
    "NaN": '{"seed": NaN}',
    "a list": "[]",
    "nested": "[" * 100_000,
    "numbers unknown": '{"numbers": "float32"}',
    "positional a number": '{"positional": 1}',
    "window zero": '{"window": 0}',
    "window a text": '{"window": "9"}',
    "window true": '{"window": true}',
    "window a decimal": '{"window": 9.0}',
    "window too long": '{"window": 1048577}',
    "too many neighbours": '{"window": 524289, "dilations": [1, 2]}',
    "stride zero": '{"stride": 0}',
    "stride too long": '{"stride": 1000000000}',
    "lift negative": '{"lift": -1}',
    "dilations a number": '{"dilations": 4}',
    "dilations a text": '{"dilations": "14"}',
    "dilations empty": '{"dilations": []}',
    "dilations fall": '{"dilations": [4, 1]}',
    "dilations twice": '{"dilations": [1, 1]}',
    "dilations nested": '{"dilations": [[1]]}',
    "dilations an object": '{"dilations": {"1": 1}}',
    "label sets unknown": '{"label_sets": "cones"}',
    "label sets null": '{"label_sets": null}',
}
SOUND = {
    "all keys": '{"window": 4, "dilations": [2, 3], "stride": 7, "lift": 2, "positional": true, '
    '"label_sets": "argmax", "numbers": "binary64"}',
    "all defaults": '{"window": 1, "dilations": [1], "stride": 1, "lift": -0, "positional": false, '
    '"label_sets": "points", "numbers": "exact"}',
    "long windows": '{"window": 524288, "dilations": [1, 999999999], "stride": 999999999}',
}


@pytest.mark.parametrize("meta", META.values(), ids=META)
def test_meta_that_is_refused(readers, target, meta):
    members = target.true[0].model.members() | {"meta": np.array(meta)}
    assert not readers.model(pairs.npz(members))


@pytest.mark.parametrize("meta", SOUND.values(), ids=SOUND)
def test_meta_that_is_read(readers, target, meta):
    """Both readers read it, and the same from it (`readers.model` compares)."""
    members = target.true[0].model.members() | {"meta": np.array(meta)}
    assert readers.model(pairs.npz(members))


EXACT = {
    "an integer without end": '{"w": [[0, "%s/1"]]}' % ("f" * 300_000),
    "an entry twice": '{"b": [[0, "0/1"], [0, "0/1"]]}',
    "a parameter twice": '{"b": [], "b": []}',
    "an index that is true": '{"b": [[true, "0/1"]]}',
    "an index that is 0.0": '{"b": [[0.0, "0/1"]]}',
    "an index without end": '{"b": [[%s, "0/1"]]}' % ("9" * 5000),
    "a sign below": '{"b": [[0, "0/-1"]]}',
    "division by zero": '{"b": [[0, "0/0"]]}',
    "a prefix": '{"b": [[0, "0x0/1"]]}',
    "an underscore": '{"b": [[0, "0_0/1"]]}',
    "past the range of float64": '{"b": [[0, "%s/1"]]}' % ("f" * 400),
    "an unknown parameter": '{"beta": []}',
    "no list, but empty": '{"rho": {}}',
    "an empty text": '{"rho": ""}',
}


@pytest.mark.parametrize("text", EXACT.values(), ids=EXACT)
def test_overrides_that_are_refused(readers, target, text):
    members = target.true[0].model.members() | {"exact": np.array(text)}
    assert not readers.model(pairs.npz(members))


def test_what_both_accept(readers, target):
    """Forms that one of the two once refused."""
    model = target.true[0].model
    members = model.members()
    big = {
        name: array.astype(">f8") if name in pairs.NAMES else array
        for name, array in members.items()
    }
    assert readers.model(pairs.npz(big))
    marked = members | {"meta": np.frombuffer(b"\xef\xbb\xbf{}", np.uint8)}
    assert readers.model(pairs.npz(marked))
    k = next(k for k in range(len(model)) if model.entry("rho", k) == 1)
    mixed = members | {"exact": np.array(json.dumps({"rho": [[k, "aA/Aa"]]}))}
    assert readers.model(pairs.npz(mixed))
    body = io.BytesIO()
    np.lib.format.write_array(body, members["rho"], version=(2, 0))
    third = body.getvalue().replace(b"NUMPY\2", b"NUMPY\3")
    assert readers.model(packed("rho", third, members))
    table = {"dimension": 1, "sequences": [{"tokens": [["1e-00000000012"]], "label": -0}]}
    assert readers.data(written(table))
    assert readers.data(written(table).replace(b'"label": 0', b'"label": -0'))
    close = f"{2**1000 - 1}.5"  # below 2^1000, but its nearest float64 is not
    table = {"dimension": 1, "sequences": [{"tokens": [[close]], "label": "a"}]}
    assert readers.data(written(table), "exact")
    assert readers.data(written(table), "binary64")


def test_half_precision_tokens_are_refused(readers):
    members = {"tokens": np.ones((2, 2), "f2"), "offsets": [0, 2], "label": ["a"]}
    assert not readers.data(pairs.npz(members))
    members["tokens"] = np.ones((2, 2), "f4")
    assert readers.data(pairs.npz(members))


def test_texts_of_one_entry_are_refused(readers, target):
    members = target.true[0].model.members()
    assert not readers.model(pairs.npz(members | {"meta": np.array(["{}"])}))
    assert not readers.model(
        pairs.npz(members | {"format": np.frombuffer(b"hardmax-model/1", np.uint8)})
    )


def test_both_read_gzip_of_every_text(readers, target):
    for pair in target.true:
        assert readers.data(gzip.compress(pairs.data_json(pair.table)))
    assert not readers.data(gzip.compress(pairs.data_json(target.true[0].table))[:-5])


def test_a_difference_between_the_readers_is_found(readers, target, monkeypatch):
    raw = pairs.data_json(target.true[0].table)
    assert readers.data(raw)
    true = judges.checker.read_data

    def shifted(raw, mode):
        sequences, sets, d = true(raw, mode)
        sequences[0][2][0][0] += Fraction(1, 2**200)
        return sequences, sets, d

    monkeypatch.setattr(judges.checker, "read_data", shifted)
    with pytest.raises(judges.DisagreementError, match="read differently"):
        readers.data(raw)


def test_the_command_without_atheris(capsys):
    fuzz_readers.main(["fuzz", "--random", "-runs=50"])
    assert "inputs, accepted: 50" in capsys.readouterr().out


def test_random_mutation_is_deterministic(seeds):
    first, second = (
        [fuzz_readers.mutated(rng, seeds[0], seeds) for _ in range(20)]
        for rng in (Random(1), Random(1))
    )
    assert first == second
