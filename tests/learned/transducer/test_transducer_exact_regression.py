"""Exact kernel regression, certificates that prove themselves, and Proposition 1."""

from __future__ import annotations

import doctest
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hardmax import Matrix
from hardmax.errors import InputError
from hardmax.exact.numbers import as_vector
from hardmax.learned.transducer import (
    Indefinite,
    KernelRegression,
    Polynomial,
    RationalQuadratic,
    Semidefinite,
    TruncatedExponential,
    contradiction,
    decide_semidefinite,
    gram,
)
from hardmax.learned.transducer.operator_kernel import Head, OperatorKernel

F = Fraction
INTEGERS = st.integers(-4, 4)
KERNELS = [Polynomial(), Polynomial(2, 1), RationalQuadratic("1/3"), TruncatedExponential(4, 2)]


def tables(rows, columns, entries=INTEGERS):
    return st.lists(
        st.lists(entries, min_size=columns, max_size=columns), min_size=rows, max_size=rows
    )


def symmetric(table):
    A = np.array(table)
    return Matrix((A + A.T).tolist())


@given(st.integers(1, 5).flatmap(lambda n: tables(n, n)))
def test_semidefiniteness_is_decided_with_a_proof_either_way(table):
    G = symmetric(table)
    found = decide_semidefinite(G)
    assert found.proves(G)
    least = np.linalg.eigvalsh(np.array([[float(x) for x in row] for row in G.rows()]))[0]
    if isinstance(found, Indefinite):
        assert least < 1e-9
    else:
        assert least > -1e-9
        assert found.rank == G.rank()


@given(st.integers(1, 5).flatmap(lambda n: tables(n, 3)))
def test_products_with_the_transpose_are_proved(table):
    A = Matrix(table)
    found = decide_semidefinite(A @ A.T)
    assert isinstance(found, Semidefinite)
    assert found.rank == A.rank()


@given(tables(3, 3), st.integers(0, 2))
def test_mutants_of_a_certificate_prove_nothing(table, at):
    A = Matrix(table)
    G = A @ A.T + Matrix.identity(3)
    good = decide_semidefinite(G)
    assert isinstance(good, Semidefinite)
    assert not good.proves(G + Matrix.identity(3))
    weights = list(good.weights)
    weights[at] += 1
    assert not replace(good, weights=tuple(weights)).proves(G)
    weights[at] = -weights[at]
    assert not replace(good, weights=tuple(weights)).proves(G)
    assert not replace(good, vectors=good.vectors[1:]).proves(G)
    bad = decide_semidefinite(-1 * G)
    assert isinstance(bad, Indefinite)
    assert not bad.proves(G)
    assert not replace(bad, value=bad.value - 1).proves(-1 * G)


def test_a_negative_weight_is_no_proof_even_if_the_sum_is_right():
    G = Matrix([[-1]])
    assert not Semidefinite((F(-1),), ((F(1),),), (0,)).proves(G)


def test_matrices_that_are_not_symmetric_are_refused():
    with pytest.raises(InputError, match="not symmetric"):
        decide_semidefinite(Matrix([[0, 1], [2, 0]]))


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@given(tables(4, 2))
def test_gram_matrices_of_the_kernels_are_semidefinite(kernel, table):
    points = [as_vector(row) for row in table]
    found = decide_semidefinite(gram(kernel, points))
    assert isinstance(found, Semidefinite)
    if isinstance(kernel, RationalQuadratic):
        assert found.rank == len(set(points))


@given(tables(5, 2), tables(5, 3))
def test_distinct_points_are_interpolated_exactly(points, values):
    assume(len({tuple(p) for p in points}) == 5)
    model = KernelRegression(RationalQuadratic()).fit(points, values)
    certificate = model.certificate()
    assert certificate.interpolates
    assert certificate.stationary
    assert model.predict(points) == tuple(map(as_vector, values))
    assert certificate.norm >= 0
    assert certificate.semidefinite.proves(gram(model.kernel, model.points))


@given(tables(4, 2), tables(4, 1), st.sampled_from(KERNELS))
def test_interpolates_or_has_a_proof_that_nothing_does(points, values, kernel):
    reason = contradiction(kernel, points, values)
    model = KernelRegression(kernel)
    if reason is None:
        assert model.fit(points, values).certificate().interpolates
        return
    K = gram(kernel, [as_vector(p) for p in points])
    assert reason.proves(K, Matrix(values))
    assert not replace(reason, gap=tuple(2 * x for x in reason.gap)).proves(K, Matrix(values))
    with pytest.raises(InputError, match="contradict"):
        model.fit(points, values)


