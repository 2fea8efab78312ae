"""Baselines, metrics and tasks of the experiments; and the committed model on a new operator."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from studies.transducer import baselines
from studies.transducer.adr import make_tasks
from studies.transducer.classes import permuted_tasks, random_tasks
from studies.transducer.metric import confidence, relative_error

MODEL = Path(__file__).parents[3] / "examples" / "transducer_adr.safetensors"


@pytest.fixture(scope="module")
def operator():
    v, u = make_tasks(31, 1, 40)
    return v[0].astype(float), u[0].astype(float)


@pytest.mark.parametrize("family", sorted(baselines.KERNELS))
def test_leave_one_out_in_closed_form_is_leaving_one_out(operator, family):
    """Up to λ, which is relative to the mean diagonal of the full Gram matrix."""
    v, u = operator[0][:12], operator[1][:12]
    found = baselines.scores(v, u, family)
    for choice in (c for c in found if c.ridge > 1e-5):
        K = choice.kernel(v, v)
        ridge = choice.ridge * np.trace(K) / len(K)
        errors = []
        for i in range(12):
            rest = np.arange(12) != i
            c = np.linalg.solve(K[np.ix_(rest, rest)] + ridge * np.eye(11), u[rest])
            errors.append(relative_error((K[i, rest] @ c)[None], u[i : i + 1]))
        np.testing.assert_allclose(found[choice], np.mean(errors), rtol=1e-6)


def test_cross_validated_ridge_beats_neighbours_and_the_identity(operator):
    v, u = operator
    choice = baselines.cross_validated(v[:20], u[:20], ("linear", "quadratic", "rbf"))
    ridge = relative_error(choice.predict(v[:20], u[:20], v[20:]), u[20:])
    assert ridge < 0.02
    assert ridge < relative_error(baselines.nearest(v[:20], u[:20], v[20:]), u[20:])
    assert ridge < relative_error(v[20:], u[20:])


def test_a_neighbour_of_itself_is_exact(operator):
    v, u = operator
    np.testing.assert_array_equal(baselines.nearest(v, u, v[:3]), u[:3])


def test_the_mean_operator_is_exact_where_all_operators_are_one():
    rng = np.random.default_rng(0)
    A, v = rng.normal(size=(5, 5)), rng.normal(size=(3, 20, 5))
    mean = baselines.MeanOperator(v, v @ A, ridge=0)
    np.testing.assert_allclose(mean.predict(v[0]), v[0] @ A, atol=1e-10)


def test_the_metric_is_the_mean_of_the_ratios_and_skips_blow_ups():
    found = relative_error(np.array([[1.0, 2], [0, 0]]), np.array([[1.0, 1], [0, 2]]))
    assert found == (0.5 + 1) / 2
    assert relative_error(np.array([[1.0], [1]]), np.array([[np.nan], [2.0]])) == 0.25
    mean, half = confidence(np.array([1.0, 2, 3, 4]))
    assert (mean, round(half, 3)) == (2.5, 1.265)


def test_random_tasks_are_standardised_and_one_hot():
    v, u = random_tasks(0, 6, 50)
    assert (u.sum(-1) == 1).all()
    assert ((u.sum(1) > 0).sum(-1) >= 2).all()
    used = np.abs(v).max(1) > 0
    np.testing.assert_allclose(v.std(1)[used], 1, atol=1e-3)
    assert (random_tasks(0, 6, 50)[0] == v).all()


def test_permutations_move_pixels_and_names_alike_within_a_task():
    images, labels = np.arange(48.0).reshape(12, 4), np.arange(12) % 3
    v, u = permuted_tasks(0, 2, 12, images, labels)
    for a, b in zip(v, u, strict=True):
        assert (np.sort(a, 1) == images[(a.min(1) // 4).astype(int)]).all()
        order = {tuple(np.argsort(row)) for row in a}
        assert len(order) == 1
        names = {(int(row.min() // 4) % 3, int(y.argmax())) for row, y in zip(a, b, strict=True)}
        assert len(names) == 3


def test_the_committed_model_regresses_an_unseen_operator(operator):
    pytest.importorskip("torch")
    pytest.importorskip("safetensors")
    from hardmax.learned.transducer import Transducer

    assert MODEL.stat().st_size <= 2_000_000
    model, (v, u) = Transducer.load(MODEL), operator
    few, some = (relative_error(model.predict((v[:n], u[:n]), v[20:]), u[20:]) for n in (5, 20))
    assert some < few < relative_error(v[20:], u[20:])
    assert some < 0.02
    order = np.random.default_rng(0).permutation(20)
    np.testing.assert_allclose(
        model.predict((v[order], u[order]), v[20:]), model.predict((v[:20], u[:20]), v[20:]),
        atol=1e-4,
    )  # fmt: skip
