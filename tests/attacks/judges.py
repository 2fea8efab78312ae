"""Three judges of one (model, data) pair: `hardmax verify`, the checker, plain Fractions.

Each answers with an exit code of docs/certificate.md: 0 proved, 1 refuted, 2 unusable, 3
undecided; anything that a program must not do (another exception) is 70.
"""

import contextlib
import importlib.util
import os
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

from hardmax import checker
from hardmax.certify import certify
from hardmax.cli.common import load_for
from hardmax.errors import HardmaxError
from hardmax.model.transformer import Transformer

ROOT = Path(__file__).resolve().parents[2]


class DisagreementError(Exception):
    """Judges differ, or one of them did what no judge may do; raised, for -O keeps no assert."""


def _definition():
    """tests/checker/definition.py: section 1 of the specification in plain Fractions."""
    path = ROOT / "tests" / "checker" / "definition.py"
    specification = importlib.util.spec_from_file_location("definition_for_attacks", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


definition = _definition()


def memory_folder():
    """A folder for throw-away files, in memory where the system has such a place."""
    shared = "/dev/shm"
    return shared if os.path.isdir(shared) and os.access(shared, os.W_OK) else None


class Package:
    """`hardmax verify` without its printing, on bytes; a context manager that owns two files."""

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(dir=memory_folder())
        self.model = Path(self._folder.name) / "model.npz"
        self.data = Path(self._folder.name) / "data"
        return self

    def __exit__(self, *exception):
        self._folder.cleanup()

    def __call__(self, model, data):
        """(exit code, reason)."""
        self.model.write_bytes(model)
        self.data.write_bytes(data)
        try:
            loaded = Transformer.load(self.model)
            found = certify(loaded, load_for(loaded, str(self.data)))
        except HardmaxError as problem:
            return problem.exit_code, str(problem)
        except MemoryError:
            return 3, "memory"
        except Exception as problem:
            return 70, f"{type(problem).__name__}: {problem}"
        if found.proved:
            return 0, found.verdict
        return 1, found.witnesses[0].sentence()


@contextlib.contextmanager
def long_integers():
    """As the checker's main: no limit on the digits of an integer."""
    digits = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        yield
    finally:
        sys.set_int_max_str_digits(digits)


def ask_checker(model, data, certificate=None):
    """(exit code, reason) of the checker."""
    with long_integers():
        try:
            return 0, checker.check(model, data, certificate)[0]
        except checker.Stop as stop:
            return stop.args
        except Exception as problem:
            return 70, f"{type(problem).__name__}: {problem}"


def nearest(x):
    """The binary64 number nearest to a Fraction."""
    return Fraction(float(x))


def exact(value):
    """The rational that a written number denotes."""
    return Fraction(value.strip()) if isinstance(value, str) else Fraction(value)


def rounded(value, binary64):
    """A written number under the data's reading: quotients stay exact."""
    x = exact(value)
    return nearest(x) if binary64 and "/" not in str(value) else x


def read_set(label_set, binary64):
    """A label set with Fractions for its written numbers."""

    def numbers(value):
        if isinstance(value, list):
            return [numbers(x) for x in value]
        return rounded(value, binary64)

    return {key: x if key == "kind" else numbers(x) for key, x in label_set.items()}


def inside(label_set, x):
    """Membership of an output, which may have more coordinates than the data."""
    if label_set["kind"] == "argmax":
        c, rivals = label_set["place"], range(label_set["labels"])
        return all(x[c] > x[e] for e in rivals if e != c)
    if label_set["kind"] == "point":
        point = label_set["point"]
        return [*x] == [*point, *[0] * (len(x) - len(point))]
    return definition.contains(label_set, x[: _dimension(label_set)])


def _dimension(label_set):
    """The dimension d₀ of a label set that is not a point."""
    place = {"ball": "center", "box": "lower", "halfspace": "normal"}
    if label_set["kind"] == "polyhedron":
        return len(label_set["A"][0])
    return len(label_set[place[label_set["kind"]]])


def as_read(tokens, meta):
    """Section 3 of docs/certificate.md, word by word: the tokens that a model sees."""
    n, window = len(tokens), meta.get("window", 1)
    far = {
        delta * (k - (window - 1) // 2)
        for delta in meta.get("dilations", [1])
        for k in range(window)
    }
    found = []
    for i in range(1, n + 1):
        if (i - 1) % meta.get("stride", 1):
            continue
        z = []
        for distance in sorted(far):
            z += tokens[min(max(i + distance, 1), n) - 1]
        z += [Fraction(len(found) + 1)] if meta.get("positional") else []
        found.append(z + [Fraction(0)] * meta.get("lift", 0))
    return found


def label_place(name):
    """Where a label stands among the default ones: integers by value, then text."""
    integer = name.removeprefix("-").isascii() and name.removeprefix("-").isdecimal()
    if integer and len(name) < 4000 and str(int(name)) == name:
        return (0, int(name))
    return (1, name)


def read_table(table, meta):
    """(sequences, labels, sets) of a JSON data set, exact, as a model with this meta reads them."""
    binary64 = meta.get("numbers", "exact") == "binary64"
    sequences, labels = [], []
    for item in table["sequences"]:
        tokens = [[rounded(x, binary64) for x in token] for token in item["tokens"]]
        sequences.append(as_read(tokens, meta))
        labels.append(str(item["label"]))
    if "labels" in table:
        sets = {name: read_set(entry, binary64) for name, entry in table["labels"].items()}
        return sequences, labels, sets
    names = sorted({*labels}, key=label_place)
    rest = [Fraction(0)] * (table["dimension"] - 1)
    if meta.get("label_sets", "points") == "points":
        sets = {
            name: {"kind": "point", "point": [Fraction(k), *rest]} for k, name in enumerate(names)
        }
    else:
        sets = {
            name: {"kind": "argmax", "place": k, "labels": len(names)}
            for k, name in enumerate(names)
        }
    return sequences, labels, sets


def classified(blocks, table, meta):
    """CLASSIFIED(T, D) by plain Fractions; None where the files do not fit together."""
    sequences, labels, sets = read_table(table, meta)
    width = len(blocks[0][0])
    if not sequences or any(len(token) != width for Z in sequences for token in Z):
        return None
    if meta.get("label_sets", "points") == "argmax" and ("labels" in table or len(sets) > width):
        return None
    masked = meta.get("masked", False)
    return all(
        inside(sets[label], definition.output(blocks, Z, masked))
        for Z, label in zip(sequences, labels, strict=True)
    )
