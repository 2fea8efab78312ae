"""The user's API: meta-training, resuming, files, errors; and the in-context classifier."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import hardmax  # noqa: E402
from hardmax.errors import InputError  # noqa: E402
from hardmax.learned.transducer import (  # noqa: E402
    Configuration,
    Plain,
    Settings,
    Sine,
    SineSquare,
    Transducer,
)

ROOT = Path(__file__).parents[3]
SMALL = {"depth": 2, "heads": 2, "head_size": 8, "mlp": 16, "width": 16}
RUN = {"batch": 8, "queries": 8, "examples": (4, 12), "learning_rate": 3e-3, "loss": "mse"}


def linear_tasks(tasks=200, pairs=24, seed=0):
    """Data sets of random linear maps of the plane."""
    rng = np.random.default_rng(seed)
    maps = rng.normal(size=(tasks, 2, 2))
    v = rng.normal(size=(tasks, pairs, 2))
    return v, v @ maps


def test_meta_training_learns_to_regress_unseen_maps():
    torch.set_num_threads(1)
    model = Transducer(Configuration(2, 2, **SMALL)).fit_meta(linear_tasks(), steps=250, **RUN)
    v, u = linear_tasks(50, seed=1)
    errors = [np.mean((model.predict((a[:12], b[:12]), a[12:]) - b[12:]) ** 2)
              for a, b in zip(v, u, strict=True)]  # fmt: skip
    assert np.mean(errors) < 0.5 * np.mean(u**2)


def test_a_stopped_run_resumes_to_the_same_bits(tmp_path):
    tasks, settings = linear_tasks(20), Settings(steps=12, **RUN)

    def fresh():
        return Transducer(Configuration(2, 2, **SMALL)).trainer(tasks, settings)

    whole = fresh()
    whole.run()
    first = fresh()
    for _ in range(5):
        first.advance()
    first.save(tmp_path / "state")
    second = fresh()
    second.run(tmp_path / "state")
    assert second.step == 12
    assert second.losses == whole.losses
    for a, b in zip(whole.network.parameters(), second.network.parameters(), strict=True):
        assert torch.equal(a, b)


def test_a_killed_run_leaves_a_whole_checkpoint(tmp_path):
    """kill -9 in the middle of writing: the script goes on from what is there."""
    script = f"""
import os, signal
from hardmax.learned.transducer import Configuration, Settings, Transducer
import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_transducer_api import RUN, SMALL, linear_tasks
model = Transducer(Configuration(2, 2, **SMALL))
trainer = model.trainer(linear_tasks(20), Settings(steps=12, **RUN))
def report(step, loss):
    if step == 6:
        os.kill(os.getpid(), signal.SIGKILL)
