"""Data in shards: the verdict, the certificate and the model do not depend on how they are cut."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hardmax as hm
from hardmax.dataset.digests import Node, leaves, root, subtrees
from hardmax.errors import InputError, VerdictError
from hardmax.shards import Shards
from hardmax.shards.build import Options, build_shards
from hardmax.shards.engines import Engine, Serial
from hardmax.shards.judge import certify_shards
from hardmax.shards.points import exact_sums
from hardmax.shards.work import Job, judge_shard
from hardmax.testing import datasets, disjoint_sets


def drawn(count=40, d=3, seed=0, labels=("a", "b")):
    """Sequences of different lengths; some measures come again, in other lengths and orders."""
    rng = np.random.default_rng(seed)
    X = [rng.integers(-9, 9, size=(rng.integers(1, 5), d)) / 4 for _ in range(count)]
    y = [labels[rng.integers(len(labels))] for _ in X]
    for j in range(3, count, 7):
        X[j] = np.concatenate([X[j - 3], X[j - 3]])[::-1]
        y[j] = y[j - 3]
    return hm.Dataset(X, y)


def cut_up(data, folder, shards, name="data"):
    data.save(folder / name, shards=shards)
    return Shards.open(folder / name)


def stored(data, folder, **options):
    path = folder / "model.npz"
    hm.build(data, **options).save(path)
    return path


# ---- the tree ----


def reference_root(digests):
    """MTH of RFC 6962, section 2.1, over leaves that are hashed already."""
    if len(digests) == 1:
        return digests[0]
    k = 1 << (len(digests) - 1).bit_length() - 1
    left, right = reference_root(digests[:k]), reference_root(digests[k:])
    return hashlib.sha256(b"\x01" + left + right).digest()


@given(st.integers(1, 40), st.lists(st.integers(0, 40), max_size=6))
def test_the_root_is_that_of_rfc_6962_however_the_leaves_are_cut(count, cuts):
    digests = [hashlib.sha256(bytes([j])).digest() for j in range(count)]
    ends = sorted({0, count, *(cut for cut in cuts if cut < count)})
    parts = [node for a, b in pairwise(ends) for node in subtrees(digests[a:b], a)]
    Random(count).shuffle(parts)
    assert root(parts, count) == reference_root(digests)


@given(st.integers(2, 40), st.data())
def test_no_root_without_every_leaf_once(count, draw):
    digests = [bytes([j]) * 32 for j in range(count)]
    a = draw.draw(st.integers(0, count - 1))
    b = draw.draw(st.integers(a + 1, count))
    most = subtrees(digests[:a], 0) + subtrees(digests[b:], b)
    some = subtrees(digests[a:b], a)
    root(most + some, count)
    other = draw.draw(st.integers(0, count - (b - a)))
    moved = subtrees(digests[a:b], other)
    wrong = [most, most + some + some[:1]] + ([most + moved] if other != a else [])
    for nodes in wrong:
        with pytest.raises(ValueError, match="sequence"):
            root(nodes, count)


def test_a_leaf_is_what_the_specification_says():
    third = Fraction(1, 3)
    data = hm.Dataset([[(third, -0.0), (2, 5)]], ["é"])
    head = b"\0" + b"".join(x.to_bytes(8, "little") for x in (2, 2, 2)) + "é".encode()
    floats = np.array([1 / 3, 0.0, 2, 5], dtype="<f8").tobytes()
    assert leaves(data) == [hashlib.sha256(head + floats + b"0 1/3\n").digest()]


# ---- the verdict ----


@pytest.mark.parametrize("masked", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_certificate_is_that_of_one_file_but_for_the_hash_of_the_data(tmp_path, masked):
    data = drawn()
    data.save(tmp_path / "data.npz")
    model = stored(data, tmp_path, masked=masked)
    options = {"radius": True} | ({} if masked else {"executor": "float64"})
    one = hm.certify(model, tmp_path / "data.npz", **options).to_json()
    found = []
    for shards in (1, 2, 7, 40):
        parts = cut_up(data, tmp_path, shards, f"data{shards}")
        verdict = certify_shards(model, parts, **options).certificate
        verdict.save(tmp_path / "cert.json")
        found.append((tmp_path / "cert.json").read_bytes())
    assert len(set(found)) == 1
    document = json.loads(found[0])
    assert set(document["sha256"]) == {"merkle", "model"}
    if not masked:  # a lower bound, rounded down
        margins = [Fraction(x["float64"].pop("least_margin")) for x in (document, one)]
        assert Fraction(9, 10) * margins[1] < margins[0] <= margins[1]
    assert document | {"sha256": 0} == one | {"sha256": 0}


@given(datasets(), st.integers(1, 5), st.integers(1, 5))
def test_any_data_any_cut(tmp_path_factory, data, a, b):
    pytest.importorskip("pyarrow")
    folder = tmp_path_factory.mktemp("drawn")
    try:
        model = stored(data, folder)
        cuts = [cut_up(data, folder, min(k, len(data)), f"{i}/*.parquet" if i else "0")
                for i, k in enumerate((a, b))]  # fmt: skip
    except (hm.ContradictionError, InputError):
        return
    first, second = (certify_shards(model, cut).certificate for cut in cuts)
    assert first.to_json() == second.to_json()
    assert first.N == hm.certify(model, data).N


def test_a_wrong_sequence_is_named_by_its_number_in_the_whole(tmp_path):
    data = drawn()
    model = stored(data, tmp_path)
    labels = [*data.labels]
    labels[31] = "a" if labels[31] == "b" else "b"
    wrong = hm.Dataset([*data], labels, data)
    for shards in (1, 3, 8):
        found = certify_shards(model, cut_up(wrong, tmp_path, shards, f"w{shards}")).certificate
        assert found.verdict == "refuted"
        witnesses = [(each.sequence, each.name, each.label) for each in found.witnesses]
        assert witnesses == [(31, "sequence 32", labels[31])]
        assert found.witnesses[0].output == hm.certify(model, wrong).witnesses[0].output


class Careless(Engine):
    """Loses the last piece."""

    def run(self, work, pieces):
        yield from Serial().run(work, pieces[:-1])


class Lying(Engine):
    """Gives the result of the first piece for the second."""

    def run(self, work, pieces):
        first = work(pieces[0])
        for place, _ in enumerate(pieces):
            yield place, first


@pytest.mark.parametrize("engine", [Careless(), Lying()])
def test_no_verdict_where_a_shard_was_not_looked_at(tmp_path, engine):
    data = drawn()
    model, shards = stored(data, tmp_path), cut_up(data, tmp_path, 4)
    with pytest.raises(VerdictError):
        certify_shards(model, shards, engine)


def test_the_root_binds_labels_tokens_and_order(tmp_path):
    pytest.importorskip("pyarrow")
    data = drawn(12)
    model = stored(data, tmp_path)
    tokens, labels = [*data], [*data.labels]
    others = {
        "same": data,
        "order": hm.Dataset(tokens[::-1], labels[::-1]),
        "a token": hm.Dataset([((Fraction(1, 7),) * 3,), *tokens[1:]], labels),
        "a label": hm.Dataset(tokens, ["a" if labels[0] == "b" else "b", *labels[1:]], data),
        "a set": hm.Dataset(tokens, labels, {"a": [0, 0, 1], "b": [1, 0, 0]}),
    }
    roots = {}
    for name, other in others.items():
        other.save(tmp_path / f"{name}/*.parquet", shards=3)
        found = certify_shards(model, Shards.open(tmp_path / name)).certificate
        roots[name] = found.sha256["merkle"]
    assert len(set(roots.values())) == len(others)


# ---- building ----


NUMBERS = st.floats(-1e9, 1e9) | st.sampled_from([1e200, -1e200, 1e-300, 2.0**-1070, 3.0])


@given(st.lists(st.lists(NUMBERS, min_size=1, max_size=7), min_size=1, max_size=5))
def test_sums_are_exact(rows):
    data = hm.Dataset([[(x,) for x in row] for row in rows])
    hi, lo, more = exact_sums(data.tokens, data.offsets)
    for j, row in enumerate(rows):
        total = sum(map(Fraction, row), Fraction(0))
        assert hi[j, 0] == float(total)
        if str(j) in more:
            p, q = more[str(j)][0].split("/")
            assert Fraction(int(p, 16), int(q, 16)) == total
        else:
            assert Fraction(float(hi[j, 0])) + Fraction(float(lo[j, 0])) == total


@pytest.mark.parametrize("count", [40, pytest.param(3000, marks=pytest.mark.slow)])
def test_the_model_does_not_depend_on_the_shards(tmp_path, count):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(count, 3, 8))
    y = np.where(X.mean(axis=1)[:, 0] + 0.1 * rng.normal(size=count) > 0, "yes", "no")
    X[7], y[7] = X[6][::-1], y[6]
    data, found = hm.Dataset(X, y), set()
    for shards in (1, 3, 20):
        parts = cut_up(data, tmp_path, shards, f"data{shards}")
        model, journal = build_shards(parts, tmp_path / "model.npz")
        journal.end()
        model.save(tmp_path / "model.npz")
        found.add((tmp_path / "model.npz").read_bytes())
        verdict = certify_shards(tmp_path / "model.npz", parts).certificate
        assert verdict.proved
        assert verdict.N == count - 1 == model.meta["N"]
        assert model.meta["dataset"] == verdict.sha256["merkle"]
    assert len(found) == 1
    assert hm.certify(model, data).proved
    assert sorted(x.name for x in tmp_path.glob("*.work")) == []


def test_numbers_that_floats_do_not_hold(tmp_path):
    pytest.importorskip("pyarrow")
    rng = Random(0)
    X = [[[Fraction(rng.randint(-99, 99), 7) for _ in "xyz"] for _ in "123"] for _ in range(30)]
    sets = disjoint_sets(["a", "b"], 3, Random(2))
    data = hm.Dataset(X, ["a", "b"] * 15, sets)
    for shards in (1, 4):
        data.save(tmp_path / f"{shards}/*.parquet", shards=shards)
        model, journal = build_shards(Shards.open(tmp_path / str(shards)), tmp_path / "m")
        journal.end()
        assert hm.certify(model, data).proved


@pytest.mark.parametrize("strategy", ["paper", "peel", "fold", "auto"])
def test_other_strategies_load_all_and_say_so(tmp_path, strategy):
    data, said = drawn(), []
    model, _ = build_shards(
        cut_up(data, tmp_path, 3), tmp_path / "m", None, Options(strategy), say=said.append
    )
    assert len(said) == 1
    assert "all 40 sequences are loaded" in said[0]
    assert model == hm.build(data, strategy=strategy)


def test_two_labels_with_one_mean_load_all(tmp_path):
    data = hm.Dataset([[(0, 1), (0, -1)], [(1, 0), (-1, 0)], [(2, 3)]], ["a", "b", "a"])
    said = []
    model, _ = build_shards(cut_up(data, tmp_path, 3), tmp_path / "m", say=said.append)
    assert "share a mean" in said[0]
    assert hm.certify(model, data).proved


def test_a_contradiction_across_shards(tmp_path):
    data = hm.Dataset([[(0, 1)], [(2, 2)], [(0, 1), (0, 1)]], ["a", "a", "b"])
    with pytest.raises(hm.ContradictionError) as problem:
        build_shards(cut_up(data, tmp_path, 3), tmp_path / "m")
    with pytest.raises(hm.ContradictionError) as expected:
        hm.build(data)
    assert str(problem.value) == str(expected.value)
    assert not [*tmp_path.glob("*.work")]


# ---- commands ----


def test_commands(run, tmp_path):
    data = drawn()
    data.save(tmp_path / "data.npz")
    data.save(tmp_path / "shards", shards=3)
    model, cert = tmp_path / "model.npz", tmp_path / "cert.json"
    built = run("build", tmp_path / "shards", "-o", model, "--workers", 1, "--certificate", cert)
    assert (built.code, built.err) == (0, "")
    assert "3 files, 40 sequences" in built.out
    assert json.loads(cert.read_text())["sequences"] == 40
    globbed = run("verify", model, tmp_path / "shards/part-*.npz", "--workers", 1, "--json")
    assert globbed.code == 0
    assert [x["sequences"] for x in json.loads(globbed.out)["shards"]] == [14, 13, 13]
    assert run("verify", model, tmp_path / "data.npz").code == 0
    for options in ([], ["--exact"], ["--trace"]):
        results = []
        for each in ("data.npz", "shards"):
            workers = ["--workers", 1] if each == "shards" else []
            shown = run("run", model, tmp_path / each, *options, *workers)
            out = tmp_path / "out.json"
            assert run("run", model, tmp_path / each, *options, *workers, "-o", out).code == 0
            results.append((shown.out, out.read_text()))
        assert results[0] == results[1]
    assert not [*tmp_path.glob("*.work")]


def test_parquet_and_readings(run, tmp_path):
    pytest.importorskip("pyarrow")
    drawn().save(tmp_path / "shards/*.parquet", shards=3)
    options = ["--workers", 1, "--positional", "--window", 2, "--label-sets", "argmax"]
    built = run("build", tmp_path / "shards", "-o", tmp_path / "m.npz", *options)
    assert built.code == 0
    assert "loaded" in built.err  # no cover is shallower than peel
    assert run("verify", tmp_path / "m.npz", tmp_path / "shards", "--workers", 1).code == 0


def test_the_checker_proves_each_shard_and_refutes_the_certificate_of_all(tmp_path):
    data = drawn()
    model, shards = stored(data, tmp_path), cut_up(data, tmp_path, 3)
    certify_shards(model, shards).certificate.save(tmp_path / "cert.json")
    for shard in shards.shards:
        words = [sys.executable, "-m", "hardmax.checker", str(model), shard.path]
        assert subprocess.run(words, capture_output=True).returncode == 0
        words += ["--certificate", str(tmp_path / "cert.json")]
        assert subprocess.run(words, capture_output=True).returncode == 1


def test_strategy_learn_chooses_how_shards_are_read(run, tmp_path):
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c"], 20)
    X = rng.normal(size=(60, 6, 2)) + np.array([ord(c) for c in y])[:, None, None]
    hm.Dataset(X, y).save(tmp_path / "shards", shards=4)
    model = tmp_path / "m.npz"
    built = run(
        "build", tmp_path / "shards", "-o", model, "--strategy", "learn", "--workers", 1
    )  # fmt: skip
    assert built.code == 0
    assert "all 60 sequences are loaded" in built.err
    assert hm.Transformer.load(model).reading.label_sets == "argmax"
    assert run("verify", model, tmp_path / "shards", "--workers", 1).code == 0


def _refused(run, *arguments):
    found = run(*arguments)
    assert found.code == 2
    assert found.err.count("\n") == 1
    return found.err


def test_what_is_refused(run, tmp_path):
    data = drawn()
    data.save(tmp_path / "data.npz")
    data.save(tmp_path / "shards", shards=2)
    model = stored(data, tmp_path)
    one = ("verify", model, tmp_path / "data.npz")
    for option in (["--workers", 2], ["--engine", "dask"], ["--scheduler", "x:1"], ["--resume"]):
        assert "is one file" in _refused(run, *one, *option)
    many = ("verify", model, tmp_path / "shards")
    assert "--engine dask" in _refused(run, *many, "--scheduler", "tcp://x:1")
    assert "softmax" in _refused(run, *many, "--executor", "softmax")
    with pytest.raises(InputError, match="not empty"):
        data.save(tmp_path / "shards", shards=2)
    for wrong in (0, 41, True):
        with pytest.raises(InputError, match="shards"):
            data.save(tmp_path / "new", shards=wrong)
    (tmp_path / "empty").mkdir()
    assert "no .npz or .parquet" in _refused(run, "verify", model, tmp_path / "empty")
    assert "no such file" in _refused(run, "verify", model, tmp_path / "nothing*.npz")
    labels = tmp_path / "shards/labels.json"
    content = labels.read_text()
    labels.unlink()
    assert "labels.json" in _refused(run, *many)
    assert run(*many, "--labels-of", model, "--workers", 1).code == 0
    for broken in ("[]", "{", '{"labels": []}', '{"labels": ["a", "a"]}', '{"labels": ["a"]}'):
        labels.write_text(broken)
        assert "shards" in _refused(run, *many, "--workers", 1)
    labels.write_text(content.replace('"b"', '"c"'))
    assert "'b'" in _refused(run, *many, "--workers", 1)


def test_shards_that_hold_other_sets_than_labels_json(run, tmp_path):
    data = drawn()
    own = hm.Dataset([*data], data.labels, {"a": [5, 0, 0], "b": [6, 0, 0]})
    own.save(tmp_path / "shards", shards=2)
    model = stored(own, tmp_path)
    assert run("verify", model, tmp_path / "shards", "--workers", 1).code == 0
    assert run("verify", model, tmp_path / "shards/part-00000.npz").code == 0
    labels = tmp_path / "shards/labels.json"
    labels.write_text(labels.read_text().replace("5", "7", 1))
    assert "label sets" in _refused(run, "verify", model, tmp_path / "shards", "--workers", 1)


def test_shards_that_do_not_fit_together(run, tmp_path):
    data = drawn()
    model = stored(data, tmp_path)
    shards = tmp_path / "shards"
    data.save(shards, shards=2)
    (shards / "labels.json").write_text('{"labels": ["a", "b"]}')
    other = shards / "part-00002.npz"
    hm.Dataset([[(1, 2)]], ["a"]).save(other)
    for command in (["verify", model, shards], ["build", shards, "-o", tmp_path / "new.npz"]):
        assert "part-00002.npz: " in _refused(run, *command, "--workers", 1)
    hm.Dataset([[(1, 2, 3)]]).save(other)
    for command in (["verify", model, shards], ["build", shards, "-o", tmp_path / "new.npz"]):
        assert "has no label" in _refused(run, *command, "--workers", 1)
    assert run("run", model, shards, "--workers", 1).out.count("\n") == 41


def test_integer_labels(tmp_path):
    data = drawn(labels=(10, 9))
    model, _ = build_shards(cut_up(data, tmp_path, 3), tmp_path / "m")
    assert model.meta["label_type"] == "integer"
    assert set(model.predict(data)) == {9, 10}
    (tmp_path / "data/labels.json").write_text('{"labels": [9, 10]}')
    assert Shards.open(tmp_path / "data").example.given_sets == data.given_sets


def test_what_comes_back_from_a_shard_is_small_and_json(tmp_path):
    data = drawn()
    model, shards = stored(data, tmp_path), cut_up(data, tmp_path, 2)
    job = Job(str(model), hm.Transformer.load(model).sha256, shards.frame)
    found = judge_shard(job, shards.shards[1])
    assert json.loads(json.dumps(vars(found))) == vars(found)
    nodes = [Node(level, i, bytes.fromhex(x)) for level, i, x in found.nodes]
    assert sum(1 << node.level for node in nodes) == 20
