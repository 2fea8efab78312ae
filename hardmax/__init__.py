"""hardmax: transformers that classify labelled sequences, constructed and proved exactly.

>>> import hardmax as hm
>>> data = hm.Dataset([[(0, 0), (1, 0)], [(0, 0), (0, 1)]], ["a", "b"])
>>> model = hm.build(data)
>>> hm.certify(model, data).verdict
'proved'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# public name -> module; imported when first used (PEP 562)
_WHERE = {
    "Block": "model.layers",
    "Certificate": "certify.verify",
    "ContradictionError": "dataset",
    "Dataset": "dataset",
    "FeedForward": "model.layers",
    "HardmaxError": "errors",
    "InputError": "errors",
    "Matrix": "exact.matrix",
    "RankOneBlock": "model.layers",
    "SelfAttention": "model.layers",
    "Transformer": "model.transformer",
    "build": "construct.build",
    "certify": "certify.verify",
    "load": "formats.data",
    "predict": "certify.predict",
    "readout": "model.layers",
}

if TYPE_CHECKING:
    from .certify.predict import predict
    from .certify.verify import Certificate, certify
    from .construct.build import build
    from .dataset import ContradictionError, Dataset
    from .errors import HardmaxError, InputError
    from .exact.matrix import Matrix
    from .formats.data import load
    from .model.layers import Block, FeedForward, RankOneBlock, SelfAttention, readout
    from .model.transformer import Transformer

__all__ = [
    "Block",
    "Certificate",
    "ContradictionError",
    "Dataset",
    "FeedForward",
    "HardmaxError",
    "InputError",
    "Matrix",
    "RankOneBlock",
    "SelfAttention",
    "Transformer",
    "__version__",
    "build",
    "certify",
    "load",
    "predict",
    "readout",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'hardmax' has no attribute {name!r}")
    value = getattr(import_module(f".{_WHERE[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
