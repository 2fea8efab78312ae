"""Networks over the rationals: evaluator = checker = the definition; files; what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from network_reference import output

import hardmax as hm
from hardmax import checker, network_checker
from hardmax.exact.array import ExactArray
from hardmax.formats.npz import write_npz
from hardmax.network.layer import rearranged
from hardmax.network.layers import (
    Affine,
    Attention,
    Embedding,
    Norm,
    Position,
    Prepend,
    Readout,
    Relu,
    Residual,
)
from hardmax.network.repair import repair
from hardmax.testing import datasets

NUMBERS = st.one_of(
    st.integers(-2, 2).map(Fraction), st.fractions(-3, 3, max_denominator=7)
)  # small integers: many ties


def arrays(*shape):
    """Nested lists of exact numbers."""
    if len(shape) == 1:
        return st.lists(NUMBERS, min_size=shape[0], max_size=shape[0])
    return st.lists(arrays(*shape[1:]), min_size=shape[0], max_size=shape[0])


def maybe(strategy):
    return st.none() | strategy


@st.composite
def attentions(draw, d, e, weights="hardmax", **options):
    H, k, m = draw(st.integers(1, 3)), draw(st.integers(1, 2)), draw(st.integers(1, 2))
    keys = draw(st.booleans())
    O = draw(st.booleans()) or d != e
    k, m = k if keys else d, m if O else e
    return Attention(
        Q=draw(arrays(H, k, d)), V=draw(arrays(H, m, d)),
        K=draw(arrays(H, k, d)) if keys else None, O=draw(arrays(H, e, m)) if O else None,
        q=draw(maybe(arrays(H, k))), k=draw(maybe(arrays(H, k))) if keys else None,
        v=draw(maybe(arrays(H, m))), o=draw(maybe(arrays(e))),
        weights=weights, causal=draw(st.booleans()), **options,
    )  # fmt: skip


@st.composite
def rational_networks(draw):
    """Networks of 2 → 3 with heads, masks, residuals, positions, tokens in front."""
    d, layers, longest = 2, [], 5
    if draw(st.booleans()):
        layers.append(Prepend(draw(arrays(1, d))))
        longest += 1
    if draw(st.booleans()):
        layers.append(Position(draw(arrays(longest, d))))
    for _ in range(draw(st.integers(0, 3))):
        kind = draw(st.sampled_from(["attention", "residual", "hidden", "affine"]))
        if kind == "attention":
            layers.append(draw(attentions(d, d)))
        elif kind == "residual":
            layers.append(Residual([draw(attentions(d, d)), Relu()], draw(NUMBERS)))
        elif kind == "hidden":
            h = draw(st.integers(1, 3))
            inner = [
                Affine(draw(arrays(h, d)), draw(arrays(h))),
                Relu(),
                Affine(draw(arrays(d, h))),
            ]
            layers.append(Residual(inner, draw(NUMBERS)))
        else:
            layers.append(Affine(draw(arrays(d, d)), draw(maybe(arrays(d)))))
    layers += [
        Readout(draw(st.sampled_from(["mean", "first", "last"]))),
        Affine(draw(arrays(3, d))),
    ]
    return hm.Network(layers, dimension=d, classes=["a", "b", "c"])


sequences = st.lists(st.lists(arrays(2), min_size=1, max_size=5), min_size=1, max_size=3)


def class_of(vector):
    best = [name for name, x in zip("abc", vector, strict=True) if x == max(vector)]
    return best[0] if len(best) == 1 else None


@given(rational_networks(), sequences)
@settings(max_examples=40, deadline=None)
def test_the_evaluator_is_the_definition_exactly(network, Z):
    assert network.outputs(Z) == [output(network, z) for z in Z]


@given(rational_networks(), sequences, st.data())
@settings(max_examples=20, deadline=None)
def test_verdict_and_checker_follow_the_definition(tmp_path_factory, network, Z, data):
    labels = [data.draw(st.sampled_from("abc")) for _ in Z]
    truth = [class_of(output(network, z)) for z in Z]
    folder = tmp_path_factory.mktemp("network")
    network.save(folder / "network.npz")
    sets = {name: [k, 0] for k, name in enumerate("abc")}
    for said in (labels, [t or label for t, label in zip(truth, labels, strict=True)]):
        hm.Dataset(Z, said, sets).save(folder / "data.json")
        right = [t == label for t, label in zip(truth, said, strict=True)]
        found = hm.certify(hm.Network.load(folder / "network.npz"), folder / "data.json")
        assert found.verdict == ("proved" if all(right) else "refuted")
        assert [x.sequence for x in found.witnesses] == [j for j, x in enumerate(right) if not x]
        code, _ = checker.answer([str(folder / "network.npz"), str(folder / "data.json")])
        assert code == (0 if all(right) else 1)


@given(rational_networks())
@settings(max_examples=12, deadline=None)
def test_a_file_keeps_every_number(tmp_path_factory, network):
    path = tmp_path_factory.mktemp("network") / "network.npz"
    network.save(path)
    assert hm.Network.load(path) == network
    again = path.with_name("again.npz")
    hm.Network.load(path).save(again)
    assert again.read_bytes() == path.read_bytes()
    with np.load(path, allow_pickle=False) as file:
        told = json.loads(str(file["architecture"]))
        assert [layer["kind"] for layer in told["layers"]] == [x.kind for x in network.layers]
        last = len(network.layers) - 1
        assert np.array_equal(file[f"{last}.W"], network.layers[-1].W.values)


@given(datasets(max_sequences=5, max_dimension=3), st.sampled_from(["paper", "peel", "cover"]))
@settings(max_examples=15, deadline=None)
def test_our_own_models_convert_with_equal_outputs(data, strategy):
    try:
        model = hm.build(data, strategy=strategy)
    except hm.ContradictionError:
        return
    network = hm.Network.of(model)
    assert network.outputs(data) == model.outputs(data)
    assert hm.certify(network, data).proved


def test_an_embedding_and_a_cls_token_at_work():
    network = hm.Network(
        [
            Embedding([[1, 0], [0, 1], ["1/2", "1/2"]]),
            Prepend([[5, 5]]),
            Attention(Q=[[[0, 0], [0, 0]]], V=[[[1, 0], [0, 1]]]),
            Readout("first"),
        ]
    )
    assert network.dimension == 1
    assert network.outputs([[(0,), (1,), (2,)]]) == [(Fraction(13, 8), Fraction(13, 8))]
    for bad in (3, -1, "1/2"):
        with pytest.raises(hm.InputError, match=r"sequence 2: token 1 is .* of the embedding"):
            network.outputs([[(0,)], [(bad,)]])


def test_stacked_heads_keep_exact_numbers_in_their_places():
    third = Fraction(1, 3)
    array = ExactArray.from_flat([Fraction(k) + third for k in range(12)], (2, 3, 2))
    turned = rearranged(array, (1, 0, 2), (3, 4))
    expected = [[6 * h + 2 * e + m + third for h in (0, 1) for m in (0, 1)] for e in range(3)]
    assert [list(turned.row(e)) for e in range(3)] == expected


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Affine([[1, 2]], [1, 2]), r"affine: b has the shape \(2,\), expected \(e = 1\)"),
        (lambda: Affine([[1, 2], [3]]), "rows of unequal lengths"),
        (lambda: Norm(0), "norm: eps must be positive"),
        (lambda: Attention(Q=[[[1]]], V=[[[1]]], weights="sparsemax"), "neither hardmax"),
        (lambda: Attention(Q=[[[1, 2]]], V=[[[1, 2]]]), "square"),
        (lambda: Readout("max"), "none of mean, first and last"),
        (lambda: Residual([Readout()]), "no place in a residual branch"),
        (lambda: hm.Network([Affine([[1]])]), "0 readouts, expected one"),
        (lambda: hm.Network([Affine([[1]]), Affine([[1, 2]]), Readout()]), "layer 1: .* gets 1"),
        (lambda: hm.Network([Readout()]), "give dimension=d"),
        (lambda: hm.Network([Affine([[1], [2]]), Readout()], classes=["a"]), "1 class for"),
        (lambda: hm.Network([Readout(), Prepend([[1]])]), "no place behind the readout"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(make, message):
    with pytest.raises(hm.InputError, match=message):
        make()


def test_sequences_longer_than_the_positions_are_named():
    network = hm.Network([Position([[1], [2]]), Readout()])
    with pytest.raises(hm.InputError, match="sequence 2 has 3 tokens, layer 0 positions for 2"):
        network.outputs([[(1,)], [(1,), (2,), (3,)]])


def change(path, **changes):
    with np.load(path, allow_pickle=False) as file:
        members = {name: file[name] for name in file.files}
    members.update(changes)
    np.savez(path, **{name: x for name, x in members.items() if x is not None})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"0.W": None}, "no member '0.W'"),
        ({"0.X": np.ones(2)}, "'0.X' belongs to no layer"),
        ({"0.W": np.ones((1, 3))}, "layer 1: readout|takes tokens"),
        ({"0.W": np.ones((1, 2), np.float32)}, "expected float64"),
        ({"0.W": np.array([[np.nan, 1]])}, "NaN"),
        ({"format": np.array("hardmax-network/2")}, "not a network file"),
        ({"architecture": np.array("{}")}, "needs the keys dimension, classes and layers"),
        ({"architecture": np.array('{"dimension":2,"classes":null,"layers":[{"kind":"swish"}]}')},
         "the kind .*swish.* is unknown"),
        ({"architecture": np.array(
            '{"dimension":2,"classes":null,"layers":[{"kind":"relu","x":1}]}'),
          "0.W": None}, "a key is missing or unknown"),
    ],
)  # fmt: skip
def test_broken_files_are_one_clear_error(tmp_path, changes, message):
    path = tmp_path / "network.npz"
    hm.Network([Affine([[1, 2]]), Readout()]).save(path)
    change(path, **changes)
    with pytest.raises(hm.InputError, match=message):
        hm.Network.load(path)
    hm.Dataset([[(1, 2)]], ["a"]).save(tmp_path / "data.json")
    code, _ = checker.answer([str(path), str(tmp_path / "data.json")])
    assert code == 2


def test_the_command_of_the_checker_takes_networks(tmp_path):
    hm.Network([Affine([[1, 0], [0, 1]]), Readout()], classes=["a", "b"]).save(tmp_path / "n.npz")
    for label, code in (("a", 0), ("b", 1)):
        hm.Dataset([[(2, 1)]], [label]).save(tmp_path / "d.json")
        command = [sys.executable, "-m", "hardmax.checker", "n.npz", tmp_path / "d.json"]
        assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == code


def test_other_files_are_told_apart(tmp_path):
    data = hm.Dataset([[(0, 1)], [(2, 3)]], ["a", "b"])
    hm.build(data).save(tmp_path / "model.npz")
    with pytest.raises(hm.InputError, match="model"):
        hm.Network.load(tmp_path / "model.npz")
    hm.Network.of(hm.build(data)).save(tmp_path / "network.npz")
    with pytest.raises(hm.InputError, match="this is a network"):
        hm.Transformer.load(tmp_path / "network.npz")


def test_the_reading_in_the_meta_holds_for_networks(tmp_path):
    """Windows and strides, for the library, its certificate, its repair and the checker."""
    path, data = tmp_path / "network.npz", tmp_path / "data.json"
    hm.Dataset([[[1], [2], [4]], [[3], [1], [0]]], ["up", "down"]).save(data)
    meta = {"window": 2, "stride": 2}
    layers = [Affine([[-1, 1], [1, -1]]), Readout("first")]
    hm.Network(layers, classes=["up", "down"], meta=meta).save(path)
    network = hm.Network.load(path)
    read = hm.load_for(network, data)
    assert read.dimension == 2
    certificate = hm.certify(network, read)
    assert certificate
    assert certificate.to_json()["reading"] == {"window": 2, "stride": 2}
    told = network_checker.check(path.read_bytes(), data.read_bytes())
    assert told[0] == "proved"
    assert hm.load_for(repair(network, read, 0).network, data).reading == read.reading


def test_a_repaired_transformer_keeps_argmax(tmp_path):
    data = hm.Dataset([[[1, 0]], [[0, 1]]], ["a", "b"], label_sets="argmax")
    network = hm.Network.of(hm.build(data, strategy="paper"))
    assert hm.certify(network, data)
    path, file = tmp_path / "network.npz", tmp_path / "data.json"
    data.save(file)
    network.save(path)
    assert hm.certify(hm.Network.load(path), hm.load_for(network, file)).text()
    assert network_checker.check(path.read_bytes(), file.read_bytes())[0] == "proved"


ODD = [
    None,
    True,
    -1,
    0,
    3,
    1e300,
    "x",
    "1/0",
    "1/3",
    [],
    {},
    [[1]],
    10**30,
    {"kind": "relu"},
    ["W"],
]


def mutated(value, rng):
    """A JSON value in which something is left out, put in, or of another type."""
    if isinstance(value, dict) and value and rng.random() < 0.8:
        key, fate = rng.choice(list(value)), rng.random()
        if fate < 0.15:
            return {k: x for k, x in value.items() if k != key}
        if fate < 0.3:
            return {**value, rng.choice(["kind", "W", "arrays", "eps", "x"]): rng.choice(ODD)}
        return {**value, key: mutated(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.8:
        place = rng.randrange(len(value))
        new = [mutated(value[place], rng)] if rng.random() < 0.7 else []
        return [*value[:place], *new, *value[place + 1 :]]
    return rng.choice(ODD)


@pytest.mark.parametrize("seed", range(3))
def test_mutated_files_give_one_error_or_the_same_verdict_twice(tmp_path, seed):
    rng = Random(seed)
    network = hm.Network(
        [
            Embedding([["1/3", 1], [2, 3]]),
            Prepend([[1, "1/5"]]),
            Position([[k, -k] for k in range(4)]),
            Residual([Attention(Q=[[[1, 2]]], K=[[[1, 2]]], V=[[[2, 1]]], O=[[[1], [2]]]), Relu()]),
            Readout("last"),
            Affine([[1, 0], ["2/3", -1], [-1, 1]]),
        ],
        classes=["a", "b", "c"],
    )  # fmt: skip
    path, data = tmp_path / "network.npz", tmp_path / "data.json"
    labels = [x or "b" for x in network.predict([[(0,), (1,)], [(0,)]])]
    hm.Dataset([[(0,), (1,)], [(0,)]], labels, {"a": [0], "b": [1], "c": [2]}).save(data)
    network.save(path)
    with np.load(path, allow_pickle=False) as file:
        members = {name: file[name] for name in file.files}
    read = 0
    for trial in range(60):
        told = json.loads(str(members["architecture"]))
        changed = dict(members)
        if trial % 4 == 0:  # other numbers in a sound file
            changed["2.table"] = np.round(np.random.default_rng(trial).normal(size=(4, 2)), 2)
        else:
            told = mutated(told, rng)
        write_npz(path, {**changed, "architecture": np.array(json.dumps(told))})
        try:
            verdict = hm.certify(hm.Network.load(path), data).verdict
        except hm.InputError as problem:
            verdict = str(problem)
            assert "\n" not in verdict
        code, _ = checker.answer([str(path), str(data)], network_checker.check)
        assert code in (0, 1, 2, 3)
        if verdict in ("proved", "refuted"):
            read += 1
            assert code == (0 if verdict == "proved" else 1)
    assert read >= 15
