"""Classification tasks: random mixtures and random networks, and permuted digits."""

from __future__ import annotations

import numpy as np

SLOTS = 10  # label slots of a one-hot vector


def random_tasks(
    seed: int, tasks: int, pairs: int, features: int = 32
) -> tuple[np.ndarray, np.ndarray]:
    """Synthetic tasks: v (tasks, pairs, features) standardised, u one-hot (tasks, pairs, 10).

    A task has 2 to 10 classes in 2 to ``features`` dimensions. Half of the tasks draw every
    class from one to three Gaussian clusters, half label Gaussian points by the largest output
    of a random network with one hidden layer. Unused features are 0.
    """
    v = np.zeros((tasks, pairs, features), np.float32)
    u = np.zeros((tasks, pairs, SLOTS), np.float32)
    for k in range(tasks):
        rng = np.random.default_rng([seed, k])
        classes, d = int(rng.integers(2, SLOTS + 1)), int(rng.integers(2, features + 1))
        scales = np.exp(-np.arange(d) * rng.uniform(0, 4) / d)
        if rng.random() < 0.5:
            labels = rng.integers(classes, size=pairs)
            clusters = int(rng.integers(1, 4))
            centres = rng.normal(size=(classes, clusters, d)) * rng.uniform(0.7, 3) * scales
            x = centres[labels, rng.integers(clusters, size=pairs)]
            x = x + rng.normal(size=(pairs, d)) * scales
        else:
            x = rng.normal(size=(pairs, d)) * scales
            hidden = np.tanh(x @ rng.normal(size=(d, 16)) * rng.uniform(0.5, 2))
            scores = hidden @ rng.normal(size=(16, classes))
            labels = (scores - np.median(scores, 0)).argmax(1)
        x = x @ np.linalg.qr(rng.normal(size=(d, d)))[0]
        v[k, :, :d] = (x - x.mean(0)) / (x.std(0) + 1e-6)
        u[k, np.arange(pairs), rng.permutation(SLOTS)[labels]] = 1
    return v, u


def digits() -> tuple[np.ndarray, np.ndarray]:
    """The 1797 handwritten digits (8 × 8) that scikit-learn ships: pixels 0 to 1, labels."""
    from sklearn.datasets import load_digits

    found = load_digits()
    order = np.random.default_rng(0).permutation(len(found.target))
    return (found.data / 16)[order], found.target[order]


def permuted_tasks(
    seed: int,
    tasks: int,
    pairs: int,
    images: np.ndarray,
    labels: np.ndarray,
    *,
    pixels: bool = True,
) -> tuple[np.ndarray, np.ndarray]:
    """Pixel- and class-permuted tasks (S.10.4); ``pixels`` False leaves images as they are."""
    v = np.empty((tasks, pairs, images.shape[1]), np.float32)
    u = np.zeros((tasks, pairs, SLOTS), np.float32)
    for k in range(tasks):
        rng = np.random.default_rng([seed, k])
        chosen = rng.choice(len(images), pairs, replace=False)
        order = rng.permutation(images.shape[1]) if pixels else np.arange(images.shape[1])
        names = rng.permutation(SLOTS) if pixels else np.arange(SLOTS)
        v[k] = images[chosen][:, order]
        u[k, np.arange(pairs), names[labels[chosen]]] = 1
    return v, u


def accuracy(estimates: np.ndarray, targets: np.ndarray) -> float:
    """Share of queries whose largest coordinate is that of the one-hot target.

    >>> accuracy(np.array([[0.1, 0.9]]), np.array([[0, 1]]))
    1.0
    """
    return float((estimates.argmax(-1) == targets.argmax(-1)).mean())
