"""The estimator keeps scikit-learn's conventions, and its promise about the training data."""

from __future__ import annotations

import pickle
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hardmax as hm
from hardmax.errors import InputError

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from hardmax.sklearn import HardmaxClassifier

ROOT = "examples/vowels"


def table(count=40, seed=0):
    """Rows that rise or fall, with noise."""
    rng = np.random.default_rng(seed)
    y = np.arange(count) % 2
    X = rng.normal(size=(count, 5)) + np.outer(2 * y - 1, np.arange(5))
    return X, np.array(["down", "up"])[y]


def test_check_estimator_has_no_failure():
    results = check_estimator(HardmaxClassifier(), on_fail=None, on_skip=None)
    assert [r["check_name"] for r in results if r["status"] == "failed"] == []
    assert [r["check_name"] for r in results if r["status"] == "xfail"] == []
    assert len(results) > 40


@pytest.mark.parametrize("strategy", ["paper", "peel", "cover", "learn", "auto"])
def test_the_training_data_are_classified_exactly(strategy):
    X, y = table()
    model = HardmaxClassifier(strategy).fit(X, y)
    assert model.certificate_.proved
    assert model.certificate_.sequences == len(X)
    assert model.score(X, y) == 1.0
    assert model.classes_.tolist() == ["down", "up"]
    assert model.n_features_in_ == 5
    data = hm.Dataset(X[:, :, None], y, positional=strategy != "learn")
    assert hm.certify(model.model_, data).proved


@given(
    st.lists(
        st.tuples(st.integers(-2, 2), st.integers(-2, 2), st.integers(0, 2)),
        min_size=1,
        max_size=12,
    )
)
def test_it_fits_whatever_a_function_fits(rows):
    """Equal rows with different labels are refused; everything else is learned to the last row."""
    X, y = np.array([row[:2] for row in rows]), np.array([row[2] for row in rows])
    labels = {}
    for row in rows:
        labels.setdefault(row[:2], set()).add(row[2])
    if all(len(found) == 1 for found in labels.values()):
        assert HardmaxClassifier().fit(X, y).predict(X).tolist() == y.tolist()
    else:
        with pytest.raises(hm.ContradictionError, match="equal token by token"):
            HardmaxClassifier().fit(X, y)


def test_a_number_is_exactly_what_it_holds():
    """Two rows that differ by the last bit of a float are two rows."""
    X = np.array([[0.1], [np.nextafter(0.1, 1)]])
    model = HardmaxClassifier().fit(X, [0, 1])
    assert model.predict(X).tolist() == [0, 1]
    with pytest.raises(hm.ContradictionError):
        HardmaxClassifier().fit(X.astype(np.float32), [0, 1])


@pytest.mark.parametrize(
    "labels", [[3, 1], [2.0, -1.0], ["b", "a"], [True, False], np.array(["b", "a"], dtype=object)]
)
def test_labels_keep_their_type(labels):
    model = HardmaxClassifier().fit([[0, 1], [1, 0]], labels)
    found = model.predict([[0, 1], [1, 0]])
    assert found.tolist() == list(labels)
    assert found.dtype == np.asarray(labels).dtype


def test_order_counts_with_positions_alone():
    X, y = [[0, 1], [1, 0]], ["up", "down"]
    assert HardmaxClassifier().fit(X, y).score(X, y) == 1.0
    with pytest.raises(hm.ContradictionError):
        HardmaxClassifier("cover", positional=False).fit(X, y)


def test_windows():
    X, y = table()
    model = HardmaxClassifier("cover", window=3, positional=False).fit(X, y)
    assert model.model_.reading == hm.Reading(window=3)
    assert (model.model_.dimension, model.score(X, y)) == (3, 1.0)
    data = hm.Dataset(X[:, :, None], y, reading=hm.Reading(window=3))
    assert hm.certify(model.model_, data).proved
    with pytest.raises(InputError, match="'window' is 0"):
        HardmaxClassifier(window=0).fit(X, y)


@pytest.mark.parametrize(
    "own",
    [
        hm.Reading(window=2, stride=2, positional=True),
        hm.Reading(window=2, lift=1, label_sets="argmax"),
    ],
)
def test_a_strategy_may_read_the_tokens_in_its_own_way(own, monkeypatch):
    """Proof and predictions then read them as the model does."""
    from hardmax import estimator

    X, y = table()
    monkeypatch.setattr(estimator, "build", lambda data, **options: hm.build(data.read_as(own)))
    model = HardmaxClassifier().fit(X, y)
    assert model.model_.reading == own
    assert model.certificate_.proved
    assert model.predict(X).tolist() == y.tolist()


