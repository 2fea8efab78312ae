"""True (model, data) pairs, and their files, written with NumPy and json alone."""

import csv
import gzip
import io
import json
import re
import zipfile
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np

import hardmax
from hardmax.construct.build import STRATEGIES
from hardmax.errors import HardmaxError
from hardmax.formats.certificate_file import write_certificate
from hardmax.testing import KINDS, disjoint_sets

from . import judges

NAMES = ("u", "b", "w", "rho", "alpha", "v")
VECTORS = ("u", "w", "v")


def number(x):
    """An exact number as the data format writes it."""
    x = Fraction(x)
    return x.numerator if x.denominator == 1 else f"{x.numerator}/{x.denominator}"


def numbers(value):
    """`number` inside lists and label sets."""
    if isinstance(value, dict):
        return {key: x if key == "kind" else numbers(x) for key, x in value.items()}
    return [numbers(x) for x in value] if isinstance(value, list | tuple) else number(value)


@dataclass
class Model:
    """The members of a model file; ``overrides`` {name: {k: exact number}}."""

    arrays: dict
    stages: list
    meta: dict
    overrides: dict = field(default_factory=dict)

    @classmethod
    def read(cls, raw):
        """Read a model file with numpy.load."""
        with np.load(io.BytesIO(raw), allow_pickle=False) as members:
            arrays = {name: members[name].copy() for name in NAMES}
            stages = [str(name) for name in members["stage"]]
            meta = json.loads(str(members["meta"]))
            entries = json.loads(members["exact"].tobytes()) if "exact" in members else {}
        overrides = {
            name: {k: Fraction(*(int(part, 16) for part in q.split("/"))) for k, q in pairs}
            for name, pairs in entries.items()
        }
        return cls(arrays, stages, meta, overrides)

    def copy(self):
        """A model that can change while this one stays."""
        return Model(
            {name: array.copy() for name, array in self.arrays.items()},
            list(self.stages),
            json.loads(json.dumps(self.meta)),
            {name: dict(entries) for name, entries in self.overrides.items()},
        )

    def __len__(self):
        return len(self.stages)

    @property
    def width(self):
        """Dimension of the tokens."""
        return self.arrays["u"].shape[1]

    def step(self, name):
        """Entries of this array that belong to one block."""
        return self.arrays[name][0].size

    def entry(self, name, k):
        """The exact value of an entry."""
        found = self.overrides.get(name, {}).get(k)
        return Fraction(float(self.arrays[name].flat[k])) if found is None else found

    def set(self, name, k, value, override=None):
        """Store a number; override where float64 does not hold it, or where asked to."""
        stored = float(value)
        self.arrays[name].flat[k] = stored
        entries = self.overrides.setdefault(name, {})
        entries.pop(k, None)
        if override or Fraction(stored) != value:
            entries[k] = value

    def take(self, rows):
        """The blocks with these numbers, in this order."""
        rows = list(rows)
        overrides = {}
        for name, entries in self.overrides.items():
            step = self.step(name)
            overrides[name] = {
                i * step + k % step: value
                for i, row in enumerate(rows)
                for k, value in entries.items()
                if k // step == row
            }
        arrays = {name: array[rows] for name, array in self.arrays.items()}
        return Model(arrays, [self.stages[row] for row in rows], self.meta, overrides)

    def blocks(self):
        """Blocks (u, b, w, rho, alpha, v) of Fractions; of heads alpha and v are lists."""
        exact = {
            name: np.array([self.entry(name, k) for k in range(array.size)], dtype=object)
            .reshape(array.shape)
            .tolist()
            for name, array in self.arrays.items()
        }
        return [tuple(exact[name][row] for name in NAMES) for row in range(len(self))]

    def members(self):
        """The arrays of the file."""
        found = {
            "format": np.array("hardmax-model/1"),
            "meta": np.array(json.dumps(self.meta)),
            "stage": np.array(self.stages),
            **self.arrays,
        }
        entries = {
            name: [[k, f"{q.numerator:x}/{q.denominator:x}"] for k, q in sorted(pairs.items())]
            for name, pairs in self.overrides.items()
            if pairs
        }
        if entries:
            found["exact"] = np.frombuffer(json.dumps(entries).encode(), dtype=np.uint8)
        return found

    def raw(self):
        """Bytes of the model file."""
        return npz(self.members())


