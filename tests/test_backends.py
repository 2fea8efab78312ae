"""One executor for every array library: the same outputs, to rounding, as the exact run."""

from __future__ import annotations

import numpy as np
import pytest

import hardmax as hm
from hardmax.execute import backends
from hardmax.execute.floating import outputs
from hardmax.model.layers import RankOneBlock

STRICT = "strict"


@pytest.fixture(params=["numpy", STRICT, "torch", "jax"])
def backend(request, monkeypatch):
    if request.param == STRICT:
        monkeypatch.setitem(backends._NAMESPACES, STRICT, "array_api_strict")
    if request.param == "torch":
        pytest.importorskip("torch")
        pytest.importorskip("array_api_compat")
    if request.param == "jax":
        pytest.importorskip("jax")
    return request.param


def _models():
    yield hm.Transformer([RankOneBlock.of(2, u=(1, -1), b="1/2", w=(2, 1), rho="1/2", alpha="1/4")])
    for v in ((0, 0), (1, 0)):  # masked means, masked leaders
        blocks = [RankOneBlock.of(2, rho="1/2", alpha=2, v=v), RankOneBlock.of(2, rho=0, alpha=1)]
        yield hm.Transformer(blocks, masked=True)
    # ties, both signs and zero scores in one attention layer, residual and none
    for rho in (0, 1):
        yield hm.Transformer([RankOneBlock.of(2, rho=rho, alpha=2, v=(1, 0))])
    yield hm.Transformer(
        [
            RankOneBlock.translation((3, 3), rho="3/4", alpha="1/4", v=(1, 2)),
            RankOneBlock.translation((9, 0), rho=0, alpha=1, v=(1, 1)),
            RankOneBlock.of(2, u=(1, 0), b=-9, w=(0, "1/2")),
        ]
    )


SEQUENCES = [
    [(0, 0), (1, 2), (-1, 2)],
    [(1, 0), (1, 3), (-2, -2), (0, 5)],
    [(2, 2)],
    [(-1, 0), (-1, 1), (-1, 1)],
    [(0, 1), (4, -4), (4, 4)],
]


@pytest.mark.parametrize("model", list(_models()))
def test_every_backend_equals_the_exact_run(model, backend):
    exact = np.array([[float(x) for x in y] for y in model.outputs(SEQUENCES)])
    found = backends.to_numpy(model(SEQUENCES, backend=backend))
    np.testing.assert_allclose(found, exact, rtol=1e-14, atol=1e-14)


def test_states_after_each_block(backend):
    model = list(_models())[-1]
    seen = []
    outputs(model, SEQUENCES, seen.append, backend=backend)
    assert len(seen) == len(model) + 1
    for j, sequence in enumerate(SEQUENCES):
        for state, exact in zip(seen, model.trace(sequence), strict=True):
            expected = np.array([[float(x) for x in z] for z in exact])
            np.testing.assert_allclose(state[j], expected, rtol=1e-13, atol=1e-13)


def test_a_model_runs_where_its_input_is():
    torch = pytest.importorskip("torch")
    pytest.importorskip("array_api_compat")
    model = next(_models())
    found = model([torch.tensor(Z, dtype=torch.float64) for Z in SEQUENCES])
    assert isinstance(found, torch.Tensor)
    np.testing.assert_allclose(found.numpy(), model(SEQUENCES), rtol=1e-15)


def test_a_missing_library_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(backends._NAMESPACES, "cupy", "no_such_library_here")
    with pytest.raises(hm.HardmaxError, match=r"pip install 'hardmax\[cupy\]'"):
        next(_models())(SEQUENCES, backend="cupy")


def test_an_unknown_backend_is_refused():
    with pytest.raises(hm.InputError, match="abacus"):
        next(_models())(SEQUENCES, backend="abacus")


def test_no_sequences(backend):
    assert tuple(next(_models())([], backend=backend).shape) == (0, 2)


@pytest.mark.parametrize(
    ("strategy", "right"),
    [pytest.param("cover", 358, marks=pytest.mark.slow), ("peel", 32)],
)
def test_all_libraries_predict_the_same_vowels(strategy, right):
    """Labels of 270 training and 370 unseen utterances: exact, NumPy, PyTorch, JAX."""
    train = hm.load("examples/vowels.json.gz")
    test = hm.load("examples/vowels_test.json.gz", sets=train)
    model = hm.build(train, strategy)
    for library in ("torch", "jax"):
        pytest.importorskip(library)
    for data, expected in ((train, 270), (test, right)):
        exact = model.predict(data)
        assert sum(map(str.__eq__, exact, data.labels)) == expected
        for name in ("numpy", "torch", "jax"):
            outputs = backends.to_numpy(model(data, backend=name))
            assert hm.predict(outputs, train) == exact, name
