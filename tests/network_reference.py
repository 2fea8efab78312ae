"""Networks once more, from the docstrings of their layers, in plain Python for any numbers.

``functions`` brings exp, sqrt and erf: those of mpmath for 60 digits; None where all is rational.
Parameters come from ``number``, which makes a Fraction into a number of the kind used.
"""

from __future__ import annotations

from fractions import Fraction
from math import prod


def nested(array, number):
    """An exact array as nested lists; None stays None."""
    if array is None:
        return None
    flat = [number(array.entry(k)) for k in range(prod(array.shape))]
    for size in array.shape[:0:-1]:
        flat = [flat[k : k + size] for k in range(0, len(flat), size)]
    return flat


def apply(matrix, z):
    return [sum(a * x for a, x in zip(row, z, strict=True)) for row in matrix]


def plus(x, y):
    return x if y is None else [a + b for a, b in zip(x, y, strict=True)]


def head(layer, h, Z, number, functions, parameters):
    Q, K, V, O, q, k, v = (
        None if parameters[name] is None else parameters[name][h] for name in "QKVOqkv"
    )
    queries = [plus(apply(Q, z), q) for z in Z]
    keys = Z if K is None else [plus(apply(K, z), k) for z in Z]
    values = [plus(apply(V, z), v) for z in Z]
    result = []
    for i, query in enumerate(queries):
        seen = range(i + 1) if layer.causal else range(len(Z))
        scores = [sum(a * b for a, b in zip(query, keys[l], strict=True)) for l in seen]
        if layer.weights == "hardmax":
            weights = [number(Fraction(s == max(scores))) for s in scores]
        else:
            factor = number(layer.beta) / functions.sqrt(number(Fraction(layer.root)))
            weights = [functions.exp(factor * (s - max(scores))) for s in scores]
        total = sum(weights)
        mean = [
            sum(p * values[l][c] for p, l in zip(weights, seen, strict=True)) / total
            for c in range(len(values[0]))
        ]
        result.append(mean if O is None else apply(O, mean))
    return result


def step(layer, Z, number, functions):
    kind = layer.kind
    get = {name: nested(getattr(layer, name), number) for name in layer.shapes}
    if kind == "affine":
        return [plus(apply(get["W"], z), get["b"]) for z in Z]
    if kind == "relu":
        return [[max(x, number(Fraction(0))) for x in z] for z in Z]
    if kind == "gelu":
        return [[x * (1 + functions.erf(x / functions.sqrt(2))) / 2 for x in z] for z in Z]
    if kind == "norm":
        found = []
        for z in Z:
            m = sum(z) / len(z)
            s = sum((x - m) ** 2 for x in z) / len(z)
            scaled = [(x - m) / functions.sqrt(s + number(layer.eps)) for x in z]
            g = get["g"]
            scaled = scaled if g is None else [x * y for x, y in zip(scaled, g, strict=True)]
            found.append(plus(scaled, get["b"]))
        return found
    if kind == "attention":
        total = None
        for h in range(layer.Q.shape[0]):
            part = head(layer, h, Z, number, functions, get)
            total = part if total is None else [plus(x, y) for x, y in zip(total, part)]
        return [plus(x, get["o"]) for x in total]
    if kind == "residual":
        inner = Z
        for each in layer.layers:
            inner = step(each, inner, number, functions)
        rho = number(layer.rho)
        return [[rho * a + b for a, b in zip(*two, strict=True)] for two in zip(Z, inner)]
    if kind == "embedding":
        return [get["table"][int(z[0])] for z in Z]
    if kind == "position":
        return [plus(z, row) for z, row in zip(Z, get["table"])]
    if kind == "prepend":
        return get["table"] + Z
    assert kind == "readout"
    if layer.which == "mean":
        return [[sum(column) / len(Z) for column in zip(*Z)]]
    return [Z[0] if layer.which == "first" else Z[-1]]


def output(network, Z, number=Fraction, functions=None):
    """The output of a network on one sequence of Fractions."""
    state = [[number(Fraction(x)) for x in z] for z in Z]
    for layer in network.layers:
        state = step(layer, state, number, functions)
    (last,) = state
    return tuple(last)
