"""The audit of the paper's tables, from its text where that is at hand."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAPER = ROOT.parent / "shared" / "seeds" / "dual_banach.txt"


@pytest.fixture
def tables(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "studies" / "dual_banach")
    yield pytest.importorskip("tables")
    for name in ("tables", "statistics_of_runs"):
        sys.modules.pop(name, None)


@pytest.mark.skipif(not PAPER.exists(), reason="the paper's text is not here")
def test_table_1_against_table_10(tables):
    audit = tables.audit(PAPER.read_text(encoding="utf-8"))
    assert audit["corruptions"] == 15
    assert audit["averages of Table 10 that equal the mean of their rows"] == [24, 24]
    assert len(audit["rows"]) == 40
    different = {
        (row["data"], row["model"], row["column"]): row["from Table 10"]
        for row in audit["differences from Table 1"]
    }
    assert different == {
        ("CIFAR-10", "ViT-S", "Avg."): [88.48, 1.27],
        ("CIFAR-100", "ViT-S", "Avg."): [62.58, 1.88],
    }
    wider = {(r["data"], r["model"]): r["intervals that widen"] for r in audit["intervals"]}
    assert len(wider["CIFAR-100", "ViT-T"]) == 5  # "significantly narrower": all five widen
    assert not wider["CIFAR-10", "ViT-T"]


def test_table_7_does_not_follow_from_the_formulas(tables):
    rows = {row["model"]: row for row in tables.flops()}
    assert rows["ViT-T"]["overhead by E.2 %"] == 5.2
    assert rows["ViT-S"]["overhead by E.2 %"] == 4.3
    assert rows["GPT-2"]["GFLOPs by E.2"] == 106.3
