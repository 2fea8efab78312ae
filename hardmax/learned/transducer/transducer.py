"""The Transducer as a user meets it: meta-train once, then regress in one forward pass."""

from __future__ import annotations

import json
from collections.abc import Callable
from os import PathLike
from typing import Any

import numpy as np

from ...errors import InputError
from ...formats.files import read_bytes
from ...formats.whole_files import write_whole
from .coding import Coding, Plain, coding_fields, coding_from
from .configuration import Configuration
from .extras import need
from .network import Network
from .torch_library import torch
from .trainer import Settings, Trainer

Array = np.ndarray[Any, np.dtype[Any]]
FORMAT = "hardmax-transducer/1"


class Transducer:
    """A Transducer with its coding of functions as vectors, and the scales of those vectors.

    ``sizes`` is a `Configuration`; ``coding_v`` and ``coding_u`` say how samples become
    vectors (default: they are vectors already). `fit_meta` fixes the scales from the tasks:
    every coordinate of v is divided by its standard deviation (plus 1/50 of the largest), u
    by one number. Raises InputError where codings and sizes do not fit.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> slopes, v = rng.normal(size=(50, 1, 1)), rng.normal(size=(50, 12, 1))
    >>> model = Transducer(Configuration(1, 1, depth=1, heads=2, head_size=4, mlp=8))
    >>> model = model.fit_meta((v, slopes * v), steps=2, examples=(4, 8), queries=2)
    >>> model.predict((v[0], slopes[0] * v[0]), v[1]).shape
    (12, 1)
    """

    def __init__(
        self,
        sizes: Configuration,
        coding_v: Coding | None = None,
        coding_u: Coding | None = None,
        *,
        seed: int = 0,
    ) -> None:
        self.coding_v = coding_v or Plain(sizes.input_size)
        self.coding_u = coding_u or Plain(sizes.output_size)
        found = (self.coding_v.size, self.coding_u.size)
        if found != (sizes.input_size, sizes.output_size):
            raise InputError(
                f"the codings have sizes {found}, the network "
                f"{(sizes.input_size, sizes.output_size)}"
            )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.network = Network(sizes).eval()
        self.scale_v: Array = np.ones(sizes.input_size)
        self.scale_u = 1.0

    @property
    def sizes(self) -> Configuration:
        """Sizes and variants of the network."""
        return self.network.sizes  # type: ignore[no-any-return]

    @property
    def parameters(self) -> int:
        """Number of trained numbers."""
        return self.sizes.parameters

    def encode(self, v: Array | None = None, u: Array | None = None) -> tuple[Any, Any]:
        """Samples as scaled vectors, float32; None stays None."""
        coded_v = None if v is None else (self.coding_v.encode(v) / self.scale_v).astype("f4")
        coded_u = None if u is None else (self.coding_u.encode(u) / self.scale_u).astype("f4")
        return coded_v, coded_u

    def trainer(self, tasks: tuple[Array, Array], settings: Settings) -> Trainer:
        """Fix the scales from tasks v (M, n, …), u (M, n, …) and return what trains on them."""
        v, u = (np.asarray(part) for part in tasks)
        if not (np.isfinite(v).all() and np.isfinite(u).all()):
            raise InputError("the tasks hold NaN or infinite values")
        coded_v, coded_u = self.coding_v.encode(v), self.coding_u.encode(u)
        spread = coded_v.std(axis=tuple(range(coded_v.ndim - 1)))
        self.scale_v = spread + 0.02 * spread.max() if spread.max() > 0 else np.ones_like(spread)
        largest = np.sqrt((coded_u**2).mean(axis=tuple(range(coded_u.ndim - 1)))).max()
        self.scale_u = float(largest) or 1.0
        v32, u32 = (coded_v / self.scale_v).astype("f4"), (coded_u / self.scale_u).astype("f4")
        return Trainer(self.network, v32, u32, settings)

    def fit_meta(
        self,
        tasks: tuple[Array, Array],
        *,
        checkpoint: str | PathLike[str] | None = None,
        report: Callable[[int, float], None] | None = None,
        **settings: Any,
    ) -> Transducer:
        """Meta-train on tasks v, u of shape (M, n, …): M data sets of n pairs.

        ``settings`` are the fields of `Settings`; with ``checkpoint`` a stopped run resumes.
        Returns self.
        """
        self.trainer(tasks, Settings(**settings)).run(checkpoint, report=report)
        return self

    def predict(
        self, examples: tuple[Array, Array], queries: Array, *, points: int | None = None
    ) -> Array:
        """Estimates of u at the queries, from one data set of examples.

        ``examples`` is (v, u) with v (n, …), u (n, …); ``queries`` (q, …). Samples may stand on
        any grid; the answer (q, points) stands on one of ``points``, by default that of u.
        Queries do not see one another. Raises InputError where shapes do not fit.
        """
        v, u = np.asarray(examples[0]), np.asarray(examples[1])
        queries = np.asarray(queries)
        if min(v.ndim, u.ndim, queries.ndim) < 2:
            raise InputError("examples and queries must be arrays of at least two axes")
        if not all(np.isfinite(part).all() for part in (v, u, queries)):
            raise InputError("examples or queries hold NaN or infinite values")
        coded_v, coded_u = self.encode(v, u)
        coded_queries, _ = self.encode(queries)
        parts = (torch.as_tensor(part)[None] for part in (coded_v, coded_u, coded_queries))
        with torch.no_grad():
            found = self.network(*parts, points=points)[0]
        vectors = found.double().numpy() * self.scale_u
        return self.coding_u.decode(vectors, points or u.shape[-1])

    def save(self, path: str | PathLike[str], *, half: bool = False) -> None:
        """Write weights, sizes, codings and scales to a safetensors file, whole or not at all.

        ``half`` rounds the weights to float16, for half the bytes.
        """
        arrays = self.arrays(half=half)
        meta = {name: str(arrays.pop(name)) for name in ("format", "sizes", "codings")}
        tensors = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        save_file = need("safetensors.numpy").save_file
        write_whole(path, lambda temporary: save_file(tensors, temporary, metadata=meta))

    def arrays(self, *, half: bool = False) -> dict[str, Array]:
        """All that `save` writes, as NumPy arrays by name; ``np.savez`` can take them."""
        kind = np.float16 if half else np.float32
        state = self.network.state_dict()
        return {
            **{name: tensor.detach().numpy().astype(kind) for name, tensor in state.items()},
            "scale_v": np.asarray(self.scale_v),
            "scale_u": np.array([self.scale_u]),
            "format": np.array(FORMAT),
            "sizes": np.array(json.dumps(self.sizes.as_dict())),
            "codings": np.array(
                json.dumps([coding_fields(self.coding_v), coding_fields(self.coding_u)])
            ),
        }

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Transducer:
        """Read what `save` wrote; raises InputError if the file is not that."""
        read_bytes(path)
        safetensors = need("safetensors")
        try:
            with safetensors.safe_open(path, framework="numpy") as file:
                meta = file.metadata() or {}
                arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except safetensors.SafetensorError as problem:
            raise InputError(f"{path}: not a safetensors file ({problem})") from None
        return cls.from_arrays(arrays | meta, str(path))

    @classmethod
    def from_arrays(cls, arrays: dict[str, Any], place: str = "arrays") -> Transducer:
        """The inverse of `arrays`; raises InputError, which begins with ``place``, if broken."""
        rest = dict(arrays)
        if str(rest.pop("format", "")) != FORMAT:
            raise InputError(f"{place}: not a Transducer; the format should be {FORMAT}")
        try:
            sizes = Configuration.from_dict(json.loads(str(rest.pop("sizes"))))
            codings = [coding_from(*fields) for fields in json.loads(str(rest.pop("codings")))]
            model = cls(sizes, *codings)
            model.scale_v = np.asarray(rest.pop("scale_v"), np.float64)
            model.scale_u = float(rest.pop("scale_u")[0])
            weights = {name: torch.as_tensor(np.array(x, "f4")) for name, x in rest.items()}
            model.network.load_state_dict(weights)
        except (KeyError, TypeError, ValueError, IndexError, RuntimeError) as problem:
            reason = str(problem).splitlines()[0]
            raise InputError(f"{place}: a broken Transducer ({reason})") from None
        if model.scale_v.shape != (sizes.input_size,):
            raise InputError(f"{place}: a broken Transducer (scale_v has the wrong size)")
        return model
