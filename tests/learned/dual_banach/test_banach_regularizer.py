"""Equation (13) for PyTorch modules, the reader of parameters, and equality with PyTorch."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from hardmax import InputError
from hardmax.learned.dual_banach.enclosures.balls import Balls
from hardmax.learned.dual_banach.enclosures.propagate import propagate
from hardmax.learned.dual_banach.flops import Shape
from hardmax.learned.dual_banach.theory.attention import dual_expansion
from hardmax.learned.dual_banach.verify import verify_blocks

torch = pytest.importorskip("torch")

from hardmax.learned.dual_banach.choices import Choices  # noqa: E402
from hardmax.learned.dual_banach.regularizer import DualBanachRegularizer  # noqa: E402
from hardmax.learned.dual_banach.torch_blocks import (  # noqa: E402
    Parts,
    find_parts,
    read_block,
    read_blocks,
    to_array,
)

nn = torch.nn


@pytest.fixture(autouse=True)
def seeded():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield


def encoder(layers=2, d=8, heads=2, hidden=16, activation="gelu", norm_first=True, first=True):
    layer = nn.TransformerEncoderLayer(
        d, heads, hidden, 0.0, activation, batch_first=first, norm_first=norm_first
    )
    return mixed(nn.TransformerEncoder(layer, layers, enable_nested_tensor=False))


def mixed(model):
    """Random parameters: layers start as copies, biases as 0, γ with ties."""
    for p in model.parameters():
        nn.init.normal_(p, 0.1, 0.4)
    return model.double()


class Attention(nn.Module):
    """Attention as in timm (qkv, proj) or nanoGPT (c_attn, c_proj, causal)."""

    def __init__(self, d, heads, gpt):
        super().__init__()
        self.names = ("c_attn", "c_proj") if gpt else ("qkv", "proj")
        self.gpt, self.heads = gpt, heads
        setattr(self, "n_head" if gpt else "num_heads", heads)
        for name, rows in zip(self.names, (3 * d, d), strict=True):
            setattr(self, name, nn.Linear(d, rows))

    def forward(self, x):
        q, k, v = (
            part.unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for part in getattr(self, self.names[0])(x).chunk(3, -1)
        )
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=self.gpt)
        return getattr(self, self.names[1])(y.transpose(1, 2).flatten(2))


class Mlp(nn.Module):
    def __init__(self, d, gpt):
        super().__init__()
        self.names = ("c_fc", "gelu", "c_proj") if gpt else ("fc1", "act", "fc2")
        parts = (nn.Linear(d, 2 * d), nn.GELU("tanh" if gpt else "none"), nn.Linear(2 * d, d))
        for name, part in zip(self.names, parts, strict=True):
            setattr(self, name, part)

    def forward(self, x):
        for name in self.names:
            x = getattr(self, name)(x)
        return x


class PreNorm(nn.Module):
    """A block as in timm's vision transformers, or as in nanoGPT."""

    def __init__(self, d, heads, gpt=False):
        super().__init__()
        self.norms = ("ln_1", "ln_2") if gpt else ("norm1", "norm2")
        for name in self.norms:
            setattr(self, name, nn.LayerNorm(d))
        self.attn, self.mlp = Attention(d, heads, gpt), Mlp(d, gpt)

    def forward(self, x):
        x = x + self.attn(getattr(self, self.norms[0])(x))
        return x + self.mlp(getattr(self, self.norms[1])(x))


class Vision(nn.Module):
    """A block as in torchvision's vision transformers."""

    def __init__(self, d, heads):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.self_attention = nn.MultiheadAttention(d, heads, batch_first=True)
        self.mlp = nn.Sequential(
            nn.Linear(d, 2 * d), nn.GELU(), nn.Dropout(0.0), nn.Linear(2 * d, d), nn.Dropout(0.0)
        )

    def forward(self, x):
        z = self.ln_1(x)
        x = x + self.self_attention(z, z, z, need_weights=False)[0]
        return x + self.mlp(self.ln_2(x))


MODELS = {
    "torch": lambda: encoder(),
    "timm": lambda: mixed(nn.Sequential(PreNorm(8, 2), PreNorm(8, 2))),
    "nanoGPT": lambda: mixed(nn.Sequential(PreNorm(8, 2, True), PreNorm(8, 2, True))),
    "torchvision": lambda: mixed(nn.Sequential(Vision(8, 2), Vision(8, 2))),
}


def tokens(*shape):
    return torch.randn(*shape, dtype=torch.float64)


