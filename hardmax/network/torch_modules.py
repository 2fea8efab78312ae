"""Networks from PyTorch modules: `from_torch`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..errors import InputError, MissingExtraError
from ..words import kind
from .layer import Layer
from .layers import Affine, Attention, Embedding, Gelu, Norm, Readout, Relu, Residual
from .network import Network


def from_torch(
    *parts: Any, classes: Sequence[object] | None = None, causal: bool = False
) -> Network:
    """The network that PyTorch modules compute in eval mode, with exactly their parameters.

    ``parts`` act one after another. Each is a module; or a layer of `hardmax.network.layers`,
    for what is a bare tensor in PyTorch (`Position`, `Prepend`); or "mean", "first" or "last", the
    readout. Known modules are Linear, ReLU, GELU, LayerNorm, Embedding, MultiheadAttention (as
    self-attention), TransformerEncoderLayer and TransformerEncoder, with the norm first or last,
    Sequential, Identity and Dropout. ``causal`` masks every attention: token i sees the tokens up
    to i. What a module does to padding or to batches does not matter: a network takes each
    sequence for itself, with its own length.
    Raises InputError where a module is not known, with its path and its type.

    >>> import pytest; torch = pytest.importorskip("torch")
    >>> layer = torch.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
    >>> from_torch(layer, "mean", torch.nn.Linear(4, 3), classes=["a", "b", "c"])
    <Network: 6 layers, 187 parameters, 4 → 3, over the reals>
    """
    try:
        import torch
    except ImportError:
        raise MissingExtraError(
            "from_torch needs PyTorch; install it with: pip install 'hardmax[torch]'"
        ) from None
    layers: list[Layer] = []
    for place, part in enumerate(parts, 1):
        if isinstance(part, str):
            layers.append(Readout(part))
        elif isinstance(part, Layer):
            layers.append(part)
        elif isinstance(part, torch.nn.Module):
            layers += _converted(part, f"part {place}", causal, torch.nn)
        else:
            raise InputError(
                f"part {place} is {kind(part)}; expected a module, a layer of "
                f"hardmax.network.layers, or 'mean', 'first' or 'last'"
            )
    return Network(layers, classes=classes)


def _converted(module: Any, path: str, causal: bool, nn: Any) -> list[Layer]:
    """The layers of one module; its exact type counts, as a subclass may compute anything."""
    if module._forward_hooks or module._forward_pre_hooks:
        raise InputError(f"{path} ({type(module).__name__}) has hooks, which may change outputs")
    simple: dict[type, Callable[[Any], list[Layer]]] = {
        nn.Linear: lambda x: [Affine(x.weight, x.bias)],
        nn.ReLU: lambda x: [Relu()],
        nn.GELU: lambda x: [_gelu(x.approximate, path)],
        nn.Identity: lambda x: [],
        nn.Dropout: lambda x: [],
        nn.LayerNorm: lambda x: [_norm(x, path)],
        nn.Embedding: lambda x: [_embedding(x, path)],
        nn.MultiheadAttention: lambda x: [_attention(x, path, causal)],
    }
    known = simple.get(type(module))
    if known is not None:
        return known(module)
    if type(module) is nn.Sequential:
        inner = [_converted(x, f"{path}.{k}", causal, nn) for k, x in enumerate(module)]
        return [layer for each in inner for layer in each]
    if type(module) is nn.TransformerEncoderLayer:
        return list(_encoder_layer(module, path, causal, nn))
    if type(module) is nn.TransformerEncoder:
        found = [
            layer
            for k, each in enumerate(module.layers)
            for layer in _converted(each, f"{path}.layers.{k}", causal, nn)
        ]
        last = module.norm
        return found if last is None else found + _converted(last, f"{path}.norm", causal, nn)
    raise InputError(
        f"{path} is of the type {type(module).__module__}.{type(module).__name__}, which is not "
        f"supported; give its parts one by one if they are (docs/network.md)"
    )


def _encoder_layer(module: Any, path: str, causal: bool, nn: Any) -> Iterator[Layer]:
    """Attention and feed-forward, each with a residual and a norm before or behind it."""
    attend = _converted(module.self_attn, f"{path}.self_attn", causal, nn)
    forward = [
        Affine(module.linear1.weight, module.linear1.bias),
        _activation(module.activation, f"{path}.activation", nn),
        Affine(module.linear2.weight, module.linear2.bias),
    ]
    for branch, name in ((attend, "norm1"), (forward, "norm2")):
        norm = _converted(getattr(module, name), f"{path}.{name}", causal, nn)
        if module.norm_first:
            yield Residual([*norm, *branch])
        else:
            yield Residual(branch)
            yield from norm


def _activation(given: Any, path: str, nn: Any) -> Layer:
    if given is nn.functional.relu or type(given) is nn.ReLU:
        return Relu()
    if given is nn.functional.gelu:
        return Gelu()
    if type(given) is nn.GELU:
        return _gelu(given.approximate, path)
    raise InputError(f"{path} is {given!r}; supported are ReLU and GELU"[:200])


def _gelu(approximate: str, path: str) -> Layer:
    if approximate != "none":
        raise InputError(
            f"{path} is GELU with approximate={approximate!r}, another function than x Φ(x), "
            f"which alone is supported"
        )
    return Gelu()


def _norm(module: Any, path: str) -> Layer:
    if len(module.normalized_shape) != 1:
        raise InputError(f"{path} (LayerNorm) normalises several axes; one is supported")
    return Norm(module.eps, module.weight, module.bias)


def _embedding(module: Any, path: str) -> Layer:
    if module.max_norm is not None:
        raise InputError(f"{path} (Embedding) has max_norm, which is not supported")
    return Embedding(module.weight)


def _attention(module: Any, path: str, causal: bool) -> Layer:
    name = f"{path} (MultiheadAttention)"
    if not module._qkv_same_embed_dim:
        raise InputError(f"{name} has keys or values of another width; self-attention has not")
    if module.bias_k is not None or module.bias_v is not None or module.add_zero_attn:
        raise InputError(f"{name} has add_bias_kv or add_zero_attn, which are not supported")
    heads, d = module.num_heads, module.embed_dim
    m = d // heads
    Q, K, V = module.in_proj_weight.reshape(3, heads, m, d)
    biases = (None,) * 3
    if module.in_proj_bias is not None:
        biases = tuple(module.in_proj_bias.reshape(3, heads, m))
    O = module.out_proj.weight.reshape(d, heads, m).permute(1, 0, 2)
    return Attention(
        Q=Q, K=K, V=V, O=O, q=biases[0], k=biases[1], v=biases[2], o=module.out_proj.bias,
        weights="softmax", root=m, causal=causal,
    )  # fmt: skip
