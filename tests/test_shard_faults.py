"""Faults: the same verdict in the end, or one clear error; never a false proof."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
from functools import partial
from multiprocessing import active_children
from time import sleep

import numpy as np
import pytest

import hardmax as hm
from hardmax.errors import InputError, ResourceLimitError
from hardmax.shards import Shards
from hardmax.shards.build import build_shards
from hardmax.shards.engines import Dask, Processes, Serial, engine
from hardmax.shards.judge import certify_shards

from shard_faults import die, die_once  # isort: skip


@pytest.fixture
def folder(tmp_path):
    """Twelve shards in `data`, `model.npz`, and the certificate that an undisturbed run gives."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 3, 4))
    data = hm.Dataset(X, np.where(X.mean(axis=1)[:, 0] > 0, "yes", "no"))
    data.save(tmp_path / "data", shards=12)
    hm.build(data, strategy="cover").save(tmp_path / "model.npz")
    certify(tmp_path).certificate.save(tmp_path / "expected.json")
    return tmp_path


def certify(folder, engine=None, progress=None, **options):
    shards = Shards.open(folder / "data")
    return certify_shards(folder / "model.npz", shards, engine, progress, **options)


def same(folder, verdict):
    """Whether this is, byte by byte, what an undisturbed run says, with no trace of the work."""
    verdict.certificate.save(folder / "found.json")
    assert (folder / "found.json").read_bytes() == (folder / "expected.json").read_bytes()
    assert not [*folder.glob("*.work")]


def stopping(after):
    """A progress function that ends the run after so many calls."""
    calls = []

    def step(done):
        calls.append(done)
        if len(calls) == after:
            raise KeyboardInterrupt

    return step


# ---- workers ----


def test_a_killed_process_is_replaced(tmp_path):
    with Processes(2) as chosen:
        found = dict(chosen.run(partial(die_once, str(tmp_path / "mark")), range(6)))
    assert found == {x: x * x for x in range(6)}


def test_work_that_kills_every_process_ends_with_one_error():
    with Processes(2) as chosen, pytest.raises(ResourceLimitError, match="--resume"):
        [*chosen.run(die, range(3))]


def killing():
    """The processes that were killed, and a step that kills one, the first time it is called."""
    killed = []

    def step(done):
        if not killed:
            killed.append(active_children()[0].pid)
            os.kill(killed[0], signal.SIGKILL)

    return killed, step


def test_kill_9_in_mid_run(folder):
    killed, step = killing()
    with Processes(2) as chosen:
        same(folder, certify(folder, chosen, step))
    assert killed


def test_an_interrupted_run_goes_on(folder):
    with pytest.raises(KeyboardInterrupt):
        certify(folder, None, stopping(5))
    assert len([*folder.glob("model.npz.verify.*.work/*.json")]) >= 4
    done = []
    same(folder, certify(folder, None, done.append, resume=True))
    assert 0 < len(done) <= 8
    done.clear()
    same(folder, certify(folder, None, done.append, resume=True))  # nothing to go on from
    assert len(done) == 12


# ---- shards ----


def test_a_lost_shard(folder):
    lost = folder / "data/part-00007.npz"
    shards = Shards.open(folder / "data")
    shutil.move(lost, folder / "aside")
    with pytest.raises(InputError, match=r"part-00007\.npz is missing"):
        certify(folder)
    with pytest.raises(InputError, match=r"part-00007\.npz"):  # it went away after the start
        certify_shards(folder / "model.npz", shards)
    shutil.move(folder / "aside", lost)
    same(folder, certify(folder, resume=True))


