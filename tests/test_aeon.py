"""The classifier for aeon keeps aeon's conventions, and its promise about the training data."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest

import hardmax as hm


def test_the_extra_is_named():
    code = (
        "import sys; sys.modules['aeon'] = None\n"
        "try: import hardmax.aeon\n"
        "except ImportError as error: print(error)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'hardmax[aeon]'" in found.stdout


@pytest.fixture(scope="module")
def classifier():
    pytest.importorskip("aeon")
    from hardmax.aeon import HardmaxClassifier

    return HardmaxClassifier


def series(count=20, seed=0):
    """Two channels, 8 points in time; the label is the order of two bumps."""
    rng = np.random.default_rng(seed)
    y = np.arange(count) % 2
    X = rng.normal(size=(count, 2, 8)) / 4
    X[np.arange(count), 0, np.where(y, 1, 6)] += 4
    return X, np.array(["late", "early"])[y]


@pytest.mark.filterwarnings("ignore")  # aeon's own, of libraries that it imports
def test_the_checks_of_aeon(classifier):
    from aeon.testing.estimator_checking import check_estimator

    results = check_estimator(classifier)
    assert {name: found for name, found in results.items() if found != "PASSED"} == {}
    assert sum("check_classifier_output" in name for name in results) == 6


def test_the_training_series_are_classified_exactly(classifier):
    X, y = series()
    model = classifier().fit(X, y)
    assert model.certificate_.proved
    assert model.classes_.tolist() == ["early", "late"]
    assert model.score(X, y) == 1.0
    data = hm.Dataset(X.transpose(0, 2, 1), y)
    assert hm.certify(model.model_, data).proved
    assert model.predict_proba(X).sum(1).tolist() == [1.0] * len(X)


def test_ragged_collections(classifier):
    X, y = series()
    ragged = [x[:, : 8 - k % 3] for k, x in enumerate(X)]
    model = classifier(random_state=5).fit(ragged, y)
    assert model.predict(ragged).tolist() == y.tolist()
    assert model.model_.meta["seed"] == 5
    again = pickle.loads(pickle.dumps(model))
    assert again.predict(ragged).tolist() == y.tolist()


def test_both_libraries_get_the_same_model(classifier):
    pytest.importorskip("sklearn")
    from hardmax.sklearn import HardmaxClassifier

    X, y = series()
    ours = HardmaxClassifier().fit(X.transpose(0, 2, 1), y)
    assert ours.model_ == classifier().fit(X, y).model_
    assert ours.get_params() == classifier().get_params()


def test_equal_series_with_different_labels(classifier):
    X, _ = series(2)
    with pytest.raises(hm.ContradictionError, match="equal token by token"):
        classifier().fit(X[[0, 0]], np.array(["a", "b"]))
