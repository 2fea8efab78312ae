"""Train many small models of one shape at once: one batched pass instead of many short ones.

Models differ in seed, strength λ and weight decay; each has its own data. Adam is entrywise, so
every model's path is what it would be alone, rounding apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import cos, pi

import torch
from torch import nn
from torch.func import stack_module_state, vmap
from torch.nn.attention import SDPBackend, sdpa_kernel

from hardmax.learned.dual_banach.regularizer import DualBanachRegularizer


@dataclass(frozen=True)
class Member:
    """One model: its seed, λ of the regulariser, decoupled weight decay as in AdamW."""

    seed: int
    strength: float
    decay: float


def train(
    make: Callable[[], nn.Module],
    members: Sequence[Member],
    batch: Callable[[int], tuple[torch.Tensor, torch.Tensor]],
    *,
    steps: int,
    rate: float,
    cosine: bool = False,
) -> tuple[list[nn.Module], list[float]]:
    """Trained models, and the regulariser's term (λ = 1) of each in the last step.

    ``batch(step)`` gives inputs (M, B, …) and labels (M, B) for the M members.
    """
    models = []
    for member in members:
        torch.manual_seed(member.seed)
        models.append(make())
    stacked, _ = stack_module_state(models)
    weights = {name: value.detach().clone().requires_grad_() for name, value in stacked.items()}
    strengths = torch.tensor([m.strength for m in members])
    decays = torch.tensor([m.decay for m in members])
    base = make()
    regularizer = DualBanachRegularizer(base, 1.0)

    def loss(
        parameters: dict[str, torch.Tensor], x: torch.Tensor, y: torch.Tensor, lam: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        with nn.utils.stateless._reparametrize_module(base, parameters):
            task = nn.functional.cross_entropy(base(x), y)
            term = regularizer()
        return torch.where(lam > 0, task + lam * term, task), term

    losses = vmap(loss)
    optimiser = torch.optim.Adam(weights.values(), rate)
    for step in range(steps):
        now = rate * (1 + cos(pi * step / steps)) / 2 if cosine else rate
        optimiser.param_groups[0]["lr"] = now
        with sdpa_kernel(SDPBackend.MATH):  # the other kernels have no batching rule
            values, terms = losses(weights, *batch(step), strengths)
        optimiser.zero_grad()
        values.sum().backward()
        with torch.no_grad():
            for value in weights.values():
                value.mul_(1 - now * decays.reshape(-1, *[1] * (value.dim() - 1)))
        optimiser.step()
    regularizer.remove()
    for k, model in enumerate(models):
        model.load_state_dict({name: value[k].detach() for name, value in weights.items()})
        model.eval()
    return models, terms.detach().tolist()
