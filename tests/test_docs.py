"""The documents name files, theorems and commands that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("*/README.md"), *ROOT.glob("docs/*.md"),
                *ROOT.glob("proofs/rocq/README.md")])  # fmt: skip


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    text = page.read_text()
    anchors = {
        re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        for title in re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    }
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith(("http://", "https://", "mailto:")):
            continue
        path, _, anchor = target.partition("#")
        if path:
            assert (page.parent / path).exists(), f"{page.name}: {target}"
        elif anchor:
            assert anchor in anchors, f"{page.name}: #{anchor}"


def _table():
    text = (ROOT / "docs" / "theory.md").read_text()
    rows = text.partition("## 11 ")[2].partition("## 12 ")[0].splitlines()
    return [[cell.strip() for cell in row.strip("|").split("|")]
            for row in rows if row.startswith("| ") and "`" in row]  # fmt: skip


@pytest.mark.parametrize("row", _table(), ids=lambda row: row[0])
def test_every_step_of_the_theory_lives_where_the_table_says(row):
    _, code, symbolic, rocq, figure = row
    folder = ""
    for name in re.findall(r"`([^`]+)`", code):
        if name.endswith(".py"):
            folder = name.rpartition("/")[0] or folder
            path = ROOT / "hardmax" / (name if "/" in name else f"{folder}/{name}")
            assert path.exists() or (ROOT / "hardmax" / name).exists(), name
        else:
            assert re.search(rf"^def {name}\b", path.read_text(), re.MULTILINE), name
    for name in re.findall(r"`([^`]+)`", symbolic):
        assert (ROOT / "proofs" / "lemmas" / name).exists(), name
    for name in re.findall(r"`([^`]+)`", rocq):
        if name.endswith(".v"):
            source = (ROOT / "proofs" / "rocq" / name).read_text()
        else:
            assert re.search(rf"^(Theorem|Lemma|Corollary) {name}\b", source, re.MULTILINE), name
    for name in re.findall(r"`([^`]+)`", figure):
        assert (ROOT / "figures" / f"{name}.svg").exists(), name


def test_the_readme_shows_what_the_command_prints(tmp_path, capsys, monkeypatch):
    from hardmax.cli.main import exit_code

    shown = re.search(r"```\n\$ hardmax (.*)\n((?:.*\n)*?)```", (ROOT / "README.md").read_text())
    assert shown is not None
    monkeypatch.chdir(tmp_path)
    arguments = shown.group(1).split()
    arguments[1] = str(ROOT / arguments[1])
    assert exit_code(arguments) == 0
    printed = capsys.readouterr().out
    for line in shown.group(2).splitlines():
        if line.strip() and not line.strip().startswith("time "):
            assert line.rstrip() in [other.rstrip() for other in printed.splitlines()]
