"""A small Fourier neural operator in one dimension, trained from scratch on one data set."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn


class FNO(nn.Module):
    """``depth`` layers x ↦ GELU(Wx + F⁻¹(R·Fx)) on 16 modes, as the paper's baseline.

    The paper's has width 64; this one 32, to fit a shared core.
    """

    def __init__(self, width: int = 32, modes: int = 16, depth: int = 4) -> None:
        super().__init__()
        self.modes = modes
        self.lift = nn.Conv1d(2, width, 1)
        self.local = nn.ModuleList(nn.Conv1d(width, width, 1) for _ in range(depth))
        scale = 1 / width
        self.spectral = nn.ParameterList(
            nn.Parameter(scale * torch.rand(width, width, modes, dtype=torch.cfloat))
            for _ in range(depth)
        )
        self.project = nn.Sequential(nn.Conv1d(width, 64, 1), nn.GELU(), nn.Conv1d(64, 1, 1))

    def forward(self, v: torch.Tensor) -> torch.Tensor:
        """Functions (n, m) to functions (n, m)."""
        x = torch.linspace(0, 1, v.shape[1]).expand_as(v)
        h = self.lift(torch.stack([v, x], 1))
        for k, (local, weight) in enumerate(zip(self.local, self.spectral, strict=True)):
            low = torch.fft.rfft(h)[..., : self.modes]
            mixed = torch.einsum("nim,iom->nom", low, weight)
            h = local(h) + torch.fft.irfft(mixed, n=h.shape[-1])
            h = nn.functional.gelu(h) if k + 1 < len(self.local) else h
        return self.project(h)[:, 0]


def train(v: np.ndarray, u: np.ndarray, *, steps: int = 800, seed: int = 0) -> FNO:
    """Adam, learning rate 1e-3 halved every quarter, on all examples at once."""
    torch.manual_seed(seed)
    model = FNO()
    adam = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.StepLR(adam, steps // 4, 0.5)
    a, b = (torch.as_tensor(np.asarray(x, np.float32)) for x in (v, u))
    for _ in range(steps):
        adam.zero_grad()
        loss = ((model(a) - b).square().sum(1) / b.square().sum(1)).mean()
        loss.backward()
        adam.step()
        schedule.step()
    return model


def predict(model: FNO, queries: np.ndarray) -> np.ndarray:
    """Estimates of u at queries (q, m)."""
    with torch.no_grad():
        return model(torch.as_tensor(np.asarray(queries, np.float32))).double().numpy()
