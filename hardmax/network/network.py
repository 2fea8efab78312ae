"""A network: layers with exact parameters, and how its output names a class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ..model.transformer import Transformer
from ..words import kind, plural
from .layer import Layer
from .layers import Affine, Attention, Embedding, Prepend, Readout, Relu, Residual, walk

if TYPE_CHECKING:
    from ..exact.numbers import Vector


class Network:
    """Layers, one after another, from a sequence of tokens to one output vector.

    One of the ``layers`` is a `Readout`; those before it act on sequences, those behind it on the
    one token that is left. With ``classes``, M names, the class of a sequence is the name whose
    coordinate of the output is larger than all others, and there is none on a tie. Without, the
    label sets of a data set say what an output means, as for a `Transformer`. ``dimension`` is
    that of the tokens that come in; it may be left out where the layers say it. ``meta`` decides
    nothing but how data files are read (``numbers``, ``positional``).
    Raises InputError where two layers do not fit, with the path of the second.

    >>> net = Network([Affine([[1, 0], [0, 2]]), Readout("mean")], classes=["a", "b"])
    >>> net.outputs([[(1, 1), (0, "1/2")]])
    [(Fraction(1, 2), Fraction(3, 2))]
    """

    def __init__(
        self,
        layers: Sequence[Layer],
        *,
        dimension: int | None = None,
        classes: Sequence[object] | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        self.layers = tuple(layers)
        self.meta = dict(meta or {})
        self.sha256: str | None = None  # of the file it was read from
        self.dimension = _dimension(self.layers) if dimension is None else dimension
        readouts = 0
        width = self.dimension
        for path, layer in enumerate(self.layers):
            if not isinstance(layer, Layer):
                raise InputError(f"layer {path}: {kind(layer)} is no layer of a network")
            try:
                width = layer.width(width)
            except InputError as problem:
                raise InputError(f"layer {path}: {problem}") from None
            readouts += isinstance(layer, Readout)
            if readouts and isinstance(layer, Prepend | Embedding):
                raise InputError(f"layer {path}: {layer.kind} has no place behind the readout")
        if readouts != 1:
            raise InputError(
                f"the network has {plural(readouts, 'readout')}, expected one: Readout('mean'), say"
            )
        self.width = width  # of the output
        self.classes = None if classes is None else tuple(str(name) for name in classes)
        if self.classes is not None:
            if len(self.classes) != width or len(set(self.classes)) != width:
                raise InputError(
                    f"{plural(len(self.classes), 'class')} for an output of {width} coordinates; "
                    f"expected one name, used once, for each"
                )
            if width < 2:
                raise InputError("a class is the largest of several coordinates; there is one")

    @classmethod
    def of(cls, model: Transformer) -> Network:
        """The same map as a `Transformer`, with exactly equal outputs.

        >>> import hardmax as hm
        >>> model = hm.build(hm.Dataset([[(0, 1)], [(2, 3), (0, 1)]], ["a", "b"]))
        >>> sequences = [[(0, 1)], [(5, "1/3"), (1, 1), (1, 1)]]
        >>> Network.of(model).outputs(sequences) == model.outputs(sequences)
        True
        """
        if getattr(model, "masked", False):
            raise InputError("a masked transformer has no such network: its readout is another")
        layers: list[Layer] = []
        for block in model.blocks:
            block = block.general() if hasattr(block, "general") else block
            ff, sa = block.feed_forward, block.attention
            inner = [Affine(ff.U.rows(), ff.b), Relu(), Affine(ff.W.rows())]
            if any(map(any, ff.W.rows())):
                layers.append(Residual(inner))
            heads = [head for head in sa.heads if any(map(any, head.V.rows()))] or sa.heads[:1]
            mixed = Attention(Q=[x.A.rows() for x in heads], V=[x.V.rows() for x in heads])
            if any(map(any, heads[0].V.rows())) or sa.rho != 1:
                layers.append(Residual([mixed], sa.rho))
        layers.append(Readout("mean"))
        return cls(layers, dimension=model.dimension, meta=model.meta)

    @property
    def rational(self) -> bool:
        """Whether outputs are rational: no softmax, no norm, no GELU."""
        return all(layer.rational for layer in self.layers)

    @property
    def arrays(self) -> dict[str, Any]:
        """All arrays of parameters by the path of their layer and their name: "0.W", say."""
        return {
            f"{path}.{name}": array
            for path, layer in walk(self.layers)
            for name, array in layer.arrays.items()
        }

    def parameters(self) -> int:
        """Number of entries of all arrays."""
        return sum(array.values.size for array in self.arrays.values())

    def outputs(self, sequences: Any) -> list[Vector]:
        """Exact outputs of the sequences of a `Dataset`, or what it takes.

        Raises InputError where the network is not rational: `enclosures` serves these.
        """
        from .. import network_outputs

        found: list[Vector] = network_outputs(self, sequences)
        return found

    def enclosures(self, sequences: Any, bits: int = 53) -> list[list[tuple[Fraction, Fraction]]]:
        """For each sequence and coordinate numbers (low, high) between which the output lies.

        With 53 ``bits`` float64 balls are used, above ball arithmetic of that precision.

        >>> from hardmax.network.layers import Gelu
        >>> [[(low, high)]] = Network([Gelu(), Readout()], dimension=1).enclosures([[(1,)]])
        >>> low < Fraction("0.84134474606854294858523254563") < high
        True
        """
        from .. import network_enclosures

        found: list[list[tuple[Fraction, Fraction]]]
        found = network_enclosures(self, sequences, bits)
        return found

    def predict(self, sequences: Any, sets: Any = None) -> list[str | None]:
        """The class of each sequence, over the real numbers; None where it stays undecided.

        For a network without ``classes``, ``sets`` are the label sets (a data set's:
        ``sets=data``), and the class is the one whose set holds the output.
        """
        from .. import network_classes

        found: list[str | None] = network_classes(self, sequences, sets)
        return found

    def save(self, path: str | PathLike[str]) -> None:
        """Write the file "hardmax-network/1"; equal networks give equal bytes."""
        from .. import write_network

        write_network(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Network:
        """Read a file "hardmax-network/1"; raises InputError where it is not one."""
        from .. import read_network

        network: Network = read_network(path)
        return network

    def __eq__(self, other: object) -> bool:
        """Whether layers, parameters and classes are exactly equal; meta does not count."""
        if not isinstance(other, Network):
            return NotImplemented
        mine, theirs = self.arrays, other.arrays
        return (
            self.dimension == other.dimension
            and self.classes == other.classes
            and [(path, x.kind, x.options) for path, x in walk(self.layers)]
            == [(path, x.kind, x.options) for path, x in walk(other.layers)]
            and list(mine) == list(theirs)
            and all(
                np.array_equal(x.values, theirs[name].values)
                and dict(x.exact) == dict(theirs[name].exact)
                for name, x in mine.items()
            )
        )

    def __hash__(self) -> int:
        return hash((self.dimension, self.width, len(self.layers)))

    def __repr__(self) -> str:
        numbers = "rational" if self.rational else "over the reals"
        return (
            f"<Network: {plural(len(self.layers), 'layer')}, {self.parameters()} parameters, "
            f"{self.dimension} → {self.width}, {numbers}>"
        )


def _dimension(layers: Sequence[Layer]) -> int:
    for layer in layers:
        if isinstance(layer, Residual):
            return _dimension(layer.layers)
        if isinstance(layer, Embedding):
            return 1
        if "d" in getattr(layer, "sizes", ()):
            return int(layer.sizes["d"])  # type: ignore[attr-defined]
    raise InputError("the layers do not say the dimension of the tokens; give dimension=d")
