"""Hypothesis budgets, and running the command line inside the test process."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
from hypothesis import HealthCheck, settings

from hardmax.cli import main
from hardmax.engine import Sizes

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


ROUNDS = Sizes(straight=10**6, few=0)  # nothing is taken in order
FORCED = {  # every path of the engine, on models and data of any size
    "as it is": Sizes(),
    "panels": Sizes(straight=1),
    "rounds": ROUNDS,
    "rounds, then columns": replace(ROUNDS, rounds=1),
    "small panels": Sizes(panel=2, tents=1, straight=1, few=0),
    "no new patterns": Sizes(patterns=0),
    "small chunks": Sizes(alone=0, chunk=1, tokens=1),
}
QUICK = ("as it is", "panels", "rounds", "small chunks")


@pytest.fixture(
    params=[pytest.param(x, marks=[] if x in QUICK else pytest.mark.slow) for x in FORCED]
)
def forced(request):
    """Sizes that make the engine take one path wherever it can be taken."""
    return FORCED[request.param]
