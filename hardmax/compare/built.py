"""Contenders that hardmax builds: each is proved to classify every training sequence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ConstructionError

if TYPE_CHECKING:
    from ..dataset import Dataset


class Built:
    """A model that a strategy builds, proved in exact arithmetic."""

    extra: str | None = None

    def __init__(self, strategy: str) -> None:
        self.name, self.strategy = f"built: {strategy}", strategy
        self.parameters, self.certified = 0, ""
        self.bits: int | None = None

    def fit(self, data: Dataset) -> None:
        """Build and certify; raises ContradictionError where no such model exists."""
        from ..certify import certify
        from ..construct.build import build

        self.model = build(data, self.strategy)
        found = certify(self.model, data)
        if not found.proved:
            raise ConstructionError(f"the strategy {self.strategy!r} built a refuted model")
        self.parameters, self.bits = found.bounds.parameters, found.total_bits
        self.certified = "exact: every training sequence is classified right"
        self.sets = self.model.read(data).sets

    def predict(self, data: Dataset) -> list[str]:
        """The set that holds the exact output, else the nearest."""
        from ..certify.predict import predicted

        outputs = self.model.outputs(self.model.read(data))
        return [predicted(output, self.sets) for output in outputs]
