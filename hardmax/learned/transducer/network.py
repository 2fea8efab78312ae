"""The Transducer network: (5) and (6) on vectors, with queries that see examples only."""

from __future__ import annotations

from typing import Any

from ...errors import InputError
from .configuration import Configuration
from .layers import Layer
from .torch_library import nn, torch

Tensor = Any


class Network(nn.Module):
    """Map examples (v_i, u_i) and queries v to estimates of u, for batches of data sets.

    >>> _ = torch.manual_seed(0)
    >>> network = Network(Configuration(3, 2, depth=2, heads=2, head_size=4, mlp=5))
    >>> v, u, queries = torch.randn(6, 4, 3), torch.randn(6, 4, 2), torch.randn(6, 7, 3)
    >>> network(v, u, queries).shape
    torch.Size([6, 7, 2])
    """

    def __init__(self, sizes: Configuration) -> None:
        super().__init__()
        self.sizes = sizes
        self.layers = nn.ModuleList(Layer(sizes) for _ in range(1 if sizes.tied else sizes.depth))
        for layer in self.layers:  # the sum of the layers starts near the identity
            nn.init.normal_(layer.kernel.out.weight, std=0.5 / (sizes.depth * sizes.heads) ** 0.5)
        if sizes.width:
            self.lift_input = nn.Linear(sizes.input_size, sizes.width, bias=False)
            self.lift_output = nn.Linear(sizes.output_size, sizes.width, bias=False)
            self.read = nn.Linear(sizes.width, sizes.output_size, bias=False)
        else:
            self.lift_input = self.lift_output = self.read = nn.Identity()
        if sizes.trunk:
            h = sizes.trunk
            self.trunk = nn.Sequential(
                nn.Linear(1, h), nn.GELU(), nn.Linear(h, h), nn.GELU(),
                nn.Linear(h, sizes.output_size),
            )  # fmt: skip

    def forward(
        self,
        v: Tensor,
        u: Tensor,
        queries: Tensor,
        mask: Tensor | None = None,
        points: int | None = None,
    ) -> Tensor:
        """Estimates (B, q, output_size); with a trunk (B, q, points), on a grid of [0, 1].

        ``v`` (B, n, input_size) and ``u`` (B, n, output_size) are examples, ``queries`` is
        (B, q, input_size); ``mask`` (B, n) is True where an example is one, so that data sets
        of different sizes share a batch. Raises InputError where shapes do not fit or a data
        set is empty.
        """
        return self._decode(self._run(v, u, queries, mask)[-1], points)

    def states(
        self, v: Tensor, u: Tensor, queries: Tensor, mask: Tensor | None = None
    ) -> list[Tensor]:
        """Estimates after 1, …, depth layers, each (B, q, output_size)."""
        return [self._decode(state, None) for state in self._run(v, u, queries, mask)]

    def _decode(self, state: Tensor, points: int | None) -> Tensor:
        """Read vectors, and sum (30) if there is a trunk."""
        weights = self.read(state)
        if not self.sizes.trunk:
            return weights
        x = torch.linspace(-1, 1, points or self.sizes.output_size, dtype=state.dtype)
        return weights @ self.trunk(x[:, None]).T

    def _run(self, v: Tensor, u: Tensor, queries: Tensor, mask: Tensor | None) -> list[Tensor]:
        """The query's state (6), or the sum (5), after every layer, before `read`."""
        self._check(v, u, queries, mask)
        n = v.shape[1]
        if mask is not None and bool(mask.all()):
            mask = None
        tokens = self.lift_input(torch.cat([v, queries], 1))
        lifted = self.lift_output(u)
        empty = lifted.new_zeros(len(v), queries.shape[1], self.sizes.inner_output)
        values, total, found = torch.cat([lifted, empty], 1), empty, []
        for depth in range(self.sizes.depth):
            layer = self.layers[0 if self.sizes.tied else depth]
            tokens, values, term = layer(tokens, values, n, mask)
            total = total + term[:, n:]
            found.append(values[:, n:] if self.sizes.readout == "state" else total)
        return found

    def _check(self, v: Tensor, u: Tensor, queries: Tensor, mask: Tensor | None) -> None:
        sizes = self.sizes
        for name, array, width in (
            ("v", v, sizes.input_size),
            ("u", u, sizes.output_size),
            ("queries", queries, sizes.input_size),
        ):
            if array.ndim != 3 or array.shape[-1] != width:
                raise InputError(
                    f"{name} has the shape {tuple(array.shape)}, expected (batch, count, {width})"
                )
        if v.shape[:2] != u.shape[:2] or len(v) != len(queries):
            raise InputError("v, u and queries must agree in batch, v and u in examples")
        if v.shape[1] == 0 or (mask is not None and not bool(mask.any(-1).all())):
            raise InputError("a data set has no example; the Transducer needs at least one")
        if mask is not None and mask.shape != v.shape[:2]:
            raise InputError(f"mask has the shape {tuple(mask.shape)}, expected {(*v.shape[:2],)}")
