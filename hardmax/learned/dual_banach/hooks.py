"""What the regulariser sees of one block: its attention outputs, by hooks on the submodules."""

from __future__ import annotations

from typing import Any

from ...errors import InputError
from .choices import Choices
from .torch_blocks import Module, Parts

Tensor = Any  # torch.Tensor; torch is optional


class Watched:
    """One block: what its attention said in the last forward pass, and the term it adds."""

    def __init__(self, torch: Any, parts: Parts, choices: Choices) -> None:
        self.torch, self.parts, self.choices = torch, parts, choices
        self.records: list[tuple[Tensor, Tensor, Tensor | None]] = []  # f, ‖f‖², padding
        self.padding: Tensor | None = None
        self.joined: Tensor | None = None
        self.handles = [
            parts.attention.register_forward_hook(self._after_attention, with_kwargs=True)
        ]
        if choices.source == "residual":
            self.handles.append(parts.norm.register_forward_pre_hook(self._before_norm))
        projection = getattr(parts.attention, "proj", getattr(parts.attention, "c_proj", None))
        if choices.heads == "separate" and projection is not None:
            self.handles.append(projection.register_forward_pre_hook(self._before_projection))

    def term(self, name: str) -> Tensor:
        """(1 + K/std)²‖f‖², reduced over tokens; the mean over the calls of the last pass."""
        if not self.records:
            raise InputError(f"{name} saw no input; run the model before its regulariser")
        values = [self._reduce(self._per_token(f, square), pad) for f, square, pad in self.records]
        return sum(values[1:], start=values[0]) / len(values)

    def _per_token(self, f: Tensor, square: Tensor) -> Tensor:
        choices, norm = self.choices, self.parts.norm
        eps = float(getattr(norm, "eps", 1e-5)) if choices.eps is None else choices.eps
        if not eps > 0:
            raise InputError("the layer norm has ε = 0; give the regulariser a positive eps")
        centred = f - f.mean(-1, keepdim=True)  # with .square(): twice as fast as .var()
        variance = centred.square().sum(-1) / (f.shape[-1] - choices.ddof)
        deviation = (variance + eps).sqrt()
        order = "fro" if choices.matrix_norm == "frobenius" else 2
        size = self.torch.linalg.matrix_norm
        weights = (self.parts.first.weight, self.parts.second.weight)
        factor = size(weights[0].to(f.dtype), order) * size(weights[1].to(f.dtype), order)
        if norm.weight is not None:
            factor = factor * norm.weight.abs().max().to(f.dtype)
        if choices.detach_std:
            deviation = deviation.detach()
        if choices.detach_norms:
            factor = factor.detach()
        return (1 + factor / deviation) ** 2 * square

    def _reduce(self, values: Tensor, padding: Tensor | None) -> Tensor:
        batched = values.dim() > 1
        first = getattr(self.parts.attention, "batch_first", True)
        count = values.shape[0 if first else 1] if batched else 1
        if padding is None:
            return values.mean() if self.choices.reduction == "mean" else values.sum() / count
        real = ~padding if first or not batched else ~padding.T
        total = self.torch.where(real, values, values.new_zeros(())).sum()
        return total / (real.sum() if self.choices.reduction == "mean" else count)

    def _after_attention(self, module: Module, args: Any, kwargs: Any, output: Any) -> None:
        f = output[0] if isinstance(output, tuple) else output
        mask = kwargs.get("key_padding_mask")
        self.padding = (
            None if mask is None else (mask if mask.dtype == self.torch.bool else mask < 0)
        )
        if self.choices.source == "residual":
            return
        if self.choices.heads == "joint":
            self._record(f, None)
            return
        if self.joined is None:
            self.joined = _joined_heads(self.torch, module, args, kwargs)
        self._record(f, self._separate(self.joined))
        self.joined = None

    def _before_norm(self, module: Module, args: Any) -> None:
        self._record(args[0], None)

    def _before_projection(self, module: Module, args: Any) -> None:
        self.joined = args[0]

    def _record(self, f: Tensor, square: Tensor | None) -> None:
        if f.dtype in (self.torch.float16, self.torch.bfloat16):
            f = f.float()
        self.records.append((f, f.square().sum(-1) if square is None else square, self.padding))

    def _separate(self, joined: Tensor) -> Tensor:
        """Σ_h ‖W_{o,h} a_h‖² by the Gram matrices of the heads, as the costs of E.2 suggest."""
        module = self.parts.attention
        heads = int(getattr(module, "num_heads", getattr(module, "n_head", 0)))
        names = ("out_proj", "proj", "c_proj")
        out: Module = next(getattr(module, name) for name in names if hasattr(module, name))
        weight = out.weight.T if type(out).__name__ == "Conv1D" else out.weight
        parts = weight.unflatten(1, (heads, -1)).transpose(0, 1)  # (H, D, d_h)
        gram = parts.transpose(1, 2) @ parts
        a = joined.unflatten(-1, (heads, -1))
        return self.torch.einsum("...hi,hij,...hj->...", a, gram, a)


def _joined_heads(torch: Any, module: Module, args: Any, kwargs: Any) -> Tensor:
    """Concatenated head outputs of `nn.MultiheadAttention`, which never shows them: run again."""
    names = ("query", "key", "value")
    q, k, v = (args[i] if i < len(args) else kwargs[name] for i, name in enumerate(names))
    if not module.batch_first and q.dim() == 3:
        q, k, v = (x.transpose(0, 1) for x in (q, k, v))
    weights = module.in_proj_weight.chunk(3)
    given = module.in_proj_bias
    biases = (None,) * 3 if given is None else given.chunk(3)
    linear = torch.nn.functional.linear
    q, k, v = (
        linear(x, weight, bias).unflatten(-1, (module.num_heads, -1)).transpose(-2, -3)
        for x, weight, bias in zip((q, k, v), weights, biases, strict=True)
    )
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    for name, expand in (("attn_mask", False), ("key_padding_mask", True)):
        mask = kwargs.get(name)
        if mask is None:
            continue
        if mask.dtype == torch.bool:
            mask = torch.zeros_like(mask, dtype=q.dtype).masked_fill(mask, float("-inf"))
        if expand and mask.dim() == 2:
            mask = mask[:, None, None, :]
        elif not expand and mask.dim() == 3:
            mask = mask.unflatten(0, (-1, module.num_heads))
        scores = scores + mask
    joined = (scores.softmax(-1) @ v).transpose(-2, -3).flatten(-2)
    return joined if module.batch_first or joined.dim() == 2 else joined.transpose(0, 1)
