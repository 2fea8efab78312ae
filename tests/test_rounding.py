"""The theorem on rounding errors: no legal run in floats errs by more than it says (engine.md)."""

from fractions import Fraction
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hardmax.enclosure.enclosed import Enclosed
from hardmax.enclosure.rounding import LEAST, SLACK, TINY, UNIT, error, gamma, lengths, underflow
from hardmax.enclosure.shadow import Shadow, ratio

F = Fraction
SEEDS = st.integers(0, 10**9)
SIZES = st.integers(1, 3) | st.integers(1, 40)
MODERATE = st.tuples(st.integers(-299, 298), st.integers(0, 300))
ANY = st.tuples(st.integers(-1080, 400), st.integers(0, 700))


def rational(rng, exponent, spread):
    """A number of about 2^exponent, or 0, or smaller; seldom one that float64 holds."""
    if rng.random() < 0.1:
        return F(0)
    exponent = max(exponent - rng.randint(0, spread), -1100)
    return F(rng.choice((-1, 1)) * rng.randint(2**60, 2**61 - 1), 2**60) * F(2) ** exponent


def moderate(number):
    """The number, or one as near to zero as numbers of moderate size may be."""
    return number if not number or abs(number) >= F(LEAST) else F(LEAST)


def rounded(number):
    """The nearest float, subnormal ones included."""
    return ratio(number.numerator, number.denominator)


def execution(u, x, b, rng):
    """⟨u,x⟩ + b in floats: in a random order, products fused with a sum or not."""
    pairs, terms = list(zip(u, x, strict=True)), [b]
    rng.shuffle(pairs)
    for p, q in pairs:
        if rng.random() < 0.5:
            i = rng.randrange(len(terms))
            terms[i] = rounded(F(p) * F(q) + F(terms[i]))
        else:
            terms.append(p * q)
    while len(terms) > 1:
        last = terms.pop(rng.randrange(len(terms)))
        terms[rng.randrange(len(terms))] += last
    return terms[0]


def operands(rng, d, u_size, x_size, cancel):
    """Exact u, x and b; they may cancel up to a little."""
    u = [rational(rng, *u_size) for _ in range(d)]
    x = [rational(rng, *x_size) for _ in range(d)]
    total = sum((p * q for p, q in zip(u, x, strict=True)), F(0))
    return u, x, -total * (1 + F(rng.randint(-9, 9), 2**54)) if cancel else rational(rng, *x_size)


def check_product(u, x, b, rng, lost, carried):
    """Compare an execution with the theorem; operands are rounded, and x may be off by a radius."""
    radius = [abs(t) * carried for t in x]
    off = [t + rng.choice((-1, 1)) * r for t, r in zip(x, radius, strict=True)]
    exact = sum((p * q for p, q in zip(u, off, strict=True)), b)
    v, y, c = [rounded(t) for t in u], [rounded(t) for t in x], rounded(b)
    size = float(np.abs(v) @ np.abs(y)) + abs(c)
    doubt = float(np.abs(v) @ np.array([rounded(r) for r in radius])) * (1 + 2.0**-50)
    # two roundings of the factors, one of the product, one for each sum
    bound = error(len(u) + 3, size, doubt, lost(v, y))
    for found in (execution(v, y, c, rng), float(np.array(y) @ np.array(v)) + c):
        assert abs(F(found) - exact) <= F(bound)


@given(SEEDS, SIZES, MODERATE, MODERATE, st.booleans(), st.sampled_from((0, F(1, 2**60), F(1, 9))))
def test_products_of_numbers_of_moderate_size(seed, d, u_size, x_size, cancel, carried):
    rng = Random(seed)
    u, x, b = operands(rng, d, u_size, x_size, cancel)
    u, x, b = [moderate(t) for t in u], [moderate(t) for t in x], moderate(b)
    check_product(u, x, b, rng, lambda *_: TINY, carried)


