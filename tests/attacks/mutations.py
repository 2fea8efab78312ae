"""Mutants of true pairs: what each changes, and the verdict that plain Fractions find for it."""

import struct
from dataclasses import dataclass
from fractions import Fraction
from math import inf, isfinite, nextafter

from . import judges
from .pairs import NAMES, Pair, data_json, number, numbers

TINY = Fraction(1, 2**200)


@dataclass
class Mutant:
    """A changed pair; ``refused`` where the files are outside the formats."""

    kind: str
    pair: Pair
    refused: bool = False

    def files(self):
        """Bytes of the model and of the data."""
        return self.pair.model.raw(), data_json(self.pair.table)

    def wanted(self):
        """0 proved, 1 refuted, 2 unusable, by the definition in plain Fractions."""
        if self.refused:
            return 2
        found = self.pair.classified()
        return 2 if found is None else 0 if found else 1


class UnfitError(Exception):
    """A kind of change that this pair has no place for."""


def _need(condition):
    if not condition:
        raise UnfitError


# parameters: each takes (rng, pair, name) and changes one entry of that array


def _entry(rng, pair, name, wanted=lambda value: True):
    array = pair.model.arrays[name]
    places = [k for k in range(array.size) if wanted(pair.model.entry(name, k))]
    _need(places)
    return rng.choice(places)


def one_bit(rng, pair, name):
    """One bit of a stored float64; an override of it goes."""
    k = _entry(rng, pair, name)
    stored = float(pair.model.arrays[name].flat[k])
    (pattern,) = struct.unpack("<Q", struct.pack("<d", stored))
    (changed,) = struct.unpack("<d", struct.pack("<Q", pattern ^ 1 << rng.randrange(64)))
    pair.model.overrides.get(name, {}).pop(k, None)
    pair.model.arrays[name].flat[k] = changed
    return not isfinite(changed)


def one_ulp(rng, pair, name):
    """The next float64, up or down."""
    k = _entry(rng, pair, name)
    stored = float(pair.model.arrays[name].flat[k])
    pair.model.set(name, k, Fraction(nextafter(stored, rng.choice([inf, -inf]))))


def sign(rng, pair, name):
    k = _entry(rng, pair, name, bool)
    pair.model.set(name, k, -pair.model.entry(name, k))


def zeroed(rng, pair, name):
    k = _entry(rng, pair, name, bool)
    pair.model.set(name, k, Fraction(0))


def plus_tiny(rng, pair, name):
    """+ 2^-200 by an override."""
    k = _entry(rng, pair, name)
    pair.model.set(name, k, pair.model.entry(name, k) + rng.choice([TINY, -TINY]))


def override_added(rng, pair, name):
    """An override less than half an ulp from its float; now and then the float itself."""
    k = _entry(rng, pair, name, bool)
    stored = Fraction(float(pair.model.arrays[name].flat[k]))
    _need(stored)
    value = stored * (1 + Fraction(rng.choice([0, 1, -1]), 2**60))
    pair.model.set(name, k, value, override=True)


def override_removed(rng, pair, name):
    entries = pair.model.overrides.get(name)
    _need(entries)
    del entries[rng.choice(list(entries))]


def override_altered(rng, pair, name):
    """The last digit of an override; the float stays its nearest."""
    entries = pair.model.overrides.get(name)
    _need(entries)
    k = rng.choice(list(entries))
    value = entries[k]
    changed = Fraction(value.numerator * 2**60 + rng.choice([1, -1]), value.denominator * 2**60)
    pair.model.set(name, k, changed, override=True)


def override_strayed(rng, pair, name):
    """An override whose nearest float is another than the stored one: to be refused."""
    k = _entry(rng, pair, name)
    stored = float(pair.model.arrays[name].flat[k])
    away = Fraction(nextafter(stored, rng.choice([inf, -inf]))) + TINY
    _need(Fraction(float(away)) != Fraction(stored))
    pair.model.overrides.setdefault(name, {})[k] = away
    return True


def float_strayed(rng, pair, name):
    """A float changed under its override: to be refused."""
    entries = pair.model.overrides.get(name)
    _need(entries)
    array, k = pair.model.arrays[name], rng.choice(list(entries))
    array.flat[k] = nextafter(float(array.flat[k]), rng.choice([inf, -inf]))
    return True


PARAMETER_KINDS = [
    one_bit, one_ulp, sign, zeroed, plus_tiny,
    override_added, override_removed, override_altered, override_strayed, float_strayed,
]  # fmt: skip


