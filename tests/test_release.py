"""What is released: the package, its self-test, its addresses, and completion in a shell."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

import hardmax as hm
from hardmax import selftest
from hardmax.cli.main import cli
from hardmax.errors import ISSUES

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_one_version_everywhere():
    assert f"version: {hm.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert re.fullmatch(r"\d+\.\d+\.\d+", hm.__version__)
    heading = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert heading is not None
    assert heading.group(1) == hm.__version__


def test_where_to_report(run, monkeypatch):
    assert PROJECT["urls"]["Issues"] == ISSUES
    assert PROJECT["urls"]["Repository"] + "/issues" == ISSUES
    assert ISSUES in (ROOT / "README.md").read_text()
    assert (
        f'repository-code: "{PROJECT["urls"]["Repository"]}"' in (ROOT / "CITATION.cff").read_text()
    )
    monkeypatch.setattr("hardmax.formats.data.load", lambda *args, **options: 1 / 0)
    result = run("build", "examples/figure2.json", "-o", os.devnull)
    assert result.code == 70
    assert result.err.rstrip().endswith(ISSUES)


def test_every_extra_that_a_message_names_exists():
    named = set()
    for path in (ROOT / "hardmax").rglob("*.py"):
        named |= set(re.findall(r"hardmax\[([a-z-]+)\]'", path.read_text()))
    assert named
    assert named <= set(PROJECT["optional-dependencies"])


# ------------------------------------------------------------------------------------- self-test


@pytest.mark.slow
def test_the_self_test_passes_without_pytest(tmp_path):
    code = "import sys, runpy; sys.modules['pytest'] = sys.modules['hypothesis'] = None\n"
    code += "runpy.run_module('hardmax.selftest', run_name='__main__')"
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.endswith("\nall right\n")


@pytest.fixture
def quick(monkeypatch):
    """The self-test of one strategy, without the command line."""
    monkeypatch.setattr(selftest, "STRATEGIES", ("peel",))
    monkeypatch.setattr(selftest, "check_command", lambda folder: "left out")


def test_the_self_test_passes(quick, capsys):
    assert selftest.main() == 0
    assert capsys.readouterr().out.endswith("\nall right\n")


@pytest.mark.parametrize("lie", [True, False])
def test_the_self_test_finds_a_verifier_that_lies(quick, lie, monkeypatch, capsys):
    class Verdict:
        proved = lie

        def __bool__(self):
            return lie

    monkeypatch.setattr(selftest, "certify", lambda *arguments, **options: Verdict())
    assert selftest.main() == 1
    said = capsys.readouterr().out
    assert "FAILED  peel" in said
    assert said.rstrip().endswith(ISSUES)


def test_the_self_test_finds_a_checker_that_is_missing(quick, monkeypatch, capsys):
    monkeypatch.setattr(selftest, "exit_code_of", lambda *arguments: 1)
    assert selftest.main() == 1
    assert capsys.readouterr().out.count("FAILED") == 1


# ----------------------------------------------------------------------------------------- wheel


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Folder with the wheel, and the one of an editable install, from a copy of the sources."""
    pytest.importorskip("setuptools", minversion="77")
    source, folder = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("built")
    shutil.copytree(ROOT / "hardmax", source / "hardmax",
                    ignore=shutil.ignore_patterns("__pycache__"))  # fmt: skip
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    for kind in ("wheel", "editable"):
        hook = f"import setuptools.build_meta as b; b.build_{kind}({str(folder / kind)!r})"
        (folder / kind).mkdir()
        subprocess.run([sys.executable, "-c", hook], cwd=source, check=True, capture_output=True)
    return folder


@pytest.mark.slow
def test_a_wheel_alone_works(built, tmp_path):
    """The wheel holds no tests, and what is in it passes the self-test from an empty folder."""
    (wheel,) = (built / "wheel").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path / "site")
    assert not [name for name in names if re.search(r"conftest|test_", name)]
    assert {name.split("/")[0] for name in names} == {
        "hardmax", f"hardmax-{hm.__version__}.dist-info"
    }  # fmt: skip
    for path in (ROOT / "hardmax").rglob("*.py"):
        assert path.relative_to(ROOT).as_posix() in names
    assert "hardmax/py.typed" in names
    found = subprocess.run(
        [sys.executable, "-m", "hardmax.selftest"], capture_output=True, text=True, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")}, check=False,
    )  # fmt: skip
    assert found.returncode == 0, found.stdout


@pytest.mark.slow
def test_an_editable_install_needs_no_import_hook(built):
    """Type checkers follow a path in a .pth file, and no code in one."""
    (wheel,) = (built / "editable").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        outside = [name for name in archive.namelist() if ".dist-info/" not in name]
        assert [Path(name).suffix for name in outside] == [".pth"]
        assert "import" not in archive.read(outside[0]).decode()


# ------------------------------------------------------------------------------------ completion


def completed(*words):
    """What a shell is told when the last of some words is to be completed."""
    asked = ShellComplete(cli, {}, "hardmax", "_HARDMAX_COMPLETE")
    return [(item.type, item.value) for item in asked.get_completions([*words[:-1]], words[-1])]


def test_completion_of_commands_options_strategies_and_files():
    assert completed("ver") == [("plain", "verify")]
    assert ("plain", "--strategy") in completed("build", "--")
    assert completed("build", "--strategy", "p") == [("plain", "paper"), ("plain", "peel")]
    assert completed("build", "exa") == [("file", "exa")]
    assert completed("verify", "m", "d", "--certificate", "c") == [("file", "c")]
    assert completed("figures", "-o", "f") == [("dir", "f")]
    assert completed("verify", "m", "d", "--executor", "float3") == [("plain", "float32")]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_script_that_it_understands(shell, tmp_path):
    program = shutil.which(shell)
    found = subprocess.run(
        [sys.executable, "-m", "hardmax"], capture_output=True, check=True,
        env={**os.environ, "_HARDMAX_COMPLETE": f"{shell}_source"},
    )  # fmt: skip
    assert b"_HARDMAX_COMPLETE" in found.stdout
    if program is None:
        pytest.skip(f"no {shell} here")
    (tmp_path / "script").write_bytes(found.stdout)
    subprocess.run([program, "-n", tmp_path / "script"], check=True, capture_output=True)


def test_bash_completes_with_the_script(tmp_path):
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash here")
    (tmp_path / "hardmax").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m hardmax "$@"\n')
    (tmp_path / "hardmax").chmod(0o755)
    script = (
        'eval "$(_HARDMAX_COMPLETE=bash_source hardmax)"\n'
        "COMP_WORDS=(hardmax build --strategy co); COMP_CWORD=3\n"
        '_hardmax_completion hardmax; echo "${COMPREPLY[@]}"\n'
    )
    found = subprocess.run(
        [bash, "-c", script], capture_output=True, text=True, check=True,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )  # fmt: skip
    assert found.stdout.split() == ["cover"]
