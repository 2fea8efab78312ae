"""Repair: every mistake right, all other outputs exactly as they were; the commands."""

from __future__ import annotations

import json
from fractions import Fraction
from importlib.resources import files
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hardmax as hm
from hardmax import checker, network_checker
from hardmax.cli.main import exit_code
from hardmax.network.layers import Affine, Gelu, Norm, Readout, Relu, Residual
from hardmax.network.repair import NotApartError, repair

EXAMPLES = Path(__file__).parents[1] / "examples"
DIGITS = [str(EXAMPLES / name) for name in ("digits.npz", "digits_train.npz", "digits_test.npz")]
PLANE = hm.Network([Readout()], dimension=2, classes=["a", "b"])


@given(st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4), st.sampled_from("ab")),
                min_size=2, max_size=12))  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_points_of_a_lattice(points):
    data = hm.Dataset([[p[:2]] for p in points], [p[2] for p in points], {"a": [0, 0], "b": [1, 0]})
    labels = {}
    for p in points:
        labels.setdefault(p[:2], set()).add(p[2])
    if any(len(x) > 1 for x in labels.values()):
        with pytest.raises(NotApartError) as caught:
            repair(PLANE, data)
        first, second = caught.value.pair
        assert points[first][:2] == points[second][:2]
        assert points[first][2] != points[second][2]
        return
    found = repair(PLANE, data)
    assert hm.certify(found.network, data).proved
    before, after = PLANE.outputs(data), found.network.outputs(data)
    sides = [(x > y, y > x) for x, y in before]
    wrong = {j for j, p in enumerate(points) if sides[j] != (p[2] == "a", p[2] == "b")}
    assert set(found.wrong) == wrong
    assert all(after[j] == before[j] for j in range(len(data)) if j not in wrong)
    assert found.units <= 3 * len(wrong)


def test_point_labels_are_hit_exactly_by_rational_networks():
    points = [(k, Fraction(k * k, 3)) for k in range(12)]
    sets = {str(k): p for k, p in enumerate(points)}
    labels = [str(k) for k in range(12)]
    labels[3], labels[7] = "7", "3"
    network = hm.Network([Readout()], dimension=2)
    data = hm.Dataset([[p] for p in points], labels, sets)
    found = repair(network, data)
    assert found.wrong == (3, 7)
    assert hm.certify(found.network, data).proved
    expected = [sets[label] for label in labels]
    assert found.network.outputs(data) == expected


def test_equal_outputs_of_two_labels_are_refused_with_the_two():
    model = hm.build(hm.Dataset([[(0, 0)], [(1, 0)], [(2, 1)]], ["a", "a", "b"]))
    asked = hm.Dataset([[(0, 0)], [(1, 0)], [(2, 1)]], ["a", "b", "b"])
    with pytest.raises(NotApartError, match="are equal"):
        repair(hm.Network.of(model), asked)


def test_networks_over_the_reals_keep_their_other_outputs():
    rng = np.random.default_rng(1)
    inner = [Affine(rng.normal(size=(8, 3))), Gelu(), Affine(rng.normal(size=(3, 8)))]
    network = hm.Network(
        [Residual(inner), Norm("1e-5"), Readout(), Affine(rng.normal(size=(3, 3)))], classes="abc"
    )
    Z = rng.normal(size=(40, 4, 3))
    labels = network.predict(Z)
    for j in (3, 11, 20, 33):
        labels[j] = "abc"["abc".index(labels[j]) - 1]
    data = hm.Dataset(Z, labels, {name: [k, 0, 0] for k, name in enumerate("abc")})
    found = repair(network, data)
    assert found.wrong == (3, 11, 20, 33)
    assert found.units <= 12
    assert hm.certify(found.network, data).proved
    for (low, high), (least, most) in zip(
        chain(*network.enclosures(Z[:3], 200)), chain(*found.network.enclosures(Z[:3], 200))
    ):
        assert abs(low - least) < Fraction(1, 2**100) > abs(high - most)


