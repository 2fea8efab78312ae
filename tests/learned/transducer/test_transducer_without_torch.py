"""The core imports nothing of this, and without PyTorch the error names the extra."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def run(code):
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60
    )


def test_the_core_never_imports_learned():
    core = [p for p in (ROOT / "hardmax").rglob("*.py") if "learned" not in p.parts]
    assert len(core) > 50
    for path in core:
        if path.name == "contenders.py" or "compare" in path.parts:
            continue
        assert "learned.transducer" not in path.read_text(), path


def test_exact_parts_need_no_torch():
    done = run(
        "import sys; sys.modules['torch'] = None\n"
        "from hardmax.learned.transducer import KernelRegression, RationalQuadratic, Fourier\n"
        "model = KernelRegression(RationalQuadratic()).fit([[0], [1]], [[1], [2]])\n"
        "print(model.certificate().interpolates)"
    )
    assert done.stdout.strip() == "True", done.stderr


@pytest.mark.parametrize("name", ["Transducer", "Network", "Trainer"])
def test_the_error_names_the_extra(name):
    done = run(
        "import sys; sys.modules['torch'] = None\n"
        "from hardmax.errors import MissingExtraError\n"
        f"try: from hardmax.learned.transducer import {name}\n"
        "except MissingExtraError as problem: print(problem)"
    )
    assert "pip install 'hardmax[torch]'" in done.stdout, done.stderr


def test_unknown_names():
    import hardmax.learned.transducer as module

    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = module.nonsense
    assert "Transducer" in dir(module)
