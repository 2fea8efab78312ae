"""Hypothesis budgets, and running the command line inside the test process."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, settings

from hardmax.cli import main

# plugins, not modules with doctests: pytest would import two files of this name
collect_ignore_glob = ["*conftest.py"]

settings.register_profile(
    "house",
    deadline=None,
    max_examples=60,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("quick", settings.get_profile("house"), max_examples=20)
settings.register_profile("more", settings.get_profile("house"), max_examples=600)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


def pytest_configure() -> None:
    """Processes that tests start hear signals that nohup, or a shell in the background, ignores."""
    for name, handler in (("SIGINT", signal.default_int_handler), ("SIGHUP", signal.SIG_DFL)):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, handler)


@dataclass(frozen=True)
class Result:
    """What a command left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Run ``hardmax ARGUMENTS…`` and return exit code, stdout and stderr."""

    def run(*arguments: object) -> Result:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        code = stop.value.code
        assert isinstance(code, int)
        return Result(code, captured.out, captured.err)

    return run


FORCED = {  # every path of the engine, on models and data of any size
    "as it is": {},
    "panels": {"compile.panels._STRAIGHT": 1},
    "rounds": {
        "compile.panels._STRAIGHT": 10**6, "compile.panels._FEW": 0, "forward.forward_pass._SHORT": 0,
    },
    "rounds, then columns": {
        "compile.panels._STRAIGHT": 10**6, "compile.panels._FEW": 0, "forward.forward_pass._SHORT": 0,
        "forward.forward_pass._ROUNDS": 1,
    },
    "small panels": {
        "compile.panels._ITEMS": 2, "compile.panels._TENTS": 1, "compile.panels._STRAIGHT": 1, "compile.panels._FEW": 0,
    },
    "step by step": {"exact.backward._NEW": 0, "exact.backward._STEPS": 2},
    "small chunks": {"chunks._ALONE": 0, "chunks._CHUNK": 1},
}  # fmt: skip


QUICK = ("as it is", "panels", "rounds", "small chunks")


@pytest.fixture(
    params=[pytest.param(x, marks=[] if x in QUICK else pytest.mark.slow) for x in FORCED]
)
def forced(request, monkeypatch):
    """Take one path of the engine wherever it can be taken."""
    for name, value in FORCED[request.param].items():
        monkeypatch.setattr(f"hardmax.engine.{name}", value)
