"""Mutants of certificates, and what the specification (sections 5 and 6) says about each."""

import hashlib
import json
from dataclasses import dataclass
from fractions import Fraction

from . import judges
from .pairs import data_json, number

CHECKED = (
    "format", "verdict", "sha256", "strategy", "numbers", "positional", "sequences", "N", "d", "M",
    "tokens", "blocks", "stages", "block_bound", "parameters", "parameter_bound", "bounds",
    "total_bits", "max_bits",
)  # fmt: skip


@dataclass
class CertificateMutant:
    """Files with a changed certificate; ``wanted`` the exit codes that are right for it."""

    kind: str
    name: str
    model: bytes
    data: bytes
    certificate: bytes
    wanted: frozenset

    def files(self):
        """Bytes of model, data, certificate."""
        return self.model, self.data, self.certificate


def below(label_set, u, t, y):
    """BELOW(S, u, t, y) of section 6, in plain Fractions."""
    dot = judges.definition.dot
    kind = label_set["kind"]
    if kind == "point":
        return dot(u, label_set["point"]) <= t
    if kind == "ball":
        g = t - dot(u, label_set["center"])
        return g >= 0 and g**2 >= label_set["radius"] ** 2 * dot(u, u)
    if kind == "box":
        sides = zip(u, label_set["lower"], label_set["upper"], strict=True)
        return sum(max(a * low, a * high) for a, low, high in sides) <= t
    if kind == "halfspace":
        a, o = label_set["normal"], label_set["offset"]
        k = next(k for k, x in enumerate(a) if x)
        factor = -u[k] / a[k]
        return factor >= 0 and all(x == -factor * z for x, z in zip(u, a, strict=True)) and (
            -factor * o <= t
        )  # fmt: skip
    A, b = label_set["A"], label_set["b"]
    sums = [dot(y, [row[k] for row in A]) for k in range(len(u))]
    return min(y) >= 0 and sums == list(u) and dot(y, b) <= t


def separates(entry, sets):
    """Whether an entry of ``separation`` is valid."""
    u, t = [Fraction(x) for x in entry["normal"]], Fraction(entry["offset"])
    y, z = (
        [Fraction(x) for x in entry.get(f"multipliers_{side}", ())] for side in ("a", "b")
    )  # fmt: skip
    return (
        any(u)
        and below(sets[entry["a"]], u, t, y)
        and below(sets[entry["b"]], [-x for x in u], -t, z)
    )


def complete(entries, sets):
    """Whether every pair that needs an entry has one (points are compared by the checker)."""
    given = {frozenset((entry["a"], entry["b"])) for entry in entries}
    names = list(sets)
    return all(
        frozenset((a, b)) in given
        or (sets[a]["kind"] == sets[b]["kind"] == "point" and sets[a]["point"] != sets[b]["point"])
        for i, a in enumerate(names)
        for b in names[:i]
    )


TRUE, FALSE, MALFORMED = frozenset({0}), frozenset({1}), frozenset({2})
NOT_TRUE = FALSE | MALFORMED


def _others(value, rng):
    """Other values than this one for a checked field; each must be refuted or refused."""
    if isinstance(value, bool):
        return [not value, int(value), str(value).lower(), None]
    if isinstance(value, int):
        return [value + 1, value - 1, -value or 7, 0 if value else 1, str(value), None, [value]]
    if isinstance(value, str):
        return [value + " ", value.upper() if value.upper() != value else "x", "", None, [value]]
    if value is None:
        return [0, "", False, "x"]
    if isinstance(value, dict):
        changed = []
        for key, x in value.items():
            other = x + 1 if isinstance(x, int) else x[:-1] + ("0" if x[-1] != "0" else "1")
            changed.append(value | {key: other})
            changed.append({k: y for k, y in value.items() if k != key})
        return [*changed, value | {"another": 1}, {}, None, [], *value.values()]
    return [None]


class _Text:
    """Make certificate mutants of one pair."""

    def __init__(self, pair):
        self.pair = pair
        self.model, self.data = pair.model.raw(), data_json(pair.table)
        self.true = json.loads(json.dumps(pair.certificate))
        self.true["sha256"] = {
            "data": hashlib.sha256(self.data).hexdigest(),
            "model": hashlib.sha256(self.model).hexdigest(),
        }
        # DISJOINT is decided in the dimension of the data, whatever the positions
        self.sets = judges.read_table(pair.table, pair.model.meta)[2]

    def __call__(self, kind, table, wanted):
        raw = table if isinstance(table, bytes) else json.dumps(table).encode()
        return CertificateMutant(
            f"certificate: {kind}", self.pair.name, self.model, self.data, raw, wanted
        )


def mutants(rng, pair):
    """Certificate mutants of a proved pair."""
    make = _Text(pair)
    true = make.true
    yield make("none: as written", true, TRUE)
    yield make("keys in another order", dict(reversed(true.items())), TRUE)
    yield from _fields(make, true, rng)
    yield from _stated(make, true)
    yield from _separation(make, true, rng)
    text = json.dumps(true)
    for kind, raw in (
        ("a key twice", text[:-1] + ', "N": 1}'),
        ("cut", text[: rng.randrange(len(text))]),
        ("empty", ""),
        ("a list", f"[{text}]"),
        ("text after it", text + "{}"),
        ("a number as fraction", text.replace(f'"N": {true["N"]}', f'"N": {true["N"]}.0')),
        ("superfluous zero", text.replace(f'"N": {true["N"]}', f'"N": 0{true["N"]}')),
    ):
        yield make(kind, raw.encode(), NOT_TRUE)


