"""One layer of the Transducer: residual maps F and G, and the attention kernel κ of (4)."""

from __future__ import annotations

from typing import Any

from .configuration import Configuration
from .torch_library import nn, torch

Tensor = Any


class ResidualMap(nn.Module):
    """x ↦ x + W₂ GELU(W₁ LN(x) + b₁) + b₂ on the last axis (S.9.3).

    >>> ResidualMap(3, 5)(torch.zeros(2, 3)).shape
    torch.Size([2, 3])
    """

    def __init__(self, size: int, hidden: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(size)
        self.inner = nn.Linear(size, hidden)
        self.outer = nn.Linear(hidden, size)
        nn.init.normal_(self.outer.weight, std=0.02)
        nn.init.zeros_(self.outer.bias)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.outer(nn.functional.gelu(self.inner(self.norm(x))))


class AttentionKernel(nn.Module):
    """The multi-head kernel κ of (4), with the three expressions A of S.9.2.

    With k_j = K v_j of an example and q_i = Q v_i of a receiver, A is exp(⟨k, q⟩/τ) for
    "exp-dot", exp(−‖k − q‖²/τ) for "rbf" and ‖k − q‖² for "l2", divided by its sum over the
    examples. The paper prints no sign for "rbf"; it must be negative to be that kernel.

    >>> kernel = AttentionKernel(Configuration(3, 2, heads=2, head_size=4))
    >>> v, w = torch.randn(1, 5, 3), torch.randn(1, 4, 2)
    >>> kernel(v[:, :4], v, w).shape
    torch.Size([1, 5, 2])
    """

    def __init__(self, sizes: Configuration) -> None:
        super().__init__()
        self.kind, self.tau, self.heads = sizes.kernel, sizes.tau, sizes.heads
        inner = sizes.heads * sizes.head_size
        self.key = nn.Linear(sizes.inner_input, inner, bias=False)
        self.query = nn.Linear(sizes.inner_input, inner, bias=False)
        self.value = nn.Linear(sizes.inner_output, inner, bias=False)
        self.out = nn.Linear(inner, sizes.inner_output, bias=False)

    def weights(self, examples: Tensor, receivers: Tensor, mask: Tensor | None = None) -> Tensor:
        """Normalised weights of shape (B, J, receivers, examples); rows sum to 1.

        ``examples`` (B, n, a) and ``receivers`` (B, t, a) hold representations of v; where
        ``mask`` (B, n) is False there is no example, and the weight is 0.
        """
        k, q = self._split(self.key(examples)), self._split(self.query(receivers))
        if self.kind == "exp-dot":
            scores = (q / self.tau) @ k.transpose(-1, -2)
        else:
            products = q @ k.transpose(-1, -2)
            squares = q.square().sum(-1, keepdim=True) + k.square().sum(-1)[..., None, :]
            scores = (squares - 2 * products).clamp_min(0)
        hidden = None if mask is None else ~mask[:, None, None, :]
        if self.kind == "l2":
            if hidden is not None:
                scores = scores.masked_fill(hidden, 0)
            tiny = torch.finfo(scores.dtype).tiny
            return scores / scores.sum(-1, keepdim=True).clamp_min(tiny)
        if self.kind == "rbf":
            scores = -scores / self.tau
        if hidden is not None:
            scores = scores.masked_fill(hidden, float("-inf"))
        return scores.softmax(-1)

    def forward(
        self, examples: Tensor, receivers: Tensor, w: Tensor, mask: Tensor | None = None
    ) -> Tensor:
        """Σ_j κ(v_j, v_i)(w_j) for every receiver i; ``w`` (B, n, b) gives (B, t, b)."""
        mixed = self.weights(examples, receivers, mask) @ self._split(self.value(w))
        return self.out(mixed.transpose(1, 2).flatten(2))

    def _split(self, x: Tensor) -> Tensor:
        """(B, n, J·h) to (B, J, n, h)."""
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)


class Layer(nn.Module):
    """One step of the recursion (6): v ← F(v), w = G(u), u ← w + Σ_j κ(v_j, v)(w_j).

    >>> layer = Layer(Configuration(3, 2, heads=2, head_size=4))
    >>> v, u, term = layer(torch.randn(1, 5, 3), torch.randn(1, 5, 2), 4)
    >>> v.shape, u.shape, term.shape
    (torch.Size([1, 5, 3]), torch.Size([1, 5, 2]), torch.Size([1, 5, 2]))
    """

    def __init__(self, sizes: Configuration) -> None:
        super().__init__()
        f = ResidualMap(sizes.inner_input, sizes.mlp) if sizes.mlp else nn.Identity()
        has_g = sizes.mlp and sizes.map_outputs
        g = ResidualMap(sizes.inner_output, sizes.mlp) if has_g else nn.Identity()
        self.F, self.G, self.kernel = f, g, AttentionKernel(sizes)

    def forward(
        self, v: Tensor, u: Tensor, examples: int, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """New v and u, and the kernel term alone; the first ``examples`` tokens are examples."""
        v, w = self.F(v), self.G(u)
        term = self.kernel(v[:, :examples], v, w[:, :examples], mask)
        return v, w + term, term
