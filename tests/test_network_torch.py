"""Networks from PyTorch modules: the same outputs within the enclosures; what is refused."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import hardmax as hm
from hardmax.network.layers import Position, Prepend
from hardmax.network.run import boxes, tokens_of

torch = pytest.importorskip("torch")
nn = torch.nn


def shaken(module):
    """Random biases and norms, which PyTorch starts at 0 and 1."""
    for parameter in module.parameters():
        if parameter.ndim == 1:
            nn.init.normal_(parameter, 0.5, 0.3)
    return module.double().eval()


def close(network, inputs, outputs):
    """PyTorch's float64 is no proof, but it is within 10^-12 of balls of 128 bits."""
    found = network.enclosures(list(inputs.double().numpy()), 128)
    for box, row in zip(found, outputs.detach().numpy(), strict=True):
        for (low, high), x in zip(box, row.tolist(), strict=True):
            assert high - low < Fraction(1, 2**60)
            assert abs(Fraction(x) - low) < Fraction(1, 10**12) * (1 + abs(low))


@pytest.mark.parametrize(
    ("norm_first", "activation", "causal"),
    [*product([False, True], ["relu", "gelu"], [False, True])],
)
def test_encoders_compute_the_same(norm_first, activation, causal):
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(
        8, 2, 12, 0.1, activation, batch_first=True, norm_first=norm_first
    )
    encoder = shaken(
        nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(8), enable_nested_tensor=False)
    )
    head = shaken(nn.Linear(8, 3))
    network = hm.from_torch(encoder, "mean", head, classes="abc", causal=causal)
    inputs = torch.randn(4, 5, 8, dtype=torch.float64)
    mask = None
    if causal:
        mask = nn.Transformer.generate_square_subsequent_mask(5, dtype=torch.float64)
    with torch.no_grad():
        outputs = head(encoder(inputs, mask=mask).mean(1))
    close(network, inputs, outputs)
    labels = ["abc"[k] for k in outputs.argmax(1)]
    assert network.predict(list(inputs.numpy())) == labels
    found = hm.certify(network, hm.Dataset(list(inputs.numpy()), labels), executor="float64")
    assert found.proved
    assert found.executor.certified


def test_attention_alone_an_embedding_positions_and_a_cls_token():
    torch.manual_seed(1)
    embed = shaken(nn.Embedding(7, 6))
    attention = shaken(nn.MultiheadAttention(6, 3, batch_first=True))
    positions, cls = torch.randn(5, 6).double(), torch.randn(1, 6).double()
    head = shaken(nn.Sequential(nn.Linear(6, 4), nn.ReLU(), nn.Dropout(), nn.Linear(4, 2)))
    network = hm.from_torch(embed, Prepend(cls), Position(positions), attention, "first", head)
    names = torch.tensor([[3, 0, 6, 6], [1, 2, 5, 4]])
    state = torch.cat([cls.expand(2, 1, 6), embed(names)], 1) + positions
    outputs = head(attention(state, state, state)[0][:, 0])
    close(network, names[..., None], outputs)


def test_parameters_are_taken_exactly():
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        linear = nn.Linear(3, 2, dtype=dtype)
        network = hm.from_torch(linear, "mean")
        assert np.array_equal(network.layers[0].W.values, linear.weight.detach().double().numpy())


class Own(nn.Linear):
    pass


def hooked():
    module = nn.Linear(2, 2)
    module.register_forward_hook(lambda *given: None)
    return module


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nn.Conv1d(2, 2, 1), r"part 1 is of the type torch\..*Conv1d, which is not"),
        (lambda: nn.Sequential(nn.Linear(2, 2), nn.Tanh()), r"part 1\.1 is of the type .*Tanh"),
        (lambda: Own(2, 2), r"part 1 is of the type .*Own"),
        (hooked, "has hooks"),
        (lambda: nn.GELU("tanh"), "approximate='tanh'"),
        (lambda: nn.LayerNorm((2, 2)), "several axes"),
        (lambda: nn.Embedding(2, 2, max_norm=1.0), "max_norm"),
        (lambda: nn.MultiheadAttention(2, 1, add_bias_kv=True), "add_bias_kv"),
        (lambda: nn.MultiheadAttention(2, 1, kdim=3), "another width"),
        (lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(
            2, 1, 2, activation=torch.tanh, batch_first=True), 1, enable_nested_tensor=False),
         r"part 1\.layers\.0\.activation is .*supported are ReLU and GELU"),
        (lambda: 3, "part 1 is an int"),
        (lambda: "max", "none of mean, first and last"),
    ],
)  # fmt: skip
def test_what_is_not_supported_is_named(make, message):
    with pytest.raises(hm.InputError, match=message):
        hm.from_torch(make(), "mean")


@pytest.mark.parametrize(
    ("norm_first", "activation", "dtype"),
    [*product([False, True], ["relu", "gelu"], [torch.float32, torch.float64])],
)
def test_what_floats_compute_lies_in_the_boxes_of_the_executor(norm_first, activation, dtype):
    torch.manual_seed(2)
    layer = nn.TransformerEncoderLayer(
        8, 2, 12, 0.0, activation, batch_first=True, norm_first=norm_first
    )
    encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
    model = shaken(nn.Sequential(encoder, nn.Linear(8, 3))).to(dtype)
    network = hm.from_torch(model[0], "mean", model[1], classes="abc")
    inputs = torch.randn(30, 6, 8, dtype=torch.float64) * 2
    with torch.no_grad():
        outputs = model[1](model[0](inputs.to(dtype)).mean(1)).double().numpy()
    data = hm.Dataset(list(inputs.numpy()), network.predict(list(inputs.numpy())))
    unit = {torch.float32: 2.0**-24, torch.float64: 2.0**-53}[dtype]
    exact = network.enclosures(data, 128)
    for j, box in boxes(network, tokens_of(network, data), None, 53, unit):
        for span, x, (low, high) in zip(box, outputs[j].tolist(), exact[j], strict=True):
            assert span is not None
            assert span[0] <= Fraction(x) <= span[1]
            assert span[0] <= low <= high <= span[1]
            assert span[1] - span[0] < 2**23 * unit