@given(tables(4, 2), tables(4, 2), tables(4, 2), st.sampled_from(KERNELS))
def test_the_representer_solution_is_the_minimiser(points, values, others, kernel):
    """Exactly: no other coefficients have a smaller regularised sum of squares."""
    ridge = F(1, 3)
    model = KernelRegression(kernel, ridge).fit(points, values)
    assert model.certificate().stationary
    K, U = gram(kernel, model.points), Matrix(values)

    def objective(c):
        error, norm = K @ c - U, c.T @ K @ c
        squares = error.T @ error
        return sum(squares[i, i] + ridge * norm[i, i] for i in range(2))

    best = objective(Matrix(model.coefficients))
    assert best <= objective(Matrix(others))
    assert best <= objective(Matrix(model.coefficients) + F(1, 100) * Matrix(others))


@given(tables(3, 1), tables(3, 1))
def test_a_tampered_regression_is_found_out(points, values):
    assume(len({tuple(p) for p in points}) == 3)
    model = KernelRegression(RationalQuadratic()).fit(points, values)
    first, *rest = model.coefficients
    model.coefficients = ((first[0] + F(1, 10**30),), *rest)
    certificate = model.certificate()
    assert not certificate.interpolates
    assert not certificate.stationary


def test_the_minimum_norm_interpolant_needs_no_invertible_gram_matrix():
    model = KernelRegression(Polynomial()).fit([[1, 0], [2, 0], [0, 1]], [[3], [6], [1]])
    certificate = model.certificate()
    assert (certificate.interpolates, certificate.rank) == (True, 2)
    assert model.predict([[1, 1]]) == ((F(4),),)
    assert certificate.norm == 10


@pytest.mark.parametrize(
    ("points", "values", "message"),
    [
        ([[1], [2, 3]], [[1], [2]], "points, row 2"),
        ([[1]], [[1], [2]], "1 points but 2 values"),
        ([], [], "no points"),
        ([["x"]], [[1]], "points, row 1"),
        ([[float("nan")]], [[1]], "points, row 1"),
    ],
)
def test_bad_input_is_named(points, values, message):
    with pytest.raises(InputError, match=message):
        KernelRegression(Polynomial()).fit(points, values)


def test_predictions_need_a_fit_and_the_right_dimension():
    with pytest.raises(InputError, match="fit first"):
        KernelRegression(Polynomial()).predict([[1]])
    model = KernelRegression(Polynomial()).fit([[1]], [[1]])
    with pytest.raises(InputError, match="dimension 2"):
        model.predict([[1, 2]])


def test_the_page_shows_what_python_prints():
    page = Path(__file__).parents[3] / "docs" / "transducer.md"
    found = doctest.testfile(str(page), module_relative=False)
    assert found.attempted >= 4
    assert found.failed == 0


def matrices(rows, columns):
    return tables(rows, columns).map(Matrix)


@given(st.lists(st.tuples(matrices(2, 2), matrices(2, 2)), min_size=1, max_size=2), tables(3, 2))
def test_the_repaired_attention_kernel_has_semidefinite_gram_matrices(heads, points):
    kernel = OperatorKernel(
        [Head(TruncatedExponential(3), query, query, B @ B.T) for query, B in heads]
    )
    assert kernel.repaired()
    G = kernel.gram(points)
    assert G == G.T
    found = decide_semidefinite(G)
    assert isinstance(found, Semidefinite)
    assert found.proves(G)
    assert kernel.refute(points) is None
    vs = [as_vector(p) for p in points]
    assert not kernel.violates_cauchy_schwarz(vs[0], vs[1], as_vector([1, 2]), as_vector([0, 1]))


ONE = Matrix([[1]])


@pytest.mark.parametrize(
    ("head", "points"),
    [
        (Head(Polynomial(1, 1), ONE, ONE, -1 * ONE), ([0], [1])),  # negative form
        (Head(TruncatedExponential(9), ONE, -1 * ONE, ONE), ([0], [1])),  # Q and K differ
        (Head(Polynomial(1, 1), ONE, ONE, Matrix([[0, -1], [1, 0]])), ([0], [1])),  # rotation
    ],
)
def test_proposition_1_fails_without_the_repair(head, points):
    kernel = OperatorKernel([head])
    assert not kernel.repaired()
    m = kernel.outputs
    u = as_vector([1] + [0] * (m - 1))
    w = as_vector([0] * (m - 1) + [1])
    assert kernel.violates_cauchy_schwarz(*(as_vector(p) for p in points), u, w)


def test_the_gram_matrix_acts_as_the_kernel_does():
    kernel = OperatorKernel([Head(Polynomial(1, 1), ONE, 2 * ONE, Matrix([[1, 2], [3, 4]]))])
    G = kernel.gram([[1], [3]])
    c = [as_vector([1, -1]), as_vector([2, 5])]
    direct = [
        sum((kernel(as_vector([vj]), as_vector([vi])) @ Matrix([[x] for x in cj])
             for vj, cj in zip((1, 3), c, strict=True)), Matrix.zeros(2, 1))
        for vi in (1, 3)
    ]  # fmt: skip
    stacked = G @ Matrix([[x] for part in c for x in part])
    assert stacked.rows() == tuple(row for part in direct for row in part.rows())
