"""Transformer blocks inside PyTorch models: where their parts are, and what they hold.

Known are `torch.nn.TransformerEncoderLayer` and blocks laid out as in timm's and torchvision's
vision transformers and in nanoGPT and GPT-2. A block of another shape is described by a `Parts`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from ...errors import InputError, MissingExtraError
from .activations import Activation, activation
from .enclosures.balls import Array
from .layers import Attention, Block, LayerNorm

Module = Any  # torch.nn.Module; torch is optional


@dataclass(frozen=True)
class Parts:
    """Submodules of one block: the attention, the layer norm and the two matrices of the FFN.

    ``norm`` is the layer norm in front of the feed-forward network. ``norm1`` (in front of the
    attention), ``activation`` and ``causal`` are needed for verification only.
    """

    attention: Module
    norm: Module
    first: Module
    second: Module
    norm1: Module = None
    activation: Any = None
    causal: bool = False


# attention, norm1, norm2, first, second, activation (the first that is there), causal
_LAYOUTS = (
    ("self_attn", "norm1", "norm2", "linear1", "linear2", ("activation",), False),  # torch.nn
    ("attn", "norm1", "norm2", "mlp.fc1", "mlp.fc2", ("mlp.act",), False),  # timm
    ("self_attention", "ln_1", "ln_2", "mlp.0", "mlp.3", ("mlp.1",), False),  # torchvision
    ("attn", "ln_1", "ln_2", "mlp.c_fc", "mlp.c_proj", ("mlp.gelu", "mlp.act"), True),  # GPT-2
)

_ACTIVATIONS = {
    "relu": "relu", "ReLU": "relu", "gelu": "gelu", "GELU": "gelu", "silu": "silu", "SiLU": "silu",
    "tanh": "tanh", "Tanh": "tanh", "sigmoid": "sigmoid", "Sigmoid": "sigmoid",
    "Identity": "identity", "NewGELUActivation": "gelu_tanh",
}  # fmt: skip


def require_torch() -> Any:
    """The torch module; MissingExtraError names the extra where it is not installed."""
    try:
        return import_module("torch")
    except ImportError:
        raise MissingExtraError(
            "this needs PyTorch, which is not installed; "
            "install it with: pip install 'hardmax[torch]'"
        ) from None


def find_parts(model: Module) -> dict[str, Parts]:
    """Transformer blocks of a model, by module name, in order; InputError where there is none.

    >>> import torch
    >>> layer = torch.nn.TransformerEncoderLayer(8, 2, 16, norm_first=True, batch_first=True)
    >>> list(find_parts(torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)))
    ['layers.0', 'layers.1']
    """
    found = {name: parts for name, module in model.named_modules() for parts in _match(module)}
    if not found:
        raise InputError(
            "no transformer block found in the model; known are torch.nn.TransformerEncoderLayer "
            "and the blocks of timm, torchvision, nanoGPT and GPT-2; describe others by Parts"
        )
    return found


def _match(module: Module) -> Iterator[Parts]:
    for attention, norm1, norm2, first, second, sigmas, causal in _LAYOUTS:
        names = (attention, norm1, norm2, first, second)
        heads, before, norm, W1, W2 = (_attribute(module, name) for name in names)
        if any(part is None for part in (heads, before, norm, W1, W2)):
            continue
        if getattr(module, "norm_first", True) is False:  # post-LN: the FFN reads LN₁'s output
            norm = before
        found = (_attribute(module, name) for name in sigmas)
        sigma = next((value for value in found if value is not None), None)
        yield Parts(heads, norm, W1, W2, before, sigma, causal)
        return


def _attribute(module: Module, path: str) -> Any:
    for name in path.split("."):
        children = getattr(module, "_modules", {})
        module = children[name] if name in children else getattr(module, name, None)
        if module is None:
            return None
    return module


def read_blocks(model: Module, causal: bool | None = None) -> list[Block]:
    """Parameters of the model's pre-layer-norm blocks, in order, as exact float64 arrays.

    ``causal`` overrides the layout's mask. Dropout is left out, as in evaluation mode. Raises
    InputError for post-LN layers and for parts that `Block` cannot describe.

    >>> import torch
    >>> layer = torch.nn.TransformerEncoderLayer(8, 2, 16, norm_first=True, batch_first=True)
    >>> [block.dimension for block in read_blocks(layer)]
    [8]
    """
    return [read_block(parts, name, causal) for name, parts in find_parts(model).items()]


def read_block(parts: Parts, name: str = "block", causal: bool | None = None) -> Block:
    """Parameters of one block; ``name`` is what messages call it."""
    if parts.norm is parts.norm1 or parts.norm1 is None:
        raise InputError(f"{name}: the bounds need a pre-LN block; set norm_first=True")
    try:
        return Block(
            norm1=read_layer_norm(parts.norm1),
            attention=_attention(parts.attention, parts.causal if causal is None else causal),
            norm2=read_layer_norm(parts.norm),
            W1=_matrix(parts.first),
            b1=_bias(parts.first),
            W2=_matrix(parts.second),
            b2=_bias(parts.second),
            activation=_activation(parts.activation),
        )
    except InputError as problem:
        raise InputError(f"{name}: {problem}") from None


def to_array(tensor: Any) -> Array:
    """Float64 copy of a tensor; every float16, bfloat16 and float32 is a float64."""
    return np.array(tensor.detach().cpu().double().numpy(), dtype=np.float64)


def _matrix(linear: Module) -> Array:
    """Weight as (out, in); GPT-2's Conv1D stores its transpose."""
    weight = to_array(linear.weight)
    return weight.T if type(linear).__name__ == "Conv1D" else weight


