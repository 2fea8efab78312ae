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

# public name -> module; imported when first used (PEP 562)
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
}

# methods of public classes delegate to these functions when they are called; through the package,
# so that a class imports nothing from the folders above its own (module:function)
_DELEGATES = {
    "evaluate": "engine:evaluate",
    "float_outputs": "execute.floating:outputs",
    "label_sets_of_model": "formats.model_file:label_sets",
    "load_for": "formats.data:load_for",
    "certify_network": "network.judge:certify_network",
    "network_classes": "network.judge:classes_of",
    "network_enclosures": "network.run:enclosures",
    "network_outputs": "network.run:exact_outputs",
    "read_model": "formats.model_file:read_model",
    "read_network": "network.file:read_network",
    "save_data": "formats.data:save",
    "save_shards": "shards.writer:save_shards",
    "to_torch": "exchange.torch_module:to_torch",
    "sets_for": "certify.predict:sets_for",
    "write_certificate": "formats.certificate_file:write_certificate",
    "write_model": "formats.model_file:write_model",
    "write_network": "network.file:write_network",
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
    if name in _DELEGATES:
        module, _, function = _DELEGATES[name].partition(":")
    elif name in _WHERE:
        module, function = _WHERE[name], name
    else:
        raise AttributeError(f"module 'hardmax' has no attribute {name!r}")
    value = getattr(import_module(f".{module}", __name__), function)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
