"""Check, exactly, that a rational network classifies a data set (docs/certificate.md, section 10).

    python -m hardmax.network_checker NETWORK DATA [--sample K | --part i/k]

It reads data and says its verdict by `checker.py`, and like it uses nothing else but the standard
library. Exit codes are those of the checker; certificates of networks are not checked.
"""
import hashlib
import io
import re
import sys
import zipfile
from fractions import Fraction

from .checker import (
    MAX_BITS,
    classify,
    fields,
    json_of,
    main,
    need,
    npz,
    number,
    overridden,
    read_meta,
    reading,
    verdict,
)

LAYERS = {  # the arrays of each kind of layer, and its other fields
    "affine": ("Wb", []), "relu": ("", []), "residual": ("", ["rho", "layers"]),
    "attention": ("QKVOqkvo", ["weights", "causal", "beta", "root"]),
    "readout": ("", ["which"]), "embedding": (["table"], []), "position": (["table"], []),
    "prepend": (["table"], []),
}


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
        need(arrays[name][0] == "f8" and None not in values, f"{name}: finite float64 are needed")
        for size in arrays[name][1][:0:-1]:  # from the last axis to the second
            values = [values[k:k + size] for k in range(0, len(values), size)]
        found[name] = values
    return layers, found, int(*d), names, json_of(arrays["meta"])


def mean(rows):
    """Return the mean of a list of vectors."""
    return [sum(column) / len(rows) for column in zip(*rows)]


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
                parts.append(affine(a["O"] and a["O"][h], None, [*map(mean, P)]))
            Z = [[*map(sum, zip(*rows, strict=True))] for rows in zip(*parts)]
        elif kind in ("residual", "position"):  # one list of tokens plus another
            F, rho = (a["table"][:len(Z)], 1) if kind == "position" else (through(
                layer["layers"], here, arrays, Z, used), number(layer["rho"], "", here))
            Z = [[rho * x + y for x, y in zip(*two, strict=True)] for two in zip(Z, F, strict=True)]
        elif kind == "embedding":  # a token that names no row is an error
            Z = [a["table"][int(t) if t >= 0 == t % 1 else len(a["table"])] for t, in Z]
        else:
            Z = ([[max(Fraction(0), x) for x in z] for z in Z] if kind == "relu" else a["table"] + Z
                 if kind == "prepend" else
                 [{"first": Z[0], "last": Z[-1], "mean": mean(Z)}[layer["which"]]])
        longest = max(max(abs(x.numerator), x.denominator) for z in Z for x in z)
        need(longest.bit_length() <= MAX_BITS, f"a coordinate needs more than {MAX_BITS} bits", 3)
    return Z


def check(network_raw, data_raw, certificate_raw=None, tell=lambda x: None, share=("part", 1, 1)):
    """Return the lines to print for "proved", given the bytes of the files; otherwise Stop."""
    tell("reading")
    need(certificate_raw is None, "certificates of networks are not checked here")
    layers, arrays, width, classes, meta = reading("network", read_network, network_raw)
    how, offsets = reading("network", read_meta, meta)
    need(not how["masked"], "a network says causal where it has a mask")
    used, size = set(), len(classes or range(width))

    def evaluate(batch):
        for name, asked, Z in batch:
            need(type(asked) is str, f"{name}: a network has no outputs of tokens")
            results = reading(name, through, layers, "", arrays, Z, used)
            need([*map(len, results)] == [size], f"{name}: the output has a wrong size")
            yield results

    # the class is where the largest coordinate stands
    sets = classes and {name: ("argmax", k, len(classes)) for k, name in enumerate(classes)}
    facts, checked, *_ = classify(data_raw, how, offsets, width, evaluate, sets, share, tell)
    need(used == {*arrays}, "a member belongs to no layer")
    facts = {x: facts[x] for x in ("sequences", "N")} | {"layers": len(layers)}
    hashes = [hashlib.sha256(raw).hexdigest() for raw in (data_raw, network_raw)]
    return verdict(facts, [], share, checked, hashes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], check))
