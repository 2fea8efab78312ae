"""The pieces of benchmarks/accuracy.py, on tiny data; aeon is needed for its baselines only."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from benchmarks import accuracy, classifiers, families  # noqa: E402
from benchmarks.splits import Split  # noqa: E402


def waves(count: int, seed: int = 0) -> tuple[list[np.ndarray], list[str]]:
    """Slow and fast sines of 20 to 30 points."""
    rng = np.random.default_rng(seed)
    y = ["slow", "fast"] * (count // 2)
    speeds = [0.3 if label == "slow" else 1.2 for label in y]
    times = [np.arange(rng.integers(20, 31)) + 9 * rng.random() for _ in y]
    X = [np.sin(v * t)[:, None] for v, t in zip(speeds, times, strict=True)]
    return X, y


@pytest.fixture(scope="module")
def split():
    return Split(*waves(20), *waves(30, seed=1))


@pytest.mark.parametrize("name", families.FAMILIES)
def test_families_follow_their_seed(name):
    split, again, other = (families.split(name, seed) for seed in (0, 0, 1))
    assert len(split.train_X) == families.TRAIN
    assert len(split.test_X) == len(split.test_y) == families.TEST
    assert all(map(np.array_equal, split.test_X, again.test_X))
    assert split.test_y == again.test_y
    assert not np.array_equal(split.train_X[0], other.train_X[0])
    assert len({x.shape[1] for x in [*split.train_X, *split.test_X]}) == 1
    assert all(np.isfinite(x).all() for x in split.train_X)
    counts = [split.train_y.count(label) for label in sorted(set(split.test_y))]
    assert min(counts) >= 0.5 * max(counts) > 0


def test_families_are_as_told():
    assert len({len(x) for x in families.split("ragged", 0).train_X}) > 10
    assert families.split("coupling", 0).train_X[0].shape[1] == 3


def test_a_row_of_ours(split):
    row = accuracy.ours(split)
    assert row["verdict"] == "proved"
    assert row["test"] >= 80  # sines that any feature tells apart
    assert row["blocks"] > 0
    assert row["parameters"] > 0
    assert row["cv"] is not None


def test_train_only_looks_at_no_test_part(split):
    class Untouchable(Split):
        def __getattribute__(self, name):
            assert not name.startswith("test")
            return super().__getattribute__(name)

    row = accuracy.ours(Untouchable(split.train_X, split.train_y, [], []), with_test=False)
    assert row["test"] is None
    assert row["verdict"] == "proved"


def test_padding():
    X = [np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[5.0, 6.0]])]
    assert classifiers.padded(X, 3).tolist() == [
        [[1, 3, 0], [2, 4, 0]],
        [[5, 0, 0], [6, 0, 0]],
    ]
    assert classifiers.padded(X, 1).tolist() == [[[1], [2]], [[5], [6]]]


def test_the_means_are_of_methods_with_a_test_accuracy():
    rows = [
        {"method": "a", "test": 50.0},
        {"method": "a", "test": 100.0},
        {"method": "b", "test": None},
    ]
    (line,) = accuracy.means(rows)
    assert line.split() == ["mean", "a", "75.0"]


def command(*arguments, without="none"):
    code = (
        f"import sys; sys.modules[{without!r}] = None\n"
        "from benchmarks.accuracy import main\n"
        f"sys.exit(main({list(arguments)!r}))"
    )
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)


def test_the_extra_is_named():
    done = command("--data", "GunPoint", without="aeon")
    assert done.returncode == 2
    assert done.stderr.strip().endswith("pip install 'hardmax[bench]'")
    assert "Traceback" not in done.stderr


def test_unknown_names_are_refused():
    for option in ("--data", "--method"):
        done = command(option, "GunPint")
        assert done.returncode == 2
        assert "'GunPint' is unknown" in done.stderr


@pytest.mark.parametrize("name", ["1-NN Euclidean", "logistic, mean token"])
def test_baselines_of_scikit_learn(split, name):
    pytest.importorskip("sklearn")
    row = accuracy.other(name, classifiers.METHODS[name], split)
    assert 0 <= row["test"] <= 100
    assert 0 <= row["cv"] <= 100


@pytest.mark.filterwarnings("ignore")  # aeon's own, of libraries that it imports
@pytest.mark.parametrize("name", ["1-NN DTW", "MiniRocket"])
def test_baselines_of_aeon(split, name):
    pytest.importorskip("aeon")
    row = accuracy.other(name, classifiers.METHODS[name], split, cross_validated=False)
    assert row["test"] >= 80


@pytest.mark.filterwarnings("ignore")
def test_the_transformer_is_trained_alike_each_time(split):
    pytest.importorskip("torch")
    task = split.train_X, np.array(split.train_y), split.test_X
    found = [classifiers.transformer(*task, most=40) for _ in range(2)]
    assert (found[0].labels == found[1].labels).all()
    assert found[0].parameters > 1000


@pytest.mark.filterwarnings("ignore")
def test_the_real_data_sets_have_their_usual_sizes():
    pytest.importorskip("aeon")
    sizes = {
        "BasicMotions": (40, 40),
        "GunPoint": (50, 150),
        "ItalyPowerDemand": (67, 1029),
        "JapaneseVowels": (270, 370),
        "digits": (1200, 597),
    }
    for name, load in accuracy.REAL.items():
        split = load()
        assert (len(split.train_X), len(split.test_X)) == sizes[name]
        assert len(split.train_y) == len(split.train_X)
        assert len(split.test_y) == len(split.test_X)
