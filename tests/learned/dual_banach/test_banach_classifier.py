"""The softmax transformer that `hardmax compare` lists, and what it proves of itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hardmax import Dataset, InputError
from hardmax.errors import MissingExtraError

ROOT = Path(__file__).parents[3]


def test_theory_and_verifier_need_no_torch():
    modules = ("verify", "theory.representer", "theory.features", "theory.fock",
               "theory.attention", "flops", "classifier",
               "regularizer", "torch_blocks")  # fmt: skip
    code = "import sys\n" + "".join(
        f"import hardmax.learned.dual_banach.{name}\n" for name in modules
    )
    code += "assert 'torch' not in sys.modules and 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_the_missing_extra_is_named(monkeypatch):
    from hardmax.learned.dual_banach import torch_blocks

    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'hardmax\[torch\]'"):
        torch_blocks.require_torch()


@pytest.fixture(scope="module")
def data():
    """Two classes told apart by their largest token; lengths 1 to 5; some numbers are no floats."""
    rng = np.random.default_rng(0)
    sequences, labels = [], []
    for k in range(40):
        tokens = rng.integers(-8, 9, size=(k % 5 + 1, 2))
        tokens[0, 0] = 20 if k % 2 else -20
        sequences.append([[f"{x}/3" for x in token] for token in tokens.tolist()])
        labels.append("large" if k % 2 else "small")
    return Dataset(sequences, labels)


@pytest.fixture(scope="module")
def trained(data):
    pytest.importorskip("torch")
    from hardmax.learned.dual_banach.classifier import SoftmaxTransformer

    return {
        strength: SoftmaxTransformer(strength, width=16, hidden=16, layers=1, steps=60).fit(data)
        for strength in (0.0, 0.05)
    }


def test_both_learn_and_prove(trained, data):
    for model in trained.values():
        assert model.extra == "torch"
        predictions = model.predict(data)
        assert sum(p == q for p, q in zip(predictions, data.labels, strict=True)) >= 38
        proved = model.prove(data)
        assert all(p in (None, q) for p, q in zip(proved, predictions, strict=True))
        assert sum(p is not None for p in proved) >= 38
        assert f"proved for {sum(p is not None for p in proved)} of 40" in model.certified
        width, hidden = 16, 16
        block = 4 * width * width + 4 * width + 2 * width * hidden + hidden + width + 4 * width
        assert model.parameters == 3 * width + block + 2 * width + 2 * width + 2
    assert trained[0.0].name != trained[0.05].name
    assert trained[0.0].predict(data) is not None


def test_a_proved_radius_covers_every_input_within(trained, data):
    """Random and extreme moves within the radius never change a proved label."""
    model, rng = trained[0.0], np.random.default_rng(0)
    counts = []
    for radius in (1e-6, 1e-3, 10.0):
        proved = model.prove(data, radius=radius)
        counts.append(sum(label is not None for label in proved))
        for _ in range(3):
            moves = radius * rng.choice([-1.0, 1.0, 0.2], size=data.tokens.shape)
            moved = np.split(data.tokens.values + moves, data.offsets[1:-1])
            labels = model.predict(Dataset([m.tolist() for m in moved], data.labels))
            assert all(p in (None, q) for p, q in zip(proved, labels, strict=True))
    assert counts[0] >= 38
    assert counts[2] == 0  # the classes overlap at such distances
    with pytest.raises(InputError, match="radius"):
        model.prove(data, radius=-1.0)


def test_same_seed_same_model(trained, data):
    from hardmax.learned.dual_banach.classifier import SoftmaxTransformer

    again = SoftmaxTransformer(0.0, width=16, hidden=16, layers=1, steps=60).fit(data)
    assert (again.logits(data) == trained[0.0].logits(data)).all()
    assert (trained[0.05].logits(data) != trained[0.0].logits(data)).any()


def test_padding_changes_nothing(trained, data):
    """A short sequence has the same logits alone and beside longer ones."""
    alone = Dataset([data.sequence(0)], [data.labels[0]])
    model = trained[0.0]
    assert model.logits(alone)[0] == pytest.approx(model.logits(data)[0], rel=1e-9, abs=1e-9)


def test_the_regulariser_tightens_the_bound_of_all_inputs(trained):
    from hardmax.learned.dual_banach.bounds import BlockBounds
    from hardmax.learned.dual_banach.torch_blocks import read_blocks

    plain, regular = (
        BlockBounds(read_blocks(trained[s]._network)[0]).attention_of_all.upper for s in (0.0, 0.05)
    )
    assert regular < plain


def test_what_cannot_be_decided_is_not_claimed(data):
    """Two classes with equal logits: no prediction is proved."""
    torch = pytest.importorskip("torch")
    from hardmax.learned.dual_banach.classifier import SoftmaxTransformer

    model = SoftmaxTransformer(width=8, heads=2, hidden=8, layers=1, steps=1).fit(data)
    with torch.no_grad():
        model._network.readout.weight.zero_()
        model._network.readout.bias.zero_()
    assert model.prove(data) == [None] * 40


def test_bad_use(trained, data):
    from hardmax.learned.dual_banach.classifier import SoftmaxTransformer, contenders

    with pytest.raises(InputError, match="call fit first"):
        SoftmaxTransformer().predict(data)
    with pytest.raises(InputError, match="heads must divide"):
        SoftmaxTransformer(width=9)
    with pytest.raises(InputError, match="dimension 1"):
        trained[0.0].predict(Dataset([[(1,)]], ["a"]))
    with pytest.raises(InputError, match="has no label"):
        SoftmaxTransformer(steps=1).fit(Dataset([[(1,)], [(2,)]], ["a", None]))
    names = [entry.name for entry in contenders()]
    assert len(set(names)) == 2