@given(SEEDS, SIZES, ANY, ANY, st.booleans())
def test_products_of_any_numbers(seed, d, u_size, x_size, cancel):
    rng = Random(seed)
    u, x, b = operands(rng, d, u_size, x_size, cancel)

    def lost(v, y):
        return underflow(d + 1, max(map(abs, v)), sum(map(abs, y)), 2.0**-1074)

    check_product(u, x, b, rng, lost, 0)


@given(SEEDS, st.integers(1, 60), MODERATE)
def test_means(seed, n, size):
    rng = Random(seed)
    x = [moderate(rational(rng, *size)) for _ in range(n)]
    y = [rounded(t) for t in x]
    found = execution([1.0] * n, y, 0.0, rng) / n
    # one rounding of each number, n of the sums, one of the quotient
    assert abs(F(found) - sum(x) / n) <= F(error(n + 2, max(map(abs, y))))


def test_the_bound_is_nearly_reached():
    """1 + u + u + … loses every u: a γ that is half as large would be refuted."""
    d = 1000
    total = 1.0
    for _ in range(d):
        total += UNIT
    exact = 1 + d * F(UNIT)
    assert F(error(d // 2, float(exact))) < exact - F(total) <= F(error(d, float(exact)))


def test_underflow_is_counted():
    """Where every product underflows, nothing but the last term of the bound is left."""
    u, x = [2.0**-600] * 4, [2.0**-500] * 4
    exact = 4 * F(2) ** -1100
    assert float(np.dot(u, x)) == 0.0
    assert F(error(7, 0.0, lost=0.0)) < exact <= F(error(7, 0.0, lost=underflow(4, u[0], sum(x))))


@given(SEEDS, st.integers(1, 9), st.integers(-530, 500))
def test_lengths_are_rounded_up(seed, d, exponent):
    rng = Random(seed)
    rows = np.array([[rounded(rational(rng, exponent, 40)) for _ in range(d)]])
    assert F(float(lengths(rows)[0])) ** 2 >= sum(F(t) ** 2 for t in rows[0].tolist())


def test_gamma_is_superadditive():
    """As the derivations use it: γ_a + γ_b + γ_a γ_b ≤ γ_{a+b}, up to SLACK."""
    for a in (1, 7, 2**20):
        for b in (1, 30, 2**21):
            x, y = F(gamma(a)), F(gamma(b))
            assert x + y + x * y <= F(gamma(a + b)) * F(SLACK)


@given(SEEDS, st.integers(1, 6), st.integers(1, 12), ANY, st.booleans())
def test_filtered_points(seed, n, d, size, cancel):
    """The bounds of products and columns hold for points of any size."""
    rng = Random(seed)
    points = [tuple(rational(rng, *size) for _ in range(d)) for _ in range(n)]
    if cancel:  # all but equal
        points = [tuple(t * (1 + F(rng.randint(-9, 9), 2**58)) for t in points[0]) for _ in points]
    cloud = Enclosed(points)
    u = np.array([[rounded(rational(rng, 0, 60)) for _ in range(d)]])
    value, room = (row[0].tolist() for row in cloud.products(u))
    low, high = (column.tolist() for column in cloud.column(0))
    for j, x in enumerate(points):
        exact = sum(F(p) * q for p, q in zip(u[0].tolist(), x, strict=True)) / cloud.scale
        assert abs(exact - F(value[j])) <= F(room[j])
        assert F(low[j]) <= x[0] / cloud.scale <= F(high[j])


@given(SEEDS, st.integers(1, 12), ANY, ANY, st.booleans())
def test_shadow(seed, d, u_size, x_size, cancel):
    """A certain sign is the sign, for integers over any denominators."""
    rng = Random(seed)
    u, x, b = operands(rng, d, u_size, x_size, cancel)
    common = max(t.denominator for t in x)
    scale = max(t.denominator for t in (*u, b))
    shadow = Shadow([[*(int(t * common) for t in x), common]])
    (sign,) = shadow.signs([int(t * scale) for t in (*u, b)], scale)
    exact = sum((p * q for p, q in zip(u, x, strict=True)), b)
    assert sign in (0, (exact > 0) - (exact < 0))