@pytest.mark.parametrize("name", ["local", "in this process"])
def test_a_corrupt_shard(folder, name):
    broken = folder / "data/part-00007.npz"
    content = bytearray(broken.read_bytes())
    content[len(content) // 2] ^= 1
    original = broken.read_bytes()
    broken.write_bytes(content)
    with engine("local", 2) if name == "local" else Serial() as chosen:
        with pytest.raises(InputError, match=r"part-00007\.npz"):
            certify(folder, chosen)
        broken.write_bytes(original)
        same(folder, certify(folder, chosen, resume=True))


def test_another_shard_of_the_right_form(folder):
    shutil.copy(folder / "data/part-00001.npz", folder / "data/part-00007.npz")
    with pytest.raises(InputError, match=r"part-00007\.npz: this is not the file"):
        certify(folder)


def test_a_shard_too_many(folder):
    shutil.copy(folder / "data/part-00001.npz", folder / "data/part-00012.npz")
    with pytest.raises(InputError, match=r"does not name part-00012\.npz"):
        certify(folder)


def test_a_resumed_run_looks_again_at_what_changed(folder):
    with pytest.raises(KeyboardInterrupt):
        certify(folder, None, stopping(5))
    shard = folder / "data/part-00000.npz"
    arrays = dict(np.load(shard))
    arrays["label"] = np.where(arrays["label"] == "yes", "no", "yes")
    np.savez(shard, **arrays)
    with pytest.raises(InputError, match="part-00000"):
        certify(folder, resume=True)
    (folder / "data/labels.json").write_text('{"labels": ["no", "yes"]}')  # promises nothing
    found = certify(folder, None, None, resume=True).certificate
    assert found.verdict == "refuted"
    assert found.witnesses[0].sequence < 20


@pytest.mark.parametrize("change", ["a byte", "empty", "of another job"])
def test_a_broken_entry_is_not_believed(folder, change):
    with pytest.raises(KeyboardInterrupt):
        certify(folder, None, stopping(5))
    entries = sorted(folder.glob("*.work/*.json"))
    if change == "of another job":
        text = entries[0].read_text()
        entries[0].write_text(text.replace(text.split()[1], "0" * 64))
    else:
        entries[0].write_text("" if change == "empty" else entries[0].read_text().replace("1", "2"))
    done = []
    same(folder, certify(folder, None, done.append, resume=True))
    assert len(done) == 12 - len(entries) + 1


# ---- the disk ----


def _limited(command, size):
    """Run the command line; no file may grow past ``size`` bytes, as on a full disk."""
    done = subprocess.run(
        [sys.executable, "-m", "hardmax", *map(str, command)],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
    )
    return done.returncode, done.stderr


def test_a_full_disk_stops_a_build_and_leaves_no_model(folder, run):
    command = ["build", folder / "data", "-o", folder / "built.npz", "--workers", 1]
    code, message = _limited(command, 1000)
    assert code == 2
    assert "can't be written" in message
    assert message.count("\n") == 1
    assert not (folder / "built.npz").exists()
    assert run(*command, "--resume").code == 0
    assert hm.certify(folder / "built.npz", folder / "data/part-00003.npz").proved
    assert not [*folder.glob("*.work")]


def test_a_verdict_needs_no_disk(folder):
    command = ["verify", folder / "model.npz", folder / "data", "--workers", 1]
    assert _limited(command, 10) == (0, "")


def test_a_build_goes_on_where_it_was(folder):
    shards, output = Shards.open(folder / "data"), folder / "built.npz"
    model, journal = build_shards(shards, output)
    journal.end()
    with pytest.raises(KeyboardInterrupt):
        build_shards(shards, output, progress=stopping(5))
    done = []
    again, journal = build_shards(shards, output, progress=done.append, resume=True)
    assert 0 < len(done) <= 8
    done.clear()
    third, journal = build_shards(shards, output, progress=done.append, resume=True)
    assert not done
    journal.end()
    assert model == again == third


# ---- dask ----


@pytest.fixture
def distributed():
    return pytest.importorskip("distributed")


def _started(*words):
    return subprocess.Popen(
        [sys.executable, "-m", "distributed.cli." + words[0], *map(str, words[1:])],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@pytest.fixture
def scheduler(distributed):
    """A function that starts a scheduler with one worker at the same address; what it started."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address, running = f"tcp://127.0.0.1:{port}", []

    def start():
        running[:] = [
            _started("dask_scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard"),
            _started("dask_worker", address, "--nthreads", 1, "--no-dashboard"),
        ]
        return address, running

    yield start
    for process in running:
        process.kill()
        process.wait()


@pytest.mark.filterwarnings("ignore")  # of dask
def test_dask_gives_the_same_bytes_and_survives_kill_9(folder, distributed):
    killed, step = killing()
    with Dask(2) as chosen:
        same(folder, certify(folder, chosen, step))
    assert killed


@pytest.mark.filterwarnings("ignore")  # of dask
def test_a_scheduler_restart(folder, scheduler):
    address, running = scheduler()

    def step(done):
        for process in running:
            process.kill()
            process.wait()

    with Dask(1, address) as chosen, pytest.raises(ResourceLimitError, match="--resume"):
        certify(folder, chosen, step)
    scheduler()
    done = []
    with Dask(1, address) as chosen:
        same(folder, certify(folder, chosen, done.append, resume=True))
    assert len(done) < 12


def test_no_scheduler(folder, distributed):
    with (
        Dask(1, "tcp://127.0.0.1:9", patience=1) as chosen,
        pytest.raises(InputError, match="no scheduler"),
    ):
        certify(folder, chosen)


def test_without_dask_the_error_names_the_extra(folder, run, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    found = run("verify", folder / "model.npz", folder / "data", "--engine", "dask")
    assert found.code == 2
    assert "hardmax[dask]" in found.err


def test_workers_end_with_their_parent(tmp_path):
    code = (
        "from hardmax.shards.engines import Processes\n"
        "import time, multiprocessing\n"
        "if __name__ == '__main__':\n"
        "    runs = Processes(2).run(time.sleep, [0, 0, 60, 60])\n"
        "    next(runs), next(runs)\n"
        "    print(*[p.pid for p in multiprocessing.active_children()], flush=True)\n"
        "    time.sleep(60)\n"
    )
    (tmp_path / "parent.py").write_text(code)
    parent = subprocess.Popen(
        [sys.executable, tmp_path / "parent.py"], stdout=subprocess.PIPE, text=True
    )
    with parent:
        pids = [int(word) for word in parent.stdout.readline().split()]
        parent.kill()
    assert len(pids) == 2
    for _ in range(100):
        if not any(_alive(pid) for pid in pids):
            return
        sleep(0.1)
    raise AssertionError("workers outlive their parent")


def _alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
