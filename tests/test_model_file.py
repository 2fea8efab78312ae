"""Model files: exact round trips, readable by NumPy alone, byte for byte reproducible."""

from __future__ import annotations

import json
import zipfile
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hardmax as hm
from hardmax import RankOneBlock, Transformer
from hardmax.errors import InputError, ResourceLimitError
from hardmax.formats.model_file import label_sets
from hardmax.testing import KINDS, disjoint_sets, general_models, rank_one_models

F = Fraction
NAMES = ("u", "b", "w", "rho", "alpha", "v")
AWKWARD = [F(1, 3), F(-1, 10**400), F(1, 2**1074), F(1, 2**1075), F(2**53 + 1), F(-(2**1023)),
           F(10**300 + 1, 7), F(0), F(-1, 2**1100)]  # fmt: skip


def entries(model):
    return [tuple(block.entries) for block in model.blocks]


def exact_from_numpy(path):
    """The parameters by the contract's text, with NumPy and json alone."""
    with np.load(path, allow_pickle=False) as file:
        overrides = json.loads(file["exact"].tobytes().decode()) if "exact" in file else {}
        arrays = {}
        for name in NAMES:
            flat = [F(float(x)) for x in file[name].ravel()]
            for k, text in overrides.get(name, []):
                p, q = text.split("/")
                value = F(int(p, 16), int(q, 16))
                assert file[name].ravel()[k] == value.numerator / value.denominator
                flat[k] = value
            arrays[name] = np.array(flat, dtype=object).reshape(file[name].shape)
    L = len(arrays["b"])
    return [
        (*arrays["u"][k], arrays["b"][k], *arrays["w"][k], arrays["rho"][k], arrays["alpha"][k],
         *arrays["v"][k])
        for k in range(L)
    ]  # fmt: skip


@given(st.integers(1, 3).flatmap(rank_one_models))
def test_round_trip(tmp_path_factory, model):
    folder = tmp_path_factory.mktemp("models")
    model.save(folder / "a.npz")
    again = Transformer.load(folder / "a.npz")
    assert entries(again) == entries(model)
    assert (again.stages, again.meta, again.dimension) == (
        model.stages,
        model.meta,
        model.dimension,
    )
    assert exact_from_numpy(folder / "a.npz") == entries(model)
    again.save(folder / "b.npz")
    assert (folder / "a.npz").read_bytes() == (folder / "b.npz").read_bytes()


def test_numbers_that_float64_does_not_hold(tmp_path):
    d = len(AWKWARD)
    block = RankOneBlock.of(d, u=AWKWARD, b=F(1, 7), w=AWKWARD[::-1], rho=F(1, 3), alpha=F(-1, 3))
    model = Transformer([RankOneBlock.of(d), block], stages=["x", "ω"], meta={"note": "é"})
    model.save(tmp_path / "m.npz")
    again = Transformer.load(tmp_path / "m.npz")
    assert entries(again) == entries(model)
    assert again.stages == ["x", "ω"]
    assert again.meta == {"note": "é"}
    assert again.parameters.overrides() == model.parameters.overrides() == 15
    assert exact_from_numpy(tmp_path / "m.npz") == entries(model)
    again.save(tmp_path / "n.npz")
    assert (tmp_path / "m.npz").read_bytes() == (tmp_path / "n.npz").read_bytes()


def test_files_hold_at_least_one_block(tmp_path):
    Transformer([], dimension=3).save(tmp_path / "m.npz")
    with pytest.raises(InputError, match="no blocks"):
        Transformer.load(tmp_path / "m.npz")


def test_numbers_past_float64_are_not_stored(tmp_path):
    with pytest.raises(ResourceLimitError):
        Transformer([RankOneBlock.of(1, b=F(2) ** 1024)])


@given(general_models(2))
def test_general_layers_have_no_file_yet(tmp_path_factory, model):
    folder = tmp_path_factory.mktemp("models")
    with pytest.raises(InputError, match="rank-1 blocks only"):
        model.save(folder / "m.npz")
    assert not list(folder.iterdir())


def test_equal_builds_give_equal_bytes(tmp_path):
    """No time, path or host name in a file: only what determines the model."""
    data = hm.Dataset([[(0, 1)], [(1, 1)], [(0, 0), (1, 2)]], ["a", "b", "a"])
    for name in ("a.npz", "b.npz"):
        hm.build(data, seed=5).save(tmp_path / name)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    hm.build(data, seed=6).save(tmp_path / "c.npz")
    assert (tmp_path / "a.npz").read_bytes() != (tmp_path / "c.npz").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.npz") as file:
        assert {member.date_time for member in file.infolist()} == {(1980, 1, 1, 0, 0, 0)}


@pytest.mark.parametrize("dtype", ["U", "u1"])
@pytest.mark.parametrize("compressed", [False, True])
def test_files_that_numpy_writes_are_read(tmp_path, dtype, compressed):
    """Anybody's npz with these members is a model file; meta may be text or its bytes."""
    meta = json.dumps({"strategy": "by hand"})
    members = {
        "format": np.array("hardmax-model/1"),
        "meta": np.array(meta) if dtype == "U" else np.frombuffer(meta.encode(), dtype=np.uint8),
        "stage": np.array(["one"]),
        "u": np.asfortranarray(np.zeros((1, 2))), "b": np.ones(1), "w": np.array([[1.0, -0.0]]),
        "rho": np.ones(1), "alpha": np.zeros(1), "v": np.zeros((1, 2)),
    }  # fmt: skip
    (np.savez_compressed if compressed else np.savez)(tmp_path / "m.npz", **members)
    model = Transformer.load(tmp_path / "m.npz")
    assert model.output([(0, 0)]) == (1, 0)
    assert model.meta == {"strategy": "by hand"}


@pytest.mark.parametrize("positional", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_label_sets_come_back_from_the_meta(tmp_path, positional, seed):
    from random import Random

    sets = disjoint_sets(["a", "b", "c"], 2, Random(seed), KINDS)
    data = hm.Dataset([[(0, 1)], [(5, 2)], [(1, 9)]], ["a", "b", "c"], sets, positional=positional)
    hm.build(data).save(tmp_path / "m.npz")
    assert label_sets(Transformer.load(tmp_path / "m.npz")) == data.sets


def test_the_hash_is_that_of_the_file(tmp_path):
    import hashlib

    Transformer([RankOneBlock.of(1)]).save(tmp_path / "m.npz")
    content = (tmp_path / "m.npz").read_bytes()
    assert Transformer.load(tmp_path / "m.npz").sha256 == hashlib.sha256(content).hexdigest()
