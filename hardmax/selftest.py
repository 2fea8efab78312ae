"""``python -m hardmax.selftest``: whether this installation builds, proves and refutes.

It takes a few seconds and needs nothing but what ``pip install hardmax`` brings.
"""

from __future__ import annotations

import platform
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from . import __version__
from .certify.verify import certify
from .construct.build import STRATEGIES, build
from .dataset import ContradictionError, Dataset
from .errors import ISSUES
from .model.layers import RankOneBlock
from .model.transformer import Transformer
from .testing.families import adversarial
from .words import plural

SHIFT = "1/" + str(2**200)  # far less than any float could show
FAMILY, COUNT = "collinear", 16


class CheckError(Exception):
    """A check that did not end as it must."""


def _need(condition: bool, what: str) -> None:
    if not condition:
        raise CheckError(what)


def exit_code_of(*arguments: object) -> int:
    """Exit code of a module of hardmax in a process of its own."""
    command = [sys.executable, "-m", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, timeout=300, check=False).returncode


def check_strategy(strategy: str, folder: Path) -> str:
    """Build, prove, and let the checker prove; then shift the output, and let both refute.

    >>> with TemporaryDirectory() as folder:
    ...     check_strategy("peel", Path(folder)).startswith("16 sequences")
    True
    """
    data, good, bad = folder / "data.json", folder / "good.npz", folder / "bad.npz"
    adversarial(FAMILY, COUNT).save(data)
    model = build(data, strategy)
    model.save(good)
    _need(Transformer.load(good) == model, "the model file does not hold the model")
    for evaluator in ("engine", "definition"):
        _need(certify(good, data, evaluator=evaluator).proved, f"not proved by the {evaluator}")
    _need(exit_code_of("hardmax.checker", good, data) == 0, "the checker does not prove it")
    shift = RankOneBlock.translation((SHIFT, *["0"] * (model.dimension - 1)))
    Transformer([*model.blocks, shift], meta=model.meta).save(bad)
    _need(not certify(bad, data), "a model that misses every point is not refuted")
    _need(exit_code_of("hardmax.checker", bad, data) == 1, "the checker does not refute it")
    return (
        f"{COUNT} sequences proved in {plural(len(model), 'block')}, by the engine, the definition "
        f"and the checker; shifted by 2^-200, refuted"
    )


def check_contradiction(folder: Path) -> str:
    """Equal sequences with different labels must be refused with a proof."""
    try:
        build(Dataset([[(0, 1)], [(0, 1)]], ["a", "b"]))
    except ContradictionError:
        return "two equal sequences with different labels are refused"
    raise CheckError("two equal sequences with different labels got a model")


def check_command(folder: Path) -> str:
    """The command line must verify, and write a report page, whose parts come with the package."""
    data, model, page = folder / "data.json", folder / "model.npz", folder / "page.html"
    adversarial(FAMILY, COUNT).save(data)
    _need(exit_code_of("hardmax", "build", data, "-o", model) == 0, "hardmax build fails")
    _need(exit_code_of("hardmax", "verify", model, data) == 0, "hardmax verify fails")
    _need(exit_code_of("hardmax", "report", model, data, "-o", page) == 0, "hardmax report fails")
    return "hardmax build, verify and report work"


def main() -> int:
    """Run all checks; print a line for each; 0 where all pass, otherwise 1."""
    print(
        f"hardmax {__version__}, Python {platform.python_version()}, "
        + ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "python-flint"))
    )
    checks: dict[str, Callable[[Path], str]] = {
        **{name: partial(check_strategy, name) for name in STRATEGIES},
        "contradiction": check_contradiction,
        "commands": check_command,
    }
    failed = 0
    for name, check in checks.items():
        with TemporaryDirectory() as folder:
            try:
                print(f"ok      {name}: {check(Path(folder))}", flush=True)
            except Exception as problem:  # whatever it is, this installation does not work
                failed += 1
                print(f"FAILED  {name}: {type(problem).__name__}: {problem}", flush=True)
    print(
        f"{plural(failed, 'check')} failed; please report it: {ISSUES}" if failed else "all right"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
