"""Enclosures hold the true outputs; no verdict "proved" on ties, nor on margins of 2^-60."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from network_reference import output

import hardmax as hm
from hardmax.errors import VerdictError
from hardmax.network import taylor
from hardmax.network.balls import Balls
from hardmax.network.layers import (
    Affine,
    Attention,
    Gelu,
    Norm,
    Position,
    Prepend,
    Readout,
    Relu,
    Residual,
)


class Digits60:
    """The functions of the definition, with 60 digits."""

    exp, sqrt, erf = mpmath.exp, mpmath.sqrt, mpmath.erf


def number(x):
    return mpmath.mpf(x.numerator) / x.denominator


def array(rng, *shape):
    """Parameters of moderate size; now and then quotients, which float64 does not hold."""
    values = np.round(rng.normal(size=shape), 3)
    if rng.random() < 0.3:
        return [
            [Fraction(int(1000 * x), 999) for x in row] for row in values.reshape(-1, shape[-1])
        ]
    return values


def random_network(rng, most=2):
    """Softmax attention, norms, GELU, hidden layers; before or behind the norm; 2 classes."""
    d = int(rng.integers(2, 4))
    layers = []
    if rng.random() < 0.3:
        layers.append(Prepend(rng.normal(size=(1, d))))
    if rng.random() < 0.3:
        layers.append(Position(rng.normal(size=(5, d))))
    for _ in range(int(rng.integers(1, most + 1))):
        H, k = int(rng.integers(1, 3)), int(rng.integers(1, 3))
        attention = Attention(
            Q=rng.normal(size=(H, k, d)), K=rng.normal(size=(H, k, d)),
            V=rng.normal(size=(H, k, d)), O=rng.normal(size=(H, d, k)),
            q=rng.normal(size=(H, k)), v=rng.normal(size=(H, k)), o=rng.normal(size=d),
            weights="softmax", beta=Fraction(int(rng.integers(0, 9)), 3),
            root=int(rng.integers(1, 4)),
            causal=bool(rng.random() < 0.4),
        )  # fmt: skip
        norm = Norm(Fraction(1, int(rng.integers(2, 10**5))), array(rng, 1, d)[0], None)
        act = Gelu() if rng.random() < 0.7 else Relu()
        inner = [Affine(array(rng, 3, d), rng.normal(size=3)), act, Affine(array(rng, d, 3))]
        if rng.random() < 0.5:
            layers += [Residual([norm, attention]), Residual(inner, Fraction(1, 3))]
        else:
            layers += [Residual([attention]), norm, Residual(inner), norm]
    which = str(rng.choice(["mean", "first", "last"]))
    layers += [Readout(which), Affine(array(rng, 2, d))]
    return hm.Network(layers, dimension=d, classes=["a", "b"])


def check_random_networks(count, seed, most=2):
    rng = np.random.default_rng(seed)
    wide = 0
    with mpmath.workdps(60):
        for trial in range(count):
            network = random_network(rng, most)
            n = int(rng.integers(1, most + 2))
            Z = np.round(rng.normal(size=(n, network.dimension)), 2)
            truth = output(network, Z, number, Digits60)
            for bits in (53, 128) if trial % 5 == 0 else (53,):
                (box,) = network.enclosures([Z], bits)
                for (low, high), x in zip(box, truth, strict=True):
                    slack = mpmath.mpf(10) ** -50 * (1 + abs(x))  # of the reference itself
                    assert number(low) - slack <= x <= number(high) + slack
                wide += bits == 53 and max(high - low for low, high in box) > Fraction(1, 10**6)
    assert wide < count / 20  # enclosures that say nothing would pass the rest


def test_enclosures_contain_sixty_digits():
    check_random_networks(150, 1)


@pytest.mark.slow
def test_enclosures_contain_sixty_digits_ten_thousand_times():
    check_random_networks(10_000, 2, most=1)


@pytest.mark.parametrize("function", ["exp", "gelu"])
def test_the_tables_keep_their_bounds(function):
    rng = np.random.default_rng(3)
    if function == "exp":
        x = np.r_[-rng.uniform(0, 600, 1500), -rng.random(500), -np.arange(601.0), -601.0]
        values = taylor.exp(x)
        bounds = taylor.EXP_ERROR * np.exp(x) * 1.01 + 2.0**-800
        with mpmath.workdps(60):
            truth = [mpmath.exp(mpmath.mpf(t)) for t in x.tolist()]
    else:
        edges = np.arange(-13, 13, 1 / 16)
        x = np.r_[rng.uniform(-14, 14, 1500), edges, np.nextafter(edges, 0), rng.normal(size=300)]
        values, bounds = taylor.gelu(x)
        with mpmath.workdps(80):
            half = mpmath.mpf(1) / 2
            truth = [
                mpmath.mpf(t) * mpmath.erfc(-mpmath.mpf(t) / mpmath.sqrt(2)) * half
                for t in x.tolist()
            ]
    with mpmath.workdps(60):
        for value, bound, true in zip(values.tolist(), bounds.tolist(), truth, strict=True):
            assert abs(mpmath.mpf(value) - true) <= mpmath.mpf(bound)


def softmax_network(rng, d=3):
    """One attention layer, GELU, and two outputs a, b."""
    attention = Attention(
        Q=rng.normal(size=(1, d, d)), V=rng.normal(size=(1, d, d)), weights="softmax"
    )
    return [Residual([attention]), Gelu(), Readout("mean")], d


@pytest.mark.parametrize("seed", range(4))
def test_a_tie_is_never_proved(seed):
    rng = np.random.default_rng(seed)
    layers, d = softmax_network(rng)
    row = rng.normal(size=(1, d))
    network = hm.Network([*layers, Affine(np.vstack([row, row]))], classes=["a", "b"])
    Z = rng.normal(size=(3, d))
    for label in "ab":
        found = hm.certify(network, hm.Dataset([Z], [label]))
        assert found.verdict == "undecided"
        assert found.precisions == {"2048": 1}
    assert network.predict([Z]) == [None]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("power", [40, 60, 300])
def test_planted_margins_are_decided_and_never_wrongly(seed, power):
    """b exceeds a by 2^-power: "a" is refuted, "b" is proved with that margin."""
    rng = np.random.default_rng(seed)
    layers, d = softmax_network(rng)
    row, gap = rng.normal(size=d), Fraction(1, 2**power)
    network = hm.Network([*layers, Affine([row, row], [0, gap])], classes=["a", "b"])
    Z = rng.normal(size=(4, d))
    assert (
        hm.certify(network, hm.Dataset([Z], ["a"], {"a": [0] * d, "b": [1] * d})).verdict
        == "refuted"
    )
    found = hm.certify(network, hm.Dataset([Z], ["b"], {"a": [0] * d, "b": [1] * d}))
    assert found.verdict == "proved"
    assert Fraction(0) < found.margin <= gap
    assert (found.precisions == {"53": 1}) == (power == 40 and found.precisions == {"53": 1})
    assert power < 60 or "53" not in found.precisions


def test_exact_ties_of_rational_networks_are_refuted():
    network = hm.Network([Readout(), Affine([[1, 0], [0, 1]])], classes=["a", "b"])
    found = hm.certify(network, hm.Dataset([[("1/3", "1/3")]], ["a"]))
    assert found.verdict == "refuted"
    assert "no class" in found.witnesses[0].sentence()
    assert found.precisions == {"exact": 1}


def test_uniform_attention_over_equal_scores_is_exact_at_higher_precision():
    attention = Attention(Q=[[[0, 0], [0, 0]]], V=[[[1, 0], [0, 1]]])
    network = hm.Network([attention, Gelu(), Readout(), Affine([[1, 0], [0, 1]])], classes="ab")
    assert hm.certify(network, hm.Dataset([[(1, 0), (2, 1)]], ["a"])).proved


def test_label_sets_judge_networks_without_classes():
    network = hm.Network([Gelu(), Readout()], dimension=1)
    sets = {"low": hm.Box((0,), (1,)), "high": hm.Ball((3,), 1), "far": hm.Halfspace((1,), 5)}
    data = hm.Dataset([[(1,)], [(3,)], [(9,)]], ["low", "high", "far"], sets)
    assert hm.certify(network, data).proved
    wrong = hm.Dataset([[(1,)], [(3,)], [(9,)]], ["high", "low", "high"], sets)
    assert hm.certify(network, wrong).counts == {"proved": 0, "refuted": 3, "undecided": 0}
    assert network.predict([[(1,)], [(1.5,)]], sets) == ["low", None]


def test_numbers_past_the_range_of_floats_get_no_verdict_from_balls():
    big = 2.0**600
    network = hm.Network([Affine([[big]]), Affine([[big]]), Gelu(), Readout(), Affine([[1], [-1]])],
                         classes=["a", "b"])  # fmt: skip
    found = hm.certify(network, hm.Dataset([[(1,)]], ["a"]))
    assert found.verdict == "proved"
    assert "53" not in found.precisions


def test_balls_of_one_operation_hold_all_products():
    rng = np.random.default_rng(5)
    mid, rad = rng.normal(size=(1, 2, 3)), 2.0**-30 * rng.random((1, 2, 3))
    W, S = rng.normal(size=(4, 3)), 2.0**-30 * rng.random((4, 3))
    found = Balls(mid, rad).affine(Balls(W, S), None)
    for _ in range(200):
        x = mid + rad * rng.choice([-1, 1], size=mid.shape)
        y = W + S * rng.choice([-1, 1], size=W.shape)
        for i in range(2):
            for j in range(4):
                exact = sum((Fraction(a) * Fraction(b) for a, b in zip(x[0, i], y[j])), Fraction(0))
                low = Fraction(found.mid[0, i, j]) - Fraction(found.rad[0, i, j])
                assert low <= exact <= low + 2 * Fraction(found.rad[0, i, j])


def test_a_wrong_box_is_an_error_and_no_verdict(monkeypatch):
    right = Balls.relu

    def wrong(self):
        found = right(self)
        return Balls(found.mid + 1, found.rad)

    network = hm.Network([Relu(), Gelu(), Readout()], dimension=2, classes=["a", "b"])
    data = hm.Dataset([[(1, 2)], [(3, 1)]], ["b", "a"])
    assert hm.certify(network, data).proved
    monkeypatch.setattr(Balls, "relu", wrong)
    with pytest.raises(VerdictError, match="two enclosures"):
        hm.certify(network, data)
