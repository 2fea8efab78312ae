"""The examples are what their README says, and their files are what their programs write."""

from __future__ import annotations

import gzip
import importlib
import json
import subprocess
import sys
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import pytest

import hardmax as hm

EXAMPLES = Path(__file__).parent.parent / "examples"
F = Fraction


@pytest.fixture
def program(monkeypatch):
    """Import one of the programs beside the data."""
    monkeypatch.syspath_prepend(EXAMPLES)
    return importlib.import_module


def stages(name, run, tmp_path):
    result = run("build", EXAMPLES / name, "-o", tmp_path / "m.npz", "--json")
    found = json.loads(result.out)
    assert (result.code, found["verdict"], found["bounds"]) == (0, "proved", "holds")
    assert run("verify", tmp_path / "m.npz", EXAMPLES / name).code == 0
    return found["stages"], hm.Transformer.load(tmp_path / "m.npz")


def test_figure2(run, tmp_path):
    found, _ = stages("figure2.json", run, tmp_path)
    assert found == {"separate": 2, "cluster": 1, "match": 1, "classify": 1}
    data = hm.load(EXAMPLES / "figure2.json")
    assert data.ids == ["circles", "squares", "stars"]
    for first, second in combinations(data.sequences, 2):
        assert set(first) & set(second)


def test_text_needs_every_case_of_the_lemma(run, tmp_path):
    _, model = stages("text.json", run, tmp_path)
    assert set(model.meta["cases"]) == {"1", "2", "3"}
    assert min(model.meta["cases"].values()) >= 1


def test_text_is_what_its_program_writes(program):
    module = program("make_text")
    assert module.text(module.dataset()) == (EXAMPLES / "text.json").read_text()


def test_text_has_the_analogies(program):
    words = {name: [F(x) for x in entries] for name, entries in program("make_text").WORDS.items()}

    def total(*names):
        return [sum(column) for column in zip(*(words[name] for name in names), strict=True)]

    assert total("king", "woman") == total("queen", "man")
    assert total("warm", "cool") == total("mild", "mild")
    assert len({tuple(x) for x in words.values()}) == len(words)
    data = hm.load(EXAMPLES / "text.json")
    assert 40 <= len(data) <= 60
    assert data.dimension == 8
    for sentence, Z in zip(data.ids, data.sequences, strict=True):
        assert [list(z) for z in Z] == [words[word] for word in sentence.split()]


def test_zen_is_what_its_program_writes(program):
    module = program("make_zen")
    assert module.text(module.dataset()) == (EXAMPLES / "zen.json").read_text()
    assert module.join(module.words(module.poem())) == module.poem()


def test_importing_the_program_prints_nothing():
    result = subprocess.run(
        [sys.executable, "-c", "import make_zen; make_zen.poem()"],
        cwd=EXAMPLES, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert result.stdout == ""


def test_zen_tokens_say_word_and_position(program):
    module = program("make_zen")
    data = hm.load(EXAMPLES / "zen.json")
    words = module.words(module.poem())
    number = module.vocabulary(words)
    assert len(data) == len(words) - 1
    for k, Z in enumerate(data.sequences, start=1):
        assert [z[1] for z in Z] == list(range(1, k + 1))
        assert [z[0] for z in Z] == [number[word] for word in words[:k]]
        assert data.labels[k - 1] == words[k]
    assert len({label_set.point for label_set in data.sets.values()}) == len(number)


def test_recite(program):
    """Word for word the text of the module `this`, each word predicted from all before it."""
    recite, zen = program("recite"), program("make_zen")
    data = hm.load(EXAMPLES / "zen.json")
    model = hm.build(data)
    assert hm.certify(model, data).proved
    for exact in (False, True):
        assert zen.join(list(recite.recite(model, data, exact=exact))) == zen.poem()


@pytest.mark.slow
def test_recite_from_the_command_line(run, tmp_path):
    assert run("build", EXAMPLES / "zen.json", "-o", tmp_path / "zen.npz").code == 0
    result, poem = (
        subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True)
        for arguments in ([EXAMPLES / "recite.py", tmp_path / "zen.npz"], ["-m", "this"])
    )
    assert result.stdout == poem.stdout


def test_vowels(run, tmp_path):
    found, _ = stages("vowels.json.gz", run, tmp_path)
    assert "separate" not in found  # no two utterances share a frame
    data = hm.load(EXAMPLES / "vowels.json.gz")
    test = hm.load(EXAMPLES / "vowels_test.json.gz")
    assert (len(data), len(test), data.dimension, test.dimension) == (270, 370, 12, 12)
    assert len(data.sets) == len(set(test.labels)) == 9
    lengths = [[len(Z) for Z in d.sequences] for d in (data, test)]
    assert [(min(n), max(n)) for n in lengths] == [(7, 26), (7, 29)]


def test_vowels_are_decimals_read_to_the_digit():
    with gzip.open(EXAMPLES / "vowels.json.gz", "rt") as file:
        written = json.load(file, parse_float=str)["sequences"][0]["tokens"][0]
    read = hm.load(EXAMPLES / "vowels.json.gz").sequence(0)[0]
    assert [F(x) for x in written] == list(read)
    assert any(x.denominator % 5 == 0 for x in read)  # no float64 holds these
