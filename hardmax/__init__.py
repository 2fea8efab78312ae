"""hardmax: transformers that classify labelled sequences, constructed and proved exactly.

>>> import hardmax as hm
>>> data = hm.Dataset([[(0, 0), (1, 0)], [(0, 0), (0, 1)]], ["a", "b"])
>>> model = hm.build(data)
>>> hm.certify(model, data).verdict
'proved'
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# name -> module, or module:name there; imported when first used (PEP 562)
_WHERE = {
    "Ball": "labels",
    "Block": "model.layers",
    "Box": "labels",
    "Certificate": "certify.certificate",
    "ContradictionError": "dataset",
    "Dataset": "dataset",
    "FeedForward": "model.layers",
    "Halfspace": "labels",
    "HardmaxError": "errors",
    "InputError": "errors",
    "Matrix": "exact.matrix",
    "MissingExtraError": "errors",
    "Network": "network.network",
    "MultiHeadAttention": "model.layers",
    "MultiHeadBlock": "model.heads",
    "Point": "labels",
    "Polyhedron": "labels",
    "Reading": "dataset",
    "RankOneBlock": "model.layers",
    "ResourceLimitError": "errors",
    "SelfAttention": "model.layers",
    "Shards": "shards",
    "Transformer": "model.transformer",
    "build": "construct.build",
    "certify": "certify.verify",
    "from_onnx": "exchange.from_onnx",
    "from_torch": "network.torch_modules",
    "load": "formats.data",
    "predict": "certify.predict",
    "readout": "model.layers",
    # not public: methods of public classes call these through the package, so that a class imports
    # nothing from the folders above its own
    "evaluate": "engine",
    "float_outputs": "execute.floating:outputs",
    "label_sets_of_model": "formats.model_file:label_sets",
    "load_for": "formats.data",
    "certify_network": "network.judge",
    "network_classes": "network.judge:classes_of",
    "network_enclosures": "network.run:enclosures",
    "network_outputs": "network.run:exact_outputs",
    "read_model": "formats.model_file",
    "read_network": "network.file",
    "save_data": "formats.data.saving:save",
    "save_shards": "shards.writer",
    "to_torch": "exchange.torch_module",
    "sets_for": "certify.predict",
    "write_certificate": "formats.certificate_file",
    "write_model": "formats.model_file",
    "write_network": "network.file",
}

if TYPE_CHECKING:
    from .certify.certificate import Certificate
    from .certify.predict import predict
    from .certify.verify import certify
    from .construct.build import build
    from .dataset import ContradictionError, Dataset, Reading
    from .errors import HardmaxError, InputError, MissingExtraError, ResourceLimitError
    from .exact.matrix import Matrix
    from .exchange.from_onnx import from_onnx
    from .formats.data import load
    from .labels import Ball, Box, Halfspace, Point, Polyhedron
    from .model.layers import Block, FeedForward, RankOneBlock, SelfAttention, readout
    from .model.transformer import Transformer
    from .network.network import Network
    from .network.torch_modules import from_torch
    from .shards import Shards

__all__ = [
    "Ball",
    "Block",
    "Box",
    "Certificate",
    "ContradictionError",
    "Dataset",
    "FeedForward",
    "Halfspace",
    "HardmaxError",
    "InputError",
    "Matrix",
    "MissingExtraError",
    "MultiHeadAttention",
    "MultiHeadBlock",
    "Network",
    "Point",
    "Polyhedron",
    "RankOneBlock",
    "Reading",
    "ResourceLimitError",
    "SelfAttention",
    "Shards",
    "Transformer",
    "__version__",
    "build",
    "certify",
    "from_onnx",
    "from_torch",
    "load",
    "predict",
    "readout",
]


class _Package(ModuleType):
    """The package, in which `certify` is the function, though a folder has the same name.

    An import of the folder would put the module in its place; ``from hardmax.certify import …``
    finds the folder all the same.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _WHERE and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'hardmax' has no attribute {name!r}")
    module, _, there = _WHERE[name].partition(":")
    value = getattr(import_module(f".{module}", __name__), there or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
