"""Exact points as integer rows: every operation against plain Fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hardmax as hm
from hardmax.construct.shared.move import move
from hardmax.construct.shared.moves import Moves, pack
from hardmax.errors import ResourceLimitError
from hardmax.exact.array import ExactArray
from hardmax.exact.means import exact_means, means_of_points
from hardmax.exact.numbers import dot, power_of_two_below
from hardmax.exact.points import IntegerPoints, falling, inner
from hardmax.exact.rows import row_of, vector_of
from hardmax.model.layers import RankOneBlock
from hardmax.testing import FAMILIES, adversarial, rationals

F = Fraction
WIDE = st.one_of(
    rationals(30),
    st.builds(lambda n, e: n * F(2) ** e, st.integers(-(2**70), 2**70), st.integers(-400, 400)),
)
VECTORS = st.integers(1, 3).flatmap(
    lambda d: st.lists(st.tuples(*[WIDE] * d), min_size=1, max_size=5)
)


def plain(x, y, a, b):
    return tuple(a * s + b * t for s, t in zip(x, y, strict=True))


@given(VECTORS, WIDE, WIDE, st.data())
def test_points_follow_fractions(vectors, factor, alpha, more):
    points = IntegerPoints.of_vectors(vectors)
    others = more.draw(st.permutations(vectors))
    shift, u = others[0], others[-1]
    assert points.vectors() == vectors
    assert points.affine(factor, shift).vectors() == [plain(x, shift, factor, 1) for x in vectors]
    focus = IntegerPoints.of_vectors(others)
    assert points.combined(factor, focus, alpha).vectors() == [
        plain(x, y, factor, alpha) for x, y in zip(vectors, others, strict=True)
    ]
    assert points.values(u) == [dot(u, x) for x in vectors]
    assert points.squares() == [dot(x, x) for x in vectors]
    assert inner(row_of(shift), row_of(u)) == dot(row_of(shift)[:-1], row_of(u)[:-1])


@given(VECTORS, st.integers(1, 9))
def test_equal_points_are_found_whatever_their_denominators(vectors, factor):
    points = IntegerPoints.of_vectors(vectors)
    longer = IntegerPoints(points.rows + [[factor * x for x in row] for row in points.rows])
    twice = vectors + vectors
    assert longer.first_equal().tolist() == [twice.index(x) for x in twice]
    assert longer.reduced().rows == points.rows + points.rows


@given(VECTORS, st.integers(1, 9))
def test_packed_is_what_fractions_give(vectors, factor):
    width = len(vectors[0])
    rows = [[factor * x for x in row_of(x)] for x in vectors]
    packed = pack(rows, width)
    expected = ExactArray.from_rows(vectors, width)
    assert packed.values.tobytes() == expected.values.tobytes()
    assert packed.exact == expected.exact


def test_packed_ends_where_float64_does():
    tiny = F(-1, 2**1200)  # its float is zero, without a sign
    packed = pack([row_of((tiny, F(2) ** 1000))], 2)
    assert packed.exact == {0: tiny}
    assert not np.signbit(packed.values[0, 0])
    with pytest.raises(ResourceLimitError):
        pack([[2**1024, 1]], 1)


@given(st.lists(WIDE, max_size=8), st.booleans())
def test_falling_is_the_stable_order(values, huge):
    values = [x + (F(2) ** 1500 if huge else 0) for x in values]
    close = values + [x + F(1, 2**900) for x in values]
    assert falling(close) == sorted(range(len(close)), key=close.__getitem__, reverse=True)


@given(VECTORS, st.integers(1, 5), st.data())
def test_moves_are_the_blocks_of_move(vectors, gap, more):
    u, y = (more.draw(st.sampled_from(vectors)) for _ in range(2))
    u = u if any(u) else (F(1),) * len(u)
    moves, expected = Moves(len(u)), []
    for x in vectors:
        moves.add(row_of(x), row_of(y), row_of(u), F(gap, 3))
        expected.append(move(x, y, u, dot(u, x) - F(gap, 3)))
    moves.add_block(RankOneBlock.of(len(u), u=u, b=F(1, 3), w=y))
    expected.append(RankOneBlock.of(len(u), u=u, b=F(1, 3), w=y))
    assert list(moves.packed()) == expected


@given(WIDE.filter(lambda x: x > 0))
def test_power_of_two_below(value):
    power = power_of_two_below(value)
    assert power <= value < 2 * power
    assert power.numerator == 1 or power.denominator == 1
    assert (power.numerator * power.denominator).bit_count() == 1


@given(VECTORS, WIDE, st.data())
def test_layers_and_means_follow_fractions(vectors, b, more):
    u, w = (more.draw(st.sampled_from(vectors)) for _ in range(2))
    points = IntegerPoints.of_vectors(vectors)
    assert points.fed_forward(u, b, w).vectors() == [
        plain(x, w, 1, max(F(0), dot(u, x) + b)) for x in vectors
    ]
    runs = more.draw(
        st.lists(
            st.lists(st.integers(0, len(vectors) - 1), min_size=1, max_size=9),
            min_size=1,
            max_size=4,
        )
    )
    starts = np.cumsum([0, *map(len, runs)])
    means = means_of_points(points, np.concatenate(runs), starts)
    assert means.reduced().rows == means.rows
    assert means.vectors() == [
        tuple(sum(column) / len(run) for column in zip(*(vectors[i] for i in run))) for run in runs
    ]


def check_means(data, chosen):
    means = exact_means(data.tokens, data.offsets, np.array(chosen)).vectors()
    for j, mean in zip(chosen, means, strict=True):
        sequence = data.sequence(j)
        assert mean == tuple(sum(column) / F(len(sequence)) for column in zip(*sequence))


@pytest.mark.parametrize("family", FAMILIES)
def test_means_of_families(family):
    check_means(adversarial(family, 12), [11, 0, 5])


@pytest.mark.parametrize("exponents", [(0, 0), (-40, 3), (-300, 300), (-1000, 900)])
def test_means_of_floats_of_any_size(exponents):
    rng = np.random.default_rng(1)
    lengths = [1, 3, 700, 2]  # past 512 tokens int64 could overflow
    tokens = np.ldexp(
        rng.normal(size=(706, 2)), rng.integers(exponents[0], exponents[1] + 1, (706, 2))
    )
    offsets = np.cumsum([0, *lengths])
    check_means(hm.Dataset.from_arrays(ExactArray(tokens), offsets, "abcd"), [3, 2, 0, 1])


def test_means_of_large_integers():
    tokens = ExactArray(np.full((600, 1), 2.0**53 - 1))
    check_means(hm.Dataset.from_arrays(tokens, np.array([0, 600]), "a"), [0])


def test_rows_and_vectors():
    x = (F(1, 2), F(-1, 3), F(0))
    assert vector_of(row_of(x)) == x
