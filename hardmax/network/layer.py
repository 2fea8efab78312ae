"""What all layers of a network share: exact arrays whose shapes fit each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from ..errors import InputError
from ..exact.array import ExactArray
from ..exact.numbers import as_fraction, json_number


def exact_array(values: Any) -> ExactArray:
    """An array of exact numbers from nested lists, a NumPy array or a PyTorch tensor.

    >>> exact_array([[1, "1/3"]]).shape
    (1, 2)
    """
    if isinstance(values, ExactArray):
        return values
    if hasattr(values, "detach"):  # a tensor
        values = values.detach().cpu()
        values = (values.double() if values.is_floating_point() else values).numpy()
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
        return ExactArray.from_numpy(values)
    table = np.array(values, dtype=object)
    if any(isinstance(x, list | tuple) for x in table.flat):
        raise InputError("an array of parameters has rows of unequal lengths")
    return ExactArray.from_flat([as_fraction(x) for x in table.flat], table.shape)


def rearranged(
    array: ExactArray, axes: tuple[int, ...] | None, shape: tuple[int, ...]
) -> ExactArray:
    """An array with its axes in another order (None: as they are), then of another shape.

    >>> rearranged(exact_array([[1, "1/3"], [2, 3]]), (1, 0), (4,)).entry(2)
    Fraction(1, 3)
    >>> rearranged(exact_array([[1, "1/3"], [2, 3]]), None, (4,)).entry(1)
    Fraction(1, 3)
    """
    places = np.arange(array.values.size).reshape(array.shape)
    order = (places if axes is None else places.transpose(axes)).ravel()
    if not array.exact:
        return ExactArray(array.values.ravel()[order].reshape(shape))
    back = np.argsort(order)
    exact = {int(back[k]): x for k, x in array.exact.items()}
    return ExactArray(array.values.ravel()[order].reshape(shape), exact)


@dataclass(frozen=True, eq=False)
class Layer:
    """What all layers share.

    ``shapes`` gives the axes of each array of parameters by letters; equal letters stand for
    equal sizes, d for the width of the tokens that come in and e for that of those that go out.
    """

    kind: ClassVar[str]
    shapes: ClassVar[Mapping[str, str]] = {}
    optional: ClassVar[frozenset[str]] = frozenset()
    rational: ClassVar[bool] = True  # outputs are rational where inputs are

    def __post_init__(self) -> None:
        sizes: dict[str, int] = {}
        for name, axes in self.shapes.items():
            given = getattr(self, name)
            if given is None and name in self.optional:
                continue
            array = exact_array(given)
            object.__setattr__(self, name, array)
            fits = len(array.shape) == len(axes) and all(
                sizes.setdefault(axis, size) == size > 0
                for axis, size in zip(axes, array.shape, strict=True)
            )
            if not fits:
                wanted = ", ".join(f"{axis} = {sizes.get(axis, '?')}" for axis in axes)
                raise InputError(
                    f"{self.kind}: {name} has the shape {array.shape}, expected ({wanted})"
                )
        object.__setattr__(self, "sizes", sizes)
        self._check()

    def _check(self) -> None:
        """More that must hold."""

    @property
    def arrays(self) -> dict[str, ExactArray]:
        """The arrays of parameters that are there, by name."""
        given = {name: getattr(self, name) for name in self.shapes}
        return {name: array for name, array in given.items() if array is not None}

    @property
    def options(self) -> dict[str, Any]:
        """What is not an array, as JSON values."""
        values = {x.name: getattr(self, x.name) for x in fields(self) if x.name not in self.shapes}
        return {k: json_number(x) if isinstance(x, Fraction) else x for k, x in values.items()}

    def width(self, d: int) -> int:
        """Width of the tokens that go out where tokens of width d come in."""
        sizes: dict[str, int] = self.sizes  # type: ignore[attr-defined]
        if sizes.get("d", d) != d:
            raise InputError(f"{self.kind}: takes tokens of {sizes['d']} coordinates, gets {d}")
        return sizes.get("e", d)