def test_a_network_without_mistakes_stays_itself():
    data = hm.Dataset([[(1, 0)], [(0, 1)]], ["a", "b"])
    found = repair(PLANE, data)
    assert found.network is PLANE
    assert found.units == 0


@pytest.mark.parametrize(
    ("count", "wrong"), [(150, 4), pytest.param(1437, 23, marks=pytest.mark.slow)]
)
def test_the_digits_are_decided_repaired_and_proved(tmp_path, capsys, count, wrong):
    repaired, certificate = tmp_path / "repaired.npz", tmp_path / "certificate.json"
    train, test = str(tmp_path / "train.npz"), str(tmp_path / "test.npz")
    hm.load(DIGITS[1])[:count].save(train)
    hm.load(DIGITS[2])[: count // 2].save(test)
    assert exit_code(["verify", DIGITS[0], train, "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["counts"] == {"proved": count - wrong, "refuted": wrong, "undecided": 0}
    arguments = ["build", train, "--from", DIGITS[0], "-o", str(repaired), "--test", test, "--json"]
    assert exit_code([*arguments, "--certificate", str(certificate)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["verdict"] == "proved"
    assert told["repaired"] == wrong
    assert told["test"]["after"] >= told["test"]["before"] - 5
    assert exit_code(["verify", str(repaired), train]) == 0
    jsonschema = pytest.importorskip("jsonschema")
    schema = files("hardmax").joinpath("schemas/network_certificate.schema.json").read_text()
    written = json.loads(certificate.read_text())
    jsonschema.Draft202012Validator(json.loads(schema)).validate(written)


def test_every_example_file_fits_the_schema_of_its_architecture():
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(files("hardmax").joinpath("schemas/network.schema.json").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    with np.load(DIGITS[0]) as file:
        told = json.loads(str(file["architecture"]))
    validator.validate(told)
    for wrong in ({"kind": "swish"}, {"kind": "norm"}, {"kind": "attention", "weights": "max"}):
        with pytest.raises(jsonschema.ValidationError):
            validator.validate({**told, "layers": [wrong]})


def test_commands_refuse_what_has_no_meaning(tmp_path, capsys):
    PLANE.save(tmp_path / "net.npz")
    hm.Dataset([[(1, 0)], [(1, 0)]], ["a", "b"]).save(tmp_path / "data.json")
    hm.Dataset([[(1, 0)]], ["c"]).save(tmp_path / "other.json")
    net, data, other = (str(tmp_path / x) for x in ("net.npz", "data.json", "other.json"))
    output = str(tmp_path / "out.npz")
    assert exit_code(["verify", net, data, "--radius"]) == 2
    assert "not about networks" in capsys.readouterr().err
    assert exit_code(["build", data, "--from", net, "-o", output, "--strategy", "peel"]) == 2
    assert "--strategy is about new models" in capsys.readouterr().err
    assert exit_code(["verify", net, other]) == 2
    assert "'c', which is no class of the network" in capsys.readouterr().err
    assert exit_code(["build", data, "--from", net, "-o", output]) == 1
    assert "are equal" in capsys.readouterr().out
    assert not Path(output).exists()


def test_a_model_of_ours_can_be_repaired(tmp_path):
    sets = {"a": [0, 0], "b": [1, 0]}
    first = hm.Dataset([[(0, 0)], [(1, 0)]], ["a", "b"], sets)
    hm.build(first).save(tmp_path / "model.npz")
    more = hm.Dataset([[(0, 0)], [(1, 0)], [(5, 5)], [(7, 7), (0, 0)]], list("abab"), sets)
    more.save(tmp_path / "more.json")
    model, data, output = (str(tmp_path / x) for x in ("model.npz", "more.json", "out.npz"))
    assert exit_code(["build", data, "--from", model, "-o", output]) == 0
    assert checker.answer([output, data], network_checker.check)[0] == 0
    assert isinstance(hm.Network.load(output).layers[-1], Residual)
    assert isinstance(hm.Network.load(output).layers[-1].layers[1], Relu)