def array_zeroed(rng, pair, name):
    """All of one block's u, b, w, rho, alpha or v is 0."""
    row = rng.randrange(len(pair.model))
    step = pair.model.step(name)
    places = range(row * step, (row + 1) * step)
    _need(any(pair.model.entry(name, k) for k in places))
    for k in places:
        pair.model.set(name, k, Fraction(0))


# blocks


def blocks_swapped(rng, pair):
    _need(len(pair.model) > 1)
    rows = list(range(len(pair.model)))
    i, k = rng.sample(rows, 2)
    rows[i], rows[k] = rows[k], rows[i]
    pair.model = pair.model.take(rows)


def block_dropped(rng, pair):
    _need(len(pair.model) > 1)
    gone = rng.randrange(len(pair.model))
    pair.model = pair.model.take(k for k in range(len(pair.model)) if k != gone)


def block_duplicated(rng, pair):
    rows = list(range(len(pair.model)))
    k = rng.choice(rows)
    pair.model = pair.model.take([*rows[:k], k, *rows[k:]])


def blocks_reversed(rng, pair):
    _need(len(pair.model) > 1)
    pair.model = pair.model.take(reversed(range(len(pair.model))))


def identity_inserted(rng, pair):
    """A block that changes nothing: the pair stays true."""
    rows = list(range(len(pair.model)))
    k = rng.choice(rows)
    pair.model = pair.model.take([*rows[:k], k, *rows[k:]])
    for name in NAMES:
        step = pair.model.step(name)
        for place in range(k * step, (k + 1) * step):
            pair.model.set(name, place, Fraction(name == "rho"))


def stages_renamed(rng, pair):
    """Names of stages mean nothing: the pair stays true."""
    pair.model.stages[rng.randrange(len(pair.model))] = rng.choice(["", "déjà vu", "x" * 99])


# data


def _item(rng, pair):
    return rng.choice(pair.table["sequences"])


def labels_swapped(rng, pair):
    items = pair.table["sequences"]
    pairs = [(x, y) for x in items for y in items if x["label"] < y["label"]]
    _need(pairs)
    x, y = rng.choice(pairs)
    x["label"], y["label"] = y["label"], x["label"]


def label_changed(rng, pair):
    names = list(pair.table.get("labels", "abc"))
    item = _item(rng, pair)
    names = [name for name in names if name != item["label"]]
    _need(names)
    item["label"] = rng.choice(names)
    _need(pair.table.get("labels") or item["label"] in {x["label"] for x in [item]})


def label_unknown(rng, pair):
    _need("labels" in pair.table)
    _item(rng, pair)["label"] = "nowhere"
    return True


def token_moved(rng, pair):
    token = rng.choice(_item(rng, pair)["tokens"])
    k = rng.randrange(len(token))
    step = rng.choice([TINY, -TINY, Fraction(1, 2**52), Fraction(1), Fraction(-1, 3)])
    token[k] = number(judges.exact(token[k]) + step)


def token_dropped(rng, pair):
    tokens = _item(rng, pair)["tokens"]
    _need(len(tokens) > 1)
    del tokens[rng.randrange(len(tokens))]


def token_repeated(rng, pair):
    tokens = _item(rng, pair)["tokens"]
    tokens.insert(rng.randrange(len(tokens) + 1), rng.choice(tokens))


def tokens_shuffled(rng, pair):
    """Harmless, but for positions."""
    tokens = _item(rng, pair)["tokens"]
    _need(len(tokens) > 1)
    rng.shuffle(tokens)


def sequence_repeated(rng, pair):
    pair.table["sequences"].append(dict(_item(rng, pair)))


def sequences_exchanged(rng, pair):
    """The tokens of two sequences change places, their labels do not."""
    items = pair.table["sequences"]
    _need(len(items) > 1)
    x, y = rng.sample(items, 2)
    x["tokens"], y["tokens"] = y["tokens"], x["tokens"]


def sequence_empty(rng, pair):
    _item(rng, pair)["tokens"] = []
    return True


def no_sequences(rng, pair):
    pair.table["sequences"] = []
    return True


