"""The core never imports what is learned; only the rows of `hardmax compare` do, when they run."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import hardmax

PACKAGE = Path(hardmax.__file__).parent


def test_the_core_does_not_import_what_is_learned():
    found = []
    for path in PACKAGE.rglob("*.py"):
        place = path.relative_to(PACKAGE)
        if place.parts[0] in ("learned", "compare"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            names = []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or "", *(alias.name for alias in node.names)]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            found += [str(place) for name in names if "learned" in name.split(".")]
    assert not found


def test_the_command_line_starts_without_it():
    code = "import sys, hardmax.cli.main, hardmax.compare; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "hardmax.learned" not in done.stdout
    assert "sklearn" not in done.stdout.split()