def test_tools_of_scikit_learn():
    X, y = table(60)
    pipeline = make_pipeline(StandardScaler(), HardmaxClassifier())
    assert pipeline.fit(X, y).score(X, y) == 1.0
    assert cross_val_score(pipeline, X, y, cv=3).min() > 0.5
    grid = GridSearchCV(HardmaxClassifier(), {"strategy": ["cover", "peel"]}, cv=2).fit(X, y)
    assert grid.best_estimator_.certificate_.proved
    first = HardmaxClassifier(random_state=3).fit(X, y)
    for other in (clone(first).fit(X, y), pickle.loads(pickle.dumps(first))):
        assert other.get_params() == first.get_params()
        assert other.model_ == first.model_
        assert other.predict(X).tolist() == y.tolist()


def test_names_of_features():
    pandas = pytest.importorskip("pandas")
    X, y = table()
    frame = pandas.DataFrame(X, columns=list("abcde"))
    model = make_pipeline(StandardScaler(), HardmaxClassifier()).set_output(transform="pandas")
    assert model.fit(frame, pandas.Series(y)).score(frame, y) == 1.0
    assert model[-1].feature_names_in_.tolist() == list("abcde")
    with pytest.raises(ValueError, match="feature names"):
        model[-1].predict(frame[list("edcba")])


def test_arrays_and_ragged_lists():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 4, 2)), np.arange(12) % 3
    model = HardmaxClassifier().fit(X, y)
    assert (model.n_features_in_, model.score(X, y)) == (2, 1.0)
    ragged = [x[: 1 + k % 4] for k, x in enumerate(X)]
    assert HardmaxClassifier().fit(ragged, y).predict(ragged).tolist() == y.tolist()
    assert len(cross_val_score(HardmaxClassifier(), ragged, y, cv=2)) == 2
    with pytest.raises(InputError, match="have dimension 3, those of fit had 2"):
        model.predict(np.zeros((1, 4, 3)))


def test_tensors():
    torch = pytest.importorskip("torch")
    X = torch.arange(24.0).reshape(4, 3, 2)
    model = HardmaxClassifier().fit(X, torch.tensor([0, 1, 1, 0]))
    assert model.predict(X).tolist() == [0, 1, 1, 0]
    assert HardmaxClassifier().fit([*X], [0, 1, 1, 0]).model_ == model.model_


def test_vowels():
    train, test = hm.load(f"{ROOT}.json.gz"), hm.load(f"{ROOT}_test.json.gz")
    X, y = train.arrays(), train.labels
    model = HardmaxClassifier(positional=False).fit(X, y)
    assert model.certificate_.proved
    assert model.score(X, y) == 1.0
    assert model.score(test.arrays(), test.labels) > 0.95


def test_random_states():
    X, y = table()

    def seed(state):
        return HardmaxClassifier("peel", random_state=state).fit(X, y).model_.meta["seed"]

    assert seed(7) == seed(np.int64(7)) == 7
    assert seed(np.random.RandomState(1)) == seed(np.random.RandomState(1))
    assert seed(np.random.default_rng(1)) == seed(np.random.default_rng(1))
    assert seed(None) != seed(None)


def test_what_it_says(capsys):
    X, y = table()
    HardmaxClassifier(verbose=True).fit(X, y)
    found = capsys.readouterr()
    assert "[hardmax] learn" in found.err
    assert found.out == ""
    HardmaxClassifier().fit(X, y)
    assert capsys.readouterr().err == ""


def test_bad_use():
    X, y = table()
    with pytest.raises(NotFittedError):
        HardmaxClassifier().predict(X)
    with pytest.raises(ValueError, match="NaN"):
        HardmaxClassifier().fit(np.where(X > 1, np.nan, X), y)
    with pytest.raises(InputError, match="sequence 1, token 1"):
        HardmaxClassifier().fit(np.full((40, 2, 1), np.inf), y)
    with pytest.raises(InputError, match="strategy 'magic' is unknown"):
        HardmaxClassifier("magic").fit(X, y)
    with pytest.raises(InputError, match="random_state is 'x'"):
        HardmaxClassifier(random_state="x").fit(X, y)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        HardmaxClassifier().fit(X[:, :, None], y[1:])


def test_decimals_of_an_object_array_are_floats_as_scikit_learn_says():
    X = np.array([[Fraction(1, 4)], [Fraction(1, 2)]], dtype=object)
    assert HardmaxClassifier().fit(X, [0, 1]).predict([[0.25], [0.5]]).tolist() == [0, 1]


def test_the_extra_is_named():
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "try: import hardmax.sklearn\n"
        "except ImportError as error: print(error)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'hardmax[sklearn]'" in found.stdout
