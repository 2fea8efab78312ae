"""Crash safety: whatever stops a program, a file is the old one or the new one, never a part."""

import errno
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from hardmax.cli import main
from hardmax.errors import InputError
from hardmax.formats.whole_files import write_whole

from . import pairs

OLD_MODEL, OLD_CERTIFICATE = b"an old model" * 2000, b"an old certificate" * 2000
ENVIRONMENT = os.environ | {"OPENBLAS_NUM_THREADS": "1"}


def command(folder):
    return [
        sys.executable, "-m", "hardmax", "build", folder / "data.json", "-o", folder / "model.npz",
        "--certificate", folder / "certificate.json", "--force",
    ]  # fmt: skip


@pytest.fixture(scope="module")
def new(tmp_path_factory):
    """A folder with data, the files that a whole run writes for it, and its time."""
    folder = tmp_path_factory.mktemp("whole")
    table = pairs.random_table(Random(0), 2, 9)
    (folder / "data.json").write_bytes(pairs.data_json(table))
    start = time.perf_counter()
    subprocess.run(command(folder), check=True, capture_output=True, env=ENVIRONMENT)
    return folder, time.perf_counter() - start


@pytest.fixture
def folder(new, tmp_path):
    """The same data beside an old model and an old certificate."""
    shutil.copy(new[0] / "data.json", tmp_path)
    (tmp_path / "model.npz").write_bytes(OLD_MODEL)
    (tmp_path / "certificate.json").write_bytes(OLD_CERTIFICATE)
    return tmp_path


def whole(folder, new):
    """Check each file; return whether the model and the certificate are the new ones."""
    found = []
    for name, old in (("model.npz", OLD_MODEL), ("certificate.json", OLD_CERTIFICATE)):
        content = (folder / name).read_bytes()
        assert content in (old, (new[0] / name).read_bytes()), f"{name} is neither old nor new"
        found.append(content != old)
    assert found != [False, True], "a certificate of a model that is not there"
    return found


def leftovers(folder):
    known = {"data.json", "model.npz", "certificate.json"}
    return [path.name for path in folder.iterdir() if path.name not in known]


def kill_at(folder, delay, number):
    process = subprocess.Popen(
        command(folder), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=ENVIRONMENT
    )
    time.sleep(delay)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    return process.returncode, err.decode()


def kill_often(folder, new, count, seed):
    rng = Random(seed)
    for _ in range(count):
        # the writing is at the end
        kill_at(folder, rng.uniform(0.3, 1.1) * new[1], signal.SIGKILL)
        whole(folder, new)
        for name in leftovers(folder):  # allowed after kill -9, under names of their own
            assert name.startswith(".")
            assert name.endswith(".tmp")
            (folder / name).unlink()


def test_kill_9(folder, new):
    kill_often(folder, new, 3, 0)


@pytest.mark.slow
def test_kill_9_often(folder, new):
    kill_often(folder, new, 60, 1)


# the moment of writing itself, drawn out

