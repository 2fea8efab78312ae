"""Small files that want much memory or time: every reader refuses them within limits.

The programs run as a user runs them, in a process of their own whose memory is limited, so that a
reader that would take gigabytes fails here and not on the machine.
"""

import gzip
import io
import json
import os
import resource
import subprocess
import sys
import zipfile
import zlib

import numpy as np
import pytest

from . import pairs
from .test_readers import header, npy, packed

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's memory limits")

LIMIT = 4 << 30  # of address space: NumPy's libraries take some
RESIDENT = 1 << 30  # what a refusal may use
SECONDS = 60


def model():
    """A model with the output 0."""
    return pairs.of_blocks([([0, 0], 0, [0, 0], 0, 0, [0, 0])])


def zeros(count):
    """A zip member's deflated body: count MiB of zeros in about count KiB."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    first = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return first * count + packer.flush()


def bomb(name, stated, mebibytes=300):
    """An npz file with one member that unpacks to 300 MiB and states another size."""
    body = zeros(mebibytes)
    content = f"{name}.npy".encode()
    size = stated.to_bytes(4, "little")
    fixed = b"\x14\0\0\0\x08\0\0\0\x21\0" + bytes(4) + len(body).to_bytes(4, "little") + size
    fixed += len(content).to_bytes(2, "little") + b"\0\0"
    local = b"PK\3\4" + fixed + content + body
    central = b"PK\1\2\x14\0" + fixed + bytes(14) + content
    end = b"PK\5\6" + bytes(4) + b"\1\0\1\0" + len(central).to_bytes(4, "little")
    return local + central + end + len(local).to_bytes(4, "little") + b"\0\0"


def data(**changed):
    return json.dumps(
        {"dimension": 2, "sequences": [{"tokens": [[1, 2]], "label": "a"}]} | changed
    ).encode()


def number(text):
    return b'{"dimension": 1, "sequences": [{"tokens": [[%s]], "label": "a"}]}' % text


DATA = {
    "zip bomb": lambda: bomb("tokens", 300 << 20),
    "zip bomb that states 100 bytes": lambda: bomb("tokens", 100),
    "gzip bomb": lambda: gzip.compress(b" " * (100 << 20), 1),
    "nested lists": lambda: b"[" * (1 << 20),
    "nested objects": lambda: b'{"a":' * (1 << 18),
    "nested tokens": lambda: b'{"dimension": 2, "sequences": ' + b"[" * (1 << 20),
    "a million digits": lambda: number(b"7" * 1_000_000),
    "a million digits in a quotient": lambda: number(b'"1/%s"' % (b"7" * 1_000_000)),
    "a million decimals": lambda: number(b"0." + b"7" * 1_000_000),
    "an exponent of 10^9": lambda: number(b"1e1000000000"),
    "an exponent of -10^9": lambda: number(b"1e-1000000000"),
    "an exponent of a million digits": lambda: number(b"1e" + b"9" * 1_000_000),
    "a dimension of 10^9": lambda: data(dimension=10**9),
    "a dimension of 10^5000": lambda: b'{"dimension": 1%s, "sequences": []}' % (b"0" * 5000),
    "a label of 10^99999": lambda: data(sequences=[]).replace(b"[]", b'[{"tokens": [[1, 2]], '
                                       b'"label": 1%s}]' % (b"0" * 99_999)),
    "a CSV field without end": lambda: b"sequence,label,x1\n" + b"7" * 10_000_000,
    "a CSV header of a million columns": lambda: b"sequence,label," + b",".join(
        b"x%d" % (k + 1) for k in range(1_000_000)
    ),
    "a huge shape of nothing": lambda: packed(
        "tokens", npy(header("<f8", f"({10**18}, 0)")),
        {"tokens": np.zeros(0), "offsets": np.array([0, 0]), "label": np.array(["a"])},
    ),
    "offsets of 10^18": lambda: pairs.npz(
        {"tokens": np.zeros((2, 2)), "offsets": np.array([0, 10**18, 2]), "label": ["a", "b"]}
    ),
    "labels of width 10^9": lambda: packed(
        "label", npy(header(f"<U{10**9}", "(0,)")),
        {"tokens": np.zeros((2, 2)), "offsets": np.array([0, 2]), "label": np.array(["a"])},
    ),
    "text of width 0": lambda: packed(
        "label", npy(header("<U0", "(2000000000,)")),
        {"tokens": np.zeros((2, 2)), "offsets": np.array([0, 2]), "label": np.array(["a"])},
    ),
}  # fmt: skip

MODEL = {
    "zip bomb": lambda: bomb("u", 300 << 20),
    "zip bomb that states 100 bytes": lambda: bomb("u", 100),
    "meta nested": lambda: pairs.npz(model().members() | {"meta": np.array("[" * (1 << 18))}),
    "a million members": lambda: many_members(20_000),
    "overrides of a megabyte": lambda: pairs.npz(
        model().members() | {"exact": np.array('{"w": [[0, "1/%s"]]}' % ("f" * (1 << 20)))}
    ),
    "many long overrides": lambda: pairs.npz(
        model().members() | {"exact": np.array(json.dumps({"w": [[0, f"0/{'f' * 260_000}"]] * 50}))}
    ),
    "a huge shape": lambda: packed(
        "u", npy(header("<f8", f"({10**9}, {10**9})")), model().members()
    ),
    "a huge shape of nothing": lambda: packed(
        "stage", npy(header("<U0", "(2000000000,)")), model().members()
    ),
    "a long header": lambda: packed(
        "u", npy(header("<f8", "(1, 2)") + b" " * (1 << 24), version=b"\2\0"), model().members()
    ),
}

CERTIFICATE = {
    "nested": lambda: b"[" * (1 << 20),
    "large": lambda: b" " * (1 << 26),
    "a million digits": lambda: b'{"format": 1%s}' % (b"0" * 1_000_000),
}


def many_members(count):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for k in range(count):
            archive.writestr(f"{k}.npy", b"")
    return stream.getvalue()


RUN = """
import contextlib, io, sys, time
sys.stdout = io.StringIO()
def once(main, arguments):
    start = time.perf_counter()
    try:
        code = main(arguments)
    except SystemExit as stop:
        code = stop.code
    sys.__stdout__.write(f"{code} {time.perf_counter() - start:.1f}\\n")
