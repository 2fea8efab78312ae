"""The Transducer of M. Chalvidal, T. Serre and R. VanRullen, and exact kernel regression.

The paper is *Learning Functional Transduction* (arXiv:2302.00328). Names are imported when
they are first used; those of the network need PyTorch (``pip install 'hardmax[torch]'``).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

# public name -> module; imported when first used (PEP 562)
_WHERE = {
    "Certificate": "kernel_regression",
    "Configuration": "configuration",
    "Contradiction": "kernel_regression",
    "Fourier": "coding",
    "Indefinite": "semidefinite",
    "KernelRegression": "kernel_regression",
    "Network": "network",
    "Plain": "coding",
    "Polynomial": "exact_kernels",
    "RationalQuadratic": "exact_kernels",
    "Semidefinite": "semidefinite",
    "Settings": "trainer",
    "Sine": "coding",
    "SineSquare": "coding",
    "Trainer": "trainer",
    "Transducer": "transducer",
    "TruncatedExponential": "exact_kernels",
    "contradiction": "kernel_regression",
    "decide_semidefinite": "semidefinite",
    "gram": "exact_kernels",
}

if TYPE_CHECKING:
    from .coding import Fourier, Plain, Sine, SineSquare
    from .configuration import Configuration
    from .exact_kernels import Polynomial, RationalQuadratic, TruncatedExponential, gram
    from .kernel_regression import Certificate, Contradiction, KernelRegression, contradiction
    from .network import Network
    from .semidefinite import Indefinite, Semidefinite, decide_semidefinite
    from .trainer import Settings, Trainer
    from .transducer import Transducer

__all__ = [
    "Certificate",
    "Configuration",
    "Contradiction",
    "Fourier",
    "Indefinite",
    "KernelRegression",
    "Network",
    "Plain",
    "Polynomial",
    "RationalQuadratic",
    "Semidefinite",
    "Settings",
    "Sine",
    "SineSquare",
    "Trainer",
    "Transducer",
    "TruncatedExponential",
    "contradiction",
    "decide_semidefinite",
    "gram",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