def set_shrunk(rng, pair):
    """The output of a sequence comes to lie on the boundary of its (open) set, or just inside."""
    _need("labels" in pair.table)
    sequences, labels, sets = judges.read_table(pair.table, pair.model.meta)
    j = rng.choice(range(len(labels)))
    x = judges.definition.output(pair.model.blocks(), sequences[j], pair.masked)
    _need(judges.inside(sets[labels[j]], x))  # else the set would grow
    x = x[: pair.table["dimension"]]
    entry, gap = sets[labels[j]], rng.choice([Fraction(0), TINY])
    if entry["kind"] == "box":
        k = rng.randrange(len(x))
        if rng.random() < 0.5:
            entry["lower"][k] = x[k] - gap
        else:
            entry["upper"][k] = x[k] + gap
    elif entry["kind"] == "halfspace":
        entry["offset"] = judges.definition.dot(entry["normal"], x) - gap
    elif entry["kind"] == "polyhedron":
        rows = [i for i, row in enumerate(entry["A"]) if any(row)]
        _need(rows)
        i = rng.choice(rows)
        entry["b"][i] = judges.definition.dot(entry["A"][i], x) + gap
    elif entry["kind"] == "ball":
        # a square root may be irrational, so a smaller ball with x on its boundary
        gaps = [a - c for a, c in zip(x, entry["center"], strict=True)]
        _need(sum(map(bool, gaps)) == 1)
        entry["radius"] = abs(sum(gaps)) + gap
    else:
        k = rng.randrange(len(x))
        entry["point"][k] += TINY
    pair.table["labels"][labels[j]] = numbers(entry)


# meta


def numbers_flipped(rng, pair):
    pair.model.meta["numbers"] = "exact" if pair.binary64 else "binary64"


def positional_flipped(rng, pair):
    pair.model.meta["positional"] = not pair.model.meta.get("positional", False)


def numbers_unknown(rng, pair):
    pair.model.meta["numbers"] = rng.choice(["float32", None, 1, True, [], "Exact"])
    return True


def positional_unknown(rng, pair):
    pair.model.meta["positional"] = rng.choice(["true", None, 1, 0, [], {}])
    return True


def stride_added(rng, pair):
    pair.model.meta["stride"] = rng.randint(2, 4)


def stride_that_keeps_one(rng, pair):
    pair.model.meta["stride"] = 999_999_999


def tokens_widened(rng, pair):
    """The model's dimension is another then."""
    key, values = rng.choice([("window", [2, 9]), ("lift", [1, 7])])
    pair.model.meta[key] = rng.choice(values)
    return True


def reading_unknown(rng, pair):
    key = rng.choice(["window", "dilations", "stride", "lift", "label_sets"])
    pair.model.meta[key] = rng.choice([None, True, "1", 1.5, -1, [0], [2, 1], {}])
    return True


def argmax_beside_sets(rng, pair):
    """The data hold label sets of their own."""
    _need("labels" in pair.table)
    pair.model.meta["label_sets"] = "argmax"
    return True


def masked_flipped(rng, pair):
    pair.model.meta["masked"] = not pair.masked


def masked_unknown(rng, pair):
    pair.model.meta["masked"] = rng.choice(["true", None, 1, 0, [], {}])
    return True


def meta_dropped(rng, pair):
    """Only these keys mean something."""
    meta = pair.model.meta
    meaning = {"numbers", "positional", "masked", "window", "dilations", "stride", "lift"}
    kept = {key: x for key, x in meta.items() if key in {*meaning, "label_sets"}}
    pair.model.meta = kept


WHOLE_KINDS = [
    blocks_swapped, block_dropped, block_duplicated, blocks_reversed, identity_inserted,
    stages_renamed, labels_swapped, label_changed, label_unknown, token_moved, token_dropped,
    token_repeated, tokens_shuffled, sequence_repeated, sequences_exchanged, sequence_empty,
    no_sequences, set_shrunk, numbers_flipped, positional_flipped, numbers_unknown,
    positional_unknown, meta_dropped, stride_added, stride_that_keeps_one, tokens_widened,
    reading_unknown, argmax_beside_sets, masked_flipped, masked_unknown,
]  # fmt: skip


def kinds():
    """{name of a kind: function of (rng, pair)}."""
    found = {}
    for name in NAMES:
        for change in [*PARAMETER_KINDS, array_zeroed]:
            found[f"{name}: {change.__name__.replace('_', ' ')}"] = (
                lambda rng, pair, change=change, name=name: change(rng, pair, name)
            )
    for change in WHOLE_KINDS:
        found[change.__name__.replace("_", " ")] = change
    return found


def mutant(kind, change, rng, pair):
    """A mutant of this kind, or None where the pair has no place for it."""
    changed = pair.copy()
    try:
        refused = bool(change(rng, changed))
    except UnfitError:
        return None
    return Mutant(kind, changed, refused)
