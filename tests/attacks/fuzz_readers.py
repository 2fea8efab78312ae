"""Coverage-guided fuzzing of all readers: data, model, certificate; package and checker.

    pip install 'hardmax[fuzz]'
    python -m tests.attacks.fuzz_readers [-runs=1000000] [libFuzzer options] [CORPUS]

An input that makes a reader raise anything but its documented error, or that the package and
the checker read differently, ends the run; libFuzzer writes it to a file ``crash-…``, which
``python -m tests.attacks.fuzz_readers FILE`` runs again. With ``--keep-going`` each new kind of
disagreement is printed with its input, and the run goes on.

Without atheris (its wheels are for Linux) ``--random`` mutates the same seeds without guidance.

The first byte chooses what the others are; the bytes of a member of an npz file are put into a
true archive, as no fuzzer finds checksums.
"""

import contextlib
import gzip
import hashlib
import io
import json
import re
import sys
import tempfile
import zipfile
from pathlib import Path
from random import Random

atheris = None
if __name__ == "__main__" and "--random" not in sys.argv:
    with contextlib.suppress(ImportError):
        import atheris

if atheris is not None:
    with atheris.instrument_imports(include=["hardmax.formats", "hardmax.checker", "zipfile"]):
        import hardmax.checker
        import hardmax.formats.data
        import hardmax.formats.model_file  # noqa: F401

from . import pairs  # noqa: E402
from .readers import Readers, certificate  # noqa: E402

TABLES = {
    "default": None,
    "sets": ("ball", "polyhedron", "box"),
    "half": ("halfspace", "point"),
}
MODES = ("data", "gzip", "model", "model member", "data member", "certificate", "binary64")


class Target:
    """Runs one input; the true files that inputs are put into."""

    def __init__(self, folder, readers):
        self.readers = readers
        self.true = []
        for name, kinds in TABLES.items():
            table = pairs.random_table(Random(name), 2, 3, kinds, decimals=name == "half")
            self.true.append(pairs.built(name, table, folder, "paper"))
        whole = [pairs.data_npz(pair.table) for pair in self.true]
        self.models = [_members(pair.model.raw()) for pair in self.true]
        self.data = [_members(raw) for raw in whole if raw is not None]
        self.certified = [(pair.model.raw(), pairs.data_json(pair.table)) for pair in self.true]
        for pair, files in zip(self.true, self.certified, strict=True):
            model, data = (hashlib.sha256(raw).hexdigest() for raw in files)
            pair.certificate["sha256"] = {"data": data, "model": model}

    def seeds(self):
        """Inputs to begin with: true files in every mode."""
        for k, pair in enumerate(self.true):
            for raw in pairs.forms(pair.table).values():
                yield bytes([0]) + raw
                yield bytes([6]) + raw
            yield bytes([1]) + pairs.data_json(pair.table)
            yield bytes([2]) + pair.model.raw()
            yield bytes([5, k]) + json.dumps(pair.certificate).encode()
        for mode, archives in ((3, self.models), (4, self.data)):
            for k, members in enumerate(archives):
                for i, content in enumerate(members.values()):
                    yield bytes([mode, k, i]) + content

    def __call__(self, raw):
        """Run one input; raises what a reader must not raise, or DisagreementError."""
        if len(raw) < 4:
            return False
        mode, rest = MODES[raw[0] % len(MODES)], bytes(raw[1:])
        if mode == "data":
            return self.readers.data(rest)
        if mode == "binary64":
            return self.readers.data(rest, "binary64")
        if mode == "gzip":
            return self.readers.data(gzip.compress(rest, 1))
        if mode == "model":
            return self.readers.model(rest)
        if mode == "certificate":
            return certificate(*self.certified[rest[0] % len(self.certified)], rest[1:]) == 0
        archives = self.models if mode == "model member" else self.data
        members = dict(archives[rest[0] % len(archives)])
        names = [*members, "exact" if mode == "model member" else "labels"]
        members[names[rest[1] % len(names)]] = rest[2:]
        archive = _archive(members, rest[1] >> 7)
        return self.readers.model(archive) if mode == "model member" else self.readers.data(archive)


