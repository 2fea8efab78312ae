"""The interface of one row of ``hardmax compare``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ..dataset import Dataset


class Contender(Protocol):
    """A model that can be fitted to a data set and predicts labels.

    ``name`` is the title of its row. ``extra`` is the optional extra of hardmax that it needs,
    or None; where its library is absent, `fit` raises `MissingExtraError`. What follows is read
    after `fit`: ``parameters``, the number of non-zero parameters; ``bits``, the number of bits
    that hold them (None where a count makes no sense); ``certified``, one line on what is proved
    about the fitted model, and an empty string where nothing is.
    """

    @property
    def name(self) -> str:
        """The title of the row."""

    @property
    def extra(self) -> str | None:
        """The optional extra that it needs."""

    @property
    def parameters(self) -> int:
        """The number of non-zero parameters, once it is fitted."""

    @property
    def bits(self) -> int | None:
        """The number of bits that hold them."""

    @property
    def certified(self) -> str:
        """What is proved about the fitted model."""

    def fit(self, data: Dataset) -> object:
        """Fit the model to labelled sequences; raise InputError where the data do not suit it."""

    def predict(self, data: Dataset) -> list[str]:
        """The predicted label of each sequence, in order."""
