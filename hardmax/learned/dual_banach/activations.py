"""Activations with the constants that the bounds need: |σ(z)| ≤ slope·|z| + offset, Lipschitz.

The inequality holds for every real z, so ‖σ(z)‖ ≤ slope·‖z‖ + offset·√h for z ∈ ℝ^h. Proofs:
GELU, SiLU and ReLU are z times a number in [0, 1]; |tanh z| ≤ |z|; the derivative of the sigmoid
is at most 1/4 and its value at 0 is 1/2. The derivatives of both GELUs are below 1.13, that of
SiLU below 1.11; the tests prove it in ball arithmetic. The printed bound (12) needs slope ≤ 1 and
offset = 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...errors import InputError
from .enclosures.balls import Balls
from .enclosures.elementary import erf, sigmoid, tanh

_ROOT_HALF = Balls.around(float.fromhex("0x1.6a09e667f3bcdp-1"), 2.0**-53)
_ROOT_TWO_OVER_PI = Balls.around(float.fromhex("0x1.9884533d43651p-1"), 2.0**-53)
_GELU_CUBIC = 0.044715  # the float that PyTorch's tanh approximation uses


@dataclass(frozen=True)
class Activation:
    """A scalar function σ with |σ(z)| ≤ ``slope``·|z| + ``offset``, a Lipschitz constant, and its
    enclosure.
    """

    name: str
    slope: float
    offset: float
    lipschitz: float
    enclose: Callable[[Balls], Balls]


def _gelu(z: Balls) -> Balls:
    return z * (erf(z * _ROOT_HALF) + 1.0) * 0.5


def _gelu_tanh(z: Balls) -> Balls:
    return z * (tanh(_ROOT_TWO_OVER_PI * (z + z * z * z * _GELU_CUBIC)) + 1.0) * 0.5


ACTIVATIONS = {
    activation.name: activation
    for activation in (
        Activation("relu", 1.0, 0.0, 1.0, Balls.relu),
        Activation("gelu", 1.0, 0.0, 1.13, _gelu),
        Activation("gelu_tanh", 1.0, 0.0, 1.13, _gelu_tanh),
        Activation("silu", 1.0, 0.0, 1.11, lambda z: z * sigmoid(z)),
        Activation("tanh", 1.0, 0.0, 1.0, tanh),
        Activation("sigmoid", 0.25, 0.5, 0.25, sigmoid),
        Activation("identity", 1.0, 0.0, 1.0, lambda z: z),
    )
}


def activation(name: str) -> Activation:
    """Activation by name; InputError names those that are known.

    >>> activation("sigmoid").offset
    0.5
    """
    if name not in ACTIVATIONS:
        raise InputError(
            f"the activation {name!r} is unknown; known are {', '.join(ACTIVATIONS)}; for another "
            "one pass an Activation with its slope, offset and enclosure"
        )
    return ACTIVATIONS[name]
