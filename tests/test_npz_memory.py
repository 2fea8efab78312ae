"""Arrays of an archive stay where they were read, and mean what the file says all the same."""

from __future__ import annotations

import gzip
import hashlib
import io
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hardmax as hm
from hardmax.errors import InputError
from hardmax.formats.files import read_content
from hardmax.formats.npz import read_npz, write_npz

TOKENS = np.array([[1.5, -0.0], [0.1, -3.0], [2.0**-1074, 7.0]])
OFFSETS = np.array([0, 1, 3])


def buffer(content):
    """Memory that can be written to."""
    return np.frombuffer(bytearray(content), np.uint8).data


def archive(save=np.savez, **members):
    file = io.BytesIO()
    save(file, **members)
    return file.getvalue()


def shares(array, memory):
    return np.shares_memory(array, np.frombuffer(memory, np.uint8))


@given(
    st.sampled_from(["f8", ">f8", "f4", "i8", "u2", "i1", "U3"]),
    st.sampled_from(["C", "F"]),
    st.text("abc", min_size=1, max_size=9),  # moves what follows in the file
    st.sampled_from([np.savez, np.savez_compressed]),
)
def test_both_ways_of_reading_agree(dtype, order, name, save):
    arrays = {name: np.arange(3), "x": np.arange(6).reshape(2, 3).astype(dtype, order=order)}
    content = archive(save, **arrays)
    memory = buffer(content)
    for given_content in (content, memory):
        found = read_npz(given_content, {name, "x"})
        assert list(found) == [name, "x"]
        for key, array in found.items():
            assert array.dtype == arrays[key].dtype
            assert (array == arrays[key]).all()
            assert array.flags.carray or array.dtype.byteorder == ">"
            assert array.flags.writeable
            assert array.flags.c_contiguous
            stays = given_content is memory and save is np.savez and arrays[key].flags.c_contiguous
            assert shares(array, memory) == stays


def test_nothing_large_is_in_memory_twice(tmp_path):
    path = tmp_path / "data.npz"
    np.savez(path, tokens=TOKENS, offsets=OFFSETS, label=np.array(["a", "b"]))
    content = path.read_bytes()
    memory = read_content(path)
    assert bytes(memory) == content
    tokens = read_npz(memory, {"tokens", "offsets", "label"})["tokens"]
    assert shares(tokens, memory)
    data = hm.load(path)
    assert data.source["sha256"] == hashlib.sha256(content).hexdigest()
    assert (data.tokens.values == TOKENS).all()
    assert not np.signbit(data.tokens.values[0, 1])
    assert path.read_bytes() == content


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_every_wrapping_means_the_same(tmp_path, save):
    content = archive(save, tokens=TOKENS, offsets=OFFSETS, label=np.array([7, -1]))
    (tmp_path / "plain").write_bytes(content)
    (tmp_path / "packed").write_bytes(gzip.compress(content))
    plain, packed = (hm.load(tmp_path / name) for name in ("plain", "packed"))
    assert list(plain.sequences) == list(packed.sequences)
    assert plain.names == packed.names == ["7", "-1"]


def test_members_that_share_bytes_do_not_change_each_other():
    """Member b lies inside the bytes of a; newer versions of Python refuse that themselves."""
    inner = archive(b=np.array([1.5, -0.0]))
    with zipfile.ZipFile(io.BytesIO(inner)) as file:
        info = file.infolist()[0]
    for shift in range(8):
        hidden = np.frombuffer(bytes(shift) + inner, np.uint8)
        outer = io.BytesIO()
        with zipfile.ZipFile(outer, "w") as file:
            raw = io.BytesIO()
            np.lib.format.write_array(raw, hidden)
            file.writestr("a.npy", raw.getvalue())
            info.header_offset = outer.getvalue().index(inner)
            file.filelist.append(info)
            file.NameToInfo["b.npy"] = info
        try:
            found = read_npz(buffer(outer.getvalue()), {"a", "b"})
        except InputError as problem:
            assert "Overlapped" in str(problem)  # noqa: PT017
            continue
        found["b"] += 1
        assert (found["a"] == hidden).all()
        assert (found["b"] == [2.5, 1]).all()


@settings(max_examples=400)
@given(st.data())
def test_a_changed_byte_is_noticed_in_place_as_well(data):
    content = bytearray(archive(tokens=TOKENS, offsets=OFFSETS))
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= data.draw(st.integers(1, 255))
    found = []
    for way in (bytes(content), buffer(content)):
        try:
            arrays = read_npz(way, {"tokens", "offsets"})
            found.append({name: array.tobytes() for name, array in arrays.items()})
        except InputError as problem:
            found.append(str(problem).split(":")[0])
    assert found[0] == found[1]


def test_long_numbers_of_files_are_checked_in_parts(tmp_path):
    tokens = np.zeros((200_000, 2))
    for row, value in ((0, np.nan), (123_456, -np.inf), (199_999, 2.0**1000), (70_000, -1e305)):
        wrong = tokens.copy()
        wrong[row, 1] = value
        write_npz(tmp_path / "d.npz", {"tokens": wrong, "offsets": np.arange(0, 200_001, 4)})
        with pytest.raises(InputError, match=f"sequence {row // 4 + 1}, token {row % 4 + 1} holds"):
            hm.load(tmp_path / "d.npz")
