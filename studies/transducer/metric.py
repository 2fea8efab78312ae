"""The error measure (29), read as the mean over queries of ‖e‖²/‖u‖² on the grid."""

from __future__ import annotations

import numpy as np


def relative_error(estimates: np.ndarray, targets: np.ndarray) -> float:
    """mean_i ‖ũ_i − u_i‖²/‖u_i‖²; no root, as the paper's "RMSE" has none.

    The print of (29) leaves the place of the sum in the denominator open. Of the readings,
    the pointwise ratio is useless, as u is 0 at the ends. Queries whose target or estimate
    is not finite are left out.

    >>> relative_error(np.array([[1.0, 0.0]]), np.array([[1.0, 1.0]]))
    0.5
    """
    squares = np.square(np.asarray(estimates, float) - targets).sum(-1)
    ratios = squares / np.square(np.asarray(targets, float)).sum(-1)
    return float(ratios[np.isfinite(ratios)].mean())


def confidence(values: np.ndarray) -> tuple[float, float]:
    """Mean over operators and the half width of its 95 % interval (normal approximation).

    >>> confidence(np.array([1.0, 3.0]))[0]
    2.0
    """
    values = np.asarray(values, float)
    return float(values.mean()), float(1.96 * values.std(ddof=1) / np.sqrt(len(values)))
