"""A model as a PyTorch module: padded batches with masks, ties averaged as in (2.4b)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..errors import InputError
from ..execute.backends import to_numpy
from ..labels import LabelSet
from ..model.parameters import NAMES
from ..model.transformer import Transformer
from .extras import need
from .label_head import Head, head_of
from .rounded import rounded

ATTENTION = ("hardmax", "softmax")


def to_torch(
    model: Transformer,
    dtype: Any = "float64",
    *,
    attention: str = "hardmax",
    sets: Mapping[str, LabelSet] | None = None,
) -> Any:
    """An `nn.Module` with the parameters of ``model``, rounded to ``dtype``.

    ``module(tokens, mask)`` maps tokens (N, n, d) and a mask (N, n), true at tokens and false at
    padding (None: no padding), to the outputs (N, d). ``module.predict(tokens, mask)`` gives
    label ids (N,) into ``module.labels``, and ``module.batch(sequences)`` pads ragged sequences.
    The parameters u, b, w, rho, alpha, v are buffers of shape (L, …), which `state_dict` holds.
    ``dtype`` is float64 or float32, of PyTorch or as text; ``sets`` are the label sets to predict
    from, by default those that the model remembers.

    With ``attention="softmax"`` every attention is `scaled_dot_product_attention` with
    zero queries, which is the same function at every temperature; only models with uniform
    attention (v = 0 wherever α ≠ 0) have that form. Raises InputError for others, and as
    `rounded` does; MissingExtraError without PyTorch.

    >>> from hardmax.model.layers import RankOneBlock
    >>> module = to_torch(Transformer([RankOneBlock.of(1, rho=0, alpha=1, v=(1,))]))
    >>> module(*module.batch([[(1,), (4,)], [(3,)]])).tolist()
    [[4.0], [3.0]]
    """
    torch = need("torch")
    if attention not in ATTENTION:
        raise InputError(f"the attention {attention!r} is unknown; known are hardmax and softmax")
    name = str(dtype).removeprefix("torch.")
    found = rounded(model, name, sets)
    choosing = (found.arrays["v"] != 0).any(axis=1) & (found.arrays["alpha"] != 0)
    if attention == "softmax" and choosing.any():
        k = int(np.argmax(choosing))
        raise InputError(
            f"block {k + 1} has v ≠ 0: its attention chooses leaders, and no softmax does that; "
            f"take attention='hardmax'"
        )
    module = _module_class(torch)(name, attention, head_of(found.sets, name))
    for parameter in NAMES:
        array = found.arrays[parameter]
        # a model read from a file is not trained on: buffers move and save with the module
        module.register_buffer(parameter, torch.from_numpy(array.copy()))
    module.choosing = choosing.tolist()
    return module


def _module_class(torch: Any) -> Any:
    """The class of the modules; made when PyTorch is there."""
    global _CLASS
    if _CLASS is not None:
        return _CLASS

    class HardmaxModule(torch.nn.Module):  # type: ignore[misc]
        """A hardmax transformer of rank-1 blocks, block by block over stacked parameters."""

        def __init__(self, dtype: str, attention: str, head: Head) -> None:
            super().__init__()
            self.float_type = getattr(torch, dtype)
            self.attention = attention
            self.labels = list(head.names)
            self.choosing: list[bool] = []  # per block: does its attention choose leaders?
            self._head = head

        def extra_repr(self) -> str:
            """Depth, dimension and number of labels."""
            blocks, dimension = self.u.shape
            return f"blocks={blocks}, dimension={dimension}, labels={len(self.labels)}"

        def batch(self, sequences: Iterable[Any]) -> tuple[Any, Any]:
            """Tokens (N, n, d), padded with zeros, and the mask (N, n), for ragged sequences."""
            arrays = [np.asarray(to_numpy(np.asarray(Z)), dtype=np.float64) for Z in sequences]
            dimension = self.u.shape[1]
            for j, Z in enumerate(arrays):
                if Z.ndim != 2 or not len(Z) or Z.shape[1] != dimension:
                    raise InputError(
                        f"sequence {j + 1} has shape {Z.shape}, expected (n, {dimension}), n ≥ 1"
                    )
            longest = max(map(len, arrays), default=1)
            tokens = np.zeros((len(arrays), longest, dimension))
            mask = np.zeros((len(arrays), longest), dtype=bool)
            for Z, row, there in zip(arrays, tokens, mask, strict=True):
                row[: len(Z)], there[: len(Z)] = Z, True
            device = self.u.device
            return (
                torch.from_numpy(tokens).to(device, self.u.dtype),
                torch.from_numpy(mask).to(device),
            )

        def forward(self, tokens: Any, mask: Any = None) -> Any:
            """Outputs (N, d) of tokens (N, n, d), of which only those under the mask count."""
            x = torch.as_tensor(tokens, dtype=self.u.dtype, device=self.u.device)
            if mask is None:
                mask = torch.ones(x.shape[:2], dtype=torch.bool, device=x.device)
            mask = torch.as_tensor(mask, device=x.device)
            if x.ndim != 3 or x.shape[2] != self.u.shape[1] or mask.shape != x.shape[:2]:
                raise InputError(
                    f"tokens {tuple(x.shape)} and mask {tuple(mask.shape)} do not fit; "
                    f"expected (N, n, {self.u.shape[1]}) and (N, n)"
                )
            if mask.dtype != torch.bool or not bool(mask.any(dim=1).all()):
                raise InputError("the mask is true at tokens, and every sequence needs one")
            x = torch.where(mask[..., None], x, 0)  # whatever the padding holds, NaN included
            rhos, alphas = self.rho.tolist(), self.alpha.tolist()
            for k in range(self.u.shape[0]):
                moved = torch.relu(x @ self.u[k] + self.b[k])
                x = x + moved[..., None] * self.w[k]
                if rhos[k] == 1 and alphas[k] == 0:
                    continue
                if alphas[k] == 0:
                    x = self.rho[k] * x
                    continue
                x = self.rho[k] * x + self.alpha[k] * self._focus(k, x, mask)
                if rhos[k] == 0:
                    x, mask = _collapsed(torch, x, mask)
            return _mean(torch, x, mask)[:, 0]

        def _focus(self, k: int, x: Any, mask: Any) -> Any:
            """For each token the mean of the tokens that it selects, (N, n, d) or (N, 1, d)."""
            if self.choosing[k]:
                score = x @ self.v[k]
                best = torch.where(mask, score, -torch.inf).amax(dim=1, keepdim=True)
                least = torch.where(mask, score, torch.inf).amin(dim=1, keepdim=True)
                # ⟨v,z_i⟩⟨v,z_l⟩ is largest where ⟨v,z_l⟩ is largest, or least, or anywhere
                up = _mean(torch, x, mask & (score == best))
                down = _mean(torch, x, mask & (score == least))
                sign = score[..., None]
                rest = torch.where(sign < 0, down, _mean(torch, x, mask))
                return torch.where(sign > 0, up, rest)
            if self.attention == "softmax":
                allowed = mask[:, None, :].expand(-1, x.shape[1], -1)
                attend = torch.nn.functional.scaled_dot_product_attention
                return attend(torch.zeros_like(x), x, x, attn_mask=allowed)
            return _mean(torch, x, mask)

        def predict(self, tokens: Any, mask: Any = None) -> Any:
            """Label ids (N,) into ``labels``: the set that holds the output, else the nearest.

            −1 where no set holds it and one of them is a polyhedron of several rows. Of equal
            distances the first label wins.
            """
            with torch.no_grad():
                return self._head.of_torch(torch, self(tokens, mask))

    _CLASS = HardmaxModule
    return _CLASS


_CLASS: Any = None


def _mean(torch: Any, x: Any, chosen: Any) -> Any:
    """Mean of the chosen tokens of each sequence, (N, 1, d)."""
    total = torch.where(chosen[..., None], x, 0).sum(dim=1, keepdim=True)
    # one division at the end: means of integers stay exact, and equal means equal
    return total / chosen.sum(dim=1, keepdim=True)[..., None].to(x.dtype)


def _collapsed(torch: Any, x: Any, mask: Any) -> tuple[Any, Any]:
    """One token a sequence where all its tokens are equal, else what was given."""
    first = mask.to(torch.int8).argmax(dim=1)
    one = x[torch.arange(len(x), device=x.device), first][:, None] if x.shape[1] > 1 else x
    if bool(((x == one).all(dim=2) | ~mask).all()):
        return one, mask.any(dim=1, keepdim=True)
    return x, mask
