"""The house: imports point one way, nobody imports in a circle, and modules stay short."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "hardmax"
# a room may import from those before it; rooms in one set know nothing of each other
ROOMS = (
    {"errors", "words", "stages"},
    {"float_mode"},
    {"exact", "threads"},
    {"enclosure"},
    {"labels"},
    {"dataset"},
    {"model"},
    {"engine"},
    {"construct", "certify", "execute", "testing"},
    {"formats"},
    {"network"},
    {"exchange"},
    {"shards"},
    {"estimator"},
    {"sklearn", "aeon"},
    {"learned"},
    {"compare"},
    {"draw"},
    {"cli"},
    {"__main__", "selftest"},
)
RANK = {room: k for k, rooms in enumerate(ROOMS) for room in rooms}
ALONE = {"checker", "network_checker"}  # share no code with the rest
LONG = {  # modules over 200 lines, with the reason
    "checker.py": "one file by design: the independent checker",
    "exact/array.py": "one class, with what is computed once from it",
}
MOST = 300  # lines of any other module


def modules() -> dict[str, Path]:
    """Dotted names of all modules of the package."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def imported(name: str) -> set[str]:
    """The modules of the package that a module imports, anywhere in it."""
    path = MODULES[name]
    here = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = here[: len(here) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                found.add(inner if inner in MODULES else base)
    return {other for other in found if other in MODULES and other != name}


def room(name: str) -> str:
    """The folder or module right below the package; empty for the package itself."""
    return name.split(".")[1] if "." in name else ""


@pytest.mark.parametrize("name", sorted(set(MODULES) - {"hardmax"}))
def test_imports_point_one_way(name):
    own = room(name)
    others = {room(other) for other in imported(name)} - {own, ""}
    if own in ALONE:
        assert others <= ALONE
        return
    assert not others & ALONE
    for other in others:
        assert RANK[other] < RANK[own], f"{name} imports from {other}"


def test_nothing_is_imported_in_a_circle():
    graph = {name: imported(name) - {"hardmax"} for name in MODULES if name != "hardmax"}
    done: set[str] = set()
    while len(done) < len(graph):
        free = {name for name in graph if name not in done and graph[name] <= done}
        assert free, f"a circle among {sorted(set(graph) - done)}"
        done |= free


def test_only_the_comparison_uses_what_is_learned():
    users = {room(name) for name in MODULES for other in imported(name) if room(other) == "learned"}
    assert users <= {"learned", "compare"}


def test_every_room_has_a_place():
    assert {room(name) for name in MODULES} <= set(RANK) | ALONE | {""}


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: p.stem)
def test_modules_are_short(path):
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= MOST or path.relative_to(PACKAGE).as_posix() in LONG


@pytest.mark.parametrize("name", sorted(MODULES))
def test_bounds_on_rounding_errors_have_one_source(name):
    """No unit roundoff and no slack beside those of enclosure/rounding.py."""
    # float_mode asks whether floats are what they should be; networks run in ball arithmetic
    apart = {"enclosure.rounding", "float_mode"}
    if name.removeprefix("hardmax.") in apart or room(name) in {"learned", "network", *ALONE}:
        return
    text = MODULES[name].read_text(encoding="utf-8")
    code = "\n".join(line for line in text.splitlines() if ">>>" not in line)
    assert not re.findall(r"2\.0 ?\*\* ?-5[0-4]\b|1\.0?01\b", code)
