"""A softmax transformer that classifies sequences, plain or with the dual-Banach regulariser."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ...dataset import Dataset
from ...errors import InputError
from .bounds import BlockBounds
from .enclosures.balls import Array, Balls
from .enclosures.enclose import layer_norm
from .enclosures.propagate import propagate
from .network import build, pad
from .regularizer import DualBanachRegularizer
from .torch_blocks import find_parts, read_blocks, read_layer_norm, require_torch, to_array
from .verify import batches

_PROVED_AT_MOST = 1000  # training sequences that `certified` speaks of


class SoftmaxTransformer:
    """Pre-LN encoder, mean over tokens, linear readout; trained by AdamW on cross-entropy.

    ``strength`` is λ of (13); 0 is the plain transformer. Same data, arguments and seed give the
    same model on one machine. Training is in float32; predictions are computed in float64.
    What `hardmax compare` asks of an entry: ``name``, ``extra``, `fit`, `predict`,
    `parameters`, `bits`, `certified`.

    >>> data = Dataset([[(0, 1)], [(1, 1)], [(0, 2)], [(1, 2)]], ["a", "b", "a", "b"])
    >>> model = SoftmaxTransformer(steps=40, width=8, heads=2, layers=1).fit(data)
    >>> model.predict(data)
    ['a', 'b', 'a', 'b']
    """

    extra = "torch"

    def __init__(
        self,
        strength: float = 0.0,
        *,
        width: int = 32,
        layers: int = 2,
        heads: int = 4,
        hidden: int = 64,
        activation: str = "gelu",
        steps: int = 600,
        batch: int = 64,
        rate: float = 3e-3,
        weight_decay: float = 0.05,
        seed: int = 0,
        **choices: Any,
    ) -> None:
        if min(width, layers, heads, hidden, steps, batch) < 1 or width % heads:
            raise InputError("sizes must be at least 1, and the heads must divide the width")
        self.strength, self.choices, self.seed = strength, choices, seed
        self.shape = (width, layers, heads, hidden, activation)
        self.steps, self.batch, self.rate, self.weight_decay = steps, batch, rate, weight_decay
        self._network: Any = None

    @property
    def name(self) -> str:
        """Name of the row in a table."""
        return "softmax transformer" + (", dual-Banach" if self.strength else "")

    def fit(self, data: Dataset) -> SoftmaxTransformer:
        """Train on labelled sequences; returns itself."""
        torch = require_torch()
        data.need_labels()
        self._data = data
        self.__dict__.pop("certified", None)
        codes, self.classes = data.label_codes
        tokens = data.tokens.values
        self._mean, scale = tokens.mean(axis=0), tokens.std(axis=0)
        self._scale = np.where(scale > 0, scale, 1.0)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            self._network = build(torch, data.dimension, len(self.classes), self.shape)
            self._train(torch, [self._scaled(x) for x in data.arrays()], codes)
        self._network = self._network.double().eval()
        return self

    def predict(self, data: Dataset) -> list[str]:
        """Label of every sequence: the largest logit, the first of equal ones."""
        logits = self.logits(data)
        return [self.classes[k] for k in logits.argmax(axis=1)]

    def logits(self, data: Dataset) -> Array:
        """Logits (N, classes) in float64; the classes are in the order of ``self.classes``."""
        torch = require_torch()
        arrays = [self._scaled(x) for x in self._fitting(data).arrays()]
        parts = []
        with torch.no_grad():
            for start in range(0, len(arrays), 256):
                parts.append(self._network(*pad(torch, arrays[start : start + 256], "float64")))
        return np.asarray(torch.cat(parts).numpy(), dtype=np.float64)

    @property
    def parameters(self) -> int:
        """Number of trained parameters."""
        self._trained()
        return sum(p.numel() for p in self._network.parameters())

    @property
    def bits(self) -> int:
        """Number of bits that hold them, in float32."""
        return 32 * self.parameters

    @cached_property
    def certified(self) -> str:
        """What is proved about the trained model, in one line."""
        self._trained()
        count = min(len(self._data), _PROVED_AT_MOST)
        proved = sum(label is not None for label in self.prove(self._data, count))
        total = Balls.exact(0.0)
        for block in read_blocks(self._network):
            bounds = BlockBounds(block)
            total = total + bounds.attention_of_all + bounds.feed_forward_of_all
        return (
            f"in real arithmetic the prediction is proved for {proved} of {count} training "
            f"sequences, and the blocks move no token of any input by more than {total.upper:.4g}"
        )

    def prove(
        self, data: Dataset, count: int | None = None, radius: float = 0.0
    ) -> list[str | None]:
        """Proved predictions of the first ``count`` sequences; None where enclosures can't decide.

        A label is proved if its logit exceeds all others for the real-number network with these
        weights, at every input whose coordinates differ by at most ``radius`` from the sequence's;
        data that float64 cannot hold count with their rounding error.
        """
        if not 0 <= radius < float("inf"):
            raise InputError(f"the radius {radius} must be a number of at least 0")
        values, radii = self._fitting(data).tokens.values, np.full(data.tokens.shape, radius)
        for index in data.tokens.exact:  # upwards, so the sum covers both
            rounding = np.spacing(abs(values.flat[index]))
            radii.flat[index] = np.nextafter(radius + rounding, np.inf)
        embedding = self._network.embedding
        weight, bias = to_array(embedding.weight), to_array(embedding.bias)
        tokens = (Balls(values, radii) - self._mean) / Balls.exact(self._scale)
        tokens = tokens @ weight.T + bias
        starts = data.offsets
        last = len(data) if count is None else min(count, len(data))
        sequences = [tokens[starts[j] : starts[j + 1]] for j in range(last)]
        blocks = read_blocks(self._network)
        labels: list[str | None] = [None] * last
        for places, x in batches(blocks, sequences):
            *_, step = propagate(blocks, x)
            final = layer_norm(read_layer_norm(self._network.norm), step.out)
            pooled = final.sum(-2) / float(final.shape[-2])
            readout = self._network.readout
            logits = pooled @ to_array(readout.weight).T + to_array(readout.bias)
            for j, low, high in zip(places, logits.lower, logits.upper, strict=True):
                best = int(low.argmax())
                if (low[best] > np.delete(high, best)).all():
                    labels[j] = self.classes[best]
        return labels

    def _train(self, torch: Any, arrays: list[Array], codes: Array) -> None:
        optimiser = torch.optim.AdamW(
            self._network.parameters(), lr=self.rate, weight_decay=self.weight_decay
        )
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, self.rate, self.steps + 1)
        regularizer = None
        if self.strength:
            regularizer = DualBanachRegularizer(
                self._network, self.strength, blocks=find_parts(self._network), **self.choices
            )
        draw = np.random.default_rng(self.seed)
        for _ in range(self.steps):
            chosen = draw.permutation(len(arrays))[: self.batch]
            target = torch.from_numpy(codes[chosen])
            output = self._network(*pad(torch, [arrays[j] for j in chosen], "float32"))
            loss = torch.nn.functional.cross_entropy(output, target)
            if regularizer is not None:
                loss = loss + regularizer()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
        if regularizer is not None:
            regularizer.remove()

    def _scaled(self, x: Array) -> Array:
        return np.asarray((x - self._mean) / self._scale, dtype=np.float64)

    def _trained(self) -> None:
        if self._network is None:
            raise InputError("the transformer is not trained yet; call fit first")

    def _fitting(self, data: Dataset) -> Dataset:
        self._trained()
        if data.dimension != self._data.dimension:
            raise InputError(
                f"the tokens have dimension {data.dimension}, the training data "
                f"{self._data.dimension}"
            )
        return data


def contenders(seed: int = 0) -> list[SoftmaxTransformer]:
    """The transformer plain and regularised, as `hardmax compare` lists them.

    >>> [entry.name for entry in contenders()]
    ['softmax transformer', 'softmax transformer, dual-Banach']
    """
    return [SoftmaxTransformer(seed=seed), SoftmaxTransformer(0.01, seed=seed)]
