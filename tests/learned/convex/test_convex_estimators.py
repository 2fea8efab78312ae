"""The estimators keep scikit-learn's conventions and carry a certificate."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from hardmax.errors import InputError
from hardmax.learned.convex import checker, gap

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from hardmax.learned.convex.estimators import ConvexAttentionClassifier, ConvexAttentionRegressor


def data(n=40, s=4, d=2, seed=0):
    """Two classes that differ in the correlation of their features, not in the means."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, s, d))
    X[:, :, 1] = X[:, :, 0] * (2 * y[:, None] - 1) + 0.1 * rng.normal(size=(n, s))
    return np.round(8 * X) / 8, np.array(["minus", "plus"])[y]


def test_classifier():
    X, y = data()
    model = ConvexAttentionClassifier(beta=0.1).fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.classes_.tolist() == ["minus", "plus"]
    assert np.allclose(model.predict_proba(X).sum(1), 1)
    assert model.duality_gap_ <= 1e-5
    assert gap(model.certificate_) <= 2e-5
    checker.check(model.certificate_)
    assert model.n_heads_ == len(model.heads_) >= 1
    assert clone(model).get_params() == model.get_params()
    assert (
        cross_val_score(ConvexAttentionClassifier(beta=0.1, certify=False), X, y, cv=3).min() > 0.8
    )


def test_too_few_heads_are_bounded():
    X, y = data()
    model = ConvexAttentionClassifier("mixer", beta=0.1, n_heads=1).fit(X, y)
    best = ConvexAttentionClassifier("mixer", beta=0.1).fit(X, y)
    assert float(model.certificate_["lower"]) <= best.solution_.upper
    assert model.solution_.upper >= best.solution_.lower


@pytest.mark.parametrize("activation", ["linear", "gated"])
def test_unequal_lengths(activation):
    rng = np.random.default_rng(0)
    X = [np.round(8 * rng.normal(size=(length, 2))) / 8 for length in (1, 4, 2, 3, 5, 2)]
    y = [float(x.mean()) for x in X]
    model = ConvexAttentionRegressor("mlp", activation, beta=0.01).fit(X, y)
    assert model.predict(X).shape == (6,)
    assert model.score(X, y) > 0.9
    longer = [*X, np.zeros((9, 2))]
    assert np.allclose(model.predict(longer)[:6], model.predict(X))


def test_bad_use():
    X, y = data(8)
    with pytest.raises(InputError, match="labels for"):
        ConvexAttentionClassifier().fit(X, y[:3])
    with pytest.raises(InputError, match="shape"):
        ConvexAttentionClassifier().fit(np.ones((3, 2)), [0, 1, 0])
    with pytest.raises(InputError, match="unknown solver"):
        ConvexAttentionClassifier(solver="adam").fit(X, y)
    model = ConvexAttentionClassifier("mixer", certify=False).fit(X, y)
    with pytest.raises(InputError, match="fitted to 4 tokens"):
        model.predict(X[:, :3])
    with pytest.raises(InputError, match="shape"):
        model.predict(np.ones((2, 4, 3)))


def test_the_extra_is_named():
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "try: import hardmax.learned.convex.estimators\n"
        "except ImportError as error: print(error)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'hardmax[convex]'" in found.stdout
