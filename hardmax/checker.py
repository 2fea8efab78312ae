"""Check, exactly, that a hardmax transformer classifies a data set (docs/certificate.md).

    python -m hardmax.checker MODEL DATA [--certificate CERT]    or    python checker.py ...

One file of at most 670 lines, hence laid out by hand; Python >= 3.11 and its standard library, no
other code of this package. What decides is integer or rational arithmetic, without tolerance; not
one operation on floats takes part, as a process may round in any way: their bytes are read.
"""
# fmt: off
# mypy: ignore-errors
# ruff: noqa: B905, I001, N818, RUF005, RUF007

import sys
if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]  # the files beside this one must not stand in for the standard library
import ast
import csv
import gzip
import hashlib
import io
import json
import math
import re
import struct
import zipfile
from collections import Counter
from fractions import Fraction

MAX_BYTES = 2**28    # of a file, and of a zip file's members together
MAX_TEXT = 2**25     # of JSON or CSV text, decompressed
MAX_DIGITS = 10_000  # of a decimal and of each side of "p/q"; exponents stay below it
MAX_HEADER = 2**16   # of the header of an array
MAX_BITS = 2**20     # of an override, and of a coordinate while a sequence is evaluated
NUMBER = r"(?a)([+-]?)(?:(\d+)/(0*[1-9]\d*)|(\d*)(\.\d*)?(?:[eE]([+-]?0*\d{1,4}))?)"
CODES = dict(zip(["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"], "fdbhiqBHIQ"))
FLOATS = {"f": ("I", 32, 23), "d": ("Q", 64, 52)}  # how to read the bits, how many, how many behind
KINDS = {"point": ["point"], "ball": ["center", "radius"], "box": ["lower", "upper"],
         "halfspace": ["normal", "offset"], "polyhedron": ["A", "b"]}
LAYERS = {"affine": ("Wb", []), "relu": ("", []), "residual": ("", ["rho", "layers"]),
          "attention": ("QKVOqkvo", ["weights", "causal", "beta", "root"]),
          "readout": ("", ["which"]), "embedding": (["table"], []), "position": (["table"], []),
          "prepend": (["table"], [])}
PARAMETERS = ["u", "b", "w", "rho", "alpha", "v"]
READ = {"window": 1, "dilations": [1], "stride": 1, "lift": 0, "label_sets": "points",
        "numbers": "exact", "positional": False, "masked": False}  # where the meta says nothing
STATED = {"float64": ["certified", "least_margin"], "radius": ["least", "median"]}  # not checked
USAGE = """usage: checker.py MODEL DATA [--certificate CERT]

Check, exactly, that MODEL classifies DATA, and what CERT states about the two.
Exit codes: 0 proved, 1 refuted, 2 unusable input, 3 undecided (a limit), 70 bug, 130 interrupted,
141 the reader of the output went away. docs/certificate.md says what is checked."""

class Stop(Exception):
    """The end of a check other than "proved"; its arguments: an exit code, a line of reason."""

def need(condition, reason, code=2):
    """Stop unless the condition holds (an assert would vanish under ``python -O``)."""
    if not condition:
        raise Stop(code, reason)

def reading(what, action, *arguments):
    """Call the action; of the many errors that broken input raises, make one line of reason."""
    try:
        return action(*arguments)
    except Exception as error:
        stop = error.args if type(error) is Stop else (2, f"cannot be read: {ascii(error)[:200]}")
        raise Stop(stop[0], f"{what}: {stop[1]}") from None

def parse_json(raw):
    """Parse UTF-8 JSON strictly. A number becomes (its text,): so 3, "3" and true all differ."""
    need(len(raw) <= MAX_TEXT, f"more than {MAX_TEXT} bytes of text")
    found = json.loads(
        raw.decode("utf-8-sig"), parse_float=lambda x: (x,),
        parse_int=lambda x: (x,) if len(x) - (x[0] == "-") <= MAX_DIGITS else need(
            False, f"an integer has more than {MAX_DIGITS} digits"),
        parse_constant=lambda x: need(False, f"{x} is not a number"), object_pairs_hook=lambda x:
        dict(x) if len(dict(x)) == len(x) else need(False, "an object has the same key twice"))
    if re.search(rb"\\u[dD][89a-fA-F]", raw):  # half a character alone is no text: encode fails
        json.dumps(found, ensure_ascii=False).encode()
    return found

def integer(digits):
    """Return int(digits), whatever limit is set on their number: 640 are always allowed."""
    parts = [digits[max(0, end - 600):end] for end in range(len(digits), 0, -600)]
    return sum(int(part) * 10**(600 * k) for k, part in enumerate(parts))

def decimal(x):
    """Return str(x) of a Fraction or an integer, likewise."""
    p, q = x.as_integer_ratio()
    high, low = divmod(abs(p), 10**600)
    text = "-" * (p < 0) + (f"{decimal(high)}{low:0600}" if high else str(low))
    return f"{text}/{decimal(q)}" if q > 1 else text

def ieee(bits, size, places):
    """Return the Fraction that the bits of an IEEE 754 float mean; None for what is not finite."""
    sign, bits = divmod(bits, 2**(size - 1))
    exponent, digits = divmod(bits, 2**places)
    top = 2**(size - 1 - places) - 1
    digits, shift = digits + (2**places if exponent else 0), max(1, exponent) - top // 2 - places
    return None if exponent == top else (
        Fraction((1 - 2 * sign) * digits * 2**max(0, shift), 2**max(0, -shift)))