SLOW_WRITE = """
import sys, time
from pathlib import Path
from hardmax.formats import whole_files
def write(temporary):
    with open(temporary, "wb") as file:
        for k in range(50):
            file.write(b"new" * 1000)
            file.flush()
            if k == 10:
                print("writing", flush=True)
                time.sleep(float(sys.argv[2]))
from hardmax.cli import main as module
import hardmax.cli.main
with sys.modules["hardmax.cli.main"]._ending_cleanly():
    whole_files.write_whole(Path(sys.argv[1]), write)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_while_a_file_is_written(tmp_path, number):
    target = tmp_path / "file"
    target.write_bytes(b"old")
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW_WRITE, target, "30"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=ENVIRONMENT,
    )  # fmt: skip
    with process.stdout:
        assert process.stdout.readline() == b"writing\n"
    process.send_signal(number)
    assert process.wait(timeout=30) != 0
    assert target.read_bytes() == b"old"
    names = {path.name for path in tmp_path.iterdir()}
    assert number == signal.SIGKILL or names == {"file"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("share", [0.6, 0.9])
def test_an_interrupted_build_leaves_nothing_behind(folder, new, number, share):
    code, err = kill_at(folder, share * new[1], number)
    done = whole(folder, new)
    assert leftovers(folder) == []
    # Python starts and ends without our handlers: there the signal may simply kill; and an
    # interrupt of code that an import executes makes Python end as killed by SIGINT
    assert code in (0, 128 + number, -number, -signal.SIGINT, 1)
    assert code != 0 or done == [True, True]
    assert code != 128 + number or "Traceback" not in err


# no space


def limited(size):
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


@pytest.mark.parametrize("size", [0, 1, 1000, 4500])
def test_no_space_for_a_file(folder, new, size):
    """Writes past the limit fail as on a full disk, after a part has been written."""
    assert (new[0] / "model.npz").stat().st_size > 4500
    done = subprocess.run(
        command(folder), capture_output=True, text=True, preexec_fn=limited(size),
        env=ENVIRONMENT | {"PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert "can't be written" in done.stderr
    assert done.stderr.count("\n") == 1
    assert whole(folder, new) == [False, False]
    assert leftovers(folder) == []


def test_a_certificate_that_finds_no_space_takes_the_model_back(folder, new):
    size = (new[0] / "model.npz").stat().st_size
    certificate = (new[0] / "certificate.json").stat().st_size
    if certificate > size:
        pytest.skip("the certificate is the longer one here")
    monkey = subprocess.run(
        command(folder), capture_output=True, preexec_fn=limited(size - 1), env=ENVIRONMENT
    )
    assert monkey.returncode == 2
    assert whole(folder, new) == [False, False]


def failing(real, calls, number):
    """A function that works until the given call, which fails."""

    def call(*arguments, **options):
        calls.append(real.__name__)
        if len(calls) == number:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(*arguments, **options)

    return call


STEPS = [(os, "fsync"), (Path, "chmod"), (Path, "replace"), (Path, "write_text")]


@pytest.mark.parametrize(("owner", "name"), STEPS, ids=lambda x: getattr(x, "__name__", x))
@pytest.mark.parametrize("number", [1, 2])
def test_a_full_disk_at_every_step(folder, new, monkeypatch, capsys, owner, name, number):
    calls = []
    monkeypatch.setattr(owner, name, failing(getattr(owner, name), calls, number))
    with pytest.raises(SystemExit) as stop:
        main([str(x) for x in command(folder)[3:]])
    monkeypatch.undo()
    captured = capsys.readouterr()
    assert leftovers(folder) == []
    if len(calls) < number:  # this step is not reached twice
        assert stop.value.code == 0
        assert whole(folder, new) == [True, True]
        return
    assert stop.value.code == 2
    assert captured.err.count("\n") == 1
    assert "can't be written" in captured.err
    done = whole(folder, new)
    if (name, number) != ("replace", 2):  # two files can't get their names at once
        assert done == [False, False]


def test_every_error_of_a_writer_leaves_the_old_file(tmp_path):
    target = tmp_path / "file"
    for problem in (ValueError, MemoryError, KeyboardInterrupt, OSError):

        def write(temporary, problem=problem):
            temporary.write_bytes(b"a part")
            raise problem("stopped")

        for content in (None, b"old"):
            if content is not None:
                target.write_bytes(content)
            expected = InputError if problem is OSError else problem
            with pytest.raises(expected):
                write_whole(target, write)
            assert [path.name for path in tmp_path.iterdir()] == ["file"] * (content is not None)
            assert content is None or target.read_bytes() == content
            target.unlink(missing_ok=True)


def test_a_full_disk(new, tmp_path):
    """A file system of 16 KiB, where one may be mounted."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", disk], capture_output=True
    )
    if not mounted or mounted.returncode:
        pytest.skip("mounting is not permitted here")
    try:
        shutil.copy(new[0] / "data.json", disk)
        (disk / "model.npz").write_bytes(b"old" * 2000)
        done = subprocess.run(
            command(disk), capture_output=True, text=True, env=ENVIRONMENT
        )  # fmt: skip
        assert done.returncode == 2
        assert (disk / "model.npz").read_bytes() == b"old" * 2000
        assert leftovers(disk) == []
    finally:
        subprocess.run(["umount", disk], check=True)
