"""Every command of docs/from-a-csv.md runs, in order, and ends well."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/from-a-csv.md").read_text("utf-8")


@pytest.mark.slow
def test_the_page_runs(tmp_path):
    (tmp_path / "examples").mkdir()
    for name in ("vowels.json.gz", "vowels_test.json.gz"):
        shutil.copy(ROOT / "examples" / name, tmp_path / "examples")
    told = ""
    for language, text in re.findall(r"^```(python|sh)\n(.*?)^```", PAGE, re.M | re.S):
        lines = [text] if language == "python" else text.splitlines()
        for line in lines:
            words = ["python", "-c", line] if language == "python" else shlex.split(line)
            words = words[1:] if words[0] == "python" else ["-m", *words]
            done = subprocess.run(
                [sys.executable, *words], cwd=tmp_path, capture_output=True, text=True
            )
            assert done.returncode == 0, done.stderr
            told += done.stdout
    assert told.count("proved") >= 3
    shown = [x.split() for x in re.findall(r"^    (verdict.*|\d \w+ \d.*)$", PAGE, re.M)]
    assert len(shown) == 7
    # how many are right may change with the versions of NumPy and SciPy, the form may not
    forms = {
        tuple(re.sub(r"\d+", "0", word) for word in x) for x in map(str.split, told.splitlines())
    }
    assert {tuple(re.sub(r"\d+", "0", word) for word in x) for x in shown} <= forms