def _fields(make, true, rng):
    for key in true:
        rest = {name: x for name, x in true.items() if name != key}
        # the one key that a certificate may leave out (docs/certificate.md, section 5)
        yield make(f"{key} left out", rest, TRUE if key == "attention" else NOT_TRUE)
        yield make(f"{key} renamed", rest | {key + "_": true[key]}, NOT_TRUE)
    for key in CHECKED:
        for other in rng.sample(_others(true[key], rng), 3):
            yield make(f"{key} changed", true | {key: other}, NOT_TRUE)
    for other in ["leaders", "Uniform", None, True, 0, ["uniform"]]:
        yield make("attention changed", true | {"attention": other}, NOT_TRUE)
    if "attention" not in true:  # the writer states it wherever v = 0 in every block
        yield make("attention claimed", true | {"attention": "uniform"}, NOT_TRUE)
    yield make("an unknown field", true | {"trust": "me"}, NOT_TRUE)


def _stated(make, true):
    """Stated fields are the writer's word: their form alone is looked at."""
    for key, good, bad in (
        (
            "float64",
            [
                {"certified": True, "least_margin": "1/3"},
                {"certified": False, "least_margin": None},
            ],
            [{"certified": 1, "least_margin": 0}, {"certified": True}, 0, [], "no", True,
             {"certified": True, "least_margin": -1}, {"certified": True, "least_margin": "nan"},
             {"certified": True, "least_margin": True}],
        ),
        (
            "radius",
            [{"least": 0, "median": "2/7"}, {"least": None, "median": None}],
            [{"least": -1, "median": 0}, {"least": 0}, 3, {"least": False, "median": 0}],
        ),
        ("versions", [{}, {"hardmax": "9", "x": ""}], [None, [], {"hardmax": 1}, "1"]),
    ):  # fmt: skip
        for value in good:
            yield make(f"{key} restated", true | {key: value}, TRUE)
        for value in bad:
            yield make(f"{key} malformed", true | {key: value}, MALFORMED)


def _separation(make, true, rng):
    sets, entries = make.sets, true["separation"]

    def judged(kind, changed):
        fits = complete(changed, sets) and all(separates(entry, sets) for entry in changed)
        return make(f"separation: {kind}", true | {"separation": changed}, TRUE if fits else FALSE)

    for k, entry in enumerate(entries):
        rest = entries[:k] + entries[k + 1 :]

        def put(kind, rest=rest, entry=entry, **changed):
            return judged(kind, [*rest, entry | changed])

        u, t = [Fraction(x) for x in entry["normal"]], Fraction(entry["offset"])
        i, step = rng.randrange(len(u)), rng.choice([Fraction(1, 2**200), Fraction(1, 3), 1])
        yield judged("an entry left out", rest)
        yield put("offset moved", offset=number(t + rng.choice([step, -step])))
        yield put("normal moved", normal=[number(x + step * (k == i)) for k, x in enumerate(u)])
        yield put("normal negated", normal=[number(-x) for x in u])
        yield put("normal zero", normal=[0] * len(u))
        scale = {
            key: [number(Fraction(x) * 3 / 7) for x in value]
            for key, value in entry.items()
            if key not in ("a", "b", "offset")
        }
        yield put("all scaled", **scale, offset=number(t * 3 / 7))
        if not any(key.startswith("multipliers") for key in entry):
            yield put("sides exchanged, not negated", a=entry["b"], b=entry["a"])
        exchanged = {
            "a": entry["b"],
            "b": entry["a"],
            "normal": [number(-x) for x in u],
            "offset": number(-t),
        }
        for side, other in (("a", "b"), ("b", "a")):
            if f"multipliers_{side}" in entry:
                exchanged[f"multipliers_{other}"] = entry[f"multipliers_{side}"]
        yield judged("sides exchanged and negated", [exchanged, *rest])
        for side in ("a", "b"):
            key = f"multipliers_{side}"
            if key not in entry:
                yield make(
                    "separation: needless multipliers",
                    true | {"separation": [*rest, entry | {key: [1]}]},
                    NOT_TRUE,
                )
                continue
            y = [Fraction(x) for x in entry[key]]
            m = rng.randrange(len(y))
            yield put(
                "multiplier moved", **{key: [number(x + step * (k == m)) for k, x in enumerate(y)]}
            )
            yield put("multiplier negated", **{key: [number(-x) for x in y]})
            bad = [y[:-1], [*y, 0], None, 1, []][rng.randrange(5)]
            bad = [number(x) for x in bad] if isinstance(bad, list) else bad
            yield make(
                "separation: multipliers of another length",
                true | {"separation": [*rest, entry | {key: bad}]},
                MALFORMED,
            )
        for kind, changed in (
            ("a pair twice", [*entries, entry]),
            ("an unknown label", [*rest, entry | {"a": "nowhere"}]),
            ("a label with itself", [*rest, entry | {"a": entry["b"]}]),
            ("a longer normal", [*rest, entry | {"normal": [*entry["normal"], 0]}]),
            ("no normal", [*rest, {x: y for x, y in entry.items() if x != "normal"}]),
            ("an unknown key", [*rest, entry | {"x": 1}]),
            ("true for a number", [*rest, entry | {"offset": True}]),
            ("no object", [*rest, [entry]]),
        ):
            yield make(f"separation: {kind}", true | {"separation": changed}, NOT_TRUE)
    for kind, changed in (("no list", {}), ("null", None), ("text", "[]")):
        yield make(f"separation: {kind}", true | {"separation": changed}, NOT_TRUE)