def _members(raw):
    """{name: bytes} of an npz file."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        return {info.filename.removesuffix(".npy"): archive.read(info) for info in archive.filelist}


def _archive(members, deflated):
    stream = io.BytesIO()
    how = zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED
    with zipfile.ZipFile(stream, "w", how) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), content, how)
    return stream.getvalue()


TOKENS = [
    b"null", b"true", b"NaN", b"-Infinity", b"1e999", b"1e99999", b'"1/0"', b"-0", b"0.1", b'""',
    b"[]", b"{}", b"[[", b"9" * 30, b"\\ud800", b"\xff", b"\0", b"\xef\xbb\xbf", b'"kind"', b"\r",
    b"'shape': (1000000000000000000, 0)", b"'<U0'", b"'|O'", b"'<c16'", b"'>f8'", b"'<f4'", b",",
    b'"label"', b'"polyhedron"', b'"1/3"', b"fortran_order': True", b'"', b"\n", b"/", b"e",
]  # fmt: skip


def mutated(rng, raw, seeds):
    """Bytes changed in a few places."""
    raw = bytearray(raw)
    for _ in range(rng.randint(1, 4)):
        i = rng.randrange(1, len(raw) + 1)
        k = min(len(raw), i + rng.choice([1, 1, 2, 4, 16]))
        match rng.randrange(6):
            case 0:
                raw[i:k] = rng.randbytes(k - i)
            case 1:
                del raw[i:k]
            case 2:
                raw[i:i] = rng.choice(TOKENS)
            case 3:
                raw[i:k] = rng.choice(TOKENS)
            case 4:
                raw[i:i] = raw[i:k]
            case _:
                other = rng.choice(seeds)
                start = rng.randrange(len(other))
                raw[i:k] = other[start : start + rng.choice([1, 8, 40])]
    return bytes(raw)


def random_inputs(target, seeds, count, seed=0):
    """Run mutated seeds; return (inputs, inputs that are still files of these formats)."""
    rng, accepted = Random(seed), 0
    for _ in range(count):
        accepted += bool(target(mutated(rng, rng.choice(seeds), seeds)))
    return count, accepted


def keep_going(target):
    """A target that prints the first input of each kind of disagreement."""
    known = set()

    def run(raw):
        try:
            target(raw)
        except Exception as problem:
            text = re.sub(r"\d+|'[^']*'|\S*/\S*", "…", f"{problem!r}")[:100]
            if text not in known:
                known.add(text)
                print("DIFFERS", problem, bytes(raw), flush=True)

    return run


def main(arguments):
    """Fuzz until the runs are done; libFuzzer ends the process."""
    with tempfile.TemporaryDirectory() as folder, Readers() as readers:
        target = Target(folder, readers)
        seeds = list(target.seeds())
        if "--keep-going" in arguments:
            arguments = [x for x in arguments if x != "--keep-going"]
            target = keep_going(target)
        if "--random" in arguments or atheris is None:
            runs = [int(x[6:]) for x in arguments if x.startswith("-runs=")]
            print("inputs, accepted:", *random_inputs(target, seeds, *(runs or [100_000])))
            return
        corpus = Path(folder) / "corpus"
        corpus.mkdir()
        for k, raw in enumerate(seeds):
            (corpus / str(k)).write_bytes(raw)
        dictionary = Path(folder) / "tokens"
        lines = ("".join(rf"\x{x:02x}" for x in token) for token in TOKENS)
        dictionary.write_text("".join(f'"{line}"\n' for line in lines))
        files = [x for x in arguments[1:] if not x.startswith("-")]
        single = len(files) == 1 and Path(files[0]).is_file()
        options = [*arguments]
        if not single:
            if not any(x.startswith("-runs=") for x in arguments):
                options.append("-runs=1000000")
            options += [
                "-max_len=5000", "-len_control=0", "-timeout=10", "-rss_limit_mb=2048",
                f"-dict={dictionary}", str(corpus),
            ]  # fmt: skip
        atheris.Setup(options, target)
        atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv)
