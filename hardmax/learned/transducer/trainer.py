"""Meta-training (7): one gradient step a batch of data sets, with random splits."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InputError
from ...formats.files import read_bytes
from ...formats.whole_files import write_whole
from .network import Network
from .torch_library import torch


@dataclass(frozen=True)
class Settings:
    """How to meta-train.

    A step draws ``batch`` data sets, a number of examples in ``examples`` (both ends
    included), and ``queries`` other pairs to predict. ``loss`` is "mse" (27) or "relative",
    each query's squared error over ‖u‖² (29). The learning rate of Adam rises over ``warmup``
    steps and is halved ``halvings`` times at equal distances, as the paper says without
    figures. ``clip`` bounds the norm of the gradient.

    >>> Settings(steps=100, halvings=4).rate(99) / Settings(steps=100, halvings=4).rate(0)
    0.0625
    """

    steps: int = 1000
    batch: int = 1
    queries: int = 10
    examples: tuple[int, int] = (20, 90)
    loss: str = "mse"
    learning_rate: float = 1e-4
    warmup: int = 0
    halvings: int = 4
    clip: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.loss not in ("mse", "relative"):
            raise InputError(f"the loss {self.loss!r} is unknown: 'mse' or 'relative'")
        if not 1 <= self.examples[0] <= self.examples[1]:
            raise InputError(f"examples = {self.examples} is no range of positive numbers")
        if min(self.steps, self.batch, self.queries) < 1:
            raise InputError("steps, batch and queries must be positive")

    def rate(self, step: int) -> float:
        """Learning rate of a step, counted from 0."""
        rise = min(1.0, (step + 1) / self.warmup) if self.warmup else 1.0
        return self.learning_rate * rise * 0.5 ** int((self.halvings + 1) * step / self.steps)


class Trainer:
    """Meta-train a network on coded tasks v (M, n, a), u (M, n, b), both float32.

    Step s depends on the seed, s and the state alone, so a run that is stopped and resumed
    from a checkpoint ends with the same bits on the same machine with one thread.
    """

    def __init__(self, network: Network, v: np.ndarray, u: np.ndarray, settings: Settings) -> None:
        sizes = network.sizes
        if v.ndim != 3 or u.ndim != 3 or v.shape[:2] != u.shape[:2] or not len(v):
            raise InputError(
                f"tasks of shapes {v.shape} and {u.shape}; expected (tasks, pairs, size) twice"
            )
        if (v.shape[2], u.shape[2]) != (sizes.input_size, sizes.output_size):
            raise InputError(
                f"tasks of sizes {v.shape[2]} and {u.shape[2]}, but the network takes "
                f"{sizes.input_size} and {sizes.output_size}"
            )
        if settings.examples[1] + settings.queries > v.shape[1]:
            raise InputError(
                f"{settings.examples[1]} examples and {settings.queries} queries need that many "
                f"pairs a task; there are {v.shape[1]}"
            )
        self.network, self.settings, self.step = network, settings, 0
        self.losses: list[float] = []
        self._v, self._u = torch.as_tensor(v), torch.as_tensor(u)
        self._adam = torch.optim.Adam(network.parameters(), lr=settings.learning_rate)

    def batch(self, step: int) -> tuple[Any, Any, Any, Any]:
        """Examples v, u, queries and their targets of a step, each (batch, count, size)."""
        s = self.settings
        rng = np.random.default_rng([s.seed, step])
        tasks = rng.integers(len(self._v), size=s.batch)
        n = int(rng.integers(s.examples[0], s.examples[1] + 1))
        order = rng.permuted(np.tile(np.arange(self._v.shape[1]), (s.batch, 1)), axis=1)
        train, test = order[:, :n], order[:, n : n + s.queries]
        rows = tasks[:, None]
        return self._v[rows, train], self._u[rows, train], self._v[rows, test], self._u[rows, test]

    def loss(self, estimates: Any, targets: Any) -> Any:
        """(27) by Parseval, without the constant part of the modes that are left out; or (29)."""
        squares = (estimates - targets).square().sum(-1)
        if self.settings.loss == "relative":
            squares = squares / targets.square().sum(-1).clamp_min(1e-12)
        return squares.mean()

    def advance(self) -> float:
        """Do one step; return its loss."""
        for group in self._adam.param_groups:
            group["lr"] = self.settings.rate(self.step)
        v, u, queries, targets = self.batch(self.step)
        self._adam.zero_grad(set_to_none=True)
        loss = self.loss(self.network(v, u, queries), targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.settings.clip)
        self._adam.step()
        self.step += 1
        self.losses.append(float(loss.detach()))
        return self.losses[-1]

    def run(
        self,
        checkpoint: str | PathLike[str] | None = None,
        *,
        every: int = 500,
        report: Callable[[int, float], None] | None = None,
    ) -> None:
        """Train to the end; resume from ``checkpoint`` if that file exists, and keep it fresh.

        ``report`` gets the step and the mean loss of the last ``every`` steps.
        """
        if checkpoint is not None and Path(checkpoint).exists():
            self.resume(checkpoint)
        self.network.train()
        while self.step < self.settings.steps:
            self.advance()
            if self.step % every == 0 or self.step == self.settings.steps:
                if checkpoint is not None:
                    self.save(checkpoint)
                if report is not None:
                    report(self.step, float(np.mean(self.losses[-every:])))
        self.network.eval()

    def save(self, path: str | PathLike[str]) -> None:
        """Write a checkpoint, whole or not at all."""
        state = {
            "what": self._what(),
            "network": self.network.state_dict(),
            "adam": self._adam.state_dict(),
            "step": self.step,
            "losses": self.losses,
        }
        write_whole(path, lambda temporary: torch.save(state, temporary))

    def resume(self, path: str | PathLike[str]) -> None:
        """Go on from a checkpoint; raises InputError if it is broken or of another run."""
        read_bytes(path)
        try:
            state = torch.load(path, weights_only=True)
            what = state["what"]
        except Exception as problem:  # torch names no common class
            raise InputError(f"{path}: not a checkpoint ({problem})".splitlines()[0]) from None
        if what != self._what():
            raise InputError(
                f"{path}: a checkpoint of a run with other settings; remove it or name another"
            )
        self.network.load_state_dict(state["network"])
        self._adam.load_state_dict(state["adam"])
        self.step, self.losses = state["step"], list(state["losses"])

    def _what(self) -> str:
        settings = asdict(self.settings)
        return json.dumps([self.network.sizes.as_dict(), settings, list(self._v.shape)])
