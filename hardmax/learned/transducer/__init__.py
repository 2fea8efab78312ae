"""The Transducer of M. Chalvidal, T. Serre and R. VanRullen, and exact kernel regression.

The paper is *Learning Functional Transduction* (arXiv:2302.00328). Names are imported when
they are first used; those of the network need PyTorch (``pip install 'hardmax[torch]'``).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

# public name -> module; imported when first used (PEP 562)
_WHERE = {
    "Configuration": "configuration",
    "Fourier": "coding",
    "Network": "network",
    "Plain": "coding",
    "Settings": "trainer",
    "Sine": "coding",
    "Trainer": "trainer",
    "Transducer": "transducer",
}

if TYPE_CHECKING:
    from .coding import Fourier, Plain, Sine
    from .configuration import Configuration
    from .network import Network
    from .trainer import Settings, Trainer
    from .transducer import Transducer

__all__ = ["Configuration", "Fourier", "Network", "Plain", "Settings", "Sine", "Trainer",
           "Transducer"]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
