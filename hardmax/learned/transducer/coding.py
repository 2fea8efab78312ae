"""Functions on [0, 1] as vectors of Fourier or sine coefficients, read back on any grid."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ...errors import InputError

Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Fourier:
    """The first ``modes`` Fourier modes of a function of period 1, as 2·modes real numbers.

    Samples stand at x_k = k/(m−1), k = 0, …, m−1, both ends included; the last repeats the
    first and is left out. With c_k the complex coefficients, the vector is
    (Re c_0, √2 Re c_1, …, 0, √2 Im c_1, …), whose Euclidean norm is the L² norm of the part
    that is kept. The paper's d = 50 is read as ``Fourier(25)``.

    >>> f = np.cos(2 * np.pi * np.linspace(0, 1, 100))
    >>> np.round(Fourier(2).encode(f), 9) + 0
    array([0.        , 0.70710678, 0.        , 0.        ])
    """

    modes: int

    @property
    def size(self) -> int:
        """Dimension of the vectors."""
        return 2 * self.modes

    def encode(self, samples: Array) -> Array:
        """Coefficients (…, 2·modes) of samples (…, m); raises InputError if m is too small."""
        samples = np.asarray(samples, dtype=np.float64)
        count = samples.shape[-1] - 1
        if self.modes > (count + 1) // 2:
            raise InputError(
                f"{count + 1} samples hold fewer than {self.modes} Fourier modes; "
                f"give at least {2 * self.modes}"
            )
        c = np.fft.rfft(samples[..., :-1], axis=-1)[..., : self.modes] / count
        c[..., 1:] *= np.sqrt(2)
        return np.concatenate([c.real, c.imag], -1)

    def decode(self, vectors: Array, points: int = 100) -> Array:
        """Values (…, points) on an equidistant grid of [0, 1] with both ends."""
        return np.asarray(np.asarray(vectors) @ _fourier_basis(self.modes, points))


@dataclass(frozen=True)
class Sine:
    """The first ``modes`` coefficients b_k of Σ b_k √2 sin(πkx), for functions 0 at both ends.

    Samples as for `Fourier`. The Euclidean norm of the vector is the L² norm of the part kept.

    >>> f = np.sin(2 * np.pi * np.linspace(0, 1, 100))
    >>> np.round(Sine(3).encode(f), 9) + 0
    array([0.        , 0.70710678, 0.        ])
    """

    modes: int

    @property
    def size(self) -> int:
        """Dimension of the vectors."""
        return self.modes

    def encode(self, samples: Array) -> Array:
        """Coefficients (…, modes) of samples (…, m); raises InputError if m is too small."""
        samples = np.asarray(samples, dtype=np.float64)
        points = samples.shape[-1]
        if self.modes > points - 2:
            raise InputError(
                f"{points} samples hold fewer than {self.modes} sine modes; "
                f"give at least {self.modes + 2}"
            )
        return np.asarray(samples @ _sine_basis(self.modes, points).T / (points - 1))

    def decode(self, vectors: Array, points: int = 100) -> Array:
        """Values (…, points) on an equidistant grid of [0, 1] with both ends."""
        return np.asarray(np.asarray(vectors) @ _sine_basis(self.modes, points))


@dataclass(frozen=True)
class SineSquare:
    """`Sine` coefficients of a function f and of its square f², for inputs v.

    Our addition: an operator with a quadratic term is then nearly linear in the vector.

    >>> SineSquare(3).encode(np.zeros((2, 100))).shape
    (2, 6)
    """

    modes: int

    @property
    def size(self) -> int:
        """Dimension of the vectors."""
        return 2 * self.modes

    def encode(self, samples: Array) -> Array:
        """Coefficients (…, 2·modes) of samples (…, m); raises InputError if m is too small."""
        samples = np.asarray(samples, dtype=np.float64)
        code = Sine(self.modes)
        return np.concatenate([code.encode(samples), code.encode(samples**2)], -1)

    def decode(self, vectors: Array, points: int = 100) -> Array:
        """Values of f (…, points); the coefficients of f² are not read."""
        return Sine(self.modes).decode(np.asarray(vectors)[..., : self.modes], points)


@dataclass(frozen=True)
class Plain:
    """Vectors that stand for themselves; for finite-dimensional tasks.

    >>> Plain(2).encode([[1, 2]])
    array([[1., 2.]])
    """

    size: int

    def encode(self, samples: Array) -> Array:
        """The samples (…, size), checked; raises InputError for another size."""
        samples = np.asarray(samples, dtype=np.float64)
        if samples.ndim == 0 or samples.shape[-1] != self.size:
            raise InputError(f"vectors of shape {samples.shape}, expected (…, {self.size})")
        return samples

    def decode(self, vectors: Array, points: int | None = None) -> Array:
        """The vectors (…, size) themselves."""
        return np.asarray(vectors)


Coding = Fourier | Sine | SineSquare | Plain


def coding_from(name: str, number: int) -> Coding:
    """The coding that a file names; raises InputError for an unknown name.

    >>> coding_from("Sine", 50)
    Sine(modes=50)
    """
    kinds: dict[str, Any] = {k.__name__: k for k in (Fourier, Sine, SineSquare, Plain)}
    if name not in kinds:
        raise InputError(f"the coding {name!r} is unknown; known are {', '.join(kinds)}")
    return kinds[name](number)  # type: ignore[no-any-return]


def coding_fields(coding: Coding) -> tuple[str, int]:
    """Name and number of a coding, for a file.

    >>> coding_fields(Fourier(25))
    ('Fourier', 25)
    """
    return type(coding).__name__, coding.size if isinstance(coding, Plain) else coding.modes


@cache
def _fourier_basis(modes: int, points: int) -> Array:
    angles = 2 * np.pi * np.outer(np.arange(modes), np.linspace(0, 1, points))
    factors = np.full((modes, 1), np.sqrt(2))
    factors[0] = 1
    return np.concatenate([factors * np.cos(angles), -factors * np.sin(angles)])


@cache
def _sine_basis(modes: int, points: int) -> Array:
    angles = np.pi * np.outer(np.arange(1, modes + 1), np.linspace(0, 1, points))
    return np.asarray(np.sqrt(2) * np.sin(angles))
