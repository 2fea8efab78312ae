from __future__ import annotations

from fractions import Fraction
from math import gcd

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardmax.exact.matrix import IntegerRows, Matrix, clear_denominators, primitive
from hardmax.testing import rationals

entries = rationals(5)


def tables(rows, columns):
    return st.lists(
        st.lists(entries, min_size=columns, max_size=columns), min_size=rows, max_size=rows
    )


sizes = st.integers(1, 4)


@st.composite
def products(draw):
    n, m, k = draw(sizes), draw(sizes), draw(sizes)
    return draw(tables(n, m)), draw(tables(m, k))


@given(products())
def test_product_and_transpose(pair):
    left, right = pair
    expected = [
        [sum((a * b for a, b in zip(row, column)), Fraction(0)) for column in zip(*right)]
        for row in left
    ]
    product = Matrix(left) @ Matrix(right)
    assert product.rows() == tuple(map(tuple, expected))
    assert product.T == Matrix(right).T @ Matrix(left).T
    assert product.T.rows() == tuple(zip(*expected))


@st.composite
def twins(draw):
    n, m = draw(sizes), draw(sizes)
    return draw(tables(n, m)), draw(tables(n, m)), draw(entries)


@given(twins())
def test_entrywise_operations(drawn):
    left, right, factor = drawn
    A, B = Matrix(left), Matrix(right)

    def entrywise(f):
        return tuple(tuple(f(a, b) for a, b in zip(x, y)) for x, y in zip(left, right))

    assert (A + B).rows() == entrywise(lambda a, b: a + b)
    assert (A - B).rows() == entrywise(lambda a, b: a - b)
    assert (factor * A).rows() == entrywise(lambda a, b: factor * a)
    assert A.relu().rows() == entrywise(lambda a, b: max(a, Fraction(0)))
    assert (A == B) == (left == right)
    assert A.shape == (len(left), len(left[0]))
    assert A[len(left) - 1, 0] == left[-1][0]
    for row, best in zip(left, A.row_maximisers()):
        assert best == [j for j, x in enumerate(row) if all(x >= y for y in row)]


@given(sizes.flatmap(lambda n: st.tuples(tables(n, n), tables(n, 1))))
def test_solve_and_rank(drawn):
    square, right = drawn
    A, B = Matrix(square), Matrix(right)
    if A.rank() < len(square):
        with pytest.raises(ZeroDivisionError):
            A.solve(B)
    else:
        assert A @ A.solve(B) == B


@given(st.lists(entries, min_size=1, max_size=4), st.lists(entries, min_size=1, max_size=4))
def test_rank_of_products_of_vectors(v, w):
    outer = Matrix([[x * y for y in w] for x in v])
    assert outer.rank() == int(any(v) and any(w))


def test_ragged_rows_are_refused():
    with pytest.raises(ValueError, match="equal lengths"):
        Matrix([[1, 2], [3]])


@given(st.lists(entries, max_size=5))
def test_clear_denominators_is_least(vector):
    numerators, denominator = clear_denominators(vector)
    assert [Fraction(p, denominator) for p in numerators] == vector
    assert gcd(denominator, *numerators) == 1


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=5))
def test_primitive_divides_by_the_common_divisor(row):
    divisor = gcd(*row)
    assert [int(x) for x in primitive(row)] == [x // divisor if divisor else x for x in row]


@given(st.lists(st.tuples(*[st.integers(-(2**100), 2**100)] * 3), min_size=1, max_size=5))
def test_integer_rows(rows):
    stored = IntegerRows(rows)
    column = (3, -(2**90), 0)
    assert [int(x) for x in stored.dot(column)] == [
        sum(a * b for a, b in zip(row, column)) for row in rows
    ]
    assert (len(stored), stored.width) == (len(rows), 3)
    twin = stored.copy()
    stored.set_row(0, [7, 8, 9])
    assert [int(x) for x in stored.row(0)] == [7, 8, 9]
    assert [[int(x) for x in row] for row in twin.table()] == [list(row) for row in rows]
