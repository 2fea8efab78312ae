"""What each operator of an ONNX graph makes of the tensors that it is given (`onnx_values`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import InputError
from ..network.layers import Gelu, Norm, Readout, Relu, Residual
from .onnx_values import Elementwise, Entries, Scores, affine, attended, shifted

_ROOTS = (float(np.float32(2**0.5)), 2**0.5)  # √2, as exporters round it
_INVERSE = (float(np.float32(0.5**0.5)), 0.5**0.5)


def read_out(given: Entries) -> Entries:
    """Entries of one token of several: the readout of the first or the last."""
    state = given.state
    tokens = set(given.tokens.ravel().tolist())
    if state.count == 1 or len(tokens) > 1:
        return given
    which = {0: "first", state.count - 1: "last"}.get(tokens.pop())
    if which is None:
        raise InputError("it takes one token, which is neither the first nor the last")
    return Entries(state.then(Readout(which), count=1), given.channels)


def _matmul(a: Any, b: Any) -> Any:
    if isinstance(a, Entries) and isinstance(b, np.ndarray) and b.ndim == 2:
        return affine(read_out(a), b)
    if isinstance(a, Entries) and isinstance(b, Entries):
        keys = replace(b, index=np.swapaxes(b.index, -1, -2))
        if a.index.shape[:-2] != keys.index.shape[:-2]:
            raise InputError("queries and keys have different heads")
        return Scores(a, keys, a.scale * b.scale)
    if isinstance(a, Scores) and a.softmax and isinstance(b, Entries):
        if a.queries.index.shape[:-2] != b.index.shape[:-2]:
            raise InputError("weights and values have different heads")
        return attended(a, b)
    raise InputError("such a product is not supported")


def _gemm(a: Any, b: Any, c: Any = None, **options: Any) -> Any:
    if not isinstance(a, Entries) or not isinstance(b, np.ndarray) or options.get("transA"):
        raise InputError("such a product is not supported")
    if options.get("alpha", 1) != 1 or options.get("beta", 1) != 1:
        raise InputError("alpha and beta must be 1")
    found = affine(read_out(a), b.T if options.get("transB") else b)
    return found if c is None else shifted(found, c)


def _add(a: Any, b: Any) -> Any:
    if isinstance(a, np.ndarray):
        a, b = b, a
    if isinstance(b, np.ndarray):
        if isinstance(a, Elementwise) and b.size == 1 and a.power == 0:
            return replace(a, one=a.one + _number(b))
        if isinstance(a, Scores) and not a.softmax:
            return replace(a, causal=_causal(b, a))
        if isinstance(a, Entries):
            return shifted(read_out(a), b)
        raise InputError("such a sum is not supported")
    return _residual(a, b)


def _residual(a: Any, b: Any) -> Entries:
    if not isinstance(a, Entries) or not isinstance(b, Entries):
        raise InputError("such a sum is not supported")
    first, second = a.plain(), b.plain()
    pairs: tuple[tuple[Entries, Entries], ...] = (first, second), (second, first)
    first.need_all()
    for near, far in pairs:
        layers = far.state.back_to(near.state)
        if layers:
            if not np.array_equal(near.index, far.index):
                raise InputError("it adds tokens or coordinates in different places")
            return near.of(near.state.then(Residual(layers)))
    raise InputError("neither of its inputs is made from the other: no residual connection")


def _sub(a: Any, b: Any) -> Any:
    if not isinstance(a, Entries) or not isinstance(b, np.ndarray):
        raise InputError("such a difference is not supported")
    return shifted(read_out(a), -b)


def _mul(a: Any, b: Any) -> Any:
    if isinstance(a, np.ndarray):
        a, b = b, a
    if isinstance(b, np.ndarray) and b.size == 1:
        factor = _number(b)
        if isinstance(a, Entries):
            return replace(a, scale=a.scale * factor)
        if isinstance(a, Elementwise):
            return _gelu_or(a.times(factor))
        if isinstance(a, Scores) and not a.softmax:
            return replace(a, beta=a.beta * factor)
    if isinstance(a, Entries):
        a, b = b, a
    same = (
        isinstance(a, Elementwise) and isinstance(b, Entries) and a.power == 0
        and b.state is a.of.state and np.array_equal(b.index, a.of.index)
    )  # fmt: skip
    if same:
        return _gelu_or(replace(a.times(b.scale), power=1))
    raise InputError("such a product is not supported")


def _div(a: Any, b: Any) -> Any:
    if not isinstance(b, np.ndarray) or b.size != 1 or not _number(b):
        raise InputError("such a quotient is not supported")
    if isinstance(a, Entries):
        return replace(a, scale=a.scale / _number(b))
    if isinstance(a, Scores) and not a.softmax:
        return replace(a, beta=a.beta / _number(b))
    raise InputError("such a quotient is not supported")


def _relu(a: Any) -> Entries:
    plain = a.plain()
    plain.need_all()
    return Entries(plain.state.then(Relu()), plain.index)


def _gelu(a: Any, approximate: bytes = b"none") -> Any:
    if approximate != b"none":
        raise InputError(f"approximate={approximate.decode()!r} is another function than xΦ(x)")
    return _gelu_of(a)


def _erf(a: Any) -> Elementwise:
    plain = replace(a, scale=Fraction(1))
    scale = float(a.scale)
    right = scale in _INVERSE or any(a.scale == 1 / Fraction(root) for root in _ROOTS)
    if not right:
        raise InputError(f"its argument is x·{scale}, expected x/√2 as in a GELU")
    return Elementwise(plain, scale)


def _layernormalization(
    a: Any, scale: Any, bias: Any = None, axis: int = -1, epsilon: float = 1e-5,
    stash_type: int = 1,
) -> Any:  # fmt: skip
    plain = a.plain()
    _, channels = plain.rows()
    plain.need_all()
    if axis not in (-1, plain.index.ndim - 1):
        raise InputError("it normalises several axes; the last alone is supported")
    order = np.argsort(channels)
    b = None if bias is None else bias.ravel()[order]
    norm = Norm(Fraction(float(np.float32(epsilon))), scale.ravel()[order], b)
    return plain.of(plain.state.then(norm))


def _softmax(a: Any, axis: int = -1) -> Scores:
    if not isinstance(a, Scores) or axis not in (-1, a.queries.index.ndim - 1):
        raise InputError("it is no attention: its input are not queries times keys")
    if a.softmax:
        raise InputError("it stands behind another Softmax")
    return replace(a, softmax=True)


def _reducemean(a: Any, axes: Any = None, keepdims: int = 1, **options: Any) -> Entries:
    chosen = np.atleast_1d(axes).tolist() if axes is not None else []
    if not isinstance(a, Entries) or len(chosen) != 1 or options.get("noop_with_empty_axes"):
        raise InputError("a mean over all tokens alone is supported")
    plain = a.plain()
    plain.need_all()
    lined = np.moveaxis(plain.index, chosen[0], 0).reshape(plain.index.shape[chosen[0]], -1)
    channels = lined % plain.state.width
    if len(lined) != plain.state.count or (channels != channels[0]).any():
        raise InputError("it is not the mean over all tokens")
    index = np.expand_dims(channels[0], 0)
    shape = list(plain.index.shape)
    shape[chosen[0]] = 1
    index = index.reshape(shape if keepdims else np.delete(shape, chosen[0]))
    return Entries(plain.state.then(Readout("mean"), count=1), index)


def _number(array: np.ndarray) -> Fraction:
    number = float(array.reshape(()) if array.size == 1 else np.nan)
    if not np.isfinite(number):
        raise InputError("a constant is infinite or NaN")
    return Fraction(number)


def _causal(mask: np.ndarray, scores: Scores) -> bool:
    """Whether a mask that is added lets each token see those before it and itself alone."""
    count = scores.queries.state.count
    wide = np.broadcast_to(mask, (*mask.shape[:-2], count, count))
    if not wide.any():
        return scores.causal
    least = np.finfo(mask.dtype).min  # what exporters write for −∞
    shown, hidden = wide[..., np.tri(count, dtype=bool)], wide[..., ~np.tri(count, dtype=bool)]
    if not shown.any() and np.isin(hidden, (-np.inf, least)).all():
        return True
    raise InputError("it adds a mask that is neither zero nor causal with −∞")


def _gelu_or(found: Elementwise) -> Any:
    half = Fraction(1, 2)
    if found.power == 1 and found.one == found.erf == half:
        return _gelu_of(found.of)
    return found


def _gelu_of(given: Entries) -> Entries:
    plain = given.plain()
    plain.need_all()
    return plain.of(plain.state.then(Gelu()))


RULES: Mapping[str, Callable[..., Any]] = {
    "MatMul": _matmul,
    "Gemm": _gemm,
    "Add": _add,
    "Sub": _sub,
    "Mul": _mul,
    "Div": _div,
    "Relu": _relu,
    "Gelu": _gelu,
    "Erf": _erf,
    "LayerNormalization": _layernormalization,
    "Softmax": _softmax,
    "ReduceMean": _reducemean,
}
