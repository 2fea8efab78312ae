"""Check, exactly, that a hardmax transformer classifies a data set (docs/certificate.md).

    python -m hardmax.checker MODEL DATA [--certificate CERT]    or    python checker.py ...

One file, hence laid out by hand; Python >= 3.11 and its standard library, no other code of this
package. What decides is integer or rational arithmetic, without tolerance; not one operation on
floats takes part, as a process may round in any way: their bytes are read.
"""
import sys
if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]  # the files beside this one must not stand in for the standard library
import ast
import csv
import gzip
import hashlib
import importlib
import io
import json
import math
import re
import struct
import zipfile
from bisect import bisect_left
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from operator import mul

MAX_BYTES = 2**28    # of a file, and of a zip file's members together
MAX_TEXT = 2**25     # of JSON or CSV text, decompressed
MAX_DIGITS = 10_000  # of a decimal and of each side of "p/q"; exponents stay below it
MAX_HEADER = 2**16   # of the header of an array
MAX_BITS = 2**20     # of an override, and of a coordinate while a sequence is evaluated
BATCH = 4000         # tokens, about, that are evaluated together
NUMBER = r"(?a)[+-]?(?:(\d+)/(0*[1-9]\d*)|(\d*\.?\d*)([eE][+-]?0{0,9999}\d{1,4})?)"
CODES = dict(zip(["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"], "IQbhiqBHIQ"))
KINDS = {"point": ["point"], "ball": ["center", "radius"], "box": ["lower", "upper"],
         "halfspace": ["normal", "offset"], "polyhedron": ["A", "b"]}
PARAMETERS = ["u", "b", "w", "rho", "alpha", "v"]
READ = {"window": 1, "dilations": [1], "stride": 1, "lift": 0, "label_sets": "points",
        "numbers": "exact", "positional": False, "masked": False}  # where the meta says nothing
STATED = {"float64": ["certified", "least_margin"], "radius": ["least", "median"]}  # not checked
USAGE = """usage: checker.py MODEL DATA [--certificate CERT] [--sample K | --part i/k]

Check, exactly, that MODEL classifies DATA, and what CERT states about the two. --sample and --part
look at a share of the sequences (docs/certificate.md, section 7), which proves nothing by itself.
Exit codes: 0 proved, 1 refuted, 2 unusable input, 3 undecided, 70 bug, 130 interrupted, 141 the
reader of the output went away."""

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

def decimal(x):
    """Return str(x) of a Fraction, whatever limit is set on the digits of integers."""
    p, q = map(Decimal, x.as_integer_ratio())
    return f"{p}/{q}" if q > 1 else f"{p}"

def ieee(bits, size):
    """Return the Fraction that the bits of an IEEE 754 float mean; None for what is not finite."""
    places = 52 if size == 64 else 23
    sign, bits = divmod(bits, 2**(size - 1))
    exponent, digits = divmod(bits, 2**places)
    top = 2**(size - 1 - places) - 1
    digits, shift = digits + (2**places if exponent else 0), max(1, exponent) - top // 2 - places
    return None if exponent == top else (
        Fraction((1 - 2 * sign) * digits * 2**max(0, shift), 2**max(0, -shift)))

def nearest(x):
    """Return the binary64 number nearest to x, ties to even, without bounds above."""
    p, q = x.as_integer_ratio()
    last = Fraction(2)**max(abs(p).bit_length() - q.bit_length() - 53, -1074)  # place, or half
    last *= 2 if abs(x) >= 2**53 * last else 1
    return round(x / last) * last

def fields(value, required, optional, where):
    """Return a JSON object after checking that it has all the keys it needs and no unknown one."""
    need(type(value) is dict, f"{where}: an object is needed")
    wrong = {*required} - {*value} or {*value} - {*required, *optional}
    need(not wrong, f"{where}: missing or unknown field {ascii(min(wrong, default=''))[:60]}")
    return value

def number(value, mode, where):
    """Return the Fraction that a JSON number, a text, or an array's float or int means exactly."""
    x, inexact = Fraction(value) if type(value) is int else value, False
    if type(x) is not Fraction:  # not of an array
        need(value is not None, f"{where}: no finite number")
        text = value[0] if type(value) is tuple else value
        match = re.fullmatch(NUMBER, text.strip()) if type(text) is str else None
        p, q, decimals, exponent = match.groups("") if match else [""] * 4
        need(0 < len(p or decimals.replace(".", "")) <= MAX_DIGITS >= len(q),
             f"{where}: no number, or long: {ascii(text)[:40]}")
        x = Fraction(*(int(Decimal(x)) for x in match[0].split("/"))) if q else Fraction(
            Decimal(match[0]))
        inexact = mode == "binary64" and ("." in decimals or exponent)
    need(abs(x.numerator) < x.denominator << 1000, f"{where}: 2^1000 or more in absolute value")
    return nearest(x) if inexact else x

