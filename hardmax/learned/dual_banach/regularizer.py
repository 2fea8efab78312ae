"""The dual-Banach regulariser (equation 13) for PyTorch models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ...errors import InputError
from .choices import Choices
from .hooks import Tensor, Watched
from .torch_blocks import Module, Parts, find_parts, require_torch


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
            name: Watched(self._torch, parts, self.choices)
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
