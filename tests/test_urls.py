"""Data that a URL names, through fsspec: the same answers as from a folder of this machine."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import hardmax as hm
from hardmax.errors import InputError
from hardmax.shards import Shards
from hardmax.shards.build import build_shards
from hardmax.shards.judge import certify_shards


@pytest.fixture(params=["npz", "parquet"])
def folder(request, tmp_path):
    """40 sequences in four shards."""
    if request.param == "parquet":
        pytest.importorskip("pyarrow")
    X = np.random.default_rng(0).normal(size=(40, 4, 3))
    data = hm.Dataset(X, np.where(X.mean(axis=1)[:, 0] > 0, "a", "b"))
    data.save(tmp_path / "data" / f"*.{request.param}", shards=4)
    return tmp_path / "data"


def test_a_url_is_a_folder(run, folder, tmp_path):
    answers = []
    for name, where in (("here", str(folder)), ("there", folder.as_uri())):
        model, cert = tmp_path / f"{name}.npz", tmp_path / f"{name}.json"
        result = run("build", where, "-o", model, "--certificate", cert, "--workers", 1)
        assert result.code == 0, result.err
        answers.append((model.read_bytes(), cert.read_bytes()))
        assert run("verify", model, f"{where}/part-*", "--workers", 1).code == 0
        assert (
            run("run", model, where, "-o", tmp_path / f"{name}.out.json", "--workers", 1).code == 0
        )
    assert answers[0] == answers[1]


def test_files_that_are_on_no_disk(folder, tmp_path):
    from fsspec.implementations.memory import MemoryFileSystem

    files = MemoryFileSystem()
    files.put(f"{folder}/", "/data/", recursive=True)
    try:
        shards = Shards.open("memory:///data")
        assert [shard.count for shard in shards.shards] == [10] * 4
        model, journal = build_shards(shards, tmp_path / "model.npz")
        model.save(tmp_path / "model.npz")
        journal.end()
        assert certify_shards(tmp_path / "model.npz", shards).certificate.proved
        changed = bytearray(files.cat(shards.shards[2].path))
        changed[-200] ^= 1
        files.pipe(shards.shards[2].path, bytes(changed))
        with pytest.raises(InputError, match="part-00002"):
            certify_shards(tmp_path / "model.npz", shards)
    finally:
        files.rm("/data", recursive=True)


def test_the_label_sets_are_asked_for_once(folder, monkeypatch):
    """A server far away answers slowly: one request must do for a file that may not be there."""
    from fsspec.implementations.memory import MemoryFileSystem

    asked, refused = [], []

    def counted(method):
        def call(self, path, *arguments, **options):
            asked.append(path)
            if path in refused:
                raise PermissionError("not for you")
            return method(self, path, *arguments, **options)

        return call

    for name in ("isfile", "_open"):
        monkeypatch.setattr(MemoryFileSystem, name, counted(getattr(MemoryFileSystem, name)))
    files = MemoryFileSystem()
    files.put(f"{folder}/", "/asked/", recursive=True)
    try:
        asked.clear()
        shards = Shards.open("memory:///asked/part-*")
        assert asked.count("/asked/labels.json") == 1
        assert {*shards.example.sets} == {"a", "b"}
        refused.append("/asked/labels.json")
        with pytest.raises(InputError, match=r"labels\.json: can't be read: not for you"):
            Shards.open("memory:///asked/part-*")
        refused.clear()
        files.rm("/asked/labels.json")
        with pytest.raises(InputError, match=r"the label sets are in no file labels\.json"):
            Shards.open("memory:///asked/part-*")
    finally:
        files.rm("/asked", recursive=True)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("file:///nowhere/at/all/", "no such file"),
        ("memory:///nothing/*.npz", "no such file"),
        ("nonsense://x/", "Protocol not known"),
        ("zip://a.npz::file:///b.zip", "'::'"),
    ],
)
def test_urls_that_name_nothing(run, tmp_path, url, why):
    hm.build(hm.Dataset([[(0,)], [(1,)]], ["a", "b"])).save(tmp_path / "model.npz")
    result = run("verify", tmp_path / "model.npz", url)
    assert result.code == 2
    assert url in result.err
    assert why in result.err


def test_without_fsspec_the_error_names_the_extra(run, tmp_path, monkeypatch):
    hm.build(hm.Dataset([[(0,)], [(1,)]], ["a", "b"])).save(tmp_path / "model.npz")
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    result = run("verify", tmp_path / "model.npz", "s3://bucket/data/")
    assert result.code == 2
    assert "pip install 'hardmax[remote]'" in result.err