def nearest(x):
    """Return the binary64 number nearest to x, ties to even, without bounds above."""
    p, q = x.as_integer_ratio()
    e = max(abs(p).bit_length() - q.bit_length() - 53, -1074)  # of the last place, or one more
    e += abs(p) * 2**max(0, -e) >= q * 2**(53 + max(0, e))
    n, rest = divmod(p * 2**max(0, -e), q * 2**max(0, e))
    n += 2 * rest > q * 2**max(0, e) or (2 * rest == q * 2**max(0, e) and n % 2)
    return n * Fraction(2)**e

def fields(value, required, optional, where):
    """Return a JSON object after checking that it has all the keys it needs and no unknown one."""
    need(type(value) is dict, f"{where}: an object is needed")
    wrong = {*required} - {*value} or {*value} - {*required, *optional}
    need(not wrong, f"{where}: missing or unknown field {ascii(min(wrong, default=''))[:60]}")
    return value

def number(value, mode, where):
    """Return the Fraction that a JSON number, a text, or an array's float or int means exactly."""
    if type(value) in (Fraction, int):  # of an array
        x, q = Fraction(value), "1"
    else:
        need(value is not None, f"{where}: no finite number")
        text = value[0] if type(value) is tuple else value
        match = re.fullmatch(NUMBER, text.strip()) if type(text) is str else None
        sign, p, q, whole, decimals, exponent = match.groups("") if match else [""] * 6
        p, power = p or whole + decimals[1:], int(exponent or 0) - len(decimals[1:])
        need(0 < len(p) <= MAX_DIGITS >= len(q), f"{where}: no number, or long: {ascii(text)[:40]}")
        p, whole_q = integer(p) * 10**max(0, power), integer(q or "1") * 10**max(0, -power)
        x = Fraction(-p if sign == "-" else p, whole_q)
    need(abs(x) < 2**1000, f"{where}: 2^1000 or more in absolute value")
    return nearest(x) if mode == "binary64" and not q and decimals + exponent else x

def vector(values, size, mode, where):
    """Return a list of ``size`` Fractions."""
    need(type(values) is list and len(values) == size, f"{where}: a list of {size} is needed")
    return [number(x, mode, where) for x in values]

