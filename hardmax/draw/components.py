"""Principal components: a plane in which to look at tokens of more than two dimensions."""

from __future__ import annotations

import numpy as np

from .film import Film


def components(points: np.ndarray) -> list[list[float]]:
    """The two orthonormal directions in which points (n, d), d ≥ 2, vary most.

    >>> np.abs(components(np.array([[0.0, 0.0], [0.0, 2.0], [0.0, 3.0]]))).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    centred = points - points.mean(axis=0)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    chosen = vectors[:, ::-1][:, :2].T
    # a sign for each that does not depend on the library
    signs = np.sign(chosen[np.arange(2), np.abs(chosen).argmax(axis=1)])
    found: list[list[float]] = (chosen * signs[:, None]).tolist()
    return found


def run_basis(film: Film) -> list[list[float]]:
    """Components of a whole run, each moment centred and scaled so that none outweighs others."""
    clouds = []
    for frame in film.frames:
        cloud = film.positions(frame)
        cloud = cloud - cloud.mean(axis=0)
        size = np.sqrt((cloud**2).sum(axis=1).mean())
        if np.isfinite(size) and size > 0:
            clouds.append(cloud / size)
    return components(np.vstack(clouds) if clouds else film.places)
