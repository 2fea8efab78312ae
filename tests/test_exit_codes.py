"""What a shell sees: the exit codes of the contract, whatever becomes of the output."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TEXT = ROOT / "examples" / "text.json"
HARDMAX = f"'{sys.executable}' -m hardmax"
CHECKER = f"'{sys.executable}' -m hardmax.checker"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("exit") / "model.npz"
    done = subprocess.run([sys.executable, "-m", "hardmax", "build", TEXT, "-o", path])
    assert done.returncode == 0
    return path


COMMANDS = [
    f"{HARDMAX} verify MODEL '{TEXT}'",
    f"{HARDMAX} verify --json MODEL '{TEXT}'",
    pytest.param(f"{HARDMAX} run MODEL '{TEXT}'", marks=pytest.mark.slow),
    pytest.param(f"{HARDMAX} info MODEL", marks=pytest.mark.slow),
    f"{HARDMAX} build '{TEXT}' -o MODEL.new --force",
    pytest.param(f"{HARDMAX} verify --help", marks=pytest.mark.slow),
    f"{CHECKER} MODEL '{TEXT}'",
    f"{CHECKER} --help",
]


def shell(command, model):
    command = command.replace("MODEL", str(model))
    if "--force" in command:
        found = subprocess.run(
            [sys.executable, "-m", "hardmax", "build", "--help"], capture_output=True, text=True
        )
        if "--force" not in found.stdout:
            command = command.replace(" --force", "")
    done = subprocess.run(
        ["sh", "-c", command], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert "Traceback" not in done.stderr
    return done


@pytest.mark.parametrize("command", COMMANDS)
def test_an_output_that_nobody_gets(model, command):
    """Gone, full, closed: never 1, which means refuted, and never 0, as nothing was said."""
    done = shell(f"({command}; echo $? >&2) | true", model)
    assert done.stderr == "141\n"
    if Path("/dev/full").exists():
        done = shell(f"{command} > /dev/full", model)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    done = shell(f"{command} >&-", model)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


@pytest.mark.parametrize(
    "command",
    [
        f"{HARDMAX} run MODEL '{TEXT}' -o - --exact --trace",
        pytest.param(f"{HARDMAX} build '{TEXT}' -o -", marks=pytest.mark.slow),
    ],
)
def test_nobody_reads_a_file_on_standard_output(model, command):
    done = shell(f"({command}; echo $? >&2) | true", model)
    assert done.stderr.splitlines()[-1] == "141"
    assert "can't be written" not in done.stderr


def test_data_from_a_named_pipe(model, tmp_path):
    """A pipe is opened once: its writer ends with the first reader."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    done = shell(f"cat '{TEXT}' > '{pipe}' & {HARDMAX} verify MODEL '{pipe}' --json", model)
    assert done.returncode == 0


def test_closed_messages_change_nothing(model):
    assert shell(f"{HARDMAX} verify MODEL '{TEXT}' 2>&-", model).returncode == 0
    assert shell(f"{HARDMAX} verify MODEL none.json 2>&-", model).returncode == 2
    assert shell(f"{CHECKER} MODEL '{TEXT}' 2>&-", model).returncode == 0


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)], ids=["TERM", "INT"]
)
@pytest.mark.parametrize("command", [["hardmax", "verify"], ["hardmax.checker"]])
def test_signals(model, tmp_path, command, number, code):
    """While the data is being read from a pipe that nobody writes to."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [sys.executable, "-m", *command, model, pipe],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    writer = os.open(pipe, os.O_WRONLY)  # returns once the process has opened it
    time.sleep(0.1)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    os.close(writer)
    assert process.returncode in (code, -number)  # a shell shows the second as the first
    assert out == ""
    assert err.strip() in ("", "interrupted", "terminated")


def test_the_checker_shows_progress_on_a_terminal_only(model):
    import pty

    leader, follower = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "hardmax.checker", model, TEXT],
        stdout=subprocess.PIPE, stderr=follower, text=True,
    )  # fmt: skip
    os.close(follower)
    shown = os.read(leader, 1 << 16).decode()
    os.close(leader)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "proved")
    assert "sequence 1 of " in shown
    assert shown.endswith("\r\x1b[K")
    assert shell(f"{CHECKER} MODEL '{TEXT}'", model).stderr == ""


def test_the_checkers_help(model):
    done = shell(f"{CHECKER} --help", model)
    assert done.returncode == 0
    assert "usage: checker.py MODEL DATA [--certificate CERT]" in done.stdout


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
def test_endless_input_is_refused(model):
    for command in (f"{HARDMAX} verify MODEL /dev/zero", f"{CHECKER} MODEL /dev/zero"):
        done = shell(command, model)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
