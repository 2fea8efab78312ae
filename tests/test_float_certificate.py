"""Float certificates: no executor contradicts a certified verdict; near-ties are not certified."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hardmax as hm
from hardmax.certify.floating import FORMATS, certify_float
from hardmax.certify.predict import predict
from hardmax.model.layers import RankOneBlock


def _sum(terms, kind, rng):
    """Sum floats of one kind in a random tree order, sometimes with one fused product."""
    terms = [kind(t) for t in terms]
    while len(terms) > 1:
        i = rng.randrange(len(terms))
        a = terms.pop(i)
        j = rng.randrange(len(terms))
        terms[j] = kind(a + terms[j])
    return terms[0] if terms else kind(0)


def _fused(a, b, c, kind):
    """a·b + c with one rounding, by way of exact numbers."""
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    if kind is np.float64:
        return kind(exact.numerator / exact.denominator)
    # float64 has more than twice float32's bits: rounding twice is another legal rounding here
    return kind(exact.numerator / exact.denominator)


def _dot(u, x, b, kind, rng):
    if rng.random() < 0.5:
        order = list(range(len(u)))
        rng.shuffle(order)
        total = kind(b)
        for i in order:
            total = _fused(u[i], x[i], total, kind)
        return total
    return _sum([*(kind(p * q) for p, q in zip(u, x, strict=True)), b], kind, rng)


def _mean(rows, kind, rng):
    return [kind(_sum(column, kind, rng) / kind(len(rows))) for column in zip(*rows, strict=True)]


def shuffled_executor(model, sequence, kind, rng):
    """One legal IEEE execution of the definition: random orders, sometimes fused."""
    p = {name: array.values.astype(kind) for name, array in model.parameters.arrays.items()}
    Z = [[kind(float(t)) for t in z] for z in sequence]
    for k in range(len(model)):
        u, b, w = p["u"][k], p["b"][k], p["w"][k]
        for i, z in enumerate(Z):
            t = _dot(u, z, b, kind, rng)
            if t > 0:
                Z[i] = [
                    _fused(wi, t, zi, kind) if rng.random() < 0.5 else kind(zi + kind(wi * t))
                    for wi, zi in zip(w, z, strict=True)
                ]
        rho, alpha, v = p["rho"][k], p["alpha"][k], p["v"][k]
        if rho == 1 and alpha == 0:
            continue
        scores = [_dot(v, z, kind(0), kind, rng) for z in Z]
        out = []
        for z, s in zip(Z, scores, strict=True):
            sign = kind(np.sign(s))
            top = max(sign * t for t in scores)
            m = _mean([y for y, t in zip(Z, scores, strict=True) if sign * t == top], kind, rng)
            out.append([kind(kind(rho * a) + kind(alpha * c)) for a, c in zip(z, m, strict=True)])
        Z = out
    return _mean(Z, kind, rng)


@st.composite
def problems(draw):
    d = draw(st.integers(1, 3))
    count = draw(st.integers(1, 5))
    number = st.fractions(-4, 4, max_denominator=draw(st.sampled_from([1, 3, 10])))
    token = st.tuples(*[number] * d)
    sequences = draw(st.lists(st.lists(token, min_size=1, max_size=4), min_size=count,
                              max_size=count))  # fmt: skip
    labels = draw(st.lists(st.sampled_from("abc"), min_size=count, max_size=count))
    return sequences, labels


@given(problems(), st.sampled_from(["float64", "float32"]), st.integers(0, 2**32))
def test_no_execution_contradicts_a_certificate(problem, executor, seed):
    sequences, labels = problem
    data = hm.Dataset(sequences, labels)
    try:
        model = hm.build(data, seed=seed % 7)
    except hm.ContradictionError:
        return
    found = certify_float(model, data, executor)
    if not found.certified:
        assert found.reason
        return
    rng = random.Random(seed)
    kind = {"float64": np.float64, "float32": np.float32}[executor]
    for j, label in enumerate(labels):
        output = [Fraction(float(x)) for x in shuffled_executor(model, data.sequence(j), kind, rng)]
        assert predict(tuple(output), data.sets) == label
        away = max(abs(a - b) for a, b in zip(output, data.sets[label].point, strict=True))
        assert away <= found.distance
    if executor == "float64":
        assert [
            predict(tuple(Fraction(x) for x in row), data.sets)
            for row in model(data.arrays()).tolist()
        ] == labels


def _threshold(b):
    """Two labels, told apart by the sign of z₁ + z₂ + b, with z = (0.1, 0.2) exactly."""
    data = hm.Dataset([[("0.1", "0.2")]], ["a"], {"a": hm_point(0, 0), "b": hm_point(1, 0)})
    blocks = [
        RankOneBlock.of(2, u=(1, 1), b=b, w=(2**80, 0)),
        RankOneBlock.of(2, u=(1, 0), b=-1, w=(-1, 0)),
    ]
    return hm.Transformer(blocks), data


def hm_point(*x):
    from hardmax.labels import Point

    return Point(x)


def test_a_near_tie_that_flips_is_not_certified():
    # exactly 1/10 + 2/10 − 3/10 = 0, but 0.1 + 0.2 − 0.3 > 0 in float64
    model, data = _threshold("-0.3")
    exact = predict(model.output(data.sequence(0)), data.sets)
    floating = predict(tuple(Fraction(x) for x in model(data.arrays())[0].tolist()), data.sets)
    assert (exact, floating) == ("a", "b")
    found = certify_float(model, data)
    assert not found.certified
    assert "block 1" in found.reason


def test_the_same_model_with_room_is_certified():
    model, data = _threshold("-0.4")
    found = certify_float(model, data)
    assert found.certified
    assert 0 < found.least_margin < Fraction(1, 10)


def test_a_tie_of_two_leaders_is_not_certified():
    data = hm.Dataset([[(1, 0), (1, 1)]], ["a"], {"a": hm_point(0, 0), "b": hm_point(9, 9)})
    model = hm.Transformer([RankOneBlock.of(2, rho=0, alpha=1, v=(1, 0))])
    assert "lead" in certify_float(model, data).reason


def test_a_repeated_leader_is_no_tie():
    data = hm.Dataset([[(2, 1), (2, 1), (1, 0)]], ["a"], {"a": hm_point(2, 1), "b": hm_point(9, 9)})
    model = hm.Transformer([RankOneBlock.of(2, rho=0, alpha=1, v=(1, 0))])
    assert certify_float(model, data).certified


def test_what_may_overflow_is_not_certified():
    data = hm.Dataset([[(1,)]], ["a"], {"a": hm_point(0), "b": hm_point(1)})
    model = hm.Transformer([RankOneBlock.of(1, u=(1,), b=0, w=(2**1000,)) for _ in range(2)])
    assert "range" in certify_float(model, data).reason


def test_an_output_near_the_border_of_two_labels_is_not_certified():
    data = hm.Dataset([[("0.5",)]], ["a"], {"a": hm_point(0), "b": hm_point(1)})
    model = hm.Transformer([RankOneBlock.of(1, b="1/3", w=("1e-17",))])
    found = certify_float(model, data)
    assert not found.certified


def test_unknown_executor():
    model, data = _threshold("-0.4")
    with pytest.raises(hm.InputError, match="bfloat16"):
        certify_float(model, data, "bfloat16")
    assert set(FORMATS) == {"float64", "float32"}
