"""Convex attention heads, trained with a certificate of global optimality.

Sahiner et al., *Unraveling Attention via Convex Duality* (ICML 2022): one layer of attention, or of
another token mixer, with weight decay has the same optimal value as a finite convex program. So a
trained model can carry a proof that no number of heads and no initialisation does better.

>>> import numpy as np
>>> from hardmax.learned.convex import Head, Problem, certify, factored
>>> tokens = np.array([[[1.0, 2.0], [0.0, 1.0]], [[2.0, -1.0], [1.0, 1.0]]])  # n, s, d
>>> targets = np.array([[[1.0]], [[-1.0]]])                                   # n, 1, c
>>> problem = Problem(Head("self-attention"), tokens, targets, beta=0.5)
>>> certificate = certify(problem, factored(problem))
>>> certificate["lower"][:6], certificate["upper"][:6]
('0.1134', '0.1134')
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

# public name -> module; imported when first used, so that the checker runs without the rest
_WHERE = {
    "ConvexAttentionClassifier": "estimators",
    "ConvexAttentionRegressor": "estimators",
    "Head": "heads",
    "NetworkHead": "recovery",
    "Problem": "problem",
    "Solution": "proximal",
    "beta_path": "proximal",
    "certify": "certificate",
    "factored": "burer_monteiro",
    "gap": "certificate",
    "matrices": "recovery",
    "network": "recovery",
    "network_objective": "recovery",
    "proximal_gradient": "proximal",
    "random_gates": "problem",
    "recover": "recovery",
    "save": "certificate",
    "width_bound": "recovery",
}

if TYPE_CHECKING:
    from .burer_monteiro import factored
    from .certificate import certify, gap, save
    from .estimators import ConvexAttentionClassifier, ConvexAttentionRegressor
    from .heads import Head
    from .problem import Problem, random_gates
    from .proximal import Solution, beta_path, proximal_gradient
    from .recovery import NetworkHead, matrices, network, network_objective, recover, width_bound

__all__ = [
    "ConvexAttentionClassifier",
    "ConvexAttentionRegressor",
    "Head",
    "NetworkHead",
    "Problem",
    "Solution",
    "beta_path",
    "certify",
    "factored",
    "gap",
    "matrices",
    "network",
    "network_objective",
    "proximal_gradient",
    "random_gates",
    "recover",
    "save",
    "width_bound",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_WHERE[name]}", __name__), name)
    globals()[name] = value
    return value