def by_hand(blocks, x, choices, strength):
    """(13) in NumPy from the parameters alone, by the dual expansion; x (B, n, d), no masks."""
    terms = []
    for block in blocks:
        kind = "fro" if choices.matrix_norm == "frobenius" else 2
        K = np.linalg.norm(block.W1, kind) * np.linalg.norm(block.W2, kind)
        K = K * abs(block.norm2.gamma).max()
        z = np.array([_layer_norm(block.norm1, s) for s in x])
        a = np.array([dual_expansion(block.attention, s).evaluate() for s in z])
        f = a if choices.source == "attention" else x + a
        eps = block.norm2.eps if choices.eps is None else choices.eps
        std = np.sqrt(f.var(-1, ddof=choices.ddof) + eps)
        square = (f**2).sum(-1)
        if choices.heads == "separate":
            square = np.array([_separate(block.attention, s) for s in z])
        value = (1 + K / std) ** 2 * square
        terms.append(value.mean() if choices.reduction == "mean" else value.sum() / len(x))
        u = x + a
        hidden = _layer_norm(block.norm2, u) @ block.W1.T + block.b1
        hidden = block.activation.enclose(Balls.exact(hidden)).mid
        x = u + hidden @ block.W2.T + block.b2
    return strength * sum(terms) / len(terms)


def _layer_norm(norm, x):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt(x.var(-1, keepdims=True) + norm.eps) * norm.gamma + norm.beta


def _separate(attention, z):
    expansion = dual_expansion(attention, z)
    biases = attention.split(attention.value_bias)
    parts = expansion.pairings @ expansion.coefficients
    parts = parts + np.einsum("hdk,hk->hd", attention.output_by_head(), biases)[:, None]
    return (parts**2).sum(axis=(0, 2))


OPTIONS = [
    {},
    {"matrix_norm": "spectral"},
    {"source": "residual"},
    {"ddof": 1},
    {"eps": 0.1},
    {"reduction": "sequence"},
    {"heads": "separate"},
]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_value_equals_a_computation_by_hand(name, options):
    model, x = MODELS[name](), tokens(3, 5, 8)
    regularizer = DualBanachRegularizer(model, 0.3, **options)
    model(x)
    expected = by_hand(read_blocks(model), x.numpy(), Choices(**options), 0.3)
    assert regularizer().item() == pytest.approx(expected, rel=1e-10)
    assert len(regularizer.terms()) == 2


