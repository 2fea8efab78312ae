"""``hardmax compare``: rows, missing extras, JSON and the figure."""

from __future__ import annotations

import json
import sys

import pytest

from hardmax.compare import compare, contenders
from hardmax.compare.built import Built
from hardmax.compare.table import Row
from hardmax.dataset import Dataset

DATA = {
    "dimension": 2,
    "sequences": [
        {"tokens": [[k, j], [j - 1, 2 * k]], "label": "a" if k % 2 else "b"}
        for k in range(4)
        for j in range(4)
    ],
}


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "data.json"
    found.write_text(json.dumps(DATA))
    return found


def test_built_models_are_right_on_training_data():
    data = Dataset([[(0, 0), (1, 0)], [(0, 0), (0, 1)]], ["a", "b"])
    (row,) = compare(data, data, [Built("cover")])
    assert row.train == row.test == 1.0
    assert "every training sequence" in row.certified


def test_rows_of_the_command(run, path, tmp_path):
    pytest.importorskip("sklearn")
    pytest.importorskip("torch")
    figure = tmp_path / "figure.svg"
    result = run("compare", path, "--test", path, "--json", "--figure", figure)
    assert result.code == 0
    rows = json.loads(result.out)["rows"]
    assert [row["name"] for row in rows] == [one.name for one in contenders()]
    for row in rows:
        assert not row["missing"]
        assert row["train"] == row["test"]
        assert row["parameters"] > 0
        if row["name"].startswith("built"):
            assert row["train"] == 1.0
        assert bool(row["certified"]) == row["name"].startswith(("built", "convex", "softmax"))
    assert figure.read_text().startswith("<?xml")
    shown = run("compare", path)
    assert "1-NN" in shown.out


def test_rows_name_the_extra_that_is_missing(run, path, monkeypatch):
    for name in [name for name in sys.modules if name.startswith(("sklearn", "hardmax.learned"))]:
        monkeypatch.delitem(sys.modules, name)
    for library in ("sklearn", "torch"):
        monkeypatch.setitem(sys.modules, library, None)
    extras = {one.name: one.extra for one in contenders()}
    result = run("compare", path, "--json")
    assert result.code == 0
    for row in json.loads(result.out)["rows"]:
        if not row["name"].startswith("built"):
            assert row["missing"] == f"needs pip install 'hardmax[{extras[row['name']]}]'"
            assert Row(**row).train is None


def test_contradictory_data(run, tmp_path):
    same = [{"tokens": [[1]], "label": "a"}, {"tokens": [[1]], "label": "b"}]
    path = tmp_path / "same.json"
    path.write_text(json.dumps({"dimension": 1, "sequences": same}))
    result = run("compare", path, "--json")
    assert result.code == 0
    rows = json.loads(result.out)["rows"]
    assert all(row["missing"] for row in rows if row["name"].startswith("built"))


def test_bad_use(run, path, tmp_path):
    assert run("compare", tmp_path / "none.json").code == 2
    assert run("compare", path, "--figure", tmp_path / "figure.bmp").code == 2
    assert run("compare", path, "--figure", path).code == 2
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"dimension": 1, "sequences": [{"tokens": [[1]], "label": "a"}]}))
    result = run("compare", path, "--test", other)
    assert result.code == 2
    assert "dimension" in result.err
    other.write_text(json.dumps({"dimension": 2, "sequences": [{"tokens": [[1, 2]]}]}))
    assert run("compare", path, "--test", other).code == 2


def test_a_class_of_one_sequence_brings_no_warning(recwarn):
    """Messages of the libraries are not for whoever compares (they name their files)."""
    pytest.importorskip("sklearn")
    from hardmax.compare.standard import DiscriminantAnalysis

    data = Dataset([[[0, 1], [1, 2]], [[3, 1]], [[2, 2]]], ["a", "a", "b"])
    assert compare(data, chosen=[DiscriminantAnalysis()])[0].train is not None
    assert not [each for each in recwarn if "sample" in str(each.message)]