def _bias(linear: Module) -> Array:
    if getattr(linear, "bias", None) is None:
        return np.zeros(_matrix(linear).shape[0])
    return to_array(linear.bias)


def read_layer_norm(norm: Module) -> LayerNorm:
    """Parameters of a layer norm; InputError for other norms."""
    shape = getattr(norm, "normalized_shape", None)
    if shape is None and getattr(norm, "weight", None) is not None:  # nanoGPT's own, ε = 1e-5
        shape = tuple(norm.weight.shape)
    if shape is None or len(shape) != 1 or "RMS" in type(norm).__name__:
        raise InputError(f"{type(norm).__name__} is not a layer norm over the features")
    gamma = np.ones(shape) if norm.weight is None else to_array(norm.weight)
    beta = np.zeros(shape) if norm.bias is None else to_array(norm.bias)
    return LayerNorm(gamma, beta, float(getattr(norm, "eps", 1e-5)))


def _attention(module: Module, causal: bool) -> Attention:
    for joint, output, heads in (("qkv", "proj", "num_heads"), ("c_attn", "c_proj", "n_head"),
                                 ("c_attn", "c_proj", "num_heads")):  # fmt: skip
        if all(hasattr(module, name) for name in (joint, output, heads)):
            for extra in ("q_norm", "k_norm"):
                if type(getattr(module, extra, None)).__name__ not in ("NoneType", "Identity"):
                    raise InputError("attention with norms of queries or keys is not supported")
            source, out = getattr(module, joint), getattr(module, output)
            weight, bias, count = _matrix(source), _bias(source), int(getattr(module, heads))
            break
    else:
        if getattr(module, "in_proj_weight", None) is None:
            raise InputError(f"the attention {type(module).__name__} is not one that can be read")
        if module.bias_k is not None or module.add_zero_attn:
            raise InputError("attention with bias_k or add_zero_attn is not supported")
        weight, out, count = to_array(module.in_proj_weight), module.out_proj, module.num_heads
        given = module.in_proj_bias
        bias = np.zeros(len(weight)) if given is None else to_array(given)
    q, k, v = np.split(weight, 3)
    b_q, b_k, b_v = np.split(bias, 3)
    return Attention(q, k, v, _matrix(out), b_q, b_k, b_v, _bias(out), count, causal)


def _activation(function: Any) -> Activation:
    if function is None:
        raise InputError("the activation was not found; name it in Parts")
    if isinstance(function, Activation):
        return function
    name = getattr(function, "__name__", type(function).__name__)
    if getattr(function, "approximate", "none") == "tanh":
        return activation("gelu_tanh")
    return activation(_ACTIVATIONS.get(name, name))