def npy(raw, where):
    """Read an .npy array: (code, shape, flat list in C order), code U or as struct writes it.

    Floats come as Fractions, None where they are not finite."""
    start = {1: 10, 2: 12, 3: 12}.get(raw[6] if raw[:6] == b"\x93NUMPY" else 0, 0)
    end = start + int.from_bytes(raw[8:start], "little")
    need(start and end - start <= MAX_HEADER, f"{where}: not an array, or a long header")
    header = ast.literal_eval(raw[start:end].decode("latin-1"))
    fields(header, ["descr", "fortran_order", "shape"], [], where)
    descr, fortran, shape = (header[x] for x in ("descr", "fortran_order", "shape"))
    match = type(descr) is str and re.fullmatch(r"(?a)([<>|])([fiuU])(\d{1,9})", descr)
    need(match and type(fortran) is bool and type(shape) is tuple
         and {int} >= {*map(type, shape)} and min(shape, default=0) >= 0,
         f"{where}: not an array of numbers or text (pickled objects are never read)")
    order, kind, width = match[1], match[2], int(match[3])
    code, size = CODES.get(f"{kind}{width}"), math.prod(shape)
    need(code or (kind == "U" and width), f"{where}: the type {kind}{width} is not known")
    length = size * width * (1 if code else 4)
    need(length == len(raw) - end and size <= MAX_TEXT // 2, f"{where}: a wrong or huge shape")
    text = "" if code else raw[end:].decode("utf-32-be" if order == ">" else "utf-32-le")
    bits = FLOATS.get(code, (code,))
    flat = ([*struct.unpack(f"{order.replace('|', '<')}{size}{bits[0]}", raw[end:])] if code else
            [text[k:k + width].rstrip("\0") for k in range(0, len(text), width)])
    flat = [ieee(x, *bits[1:]) for x in flat] if bits[1:] else flat
    if fortran and len(shape) == 2 and size:
        flat = [x for i in range(shape[0]) for x in flat[i::shape[0]]]
    return code or kind, shape, flat

def npz(raw, required, optional):
    """Read a zip file of .npy members into {name: array}; refuse members it does not know."""
    arrays, left = {}, MAX_BYTES
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        for info in archive.infolist():
            name = info.filename.removesuffix(".npy")
            need(name in {*required, *optional} - {*arrays} and info.compress_type in (0, 8),
                 "a member is unknown, repeated or compressed in an unknown way")
            content = archive.open(info).read(left + 1)
            left -= len(content)
            need(left >= 0, f"more than {MAX_BYTES} bytes when decompressed")
            arrays[name] = npy(content, name)
    return fields(arrays, required, optional, "the members")

def json_of(array):
    """Parse a JSON member: one string, or a vector of uint8."""
    code, shape, flat = array
    need((code, len(shape)) in (("U", 0), ("B", 1)), "a JSON text must be one string or bytes")
    return parse_json(flat[0].encode() if code == "U" else bytes(flat))

def read_model(raw):
    """Return ({parameter: flat list}, stages, dimension, meta) of a model."""
    arrays = npz(raw, ["format", "meta", "stage", *PARAMETERS], ["exact"])
    need(arrays["format"] == ("U", (), ["hardmax-model/1"]), "the format is not known")
    meta, (code, (depth,), stages), found = json_of(arrays["meta"]), arrays["stage"], {}
    need(code == "U" and (d := arrays["u"][1][-1]) > 0 < depth, "no blocks, or stage is no text")
    heads = arrays["alpha"][1][1:]  # (H,) where there are several: the shape of alpha is (L,H)
    need(heads not in ((0,), (1,)), "alpha: one head has the shape (L,)")
    for name in PARAMETERS:
        code, shape, values = arrays[name]
        expected = (depth, *heads[:1] * (name in ("alpha", "v")), *(d,) * (name in "uwv"))
        need(code == "d" and shape == expected and None not in values,
             f"{name}: finite float64 of shape {expected} are needed")
        found[name] = values
    return overridden(found, arrays), stages, d, meta

def overridden(found, arrays):
    """Put the exact numbers in the place of the floats nearest to them."""
    overrides = json_of(arrays["exact"]) if "exact" in arrays else {}
    for name, given in fields(overrides, [], found, "exact").items():
        need(type(given) is list, f"{name}: no list")
        for k, quotient in given:
            match = re.fullmatch(r"(-?[0-9a-fA-F]+)/([0-9a-fA-F]+)", quotient)
            need(match and len(quotient) <= MAX_BITS // 4 and type(k) is tuple and len(*k) < 20
                 and 0 <= int(*k) < len(found[name]), f"{name}: {ascii(k)[:40]}: bad index or p/q")
            k, value = int(*k), Fraction(*(int(part, 16) for part in match.groups()))
            need(found[name][k] == nearest(value), f"{name}: entry {k}: not the nearest")
            found[name][k] = value
        need(len({int(*k) for k, _ in given}) == len(given), f"{name}: an entry stands twice")
    return found

def read_network(raw):
    """Return (layers, {path of a layer.name: nested lists}, dimension, classes, meta)."""
    inner = [x.removesuffix(".npy") for x in zipfile.ZipFile(io.BytesIO(raw)).namelist()]
    inner = [x for x in inner if "." in x]
    arrays = npz(raw, ["format", "meta", "architecture"], ["exact", *inner])
    need(arrays["format"] == ("U", (), ["hardmax-network/1"]), "the format is not known")
    told, found = json_of(arrays["architecture"]), {x: arrays[x][2] for x in inner}
    d, names, layers = map(fields(told, x := ["dimension", "classes", "layers"], [], "it").get, x)
    need(type(d) is tuple and re.fullmatch("[1-9][0-9]{0,6}", *d) and (names is None or (
        type(names) is list and {str} == {*map(type, names)} and len({*names}) == len(names) > 1)),
        "architecture: dimension is an integer, classes is null or at least two texts")
    need([x["kind"] for x in layers].count("readout") == 1, "one readout is needed")
    for name, values in overridden(found, arrays).items():
        need(arrays[name][0] == "d" and None not in values, f"{name}: finite float64 are needed")
        for size in arrays[name][1][:0:-1]:  # from the last axis to the second
            values = [values[k:k + size] for k in range(0, len(values), size)]
        found[name] = values
    return layers, found, int(*d), names, json_of(arrays["meta"])

def read_meta(meta):
    """Return how the meta says that data are read, and how far from a token its neighbours are."""
    def plain(x):
        whole = type(x) is tuple and re.fullmatch(r"(?a)-?\d{1,9}", *x)
        return int(*x) if whole else [*map(plain, x)] if type(x) is list else x
    how = {key: plain(meta.get(key, x)) for key, x in READ.items()}
    W, far, S, lift, sets, mode, *flags = how.values()
    need(mode in ("exact", "binary64") and sets in ("points", "argmax")
         and {*map(type, flags)} == {bool} and {int} == {*map(type, (W, S, lift, *far))}
         and min(W, S, lift + 1, *far) > 0 and far == sorted({*far}) != []
         and W * len(far) <= 2**20, "meta: no way to read data")
    return how, sorted({x * (k - (W - 1) // 2) for k in range(W) for x in far})

def read_data(raw, mode, argmax=False):
    """Return ([(name, label or [label or point], tokens)], {label: set}, d) of any data form."""
    if raw[:2] == b"\x1f\x8b":
        raw = gzip.GzipFile(fileobj=io.BytesIO(raw)).read(MAX_TEXT + 1)
    is_json = raw[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{"
    data = from_npz(raw) if raw[:4] == b"PK\3\4" else parse_json(raw) if is_json else from_csv(raw)
    fields(data, ["sequences"], ["dimension", "format", "labels"][:3 - argmax], "the data set")
    need(data.get("format", "hardmax-dataset/1") == "hardmax-dataset/1", "the format is not known")
    sequences, size = [], lambda: (str(len(data["sequences"][0]["tokens"][0])),)  # of a token
    written = data["dimension"] if "dimension" in data else size()
    d = int(*written) if type(written) is tuple and re.fullmatch(r"\d{1,9}", *written) else 0
    need(d > 0, "dimension: a positive integer is needed")
    for j, item in enumerate(data["sequences"], 1):
        fields(item, ["tokens", "label" if "label" in item else "outputs"], ["id"], f"sequence {j}")
        known = item.get("id") is not None
        name = f"sequence {j} (id {name_of(item['id'])!a})" if known else f"sequence {j}"
        tokens = [vector(z, d, mode, f"{name}, token {i}") for i, z in enumerate(item["tokens"], 1)]
        need(tokens, f"{name} is empty")
        asked = item.get("outputs", [])  # labels, and points: lists, here tuples
        need("label" in item or (type(asked) is list and 0 < len(asked) <= len(tokens)),
             f"{name}: outputs is a list with an entry for each of the first tokens, or some")
        asked = [tuple(vector(x, d, mode, name)) if type(x) is list else name_of(x) for x in asked]
        sequences.append((name, asked or name_of(item["label"]), tokens))
    need(len({"label" in x for x in data["sequences"]}) < 2, "sequences with labels and outputs")
    names = {x for _, y, _ in sequences for x in (y if type(y) is list else [y]) if type(x) is str}
    labels = data["labels"] if "labels" in data else {
        name: {"kind": "point", "point": [k] + [0] * (d - 1)}
        for k, name in enumerate(sorted(names, key=lambda x: (
            (0, integer(x.strip("-")) * (-1 if x[0] == "-" else 1))
            if re.fullmatch("0|-?[1-9][0-9]{0,9999}", x) else (1, x))))}
    sets = {x: ("argmax", k, len(labels)) if argmax else label_set(
        raw, d, mode, f"label {json.dumps(x)}") for k, (x, raw) in enumerate(labels.items())}
    need(names <= {*sets}, f"unknown label {json.dumps(min(names - {*sets}, default=''))}")
    return sequences, sets, d

def name_of(value):
    """Return a label or an id as text: an integer as str() writes it."""
    integer = type(value) is tuple and not {*value[0]} & {*".eE"} and len(value[0]) <= MAX_DIGITS
    need(integer or type(value) is str, "a label or an id must be a text or an integer")
    return (value[0] if value != ("-0",) else "0") if integer else value

def from_npz(raw):
    """Return an npz data set in the shape of the JSON form."""
    arrays = npz(raw, ["tokens", "offsets", "label"], ["labels"])
    (code, (count, d), flat), (labeled, (n,), labels) = arrays["tokens"], arrays["label"]
    whole, (size,), offsets = arrays["offsets"]
    need(code != "U" and whole in "bhiqBHIQ" and labeled in "UbhiqBHIQ" and size == n + 1
         and offsets == sorted(offsets) and [offsets[0], offsets[-1]] == [0, count],
         "tokens (T,d) numbers, offsets (N+1,) from 0 up to T, label (N,) are needed")
    data = {"dimension": (str(d),), "sequences": [
        {"tokens": [flat[i * d:(i + 1) * d] for i in range(*span)],
         "label": label if labeled == "U" else (str(label),)}
        for span, label in zip(zip(offsets, offsets[1:]), labels, strict=True)]}
    return data | ({"labels": json_of(arrays["labels"])} if "labels" in arrays else {})

def from_csv(raw):
    """Return a CSV data set (sequence, label, x1, ..., xd) in the shape of the JSON form."""
    need(len(raw) <= MAX_TEXT, f"more than {MAX_TEXT} bytes of text")
    lines = csv.reader(io.StringIO(raw.decode("utf-8-sig"), newline=""), strict=True)
    header, found = [x.strip() for x in next(lines, [])], {}
    need(header == ["sequence", "label", "x1", *(f"x{k - 1}" for k in range(3, len(header)))],
         "neither JSON, npz nor CSV with the columns sequence, label, x1, ..., xd")
    for row in ([x.strip() for x in line] for line in lines if line):
        need(len(row) == len(header) and row[1], f"line {lines.line_num}: wrong number of entries")
        item = found.setdefault(row[0], {"tokens": [], "label": row[1], "id": row[0]})
        need(item["label"] == row[1], f"line {lines.line_num}: a second label for its sequence")
        item["tokens"].append(row[2:])
    return {"dimension": (str(len(header) - 2),), "sequences": [*found.values()]}

def label_set(raw, d, mode, where):
    """Return (kind, a, b), the fields in the order of KINDS; refuse what is plainly empty."""
    need((kind := raw.get("kind")) in [*KINDS], f"{where}: the kind is not known")
    a, b = [*map(fields(raw, ["kind", *KINDS[kind]], [], where).get, KINDS[kind]), None][:2]
    rows = kind == "polyhedron"
    a = [vector(row, d, mode, where) for row in a] if rows else vector(a, d, mode, where)
    if kind != "point":
        b = vector(b, len(a), mode, where) if rows or kind == "box" else number(b, mode, where)
        good = {"ball": lambda: b > 0, "box": lambda: all(map(Fraction.__lt__, a, b)),
            "polyhedron": lambda: a and not empty(a, b)}
        need(good.get(kind, lambda: any(a))(), f"{where}: the set is empty, or has no normal")
    return kind, a, b

def empty(A, b):
    """Whether no x has A x < b: the simplex method, by Bland's rule, on max t with A x + t <= b."""
    low = b.index(min(b))  # t and the other slacks, by x and the slack of this row, are feasible
    t, columns = [b[low], *(-c for c in A[low]), -1], [None] * len(A[0]) + [low]  # None: free
    rows = {i: [c - d for c, d in zip([b[i], *(-c for c in A[i]), 0], t)] for i in range(len(b))}
    del rows[low]
    while t[0] <= 0:
        rising = [(-1 if name is None else name, k) for k, name in enumerate(columns, 1)
                  if t[k] > 0 or (t[k] < 0 and name is None)]
        if not rising:
            return True
        k = min(rising)[1]
        sign = 1 if t[k] > 0 else -1
        bounds = [(-row[0] * sign / row[k], i) for i, row in rows.items() if row[k] * sign < 0]
        if not bounds:
            return False  # t grows without end
        leaving = min(bounds)[1]
        row = rows.pop(leaving)
        solved = [-c / row[k] for c in row[:k]] + [1 / row[k]] + [-c / row[k] for c in row[k + 1:]]
        t, *others = ([c + old[k] * e for c, e in zip(old[:k] + [0] + old[k + 1:], solved)]
                      for old in (t, *rows.values()))
        rows = dict(zip(rows, others))
        if columns[k - 1] is not None:
            rows[columns[k - 1]] = solved
        columns[k - 1] = leaving
    return False

def dot(x, y):
    """Inner product."""
    return sum(a * b for a, b in zip(x, y))

def contains(region, x):
    """Whether x lies in the set; a position, last, must be 0 for points, is free for the others."""
    kind, a, b = region
    return (x == a + [0] * (len(x) - len(a)) if kind == "point" else
            sum((c - m) ** 2 for c, m in zip(x, a)) < b * b if kind == "ball" else
            all(low < c < high for low, c, high in zip(a, x, b)) if kind == "box" else
            dot(a, x) > b if kind == "halfspace" else
            all(x[a] > c for k, c in enumerate(x[:b]) if k != a) if kind == "argmax" else
            all(dot(row, x) < bound for row, bound in zip(a, b)))

def below(region, u, t, multipliers):
    """Whether <u,x> <= t is shown on the whole set; by Farkas multipliers on a polyhedron."""
    kind, a, b = region
    if kind in ("point", "ball"):
        gap = t - dot(u, a)
        return gap >= 0 and gap * gap >= (b or 0) ** 2 * dot(u, u)
    if kind == "box":
        return sum(max(c * low, c * high) for c, low, high in zip(u, a, b)) <= t
    if kind == "halfspace":  # the polyhedron -<a,x> < -b, whose multiplier can be read off
        a, b = [[-c for c in a]], [-b]
        multipliers = [next(c / e for c, e in zip(u, a[0]) if e)]
    return (all(y >= 0 for y in multipliers) and dot(multipliers, b) <= t
            and all(dot(multipliers, column) == c for c, column in zip(u, zip(*a), strict=True)))

def integers(values):
    """Return (integers, q) with values = integers / q, the arithmetic of what follows."""
    q = math.lcm(*(x.denominator for x in values))
    return [x.numerator * (q // x.denominator) for x in values], q

def prepare(parameters, d, masked):
    """Return [(layer, its parameters as integers)]; layers that change nothing are left out."""
    layers, H = [], len(parameters["alpha"]) // len(parameters["b"])
    for k, (b, rho) in enumerate(zip(parameters["b"], parameters["rho"])):
        u, w = (parameters[name][k * d:(k + 1) * d] for name in "uw")
        ((*u, b), q), (w, r) = integers([*u, b]), integers(w)
        u = [(i, c) for i, c in enumerate(u) if c]
        layers += [(feed_forward, (u, b, w, q * r))] if any(w) and (u or b > 0) else []
        mixes = []
        for h, alpha in enumerate(parameters["alpha"][k * H:(k + 1) * H], k * H):
            v, (mix, s) = integers(parameters["v"][h * d:(h + 1) * d])[0], integers([rho, alpha])
            if alpha or (rho != 1 and h == k * H):  # what else is left out adds nothing
                mixes += [([(i, c) for i, c in enumerate(v) if c], *mix, s)]
                rho = Fraction(0)  # counts once
        layers += [(several, (masked, mixes))] if mixes else []
    return layers

def feed_forward(tokens, scale, u, b, w, q):
    """Apply z + w max(0, <u,z> + b) to tokens / scale; u lists its non-zero entries only."""
    values = [sum(c * z[k] for k, c in u) + b * scale for z in tokens]
    active = [s for s in values if s > 0]
    if not active:
        return tokens, scale
    common = math.gcd(q, *active)
    q //= common
    return [[a * q + c * (s // common) for a, c in zip(z, w)] if s > 0 else [a * q for a in z]
            for z, s in zip(tokens, values)], scale * q

def attention(tokens, scale, v, keep, mix, q):
    """Apply rho z_i + alpha mean(leaders of i): they depend on the sign of <v,z_i> alone."""
    values = [sum(c * z[k] for k, c in v) for z in tokens]
    signs, best = [(p > 0) - (p < 0) for p in values], {1: max(values), -1: min(values)}
    groups = {s: [z for z, p in zip(tokens, values) if p == best.get(s, p)] for s in {*signs}}
    count = math.lcm(*map(len, groups.values()))
    means = {sign: [mix * (count // len(leaders)) * sum(column) for column in zip(*leaders)]
             for sign, leaders in groups.items()}
    if keep == 0 and len(means) == 1:  # all tokens land on one point: carry it once
        return [*means.values()], scale * q * count
    return [[a * keep * count + m for a, m in zip(z, means[sign])]
            for z, sign in zip(tokens, signs)], scale * q * count

def masked_attention(tokens, scale, v, keep, mix, q):
    """The same where token i attends to tokens 1, ..., i: add up what each sign selects so far."""
    common, best, found = math.lcm(*range(1, len(tokens) + 1)), {}, []
    for z in tokens:
        p = sum(c * z[k] for k, c in v)
        for sign in (-1, 0, 1):
            top, count, total = best.get(sign, (sign * p, 0, [0] * len(z)))
            if sign * p > top:
                top, count, total = sign * p, 0, [0] * len(z)
            if sign * p == top:
                best[sign] = top, count + 1, [a + b for a, b in zip(total, z)]
        _, count, total = best[(p > 0) - (p < 0)]
        found.append([a * keep * common + mix * (common // count) * b for a, b in zip(z, total)])
    return found, scale * q * common

def several(tokens, scale, masked, heads):
    """Add up what the heads give; one token stands for all where every head gives one."""
    found = [(masked_attention if masked else attention)(tokens, scale, *head) for head in heads]
    common, count = math.lcm(*(q for _, q in found)), max(len(Z) for Z, _ in found)
    found = [[[a * (common // q) for a in z] for z in Z] * (count // len(Z)) for Z, q in found]
    return [[*map(sum, zip(*parts))] for parts in zip(*found)], common

def output(layers, rows, count):
    """Return [the mean of the last tokens], or the first so many; undecided past MAX_BITS."""
    flat, scale = integers([x for row in rows for x in row])
    tokens, last = [flat[k:k + len(rows[0])] for k in range(0, len(flat), len(rows[0]))], 64
    for layer, parameters in layers:
        tokens, scale = layer(tokens, scale, *parameters)
        if max(scale, *map(abs, tokens[0])).bit_length() > 2 * last:  # reduce now and then
            common = math.gcd(scale, *(a for z in tokens for a in z))
            tokens, scale = [[a // common for a in z] for z in tokens], scale // common
            last = max(64, max(scale, *(abs(a) for z in tokens for a in z)).bit_length())
            need(last <= MAX_BITS, f"a coordinate needs more than {MAX_BITS} bits", 3)
    if count:  # where all tokens have become one, it stands for each of them
        return [[Fraction(a, scale) for a in tokens[min(i, len(tokens) - 1)]] for i in range(count)]
    return [[Fraction(sum(column), len(tokens) * scale) for column in zip(*tokens)]]

def affine(W, b, Z):
    """Return W z + b for each token z."""
    return Z if W is None else [[sum(p * q for p, q in zip(row, z, strict=True)) + c
                                 for row, c in zip(W, b or [0] * len(W), strict=True)] for z in Z]

def through(layers, path, arrays, Z, used):
    """Apply the layers of a network to tokens (docs/certificate.md, section 10)."""
    for k, layer in enumerate(layers):
        kind, here, names = layer["kind"], f"{path}{k}.", layer.get("arrays", [])
        need(kind not in ("norm", "gelu") and layer.get("weights") != "softmax",
             f"layer {here[:-1]}: softmax, norms and GELU are not decided here", 3)
        fields(layer, ["kind", *LAYERS[kind][1]], ["arrays"] * any(LAYERS[kind][0]), here)
        a = dict.fromkeys(LAYERS[kind][0]) | {x: arrays[here + x] for x in names}
        need(all(a[x] for x in ("W", "Q", "V", "table") if x in a) and (not a.get("k") or a["K"])
             and layer.get("weights", "hardmax") == "hardmax" and {*a} == {*LAYERS[kind][0]}
             and type(layer.get("causal", True)) is bool, f"layer {here[:-1]} is not as it must be")
        used |= {here + x for x in names}
        if kind == "affine":
            Z = affine(a["W"], a["b"], Z)
        elif kind == "attention":
            parts = [[a["o"]] * len(Z)] if a["o"] else []
            for h in range(len(a["Q"])):
                Q, K, V = (affine(*(a[x] and a[x][h] for x in y), Z) for y in ("Qq", "Kk", "Vv"))
                S = [affine(K[:i + 1] if layer["causal"] else K, 0, [q]) for i, q in enumerate(Q)]
                P = [[v for s, v in zip(row, V) if s == max(row)] for (row,) in S]
                P = [[sum(column) / len(rows) for column in zip(*rows)] for rows in P]
                parts.append(affine(a["O"] and a["O"][h], None, P))
            Z = [[*map(sum, zip(*rows, strict=True))] for rows in zip(*parts)]
        elif kind in ("residual", "position"):  # one list of tokens plus another
            F, rho = (a["table"][:len(Z)], 1) if kind == "position" else (through(
                layer["layers"], here, arrays, Z, used), number(layer["rho"], "", here))
            Z = [[rho * x + y for x, y in zip(*two, strict=True)] for two in zip(Z, F, strict=True)]
        elif kind == "embedding":  # a token that names no row is an error
            Z = [a["table"][int(t) if t >= 0 == t % 1 else len(a["table"])] for t, in Z]
        else:
            Z = ([[max(Fraction(0), x) for x in z] for z in Z] if kind == "relu" else a["table"] + Z
                 if kind == "prepend" else [{"first": Z[0], "last": Z[-1], "mean": [
                     sum(column) / len(Z) for column in zip(*Z)]}[layer["which"]]])
        longest = max(max(abs(x.numerator), x.denominator) for z in Z for x in z)
        need(longest.bit_length() <= MAX_BITS, f"a coordinate needs more than {MAX_BITS} bits", 3)
    return Z

def check(model_raw, data_raw, certificate_raw=None, tell=lambda text: None):
    """Return the lines to print for "proved", given the bytes of the files; otherwise Stop.

    ``tell`` is called with texts that say how far the work has come."""
    tell("reading")
    if network := b"architecture.npy" in model_raw:
        need(certificate_raw is None, "certificates of networks are not checked here")
        layers, arrays, width, classes, meta = reading("network", read_network, model_raw)
    else:
        (parameters, stages, width, meta), classes = reading("model", read_model, model_raw), None
    how, offsets = reading("model", read_meta, meta)
    mode, argmax = how["numbers"], how["label_sets"] == "argmax"
    sequences, sets, dimension = reading("data", read_data, data_raw, mode, argmax)
    need(not network or not how["masked"], "a network says causal where it has a mask")
    layers = layers if network else prepare(parameters, width, how["masked"])
    measures, used, count, masked = set(), set(), 0, how["masked"]
    d = dimension * len(offsets) + how["positional"] + how["lift"]
    need(width == d, f"the tokens have {d} coordinates, the model takes {width}")
    need(d >= argmax * len(sets), "label sets argmax: more labels than coordinates")
    if classes is not None:  # the class is where the largest coordinate stands
        sets = {c: ("argmax", i, len(classes)) for i, c in enumerate(classes)}
    for j, (name, asked, tokens) in enumerate(sequences):
        if 100 * j // len(sequences) > 100 * (j - 1) // len(sequences):
            tell(f"sequence {j + 1} of {len(sequences)}")
        last, kept = len(tokens) - 1, range(0, len(tokens), how["stride"])
        need((count := count + len(kept)) * d <= MAX_TEXT, f"more than {MAX_TEXT} coordinates")
        tokens = [[x for o in offsets for x in tokens[min(max(i + o, 0), last)]] + [Fraction(k)]
                  * how["positional"] + [0] * how["lift"] for k, i in enumerate(kept, 1)]
        counts = Counter(map(tuple, tokens))
        common = math.gcd(*counts.values())
        measures.add(frozenset((z, times // common) for z, times in counts.items())
                     if len(counts) == 1 or not masked else tuple(map(tuple, tokens)))
        many = type(asked) is list
        need(not many or (how["stride"] == 1 and not argmax and not network),
             "outputs with a stride, argmax, or a network")
        need(many or asked in sets, f"{name}: the network has no class {asked!a}")
        results = (reading(name, through, layers, "", arrays, tokens, used) if network
                   else output(layers, tokens, len(asked) * many))
        need(many or len(results) == 1, f"{name}: there is no readout")
        for i, result in enumerate(results):
            need(len(result) == len(classes or tokens[0]), f"{name}: the output has a wrong size")
            label = asked[i] if many else asked
            region = sets[label] if type(label) is str else (
                "point", [*label] + [0] * (d - len(label)), None)
            if not contains(region, result):
                shown, region = (json.dumps(x, default=decimal) for x in (result, region))
                owner = f", the set of label {label!a}" if type(label) is str else ""
                where = f"{name}, token {i + 1}" if many else name
                raise Stop(1, f"{where}: output {shown} is not in {region}{owner}")
    need(measures, "data: there is no sequence")
    proved = ["proved"]
    if network:
        need(used == {*arrays}, "a member belongs to no layer")
        return proved + [f"sequences {len(sequences)}, N {len(measures)}, layers {len(layers)}"]
    ratios = [x.as_integer_ratio() for values in parameters.values() for x in values if x]
    bits = [p.bit_length() + (q > 1) * q.bit_length() for p, q in ratios]
    n, depth, p = len(measures), len(stages), len(bits)
    heads = len(parameters["alpha"]) // depth
    bounds = "exceeded" if depth > 8 * n + 4 or p > 54 * n * d else "holds"
    outputs = {"outputs": sum(len(asked) for _, asked, _ in sequences)} if many else {}
    facts = {
        "sequences": len(sequences), "N": n, "d": d, "M": len(sets),
        "tokens": count, "blocks": depth, "block_bound": 8 * n + 4,
        "parameters": p, "parameter_bound": 54 * n * d if d > 1 else None,
        "bounds": bounds if d > 1 and not masked and heads == 1 and not many else "n/a", **outputs,
        "total_bits": sum(bits), "max_bits": max(bits, default=0), "numbers": mode,
        "positional": how["positional"],
        **({"masked": True} if masked else {}), **({"heads": heads} if heads > 1 else {})}
    if more := {x: how[x] for x in [*READ][:5] if how[x] != READ[x]}:
        facts["reading"] = more
    lines = proved + [", ".join(f"{key} {json.dumps(fact)}" for key, fact in facts.items())]
    if certificate_raw is None:
        return lines + ["disjointness of the label sets was not checked: no certificate"]
    data_hash, model_hash = (hashlib.sha256(raw).hexdigest() for raw in (data_raw, model_raw))
    facts |= {"format": "hardmax-certificate/1", "verdict": "proved", "stages": Counter(stages),
              "sha256": {"data": data_hash, "model": model_hash}, "strategy": meta.get("strategy")}
    sets = {} if argmax else sets  # such cones are disjoint
    uniform = not any(parameters["v"])
    reading("certificate", check_certificate, certificate_raw, facts, sets, dimension, uniform)
    return lines + ["the certificate agrees, the sets are disjoint; only stated: float64, radius"]

def check_certificate(raw, facts, sets, d, uniform):
    """Compare the claims with the facts, check every hyperplane, and the form of the rest."""
    claims, pairs = parse_json(raw), set()
    fields(claims, [*facts, *STATED, "versions", "separation"], ["attention"], "it")
    need("attention" not in claims or (claims["attention"] == "uniform" and uniform),
         "attention is not as stated: uniform means v = 0 in every block", 1)
    for key, names in STATED.items():
        for name, x in ({} if claims[key] is None else fields(claims[key], names, [], key)).items():
            need(type(x) is bool if name == "certified" else x is None or number(x, "", key) >= 0,
                 f"{key}: {name} is malformed")
    need({str} >= {*map(type, claims["versions"].values())}, "versions: texts are needed")
    for key, fact in zip(facts, map(json.dumps, facts.values())):
        need(claims[key] == parse_json(fact.encode()), f"{key} is not as stated, but {fact}", 1)
    for k, item in enumerate(list.copy(claims["separation"])):  # a list and nothing else
        where, pair = f"separation {k}", frozenset((item["a"], item["b"]))
        need(len(pair) == 2 and pair not in pairs, f"{where}: not a pair, or a second time")
        pairs.add(pair)
        sizes = {x: len(sets[item[x]][1]) for x in "ab" if sets[item[x]][0] == "polyhedron"}
        fields(item, ["a", "b", "normal", "offset", *map("multipliers_".__add__, sizes)], [], where)
        y = {x: vector(item[f"multipliers_{x}"], size, "", where) for x, size in sizes.items()}
        u, t = vector(item["normal"], d, "", where), number(item["offset"], "", where)
        need(any(u) and below(sets[item["a"]], u, t, y.get("a"))
             and below(sets[item["b"]], [-c for c in u], -t, y.get("b")),
             f"{where}: the hyperplane does not separate the two sets", 1)
    points = [tuple(a) for kind, a, _ in sets.values() if kind == "point"]
    need(len(points) == len({*points}), "two labels have the same point", 1)
    listed = sum(any(sets[x][0] != "point" for x in pair) for pair in pairs)
    need(listed == math.comb(len(sets), 2) - math.comb(len(points), 2), "a pair is missing", 1)

def tell(text=""):
    """Show a line on stderr where that is a terminal, in the place of the one before."""
    if sys.stderr and sys.stderr.isatty():
        print(f"\r\33[K{text}", end="", file=sys.stderr, flush=True)

def answer(arguments):
    """Return the exit code and what to print."""
    try:
        if {*arguments} & {"-h", "--help"}:
            return 0, USAGE
        need(len(arguments) == 2 or (len(arguments) == 4 and arguments[2] == "--certificate"),
             USAGE.partition("\n")[0])
        files = []
        for path in arguments[:2] + arguments[3:]:
            with open(path, "rb") as file:
                files.append(file.read(MAX_BYTES + 1))
            need(len(files[-1]) <= MAX_BYTES, f"a file has more than {MAX_BYTES} bytes")
        return 0, "\n".join(check(*files, tell=tell))
    except Stop as stop:
        return stop.args
    except KeyboardInterrupt:
        return 130, "interrupted"
    except (Exception, MemoryError) as error:
        code = 3 if isinstance(error, MemoryError) else 2 if isinstance(error, OSError) else 70
        return code, f"{type(error).__name__} {ascii(str(error))[1:200]}"

def main(arguments):
    """Print the verdict and return the exit code, as `USAGE` has it."""
    code, line = answer(arguments)
    line = {1: "refuted: ", 2: "error: ", 3: "undecided: ", 70: "bug: "}.get(code, "") + line
    try:
        tell()
        if code in (0, 1, 3):
            need(sys.stdout, "it is closed")
            print(line, flush=True)
    except BrokenPipeError:
        sys.stdout, code = None, 141
    except (OSError, Stop) as error:  # no verdict could be given
        sys.stdout, code, line = None, 2, f"error: the output can't be written: {error.args[1]}"
    if code not in (0, 1, 3, 141) and sys.stderr:
        try:
            print(line, file=sys.stderr, flush=True)
        except OSError:  # nobody hears it; the exit code says it
            sys.stderr = None
    return code

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
