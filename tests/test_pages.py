"""The commands, tables and examples of the pages, followed to the letter from an empty folder.

A fenced block with a title is written as a file. In a block ``console`` each line ``$ …`` is run;
the lines below it must be what it prints, where "…" stands for any text. A command must
succeed unless the next one is ``echo $?``. A block ``pycon`` is a doctest.
"""

from __future__ import annotations

import doctest
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hardmax as hm
from hardmax.cli.main import exit_code

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = [
    page
    for page in sorted(ROOT.glob("docs/*.md"))
    if any(kind in ("console", "pycon") for kind, _, _ in BLOCK.findall(page.read_text("utf-8")))
]
NOTEBOOKS = sorted(ROOT.glob("docs/notebooks/*.ipynb"))

pytestmark = pytest.mark.skipif(not PAGES, reason="there are no pages here")


def commands(text):
    """Commands of a console block, each with the lines it should print."""
    found = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def run(command, capsys):
    """Exit code and output of a command; those of hardmax run in this process."""
    program, *arguments = shlex.split(command)
    if program == "hardmax":
        capsys.readouterr()
        code = exit_code(arguments)
        printed = capsys.readouterr()
        return code, printed.out + printed.err
    program = sys.executable if program == "python" else program
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([program, *arguments], capture_output=True, text=True, env=environment)
    return done.returncode, done.stdout + done.stderr


def agrees(expected, printed):
    """Whether the printed text is the expected one; timings differ from run to run."""
    lines = [line for line in expected if not line.startswith("  time ")]
    pattern = "".join(
        r"(?:.*\n)*?" if line == "…" else re.escape(line.rstrip()).replace("…", ".*") + r"\s*\n"
        for line in lines
    )
    text = re.sub(r"^  time .*\n", "", printed, flags=re.MULTILINE)
    return re.fullmatch(pattern + r"\s*", text) is not None


def python(text, name, globs):
    test = doctest.DocTestParser().get_doctest(text, globs, name, name, 0)
    report = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL)
    runner.run(test, out=report.append, clear_globs=False)
    assert not runner.failures, "".join(report)
    globs.update(test.globs)


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(p, id=p.stem, marks=[pytest.mark.slow] if p.stem == "learn" else [])
        for p in PAGES
    ],
)
def test_a_page_can_be_followed_from_an_empty_folder(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    globs, code = {}, 0
    for kind, title, text in BLOCK.findall(page.read_text("utf-8")):
        if title:
            Path(title).write_text(text, "utf-8")
        elif kind == "pycon":
            python(text, page.name, globs)
        elif kind == "console":
            listed = commands(text)
            for k, (command, expected) in enumerate(listed):
                if command == "echo $?":
                    assert expected == [str(code)]
                    continue
                code, printed = run(command, capsys)
                if k + 1 == len(listed) or listed[k + 1][0] != "echo $?":
                    assert code == 0, f"{command}: {printed}"
                assert agrees(expected, printed), f"{command} prints\n{printed}"


REFERENCE = (
    "README.md",
    "docs/architecture.md",
    "docs/engine.md",
    "docs/formats.md",
    "docs/smt2.md",
)


@pytest.mark.parametrize("name", REFERENCE)
def test_commands_and_code_of_a_reference_page_run(name, tmp_path, monkeypatch, capsys):
    """In a folder with a data set and a model; what they print is not shown on these pages."""
    monkeypatch.chdir(tmp_path)
    source = ROOT / "examples" / "figure2.json"
    Path("examples").symlink_to(source.parent)
    shutil.copy(source, "data.json")
    data = hm.load("data.json")
    model = hm.build(data)
    model.save("model.npz")
    globs = {"hm": hm, "data": data, "model": model, "X": data.sequences, "y": data.labels}
    text = (ROOT / name).read_text("utf-8")
    listed = re.findall(r"^    (hardmax [^\n]*)$", text, re.MULTILINE)
    assert all(run(command, capsys)[0] == 0 for command in listed)
    blocks = [code for kind, _, code in BLOCK.findall(text) if kind == "python"]
    for code in blocks:
        if code.startswith(">>> "):  # what is printed is no code
            code = "\n".join(re.findall(r"(?m)^(?:>>>|\.\.\.) (.*)$", code))
        exec(compile(code, name, "exec"), globs)
    assert listed or blocks


def test_a_difference_is_noticed():
    assert agrees(["a", "…", "b"], "a\nanything\nb\n")
    assert agrees(["  time 1 s", "x …"], "x 12\n")
    assert not agrees(["a"], "a\nb\n")
    assert not agrees(["a", "b"], "a\n")


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, monkeypatch):
    """Its cells as one program, without Jupyter; the site shows what they print."""
    monkeypatch.chdir(path.parent)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    notebook = json.loads(path.read_text("utf-8"))
    globs = {"__name__": "notebook"}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [], "the site makes the outputs; keep none in the file"
            exec(compile("".join(cell["source"]), path.name, "exec"), globs)
