"""The dual-Banach regulariser (equation 13) for PyTorch models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ...errors import InputError
from .torch_blocks import Module, Parts, find_parts, require_torch

Tensor = Any  # torch.Tensor; torch is optional


@dataclass(frozen=True)
class Choices:
    """What the paper leaves open, each with the default taken here.

    ``source``: f̃* is the output of the "attention" (9), or the "residual" stream x + attention
    that the layer norm reads. ``matrix_norm``: "frobenius" (3rC² operations, as in Appendix E.2)
    or "spectral" (tighter, slower). ``ddof``: divisor d − ddof of the variance; 1 breaks the
    bound. ``eps``: added to the variance; None takes the layer norm's. ``reduction``: "mean" over
    tokens, or "sequence" for the sum over tokens, mean over sequences. ``heads``: "joint" for the
    norm of the summed heads, or "separate" for Σ_h ‖W_{o,h} a_h‖² without the cross terms.
    ``detach_std``, ``detach_norms``: no gradient through std, or through the norms of weights.
    """

    source: str = "attention"
    matrix_norm: str = "frobenius"
    ddof: int = 0
    eps: float | None = None
    reduction: str = "mean"
    heads: str = "joint"
    detach_std: bool = False
    detach_norms: bool = False

    def __post_init__(self) -> None:
        known = {
            "source": ("attention", "residual"),
            "matrix_norm": ("frobenius", "spectral"),
            "ddof": (0, 1),
            "reduction": ("mean", "sequence"),
            "heads": ("joint", "separate"),
        }
        for name, values in known.items():
            if getattr(self, name) not in values:
                raise InputError(f"{name} = {getattr(self, name)!r}; known are {values}")
        if self.eps is not None and not self.eps > 0:
            raise InputError(f"eps = {self.eps} must be positive: a zero output has std 0")
        if self.heads == "separate" and self.source == "residual":
            raise InputError("heads = 'separate' needs source = 'attention'")


class DualBanachRegularizer:
    """λ/L Σ_l (1 + K_l/std f_l)² ‖f_l‖², K_l = ‖W₂‖‖W₁‖ max|γ|, from hooks on a model (13).

    Run the model, then call the regulariser; it uses the last forward pass. ``blocks`` names the
    blocks of the sum; by default those that `find_parts` finds. Further arguments are `Choices`.
    Padding told by ``src_key_padding_mask`` counts nowhere.

    >>> import torch
    >>> layer = torch.nn.TransformerEncoderLayer(8, 2, 16, norm_first=True, batch_first=True)
    >>> regularizer = DualBanachRegularizer(layer, strength=0.01)
    >>> loss = layer(torch.randn(3, 5, 8)).square().mean() + regularizer()
    >>> loss.backward()
    """

    def __init__(
        self,
        model: Module,
        strength: float = 0.01,
        *,
        blocks: Mapping[str, Parts] | None = None,
        **choices: Any,
    ) -> None:
        self._torch = require_torch()
        if not 0 <= strength < float("inf"):
            raise InputError(f"the strength λ = {strength} must be a number of at least 0")
        try:
            self.choices = Choices(**choices)
        except TypeError:
            raise InputError(
                f"unknown option among {', '.join(choices)}; "
                f"known are {', '.join(asdict(Choices()))}"
            ) from None
        self.strength = strength
        self._blocks = {
            name: _Watched(self._torch, parts, self.choices)
            for name, parts in (find_parts(model) if blocks is None else blocks).items()
        }
        if not self._blocks:
            raise InputError("the regulariser needs at least one block")
        self._handles = [model.register_forward_pre_hook(lambda *_: self._forget())]
        for block in self._blocks.values():
            self._handles += block.handles

    def __call__(self) -> Tensor:
        """Strength times the mean over blocks: a scalar tensor with gradients."""
        return self.strength * sum(self.terms().values()) / len(self._blocks)

    def terms(self) -> dict[str, Tensor]:
        """The summand of every block, without λ and 1/L."""
        return {name: block.term(name) for name, block in self._blocks.items()}

    def remove(self) -> None:
        """Take all hooks off the model."""
        for handle in self._handles:
            handle.remove()
        self._forget()

    def _forget(self) -> None:
        for block in self._blocks.values():
            block.records.clear()


class _Watched:
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
        if not self.records:
            raise InputError(f"{name} saw no input; run the model before its regulariser")
        values = [self._reduce(self._per_token(f, square), pad) for f, square, pad in self.records]
        return sum(values[1:], start=values[0]) / len(values)

    def _per_token(self, f: Tensor, square: Tensor) -> Tensor:
        choices, norm = self.choices, self.parts.norm
        eps = float(getattr(norm, "eps", 1e-5)) if choices.eps is None else choices.eps
        if not eps > 0:
            raise InputError("the layer norm has ε = 0; give the regulariser a positive eps")
        deviation = (f.var(-1, correction=choices.ddof) + eps).sqrt()
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
