"""Light to import, quick to help: what gets imported is counted in fresh processes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import hardmax

HEAVY = {"numpy", "scipy", "sympy", "networkx", "matplotlib", "flint"}
ROOT = Path(__file__).parent.parent


def loaded_after(code: str) -> set[str]:
    """Top-level names of the modules that a fresh process has loaded after ``code``."""
    names = "{m.split('.')[0] for m in sys.modules}"
    script = f"import sys\n{code}\nprint('\\n' + ' '.join({names}))"
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    return set(result.stdout.splitlines()[-1].split())


def command(*arguments: object) -> str:
    return (
        "from hardmax.cli import main\n"
        f"try: main({[str(a) for a in arguments]!r})\n"
        "except SystemExit as stop: assert not stop.code"
    )


def test_import_hardmax_imports_nothing_heavy():
    assert not HEAVY & loaded_after("import hardmax")
    assert not HEAVY & loaded_after("import hardmax; dir(hardmax); hardmax.__version__")


@pytest.mark.parametrize("name", [None, "build", "verify", "run", "info", "compare"])
def test_help_imports_no_mathematics(name):
    arguments = ["--help"] if name is None else [name, "--help"]
    loaded = loaded_after(command(*arguments))
    assert "hardmax" in loaded
    assert not (HEAVY - {"numpy"}) & loaded


def test_verify_needs_neither_programming_nor_plots(tmp_path):
    data = hardmax.Dataset([[(0, 1)], [(1, 1)]], ["a", "b"])
    hardmax.build(data).save(tmp_path / "m.npz")
    (tmp_path / "d.csv").write_text("sequence,label,x1,x2\ns,a,0,1\nt,b,1,1\n")
    loaded = loaded_after(command("verify", tmp_path / "m.npz", tmp_path / "d.csv"))
    assert {"numpy", "flint"} <= loaded
    assert not {"scipy", "sympy", "networkx", "matplotlib"} & loaded


def test_a_plain_data_set_imports_nothing_for_other_data():
    """Readers of other forms, masked models, output sequences and the like come where asked for."""
    script = (
        "import sys, hardmax as hm\n"
        "data = hm.load('examples/figure2.json')\n"
        "assert hm.certify(hm.build(data), data)\n"
        "print(*(name for name in sys.modules if name.startswith('hardmax.')))"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )
    loaded = {name.removeprefix("hardmax.") for name in result.stdout.split()}
    assert "formats.data.json_file" in loaded
    others = {
        "certify.definition", "certify.outputs", "certify.predict", "construct.paper.heads",
        "construct.shared.tie_splitting", "dataset.arrays", "dataset.long_form", "dataset.ordered",
        "dataset.outputs", "formats.contents", "formats.npz", "formats.remote",
        "formats.whole_files",
        *(f"formats.data.{form}_file" for form in ("csv", "npz", "parquet", "ts")),
    }  # fmt: skip
    assert not loaded & others
    folders = {name.partition(".")[0] for name in loaded}
    assert not folders & {"execute", "network", "exchange", "shards", "draw", "cli", "learned"}


def test_help_answers_soon():
    """Within 0.3 s on a quiet machine; here the processor time of the best of three counts."""
    times = []
    for _ in range(3):
        before = os.times()
        start = time.perf_counter()
        subprocess.run([sys.executable, "-m", "hardmax", "--help"], check=True, capture_output=True)
        wall, after = time.perf_counter() - start, os.times()
        used = after.children_user + after.children_system
        used -= before.children_user + before.children_system
        times.append(min(wall, used) if used else wall)
    assert min(times) < 0.3


def test_only_three_modules_import_flint():
    found = sorted(
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "hardmax").rglob("*.py")
        if any(line.split()[:2] in (["import", "flint"], ["from", "flint"])
               for line in path.read_text().splitlines())
    )  # fmt: skip
    assert found == [
        "hardmax/exact/balls.py",
        "hardmax/exact/matrix.py",
        "hardmax/network/arbs.py",
    ]


@pytest.mark.parametrize("name", sorted(hardmax.__all__))
def test_public_names_exist_and_are_documented(name):
    value = getattr(hardmax, name)
    assert name in dir(hardmax)
    assert name == "__version__" or value.__doc__


def test_unknown_names():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = hardmax.nonsense


def test_the_package_is_typed():
    assert (ROOT / "hardmax" / "py.typed").exists()
