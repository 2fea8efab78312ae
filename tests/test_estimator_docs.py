"""The examples of docs/estimators.md do what they print."""

import doctest
from pathlib import Path

import pytest

pytest.importorskip("sklearn")


def test_the_page_on_estimators(tmp_path, monkeypatch):
    page = Path(__file__).parents[1] / "docs" / "estimators.md"
    monkeypatch.chdir(tmp_path)
    text = page.read_text().replace("```", "\n")
    found = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    assert len(found.examples) > 10
    assert doctest.DocTestRunner().run(found).failed == 0