def npz(members, compression=zipfile.ZIP_STORED):
    """Bytes of an npz file."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, array in members.items():
            body = io.BytesIO()
            np.lib.format.write_array(body, np.asanyarray(array), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), body.getvalue(), compression)
    return stream.getvalue()


def of_blocks(blocks, meta=None):
    """The model of blocks of Fractions."""
    depth, d = len(blocks), len(blocks[0][0])
    arrays = {name: np.zeros((depth, d) if name in VECTORS else depth) for name in NAMES}
    model = Model(arrays, ["block"] * depth, dict(meta or {}))
    for row, block in enumerate(blocks):
        for name, value in zip(NAMES, block, strict=True):
            if name in VECTORS:
                for k, x in enumerate(value):
                    model.set(name, row * d + k, Fraction(x))
            else:
                model.set(name, row, Fraction(value))
    return model


def data_json(table):
    """Bytes of the JSON form."""
    return json.dumps(table).encode()


def data_gz(table):
    """Bytes of the .json.gz form."""
    return gzip.compress(data_json(table), mtime=0)


def data_csv(table):
    """Bytes of the CSV form; only for data without label sets."""
    stream = io.StringIO()
    lines = csv.writer(stream, lineterminator="\n")
    lines.writerow(["sequence", "label", *(f"x{k + 1}" for k in range(table["dimension"]))])
    for j, item in enumerate(table["sequences"]):
        for token in item["tokens"]:
            lines.writerow([f"s{j}", item["label"], *token])
    return stream.getvalue().encode()


def data_npz(table, compression=zipfile.ZIP_STORED):
    """Bytes of the npz form; None where float64 does not hold a token exactly."""
    rows = [token for item in table["sequences"] for token in item["tokens"]]
    values = [[Fraction(x) for x in row] for row in rows]
    if any(Fraction(float(x)) != x for row in values for x in row):
        return None
    members = {
        "tokens": np.array([[float(x) for x in row] for row in values]),
        "offsets": np.cumsum([0, *(len(item["tokens"]) for item in table["sequences"])]),
        "label": np.array([str(item["label"]) for item in table["sequences"]]),
    }
    if "labels" in table:
        members["labels"] = np.array(json.dumps(table["labels"]))
    return npz(members, compression)


def forms(table):
    """{name of a form: bytes} in every form that holds this data set exactly."""
    text = data_json(table)
    found = {"json": text, "json.gz": data_gz(table)}
    found["json numbers"] = re.sub(rb'"(-?\d+(\.\d+)?([eE]-?\d+)?)"(?=[,\]])', rb"\1", text)
    packed = data_npz(table)
    if packed is not None:
        found["npz"] = packed
        found["npz deflated"] = data_npz(table, zipfile.ZIP_DEFLATED)
    if "labels" not in table:
        found["csv"] = data_csv(table)
    return found


@dataclass
class Pair:
    """A model and a data set (the JSON table), with the certificate where it is proved."""

    name: str
    model: Model
    table: dict
    certificate: dict | None = None

    @property
    def binary64(self):
        """Whether decimals of the data are rounded."""
        return self.model.meta.get("numbers", "exact") == "binary64"

    @property
    def masked(self):
        """Whether attention is masked."""
        return self.model.meta.get("masked", False)

    def classified(self):
        """CLASSIFIED by plain Fractions; None where the dimensions do not fit."""
        return judges.classified(self.model.blocks(), self.table, self.model.meta)

    def copy(self):
        """A pair that can change while this one stays."""
        table = json.loads(json.dumps(self.table))
        return replace(self, model=self.model.copy(), table=table)


def built(name, table, folder, strategy, numbers="exact", positional=False):
    """A pair made by the package's builder and its writers, with its certificate."""
    folder = Path(folder)
    (folder / "data.json").write_bytes(data_json(table))
    data = hardmax.load(folder / "data.json", numbers=numbers, positional=positional)
    masked, heads = strategy == "masked", 3 if strategy == "heads" else 1
    name_of = "paper" if masked or heads > 1 else strategy
    model = hardmax.build(data, name_of, masked=masked, heads=heads)
    model.save(folder / "model.npz")
    model = hardmax.Transformer.load(folder / "model.npz")
    write_certificate(hardmax.certify(model, data), folder / "certificate.json")
    return Pair(
        name,
        Model.read((folder / "model.npz").read_bytes()),
        table,
        json.loads((folder / "certificate.json").read_text("utf-8")),
    )


def random_table(rng, dimension, count, kinds=None, decimals=False):
    """A labelled data set on a small grid with distinct measures; sets of these kinds."""
    seen, sequences = set(), []
    while len(sequences) < count:
        length = rng.randint(1, 4)
        pool = [[rng.randint(-2, 2) for _ in range(dimension)] for _ in range(length)]
        tokens = [rng.choice(pool) for _ in range(length)]
        key = frozenset((tuple(z), tokens.count(z)) for z in tokens)
        # no measure twice, whatever the lengths: one prime factor each is enough here
        if key not in seen and not any(
            {z for z, _ in key} == {z for z, _ in other} for other in seen
        ):
            seen.add(key)
            sequences.append(tokens)
    if decimals:
        sequences = [
            [[rng.choice([x, f"{x}.1", f"{x}/3" if x else x, f"{x}e-3"]) for x in z] for z in Z]
            for Z in sequences
        ]
    names = ["a", "b", "c"][: min(3, count)]
    labels = [*names, *(rng.choice(names) for _ in sequences)][: len(sequences)]
    table = {
        "format": "hardmax-dataset/1",
        "dimension": dimension,
        "sequences": [
            {"tokens": Z, "label": label} for Z, label in zip(sequences, labels, strict=True)
        ],
    }
    if kinds is not None:
        sets = disjoint_sets(names, dimension, rng, kinds)
        table["labels"] = {name: entry.to_json() for name, entry in sets.items()}
    return table


KIND_CHOICES = {"default": None, **{kind: (kind,) for kind in KINDS}, "mixed": KINDS}


def true_pairs(folder, seed=0, strategies=None, repeats=1):
    """Pairs that hold: every strategy with every kind of label set, positions, binary64.

    Strategies that refuse a data set by a documented error are passed over for it.
    """
    for strategy in strategies or (*STRATEGIES, "masked", "heads"):
        for kind, kinds in KIND_CHOICES.items():
            for turn in range(repeats):
                rng = Random(f"{seed} {strategy} {kind} {turn}")
                dimension, count = rng.choice([(1, 3), (2, 3), (2, 4), (3, 4)])
                table = random_table(rng, dimension, count, kinds, decimals=rng.random() < 0.5)
                how = {
                    "numbers": rng.choice(["exact", "binary64"]),
                    "positional": rng.random() < 0.34,
                }
                name = f"{strategy}, {kind} labels, {how['numbers']}" + (
                    ", positional" if how["positional"] else ""
                )
                try:
                    yield built(name, table, folder, strategy, **how)
                except HardmaxError as problem:
                    if problem.exit_code not in (1, 2, 3):
                        raise
