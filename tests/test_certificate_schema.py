"""The JSON Schema of certificates accepts what is written and refuses other forms."""

from __future__ import annotations

import copy
import json
from importlib.resources import files
from pathlib import Path
from random import Random

import pytest

import hardmax as hm
from hardmax.certify.floating import certify_float
from hardmax.cli.main import exit_code
from hardmax.testing import disjoint_sets

jsonschema = pytest.importorskip("jsonschema")
EXAMPLES = Path(__file__).parents[1] / "examples"
SCHEMA = json.loads(files("hardmax").joinpath("schemas/certificate.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def _written(tmp_path, *options):
    model, certificate = tmp_path / "model.npz", tmp_path / "certificate.json"
    data = str(EXAMPLES / "figure2.json")
    assert exit_code(["build", data, "-o", str(model)]) == 0
    arguments = ["verify", str(model), data, "--certificate", str(certificate), *options]
    assert exit_code(arguments) == 0
    return json.loads(certificate.read_text())


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("options", [(), ("--radius", "--executor", "float64")])
def test_written_certificates(tmp_path, options):
    document = _written(tmp_path, *options)
    VALIDATOR.validate(document)
    assert list(document) == SCHEMA["required"]
    assert (document["radius"] is None) == (not options)


@pytest.mark.parametrize("seed", range(8))
def test_every_kind_of_label_set(seed):
    names = ["a", "b", "c", "d", "e"]
    sets = disjoint_sets(names, 2, Random(seed))
    data = hm.Dataset([[(k, 1)] for k in range(5)], names, sets)
    certificate = hm.certify(hm.build(data, seed=seed), data)
    document = certificate.to_json()
    assert len(document["separation"]) == 10
    document["sha256"] = {"data": "0" * 64, "model": "f" * 64}
    VALIDATOR.validate(document)


def test_readings_are_stated_where_they_are_not_the_default():
    reading = hm.Reading(window=2, dilations=(1, 3), stride=2, lift=1, label_sets="argmax")
    data = hm.Dataset([[(k,), (1,)] for k in range(3)], range(3), reading=reading)
    document = hm.certify(hm.build(data), data).to_json()
    document["sha256"] = {"data": "0" * 64, "model": "f" * 64}
    VALIDATOR.validate(document)
    for wrong in ({}, {"window": 1}, {"positional": True}, {"label_sets": "points"}, {"lift": 0}):
        assert not VALIDATOR.is_valid(document | {"reading": wrong})


def test_data_in_shards_have_a_merkle_root_in_the_place_of_the_hash(tmp_path_factory):
    document = _true(tmp_path_factory)
    one, other = "0" * 64, "f" * 64
    VALIDATOR.validate(document | {"sha256": {"merkle": one, "model": other}})
    for wrong in ({"merkle": one}, {"merkle": one, "data": one}, {"merkle": 1, "model": other},
                  {"merkle": one, "data": one, "model": other}):  # fmt: skip
        assert not VALIDATOR.is_valid(document | {"sha256": wrong})


def test_the_example_certificates():
    folder = EXAMPLES / "certificates"
    VALIDATOR.validate(json.loads((folder / "certificate.json").read_text()))
    assert not VALIDATOR.is_valid(json.loads((folder / "unknown_field.json").read_text()))


@pytest.mark.parametrize("key", SCHEMA["required"])
@pytest.mark.parametrize("value", ["absent", [], "no such text", -1, 1.5])
def test_other_forms_are_refused(tmp_path_factory, key, value):
    document = copy.deepcopy(_true(tmp_path_factory))
    if value == "absent":
        del document[key]
    else:
        document[key] = value
    allowed = (key, value) in (("strategy", "no such text"), ("separation", []))
    assert VALIDATOR.is_valid(document) == allowed


def test_unknown_fields_are_refused(tmp_path_factory):
    assert not VALIDATOR.is_valid(_true(tmp_path_factory) | {"comment": "true"})


_TRUE: dict[str, object] = {}


def _true(factory):
    if not _TRUE:
        _TRUE.update(_written(factory.mktemp("certificate")))
    return _TRUE


def test_float_certificates_have_the_form_of_their_field():
    data = hm.load(EXAMPLES / "figure2.json")
    document = certify_float(hm.build(data), data).to_json()
    jsonschema.validate(document, SCHEMA["properties"]["float64"] | {"$defs": SCHEMA["$defs"]})