def vector(values, size, mode, where):
    """Return a list of ``size`` Fractions."""
    need(type(values) is list and len(values) == size, f"{where}: a list of {size} is needed")
    return [number(x, mode, where) for x in values]

def npy(raw, where):
    """Read an .npy array: (kind, shape, flat list in C order); floats as `ieee` has them."""
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
    order, kind, width, size = match[1], match[2], int(match[3]), math.prod(shape)
    code = CODES.get(kind := kind + match[3] * (kind != "U"))
    need(code or (kind == "U" and width), f"{where}: the type {kind} is not known")
    length = size * width * (1 if code else 4)
    need(length == len(raw) - end and size <= MAX_TEXT // 2, f"{where}: a wrong or huge shape")
    if code:
        flat = [*struct.unpack(f"{order.replace('|', '<')}{size}{code}", raw[end:])]
        flat = [ieee(x, 8 * width) for x in flat] if kind[0] == "f" else flat
    else:
        text = raw[end:].decode("utf-32-be" if order == ">" else "utf-32-le")
        flat = [text[k:k + width].rstrip("\0") for k in range(0, len(text), width)]
    if fortran and len(shape) == 2 and size:
        flat = [x for i in range(shape[0]) for x in flat[i::shape[0]]]
    return kind, shape, flat

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
    kind, shape, flat = array
    need((kind, len(shape)) in (("U", 0), ("u1", 1)), "a JSON text must be one string or bytes")
    return parse_json(flat[0].encode() if kind == "U" else bytes(flat))

def read_model(raw):
    """Return ({parameter: flat list}, stages, dimension, meta) of a model."""
    arrays = npz(raw, ["format", "meta", "stage", *PARAMETERS], ["exact"])
    need(arrays["format"] == ("U", (), ["hardmax-model/1"]), "the format is not known")
    meta, (kind, (depth,), stages) = json_of(arrays["meta"]), arrays["stage"]
    need(kind == "U" and (d := arrays["u"][1][-1]) > 0 < depth, "no blocks, or stage is no text")
    heads = arrays["alpha"][1][1:2]  # (H,) where there are several: the shape of alpha is (L,H)
    need(heads not in ((0,), (1,)), "alpha: one head has the shape (L,)")
    for name in PARAMETERS:
        expected = ("f8", (depth, *heads * (name in ("alpha", "v")), *(d,) * (name in "uwv")))
        need(arrays[name][:2] == expected and None not in arrays[name][2],
             f"{name}: finite numbers are needed, of the form {expected}")
    return overridden({x: arrays[x][2] for x in PARAMETERS}, arrays), stages, d, meta

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
            (0, Decimal(x)) if re.fullmatch("0|-?[1-9][0-9]{0,9999}", x) else (1, x))))}
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
    (kind, (count, d), flat), (labeled, (n,), labels) = arrays["tokens"], arrays["label"]
    whole, (size,), offsets = arrays["offsets"]
    need(kind != "U" and whole[0] in "iu" and labeled[0] in "iuU" and size == n + 1
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
    """Whether no x has A x < b: whether no (x, h) makes b_i h - <A_i,x> - 1 and h - 1 all >= 0.

    Dual simplex method, Bland's rule: rows[i] is such a number, written by those of the columns."""
    rows = {i: [Fraction(-1), *(-c for c in row), bound] for i, (row, bound) in enumerate(
        [*zip(A, b), ([Fraction(0)] * len(A[0]), Fraction(1))])}
    names = [-1] + [None] * (len(A[0]) + 1)  # None: a coordinate of (x, h), of either sign
    while True:
        places = [(i, k) for k, x in enumerate(names) if x is None for i in rows if rows[i][k]]
        if not places:
            negative = min((i for i, row in rows.items() if row[0] < 0), default=None)
            if negative is None:
                return False
            places = sorted((negative, k) for k in range(1, len(names)) if rows[negative][k] > 0)
            places.sort(key=lambda place: names[place[1]])
        if not places:
            return True  # a negative number is a sum of such that must be negative, too
        i, k = places[0]
        row = rows.pop(i)
        solved = [-c / row[k] for c in row[:k]] + [1 / row[k]] + [-c / row[k] for c in row[k + 1:]]
        rows = {j: [c + old[k] * e for c, e in zip(old[:k] + [0] + old[k + 1:], solved)]
                for j, old in rows.items()} | ({} if names[k] is None else {names[k]: solved})
        names[k] = i

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
    """Return [(layer, its parameters in integers)]; layers that change nothing are left out.

    Feed-forward layers in a row with u = c U, c > 0, are one ridge if <U,w> = 0 for all but the
    last: each adds max(0, t - s) c w, where t = <U,z> and s = -b/c, and leaves t as it is."""
    layers, steps, latest, H = [], [], None, len(parameters["alpha"]) // len(parameters["b"])
    for k, (b, rho) in enumerate(zip(parameters["b"], parameters["rho"])):
        u, w = (parameters[name][k * d:(k + 1) * d] for name in "uw")
        if any(w) and (any(u) or b > 0):
            U, q = integers(u)  # c = 1/q
            if latest != U or dot(U, steps[-1][1]) or len(steps) == 64:  # 64: so sums stay short
                latest, steps = U, []
                layers.append((feed_forward, (U, steps)))
            steps.append((-b * q, [x / q for x in w]))
        heads = [h for h in range(k * H, (k + 1) * H) if parameters["alpha"][h]]
        if rho != 1 or heads:
            (keep, *mix), s = integers([rho, *(parameters["alpha"][h] for h in heads)])
            v, latest = [integers(parameters["v"][h * d:(h + 1) * d])[0] for h in heads], None
            layers.append((attention, ([*zip(v, mix)], keep, s, masked)))
    return [(layer, ridge(*x) if layer is feed_forward else x) for layer, x in layers]

def ridge(U, steps):
    """Return (U, S, r, pieces): tokens with s = S[i]/r < t for k of the i become z + (W t + B)/m,
    where pieces[k] = (W, B, m), or stay where it is None."""
    slope, shift, pieces = [0] * len(U), [0] * len(U), [None]
    for s, w in sorted(steps):
        slope, shift = [a + c for a, c in zip(slope, w)], [a - s * c for a, c in zip(shift, w)]
        flat, m = integers(slope + shift)
        pieces.append((flat[:len(U)], flat[len(U):], m) if any(flat) else None)
    return U, *integers(sorted(s for s, _ in steps)), pieces

def lowest(z, before):
    """Return a token (X_1, ..., X_d, q), which stands for X/q, in lowest terms; where numbers are
    long, only if they have become about twice as long as before."""
    size = max(map(abs, z)).bit_length()
    if size < 1000 or size.bit_length() > max(map(abs, before)).bit_length().bit_length():
        common = math.gcd(*z)
        z = [a // common for a in z]
        need(max(map(abs, z)).bit_length() <= MAX_BITS,
             f"a coordinate needs more than {MAX_BITS} bits", 3)
    return z

def feed_forward(z, U, S, r, pieces):
    """Apply a ridge to a token, in its place; say whether it has moved."""
    t, q = sum(map(mul, U, z)), z[-1]
    if piece := pieces[bisect_left(S, -(-t * r // q))]:  # so many S[i] are less than t r / q
        W, B, m = piece
        z[:] = lowest([m * a + t * w + q * b for a, w, b in zip(z, W, B)] + [m * q], z)
    return piece

def leaders(tokens, v, masked):
    """Return (the number of leaders, their sum) for each token: they depend on the sign of <v,z_i>
    alone. Of a masked model token i takes what is known when its turn comes."""
    best, found, values = {}, [], [dot(v, z) for z in tokens]
    for z, p in zip(tokens, values):
        for sign in (-1, 0, 1):
            top, count, total = best.get(sign, (sign * p, 0, [0] * len(z)))
            if sign * p > top:
                top, count, total = sign * p, 0, [0] * len(z)
            if sign * p == top:
                best[sign] = top, count + 1, [a + b for a, b in zip(total, z)]
        found.append(best[(p > 0) - (p < 0)][1:])
    return found if masked else [best[(p > 0) - (p < 0)][1:] for p in values]

def attention(tokens, heads, keep, s, masked):
    """Apply (keep z_i + the sum of mix mean(leaders of i) over the heads)/s."""
    q, moved = math.lcm(*(z[-1] for z in tokens)), []
    scaled = [[a * (q // z[-1]) for a in z[:-1]] for z in tokens]
    means = [leaders(scaled, v, masked) for v, _ in heads]
    for old, z, *chosen in zip(tokens, scaled, *means):
        common = math.lcm(*(count for count, _ in chosen))
        z = [a * keep * common for a in z]
        for (_, mix), (count, total) in zip(heads, chosen):
            z = [a + mix * (common // count) * b for a, b in zip(z, total)]
        moved.append(lowest(z + [s * q * common], old))
    return moved

def pack(points):
    """Round tokens x to a = floor(2^shift x), |a| <= 2^bits, and write the i-th coordinates of all
    into one integer, ``width`` bytes each, so that one product multiplies them all."""
    whole = max(abs(a) // z[-1] + 1 for z in points for a in z[:-1]).bit_length()
    bits, n = max(29, whole), len(points)
    width = (2 * bits + len(points[0]).bit_length() + 9) // 8
    ones = int.from_bytes((b"\1" + bytes(width - 1)) * n, "little")
    rows = ([(a << bits - whole) // z[-1] + 2**bits for a in z[:-1]] for z in points)
    columns = [int.from_bytes(b"".join(a.to_bytes(width, "little") for a in column), "little")
               - (ones << bits) for column in zip(*rows)]
    return columns, ones, n, width, bits, bits - whole

def near(packed, U, S, r, pieces):
    """Return the numbers of all tokens that a ridge may move, and perhaps of some others.

    With V = floor(U / 2^e), |V| <= 2^bits, the sum <V,a> differs from 2^(shift - e) <U,x> by less
    than ``error``. It is nowhere 2^(8 width - 2) or more: no place in an integer overflows."""
    columns, ones, n, width, bits, shift = packed
    e = max(0, max(map(abs, U)).bit_length() - bits)
    V, half = [c >> e for c in U], 2**(8 * width - 2)
    error = sum(abs(c) + 1 + (e > 0) * 2**bits for c in V)  # V = U for e = 0
    low = (S[0] << shift) // (r << e) - error
    high = half if pieces[-1] else (S[-1] << shift) // (r << e) + error
    total = sum(map(mul, V, columns))
    low, high = (total + ones * (2 * half - 1 - max(-half, min(x, half - 1))) for x in (low, high))
    apart = (low ^ high) & ones * 2 * half  # the first bit of a place: whether <V,a> is above x
    signs = apart.to_bytes(n * width, "little")[width - 1::width]
    return [x.start() for x in re.finditer(b"\x80", signs)]

def outputs(layers, batch):
    """Return the last tokens of all sequences; equal tokens are one list, and move but once."""
    points, packed, loose = [], None, set()  # those in ``packed`` where they are, and those not
    for layer, parameters in [(None, ()), *layers]:
        if layer is feed_forward:
            chosen = loose.union(near(packed, *parameters) if packed else ())
            moved = {k for k in chosen if feed_forward(points[k], *parameters)}
            loose |= moved
            if 32 * len(loose) > len(points):  # packing pays where few tokens move
                few = 32 * (len(moved) + 1) < len(points)
                packed, loose = (pack(points), set()) if few else (None, {*range(len(points))})
        else:
            batch, known = [attention(Z, *parameters) for Z in batch] if layer else batch, {}
            batch = [[known.setdefault(tuple(z), z) for z in Z] for Z in batch]
            points, packed, loose = [*known.values()], None, {*range(len(known))}
    return batch

def evaluated(layers, batch):
    """Return the results of each (name, label or list of outputs, tokens): the mean of the last
    tokens, or the first of them."""
    last = outputs(layers, [[x + [q] for x, q in map(integers, Z)] for *_, Z in batch])
    for (_, asked, _), Z in zip(batch, last, strict=True):
        many, same = type(asked) is list, all(z is Z[0] for z in Z)
        rows = [[Fraction(a, z[-1]) for a in z[:-1]] for z in (
            Z[:len(asked)] if many else Z[:1] if same else Z)]
        yield rows if many else [[sum(column) / len(rows) for column in zip(*rows)]]

def as_read(tokens, how, offsets):
    """Return the tokens that a model gets: neighbours side by side, the position, zeros."""
    last, kept = len(tokens) - 1, range(0, len(tokens), how["stride"])
    return [[x for o in offsets for x in tokens[min(max(i + o, 0), last)]]
            + [Fraction(k)] * how["positional"] + [Fraction(0)] * how["lift"]
            for k, i in enumerate(kept, 1)]

def measure(tokens, masked):
    """Return all that a model can know of a sequence: shares of tokens; if masked, their order."""
    counts = Counter(map(tuple, tokens))
    common = math.gcd(*counts.values())
    return (tuple(map(tuple, tokens)) if masked and len(counts) > 1 else
            frozenset((z, times // common) for z, times in counts.items()))

def judge(name, asked, results, sets, d):
    """Stop at a result that is not in the set of its label, or not the point asked for."""
    many = type(asked) is list
    for i, (label, result) in enumerate(zip(asked if many else [asked], results, strict=True)):
        named = type(label) is str
        region = sets[label] if named else ("point", [*label] + [0] * (d - len(label)), None)
        if not contains(region, result):
            shown, region = (json.dumps(x, default=decimal) for x in (result, region))
            raise Stop(1, f"{name}{f', token {i + 1}' * many}: output {shown} is not in {region}"
                       + f", the set of label {label!a}" * named)

def classify(raw, how, offsets, width, evaluate, classes, share, tell):
    """Stop unless ``evaluate`` leads the sequences of the share into their sets; return the facts,
    how many sequences these are, and the sets."""
    argmax, (kind, k, i) = how["label_sets"] == "argmax", share
    sequences, sets, dimension = reading("data", read_data, raw, how["numbers"], argmax)
    need(sequences, "data: there is no sequence")
    d = dimension * len(offsets) + how["positional"] + how["lift"]
    many, J, sets = type(sequences[0][1]) is list, len(sequences), classes or sets
    need(width == d, f"the tokens have {d} coordinates, the model takes {width}")
    need(classes or d >= argmax * len(sets), "label sets argmax: more labels than coordinates")
    need(not many or (how["stride"] == 1 and not argmax), "outputs with a stride or argmax")
    measures, count, checked, batch, room = set(), 0, 0, [], BATCH
    k = min(k, J) if kind == "sample" else k
    places = {x * J // k for x in range(k)} if kind == "sample" else range(i - 1, J, k)
    for j, (name, asked, tokens) in enumerate(sequences):
        tokens = as_read(tokens, how, offsets)
        need((count := count + len(tokens)) * d <= MAX_TEXT, f"more than {MAX_TEXT} coordinates")
        need(many or asked in sets, f"{name}: the network has no class {asked!a}")
        measures.add(measure(tokens, how["masked"]))
        if j in places:
            if not batch:
                tell(f"sequence {j + 1} of {J}")
            batch.append((name, asked, tokens))
            room -= len(tokens)
        if batch and (room <= 0 or j + 1 == J):
            for (name, asked, _), results in zip(batch, evaluate(batch), strict=True):
                judge(name, asked, results, sets, d)
            batch, room, checked = [], BATCH, checked + len(batch)
    facts = {"sequences": J, "N": len(measures), "d": d, "M": len(sets), "tokens": count}
    if many:
        facts["outputs"] = sum(len(asked) for _, asked, _ in sequences)
    return facts, checked, sets, dimension

def check(model_raw, data_raw, certificate_raw=None, tell=lambda text: None, share=("part", 1, 1)):
    """Return the lines to print for "proved", given the bytes of the files; otherwise Stop.

    ``tell`` is called with texts that say how far the work has come; ``share`` says which sequences
    are evaluated: ("part", k, i), each k-th from the i-th, or ("sample", k, 1)."""
    tell("reading")
    if b"architecture.npy" in model_raw:  # a network, for which there is another file
        need(__package__, "a network: hardmax.network_checker checks it")
        sys.modules.setdefault(f"{__package__}.checker", sys.modules[__name__])  # one Stop for both
        beside = importlib.import_module(f"{__package__}.network_checker")
        return beside.check(model_raw, data_raw, certificate_raw, tell, share)
    parameters, stages, width, meta = reading("model", read_model, model_raw)
    how, offsets = reading("model", read_meta, meta)
    layers = prepare(parameters, width, how["masked"])
    facts, checked, sets, dimension = classify(
        data_raw, how, offsets, width, lambda batch: evaluated(layers, batch), None, share, tell)
    ratios = [x.as_integer_ratio() for values in parameters.values() for x in values if x]
    bits = [p.bit_length() + (q > 1) * q.bit_length() for p, q in ratios]
    n, d, depth, p = facts["N"], facts["d"], len(stages), len(bits)
    heads = len(parameters["alpha"]) // depth
    bounds = "exceeded" if depth > 8 * n + 4 or p > 54 * n * d else "holds"
    facts |= {
        "blocks": depth, "block_bound": 8 * n + 4,
        "parameters": p, "parameter_bound": 54 * n * d if d > 1 else None,
        "bounds": "n/a" if d == 1 or how["masked"] or heads > 1 or "outputs" in facts else bounds,
        "total_bits": sum(bits), "max_bits": max(bits, default=0), "numbers": how["numbers"],
        "positional": how["positional"], **({"masked": True} if how["masked"] else {}),
        **({"heads": heads} if heads > 1 else {})}
    if more := {x: how[x] for x in [*READ][:5] if how[x] != READ[x]}:
        facts["reading"] = more
    hashes, told = [hashlib.sha256(raw).hexdigest() for raw in (data_raw, model_raw)], (
        "disjointness of the label sets was not checked: no certificate")
    if certificate_raw is not None:
        stated = facts | {
            "format": "hardmax-certificate/1", "verdict": "proved", "stages": Counter(stages),
            "sha256": dict(zip(("data", "model"), hashes)), "strategy": meta.get("strategy")}
        reading("certificate", check_certificate, certificate_raw, stated, dimension,
                {} if how["label_sets"] == "argmax" else sets,  # such cones are disjoint
                not any(parameters["v"]))
        hashes += [hashlib.sha256(certificate_raw).hexdigest()]
        told = "the certificate agrees, the sets are disjoint; only stated: float64, radius"
    return verdict(facts, [told], share, checked, hashes)

def verdict(facts, told, share, checked, hashes):
    """Return the lines to print for "proved"; Stop where only a share of the data was checked."""
    lines = [", ".join(f"{key} {json.dumps(fact)}" for key, fact in facts.items()), *told]
    part, J = {"share": share, "checked": checked, "sha256": hashes}, facts["sequences"]
    need(checked == J, f"a {share[0]}: {checked} of {J} sequences were checked, none is wrong\n"
                       + json.dumps(part | {"lines": lines}), 3)
    return ["proved", *lines]

def check_certificate(raw, facts, d, sets, uniform):
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

def answer(arguments, check=check):
    """Return the exit code and what to print."""
    try:
        if {*arguments} & {"-h", "--help"}:
            return 0, USAGE
        paths, options, files = arguments[:2], dict(zip(arguments[2::2], arguments[3::2])), []
        complete = len(arguments) == 2 + 2 * len(options)
        paths += [options.pop("--certificate")] if "--certificate" in options else []
        share = " ".join(x for option in options.items() for x in option) or "--part 1/1"
        match = re.fullmatch(r"(?a)--(sample|part) (?:([1-9]\d{0,8})/)?([1-9]\d{0,8})", share)
        need(complete and match and (match[1] == "part") == bool(match[2])
             and int(match[2] or 1) <= int(match[3]), USAGE.partition("\n")[0])
        for path in paths:
            with open(path, "rb") as file:
                files.append(file.read(MAX_BYTES + 1))
            need(len(files[-1]) <= MAX_BYTES, f"a file has more than {MAX_BYTES} bytes")
        share = (match[1], int(match[3]), int(match[2] or 1))
        return 0, "\n".join(check(*files, tell=tell, share=share))
    except Stop as stop:
        return stop.args
    except KeyboardInterrupt:
        return 130, "interrupted"
    except (Exception, MemoryError) as error:
        code = 3 if isinstance(error, MemoryError) else 2 if isinstance(error, OSError) else 70
        return code, f"{type(error).__name__} {ascii(str(error))[1:200]}"

def main(arguments, check=check):
    """Print the verdict and return the exit code, as `USAGE` has it."""
    code, line = answer(arguments, check)
    line = {1: "refuted: ", 2: "error: ", 3: "undecided: ", 70: "bug: "}.get(code, "") + line
    try:
        tell()
        if code in (0, 1, 3):
            need(sys.stdout, "it is closed")
            print(line, flush=True)
            return code
    except BrokenPipeError:
        sys.stdout = None
        return 141
    except (OSError, Stop) as error:  # no verdict could be given
        sys.stdout, code, line = None, 2, f"error: the output can't be written: {error.args[1]}"
    try:
        print(line, file=sys.stderr or io.StringIO(), flush=True)
    except OSError:  # nobody hears it; the exit code says it
        sys.stderr = None
    return code

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