trainer.run({str(tmp_path / "state")!r}, every=3, report=report)
"""
    killed = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True)
    assert killed.returncode == -9
    tasks, settings = linear_tasks(20), Settings(steps=12, **RUN)
    again = Transducer(Configuration(2, 2, **SMALL)).trainer(tasks, settings)
    steps = []
    again.run(tmp_path / "state", every=3, report=lambda step, _: steps.append(step))
    assert steps == [9, 12]


def test_checkpoints_of_other_runs_and_broken_ones_are_refused(tmp_path):
    tasks = linear_tasks(20)
    model = Transducer(Configuration(2, 2, **SMALL))
    model.trainer(tasks, Settings(steps=12, **RUN)).save(tmp_path / "state")
    other = model.trainer(tasks, Settings(steps=13, **RUN))
    with pytest.raises(InputError, match="other settings"):
        other.resume(tmp_path / "state")
    (tmp_path / "broken").write_bytes(b"no checkpoint")
    with pytest.raises(InputError, match="not a checkpoint"):
        other.resume(tmp_path / "broken")
    with pytest.raises(InputError, match="No such file"):
        other.resume(tmp_path / "absent")


def model_with_scales():
    model = Transducer(Configuration(20, 10, **SMALL), SineSquare(10), Sine(10), seed=3)
    model.scale_v, model.scale_u = np.linspace(1, 2, 20), 0.7
    return model


def test_files_hold_all_of_a_model(tmp_path):
    pytest.importorskip("safetensors")
    model, rng = model_with_scales(), np.random.default_rng(0)
    v, u, q = (rng.normal(size=(k, 40)) for k in (5, 5, 3))
    model.save(tmp_path / "model.safetensors")
    again = Transducer.load(tmp_path / "model.safetensors")
    assert again.sizes == model.sizes
    assert (again.coding_v, again.coding_u) == (SineSquare(10), Sine(10))
    assert np.array_equal(again.predict((v, u), q), model.predict((v, u), q))
    model.save(tmp_path / "half", half=True)
    np.testing.assert_allclose(
        Transducer.load(tmp_path / "half").predict((v, u), q), model.predict((v, u), q), atol=1e-2
    )
    assert (tmp_path / "half").stat().st_size < 0.6 * (
        tmp_path / "model.safetensors"
    ).stat().st_size


def test_broken_files_are_named(tmp_path):
    pytest.importorskip("safetensors")
    from safetensors.numpy import save_file

    path = tmp_path / "m"
    path.write_bytes(b"rubbish")
    with pytest.raises(InputError, match="not a safetensors file"):
        Transducer.load(path)
    save_file({"a": np.zeros(2)}, path)
    with pytest.raises(InputError, match="not a Transducer"):
        Transducer.load(path)
    arrays = model_with_scales().arrays()
    for change in (
        {"sizes": json.dumps({"depth": 3})},
        {"sizes": "{"},
        {"scale_v": np.zeros(3)},
        {"codings": json.dumps([["Cosine", 3], ["Sine", 10]])},
        {"read.weight": np.zeros((1, 1))},
        {"extra.weight": np.zeros(1)},
    ):
        with pytest.raises(InputError, match="place: a broken Transducer"):
            Transducer.from_arrays(arrays | change, "place")


@pytest.mark.parametrize(
    ("examples", "queries", "message"),
    [
        ((np.zeros((0, 2)), np.zeros((0, 2))), np.zeros((1, 2)), "no example"),
        ((np.zeros((3, 2)), np.zeros((2, 2))), np.zeros((1, 2)), "agree"),
        ((np.zeros((3, 2)), np.zeros((3, 2))), np.zeros((1, 3)), "expected"),
        ((np.zeros(2), np.zeros(2)), np.zeros((1, 2)), "two axes"),
        ((np.full((3, 2), np.nan), np.zeros((3, 2))), np.zeros((1, 2)), "NaN"),
    ],
)
def test_unusable_examples_are_refused(examples, queries, message):
    with pytest.raises(InputError, match=message):
        Transducer(Configuration(2, 2, **SMALL)).predict(examples, queries)


def test_tasks_and_settings_that_do_not_fit_are_refused():
    model = Transducer(Configuration(2, 2, **SMALL))
    v, u = linear_tasks(5, 10)
    with pytest.raises(InputError, match="pairs a task"):
        model.fit_meta((v, u), steps=1)
    with pytest.raises(InputError, match="expected"):
        model.fit_meta((v[..., :1], u), steps=1)
    with pytest.raises(InputError, match="loss"):
        Settings(loss="huber")
    with pytest.raises(InputError, match="codings have sizes"):
        Transducer(Configuration(2, 2), Plain(3))


def test_the_branch_and_trunk_variant_answers_on_any_grid():
    model = Transducer(Configuration(40, 40, trunk=8, **SMALL))
    v = np.random.default_rng(0).normal(size=(6, 40))
    coarse = model.predict((v[:4], v[:4]), v[4:], points=21)
    fine = model.predict((v[:4], v[:4]), v[4:], points=41)
    np.testing.assert_allclose(fine[:, ::2], coarse, atol=1e-6)


class TestInContextClassifier:
    def blobs(self, classes, count, seed):
        rng = np.random.default_rng(seed)
        centres = np.random.default_rng(0).normal(size=(classes, 3)) * 12
        labels = [k % classes for k in range(count)]
        tokens = [centres[k] + rng.normal(size=(4, 3)) for k in labels]
        return hardmax.Dataset(tokens, [f"c{k}" for k in labels])

    @pytest.mark.parametrize("classes", [2, 5, 13])
    def test_it_tells_clusters_apart_that_it_never_saw(self, classes):
        from hardmax.learned.transducer.classifier import InContextClassifier

        model = InContextClassifier()
        train, test = self.blobs(classes, 10 * classes, 1), self.blobs(classes, 60, 2)
        model.fit(train)
        found = model.predict(test)
        right = np.mean([a == b for a, b in zip(found, test.labels, strict=True)])
        assert right > 0.8
        assert model.parameters > 0
        assert model.certified == ""

    def test_misuse_is_named(self):
        from hardmax.learned.transducer.classifier import InContextClassifier

        model = InContextClassifier()
        with pytest.raises(InputError, match="call fit first"):
            model.predict(self.blobs(2, 4, 0))
        with pytest.raises(InputError, match="label"):
            model.fit(hardmax.Dataset([[(0, 1)]]))
        model.fit(self.blobs(2, 10, 0))
        with pytest.raises(InputError, match="dimension"):
            model.predict(hardmax.Dataset([[(0, 1)]]))