@pytest.mark.parametrize(
    ("name", "options"),
    [(name, {}) for name in MODELS]
    + [("nanoGPT", {"heads": "separate"}), ("torch", {"matrix_norm": "spectral"})]
    + [pytest.param("torch", options, marks=pytest.mark.slow) for options in OPTIONS[2:]],
    ids=str,
)
def test_gradcheck(name, options):
    model, x = MODELS[name](), tokens(1, 2, 8).requires_grad_()
    regularizer = DualBanachRegularizer(model, 0.01, **options)
    names = [n for n, p in model.named_parameters() if p.numel() <= 64][:6]
    values = [dict(model.named_parameters())[n].detach().clone().requires_grad_() for n in names]

    def function(x, *weights):
        torch.func.functional_call(model, dict(zip(names, weights, strict=True)), (x,))
        with torch.nn.utils.stateless._reparametrize_module(
            model, dict(zip(names, weights, strict=True))
        ):
            return regularizer()

    assert torch.autograd.gradcheck(function, (x, *values), atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize("name", MODELS)
def test_reading_a_model_gives_its_outputs(name):
    """Parameters read are the model: its outputs lie in the enclosures, up to float rounding."""
    model, x = MODELS[name]().eval(), tokens(2, 5, 8)
    with torch.no_grad():
        y = model(x).numpy()
    *_, step = propagate(read_blocks(model), Balls.exact(x.numpy()))
    assert (abs(step.out.mid - y) <= step.out.rad + 1e-11).all()
    assert step.out.rad.max() < 1e-6
    report = verify_blocks(read_blocks(model), list(x.numpy()))
    assert report.row(2, "R1").verdict == report.row(2, "R2").verdict == "proved"


@pytest.mark.parametrize("heads", [1, 2, 4])
@pytest.mark.parametrize("causal", [False, True])
def test_dual_expansion_is_multihead_attention(heads, causal):
    """(9) and (27) against torch.nn.MultiheadAttention, masked too."""
    layer = nn.TransformerEncoderLayer(8, heads, 16, 0.0, norm_first=True, batch_first=True)
    layer = layer.double()
    nn.init.normal_(layer.self_attn.in_proj_bias)
    nn.init.normal_(layer.self_attn.out_proj.bias)
    x = tokens(5, 8)
    mask = nn.Transformer.generate_square_subsequent_mask(5).double() if causal else None
    with torch.no_grad():
        expected, weights = layer.self_attn(
            x, x, x, attn_mask=mask, need_weights=True, average_attn_weights=False
        )
    expansion = dual_expansion(read_blocks(layer, causal=causal)[0].attention, x.numpy())
    assert expansion.evaluate() == pytest.approx(expected.numpy(), abs=1e-12)
    assert expansion.pairings == pytest.approx(weights.numpy(), abs=1e-12)


def test_masks_and_orders():
    """Padding counts nowhere, whatever axis the batch is on; separate heads recompute the mask."""
    x, pad = tokens(2, 4, 8), torch.tensor([[False] * 4, [False, False, True, True]])
    for heads in ("joint", "separate"):
        values = []
        for first in (True, False):
            torch.manual_seed(1)
            model = encoder(layers=1, first=first)
            regularizer = DualBanachRegularizer(model, heads=heads)
            model(x if first else x.transpose(0, 1), src_key_padding_mask=pad)
            values.append(regularizer().item())
            torch.manual_seed(1)
            alone = encoder(layers=1)
            other = DualBanachRegularizer(alone, heads=heads)
            parts = []
            for sequence in (x[:1], x[1:, :2]):
                alone(sequence)
                parts.append(other().item() * sequence.shape[1])
        assert values[0] == pytest.approx(values[1], rel=1e-12)
        assert values[0] == pytest.approx(sum(parts) / 6, rel=1e-10)


def test_causal_masks_of_encoder_layers():
    model, x = encoder(layers=1), tokens(2, 4, 8)
    mask = nn.Transformer.generate_square_subsequent_mask(4, dtype=torch.float64)
    for heads in ("joint", "separate"):
        regularizer = DualBanachRegularizer(model, 0.3, heads=heads)
        model(x, mask=mask, is_causal=True)
        value = regularizer().item()
        regularizer.remove()
        blocks = read_blocks(model, causal=True)
        assert value == pytest.approx(by_hand(blocks, x.numpy(), Choices(heads=heads), 0.3))


def test_no_nan_where_attention_is_zero():
    model, x = encoder(), tokens(2, 3, 8)
    for layer in model.layers:
        nn.init.zeros_(layer.self_attn.out_proj.weight)
        nn.init.zeros_(layer.self_attn.out_proj.bias)
        nn.init.zeros_(layer.linear1.weight)
    for options in ({}, {"matrix_norm": "spectral"}, {"heads": "separate"}):
        regularizer = DualBanachRegularizer(model, **options)
        model(x)
        value = regularizer()
        assert value.item() == 0
        model.zero_grad()
        value.backward()
        assert all(p.grad is None or torch.isfinite(p.grad).all() for p in model.parameters())
        regularizer.remove()


def test_invariances():
    """W₁ → cW₁, W₂ → W₂/c changes nothing; scaling f̃* by c gives (c‖f‖ + K‖f‖/std)²."""
    model, x = encoder(layers=1), tokens(1, 4, 8)
    layer = model.layers[0]
    regularizer = DualBanachRegularizer(model, 1.0, eps=1e-300)

    def value():
        model(x)
        return regularizer().item()

    before = value()
    with torch.no_grad():
        layer.linear1.weight *= 4
        layer.linear2.weight /= 4
    assert value() == pytest.approx(before, rel=1e-12)
    with torch.no_grad():
        layer.linear1.weight *= 2
    assert value() > before  # rises with ‖W₁‖
    block = read_blocks(model)[0]
    z = _layer_norm(block.norm1, x[0].numpy())
    f = dual_expansion(block.attention, z).evaluate()
    K = np.linalg.norm(block.W1) * np.linalg.norm(block.W2) * abs(block.norm2.gamma).max()
    with torch.no_grad():
        layer.self_attn.out_proj.weight *= 3
        layer.self_attn.out_proj.bias *= 3
    length = np.linalg.norm(f, axis=-1)
    assert value() == pytest.approx(np.mean((3 * length + K * length / f.std(-1)) ** 2), rel=1e-10)
    assert value() >= np.mean((3 * length + K * np.sqrt(8)) ** 2)  # std ≤ ‖f‖/√d


def test_it_lowers_the_bound_in_training():
    model, x = encoder(layers=1), tokens(4, 5, 8)
    regularizer = DualBanachRegularizer(model, 0.1)
    optimiser = torch.optim.SGD(model.parameters(), 1e-4)
    values = []
    for _ in range(5):
        model(x)
        loss = regularizer()
        values.append(loss.item())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert values == sorted(values, reverse=True)


def test_detached_parts_get_no_gradient():
    model, x = encoder(layers=1), tokens(1, 3, 8)
    regularizer = DualBanachRegularizer(model, detach_norms=True)
    model(x)
    regularizer().backward()
    assert model.layers[0].linear1.weight.grad is None
    assert model.layers[0].self_attn.out_proj.weight.grad is not None


def test_last_pass_only_and_evaluation_mode():
    model, x = encoder(), tokens(2, 3, 8)
    regularizer = DualBanachRegularizer(model)
    with pytest.raises(InputError, match="run the model"):
        regularizer()
    model(x)
    once = regularizer().item()
    model(10 * tokens(5, 3, 8))
    model(x)
    assert regularizer().item() == once
    with torch.no_grad():  # PyTorch's fast path must not go round the hooks
        model.eval()(x)
    assert regularizer().item() == pytest.approx(once, rel=1e-9)
    regularizer.remove()
    with pytest.raises(InputError, match="run the model"):
        regularizer()


def test_shared_blocks_and_half_precision():
    layer = encoder(layers=1).layers[0]
    shared = nn.Sequential(layer, layer)
    x = tokens(1, 3, 8)
    regularizer = DualBanachRegularizer(shared, 1.0)
    shared(x)
    both = regularizer().item()
    single = DualBanachRegularizer(layer, 1.0)
    y = layer(x)
    first = single().item()
    layer(y)
    assert both == pytest.approx((first + single().item()) / 2)
    half = copy.deepcopy(encoder(layers=1)).bfloat16()
    regularizer = DualBanachRegularizer(half, 1.0)
    half(x.bfloat16())
    assert regularizer().dtype == torch.float32


def test_post_norm_uses_the_norm_in_front_of_the_network():
    model, x = encoder(layers=1, norm_first=False), tokens(2, 3, 8)
    layer = model.layers[0]
    regularizer = DualBanachRegularizer(model, 1.0)
    model(x)
    f = layer.self_attn(x, x, x)[0].detach().numpy()
    K = (layer.linear1.weight.norm() * layer.linear2.weight.norm()
         * layer.norm1.weight.abs().max()).item()  # fmt: skip
    expected = ((1 + K / np.sqrt(f.var(-1) + 1e-5)) ** 2 * (f**2).sum(-1)).mean()
    assert regularizer().item() == pytest.approx(expected, rel=1e-10)
    with pytest.raises(InputError, match="norm_first=True"):
        read_blocks(model)


def test_blocks_of_other_shapes_are_described():
    block = PreNorm(8, 2).double()
    parts = Parts(block.attn, block.norm2, block.mlp.fc1, block.mlp.fc2, block.norm1, nn.GELU())
    regularizer = DualBanachRegularizer(block, blocks={"mine": parts})
    block(tokens(1, 3, 8))
    assert list(regularizer.terms()) == ["mine"]
    assert read_block(parts).dimension == 8


def test_messages():
    with pytest.raises(InputError, match="no transformer block"):
        find_parts(nn.Linear(2, 2))
    for options, words in (
        ({"source": "values"}, "known are"),
        ({"eps": 0.0}, "positive"),
        ({"epsilon": 1}, "unknown option"),
        ({"heads": "separate", "source": "residual"}, "separate"),
    ):
        with pytest.raises(InputError, match=words):
            DualBanachRegularizer(encoder(), **options)
    with pytest.raises(InputError, match="strength"):
        DualBanachRegularizer(encoder(), -1)
    with pytest.raises(InputError, match=r"layers\.0: the activation 'celu' is unknown"):
        read_blocks(encoder(activation=nn.functional.celu))
    model = encoder(layers=1)
    model.layers[0].norm2 = nn.RMSNorm(8)
    with pytest.raises(InputError, match="RMSNorm is not a layer norm"):
        read_blocks(model)


def test_arrays_are_exact():
    weight = torch.tensor([0.1, 2.0**-140], dtype=torch.float32)
    assert to_array(weight).tolist() == [float(np.float32(0.1)), 2.0**-140]


def test_flops():
    """The formulas of E.2; the printed overheads do not follow from them (spec ERR-27)."""
    tiny = Shape(tokens=197, dimension=192, heads=3, layers=12)
    small = Shape(tokens=197, dimension=384, heads=6, layers=12)
    gpt = Shape(tokens=1024, dimension=768, heads=12, layers=12)
    assert [round(s.baseline / 1e9, 3) for s in (tiny, small, gpt)] == [1.225, 4.541, 106.3]
    extra = [round(float(s.attention_norm + s.weight_norms) / 1e9, 4) for s in (tiny, small, gpt)]
    assert extra == [0.0643, 0.1958, 1.175]
    assert [round(100 * float(s.overhead), 1) for s in (tiny, small, gpt)] == [5.2, 4.3, 1.1]
    with pytest.raises(InputError, match="do not divide"):
        Shape(8, 8, 3, 1)
    with pytest.raises(InputError, match="at least 1"):
        Shape(0, 8, 2, 1)
