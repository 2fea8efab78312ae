"""Sizes of a Transducer, its parameter count and its cost."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from ...errors import InputError

KERNELS = ("exp-dot", "rbf", "l2")


@dataclass(frozen=True)
class Configuration:
    """Sizes and variants of a Transducer (Sections 3, 4 and S.9 of the paper).

    ``input_size`` and ``output_size`` are the dimensions of the vectors that stand for v and
    u; ``depth`` is L, ``heads`` J, ``head_size`` the dimension of keys, queries and values of
    one head. ``mlp`` is the hidden width of the residual maps F and G, 0 for the identity;
    ``map_outputs`` says whether G is there. ``kernel`` is one of S.9.2, ``temperature`` its τ
    (default √head_size); ``tied`` repeats one layer. ``readout`` is "state" for (6), the last
    state of the query, or "sum" for (5), the sum of the kernel terms.

    ``width`` is our addition: linear maps without bias take v and u into ℝ^width and the
    result back to ℝ^output_size. None, as in the paper, works on the vectors themselves.

    ``trunk`` > 0 is the variant (30): u are samples on a grid, the result holds weights of
    output_size functions of x, which a network of this hidden width, the trunk, learns.

    >>> Configuration(50, 50, depth=1).parameters
    122900
    """

    input_size: int
    output_size: int
    depth: int = 4
    heads: int = 32
    head_size: int = 16
    mlp: int = 100
    map_outputs: bool = True
    kernel: str = "exp-dot"
    temperature: float | None = None
    tied: bool = False
    readout: str = "state"
    width: int | None = None
    trunk: int = 0

    def __post_init__(self) -> None:
        for name in ("input_size", "output_size", "depth", "heads", "head_size"):
            if not _is_count(getattr(self, name), 1):
                raise InputError(f"{name} must be a positive integer")
        if not _is_count(self.mlp, 0) or not _is_count(self.trunk, 0):
            raise InputError("mlp and trunk must be integers ≥ 0; 0 leaves them out")
        if self.width is not None and not _is_count(self.width, 1):
            raise InputError("width must be a positive integer or None")
        if self.kernel not in KERNELS:
            raise InputError(f"the kernel {self.kernel!r} is unknown; known are {KERNELS}")
        if self.readout not in ("state", "sum"):
            raise InputError(f"the readout {self.readout!r} is unknown: 'state' or 'sum'")
        if self.temperature is not None and not self.temperature > 0:
            raise InputError("temperature must be positive")

    @property
    def inner_input(self) -> int:
        """Dimension of the vectors v inside the network."""
        return self.width or self.input_size

    @property
    def inner_output(self) -> int:
        """Dimension of the vectors u inside the network."""
        return self.width or self.output_size

    @property
    def tau(self) -> float:
        """The temperature in use."""
        return self.temperature if self.temperature is not None else float(self.head_size**0.5)

    @property
    def parameters(self) -> int:
        """Number of trained numbers."""
        a, b, inner = self.inner_input, self.inner_output, self.heads * self.head_size
        layer = 2 * a * inner + 2 * b * inner
        if self.mlp:
            layer += _mlp_parameters(a, self.mlp)
            layer += _mlp_parameters(b, self.mlp) if self.map_outputs else 0
        lift = self.width * (self.input_size + 2 * self.output_size) if self.width else 0
        h, p = self.trunk, self.output_size
        trunk = 2 * h + h * h + h + h * p + p if h else 0
        return (1 if self.tied else self.depth) * layer + lift + trunk

    def flops(self, examples: int, queries: int = 1) -> int:
        """Floating point operations of the matrix products of one regression.

        A product of (a, b) by (b, c) counts 2abc; softmax, norms and GELU are left out.

        >>> Configuration(50, 50, depth=1).flops(50) / 1e9
        0.0176048
        """
        n, t = examples, examples + queries
        a, b, inner = self.inner_input, self.inner_output, self.heads * self.head_size
        layer = 2 * (n + t) * a * inner  # keys of examples, queries of all
        layer += 2 * t * n * inner  # scores
        layer += 2 * t * n * inner  # weighted means
        layer += 2 * n * b * inner + 2 * t * inner * b  # V of examples, W of all
        if self.mlp:
            layer += 4 * t * self.mlp * (a + (b if self.map_outputs else 0))
        lift = 0
        if self.width:
            outputs = self.output_size * (n + queries)
            lift = 2 * self.width * (t * self.input_size + outputs)
        h, p = self.trunk, self.output_size
        trunk = 2 * p * (h + h * h + h * p) + 2 * queries * p * p if h else 0
        return self.depth * layer + lift + trunk

    def as_dict(self) -> dict[str, Any]:
        """The fields, for a file."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Configuration:
        """The inverse of `as_dict`; raises InputError for unknown or missing fields.

        >>> Configuration.from_dict(Configuration(3, 1).as_dict()).heads
        32
        """
        unknown = set(values) - {field.name for field in fields(cls)}
        if unknown:
            raise InputError(f"unknown field of a Transducer: {', '.join(sorted(unknown))}")
        try:
            return cls(**values)
        except TypeError as problem:
            raise InputError(f"not the fields of a Transducer: {problem}") from None


def _is_count(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _mlp_parameters(size: int, hidden: int) -> int:
    """Layer norm, two weight matrices, two biases."""
    return 2 * size + 2 * size * hidden + hidden + size
