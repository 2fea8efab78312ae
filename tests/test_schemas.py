"""The JSON Schema of data sets accepts what the reader accepts and refuses what it refuses."""

from __future__ import annotations

import copy
import gzip
import json
from importlib.resources import files
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_bad_input import BAD_JSON, GOOD
from test_data_formats import DOCUMENT

from hardmax.errors import InputError
from hardmax.formats.data.json_file import read
from hardmax.testing import disjoint_sets

jsonschema = pytest.importorskip("jsonschema")
EXAMPLES = Path(__file__).parent.parent / "examples"
SCHEMA = json.loads(files("hardmax").joinpath("schemas/dataset.schema.json").read_text())


@pytest.fixture(scope="module")
def validator():
    cls = jsonschema.validators.validator_for(SCHEMA)
    assert cls is jsonschema.Draft202012Validator
    cls.check_schema(SCHEMA)
    return cls(SCHEMA)


@pytest.mark.parametrize(
    "name", ["text.json", "figure2.json", "zen.json", "vowels.json.gz", "vowels_test.json.gz"]
)
def test_examples(validator, name):
    content = (EXAMPLES / name).read_bytes()
    document = json.loads(gzip.decompress(content) if name.endswith(".gz") else content)
    if name.startswith("vowels"):  # one sequence of each length is enough of the same
        document["sequences"] = document["sequences"][::40]
    validator.validate(document)


@given(st.randoms(use_true_random=False))
def test_every_kind_of_label_set(validator, rng: Random):
    names = ["a", "b", "c", "d"]
    sets = {name: s.to_json() for name, s in disjoint_sets(names, 2, rng).items()}
    validator.validate({**GOOD, "labels": sets})


def test_documents_with_everything(validator):
    validator.validate(DOCUMENT)
    validator.validate(GOOD)


# what a schema cannot see: equal keys, sizes, meetings of numbers with each other
BEYOND = {
    "two equal keys", "huge exponent", "tiny exponent", "huge exponent in text", "past 2^1000",
    "10001 digits", "short token", "long token", "dimension 3", "unknown label", "half a character",
    "half a character in a name", "no label", "wrong dimension", "negative radius", "radius 0",
    "empty box", "zero normal", "empty polyhedron", "ragged rows", "equal points",
    "overlapping ball", "overlapping half-space", "NaN", "Infinity", "-Infinity", "dimension 2.0",
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_JSON)
def test_bad_documents(validator, name):
    text, _ = BAD_JSON[name]
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return  # no JSON at all: test_bad_input shows that the reader refuses it
    if name not in BEYOND:
        assert not validator.is_valid(document)


def test_names_of_what_lies_beyond_are_current():
    assert set(BAD_JSON) >= BEYOND


NUMBERS = ["1", "-1/3", "+2.5", ".5", "5.", "1e5", "1E-5", " 7 ", "1/0", "0/0", "1/00", "1/01",
           "1/2/3", "1.5/2", "", " ", ".", "e5", "1e", "0x1", "1_0", "NaN", "inf", "--1",
           "1/-2"]  # fmt: skip


@pytest.mark.parametrize("text", NUMBERS)
def test_numbers_in_text(validator, text):
    document = copy.deepcopy(GOOD)
    document["sequences"][0]["tokens"][0][0] = text
    try:
        read(json.dumps(document).encode(), "exact", {})
    except InputError:
        assert not validator.is_valid(document)
    else:
        assert validator.is_valid(document)


JUNK = [None, True, 0, -1, 1.5, "x", [], {}, [[]], [None], 10**30, [1, 2, 3], "1/3"]


def paths(value, path=()):
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from paths(value[key], (*path, key))


@given(st.randoms(use_true_random=False))
def test_what_the_reader_accepts_is_valid(validator, rng):
    document = copy.deepcopy(DOCUMENT)
    *path, last = rng.choice([path for path in paths(document) if path])
    place = document
    for key in path:
        place = place[key]
    place[last] = copy.deepcopy(rng.choice(JUNK))
    try:
        read(json.dumps(document).encode(), "exact", {})
    except InputError:
        return
    validator.validate(document)