if sys.argv[1] == "checker":
    from hardmax.checker import main
    for line in sys.stdin.read().splitlines():
        once(main, line.split("\\t"))
else:
    from hardmax.cli import main
    for line in sys.stdin.read().splitlines():
        once(main, ["verify", *line.split("\\t")])
"""


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))


def codes(program, lines):
    """Exit codes of a program on these arguments, one after another; its peak of memory."""
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, program],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=limited, env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    process.stdin.write("\n".join("\t".join(map(str, line)) for line in lines).encode())
    process.stdin.close()
    out, err = process.stdout.read().decode(), process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    process.stdout.close()
    process.stderr.close()
    found = [line.split() for line in out.splitlines()]
    return [(int(code), float(time)) for code, time in found], usage.ru_maxrss << 10, err


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Bad files by what they are, beside a true model and true data."""
    folder = tmp_path_factory.mktemp("bad")
    (folder / "model.npz").write_bytes(model().raw())
    (folder / "data").write_bytes(data())
    found = {}
    for kind, table in (("data", DATA), ("model", MODEL), ("certificate", CERTIFICATE)):
        for k, (name, make) in enumerate(table.items()):
            path = folder / f"{kind}{k}"
            path.write_bytes(make())
            found[f"{kind}: {name}"] = (
                [folder / "model.npz", path] if kind == "data"
                else [path, folder / "data"] if kind == "model"
                else [folder / "model.npz", folder / "data", "--certificate", path]
            )  # fmt: skip
    return found


@pytest.mark.slow
@pytest.mark.parametrize("program", ["hardmax", "checker"])
def test_blow_ups_are_refused_within_limits(files, program):
    # hardmax verify writes a certificate where the checker reads one
    chosen = {x: y for x, y in files.items() if program == "checker" or len(y) == 2}
    found, peak, messages = codes(program, chosen.values())
    assert len(found) == len(chosen), (len(found), messages[-2000:])
    wrong = {
        name: answer
        for name, answer in zip(chosen, found, strict=True)
        if answer[0] != 2 or answer[1] > SECONDS
    }
    assert not wrong
    assert "Traceback" not in messages
    assert len(messages.splitlines()) == len(chosen)
    assert peak < RESIDENT, peak >> 20


def test_bombs_are_bombs():
    """A MiB of zeros takes about a KiB, and many follow each other."""
    assert len(zeros(300)) < 400_000
    assert zlib.decompressobj(-15).decompress(zeros(3)) == bytes(3 << 20)
    with zipfile.ZipFile(io.BytesIO(bomb("u", 3 << 20, 3))) as archive:
        assert archive.filelist[0].file_size == 3 << 20
