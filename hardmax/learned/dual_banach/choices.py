"""The choices that the paper leaves open in its regulariser (equation 13)."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import InputError


@dataclass(frozen=True)
class Choices:
    """What the paper leaves open, each with the default taken here.

    ``source``: f̃* is the output of the "attention" (9), or the "residual" stream x + attention
    that the layer norm reads. ``matrix_norm``: "frobenius" (3rC² operations, as in Appendix E.2)
    or "spectral" (tighter, slower). ``ddof``: divisor d − ddof of the variance; 1 breaks the
    bound. ``eps``: added to the variance; None takes the layer norm's. ``reduction``: "mean" over
    tokens, or "sequence" for the sum over tokens, mean over sequences. ``heads``: "joint" for the
    norm of the summed heads, or "separate" for Σ_h ‖W_{o,h} a_h‖² without the cross terms.
    ``detach_std``, ``detach_norms``: no gradient through std, or through the norms of weights.
    """

    source: str = "attention"
    matrix_norm: str = "frobenius"
    ddof: int = 0
    eps: float | None = None
    reduction: str = "mean"
    heads: str = "joint"
    detach_std: bool = False
    detach_norms: bool = False

    def __post_init__(self) -> None:
        known = {
            "source": ("attention", "residual"),
            "matrix_norm": ("frobenius", "spectral"),
            "ddof": (0, 1),
            "reduction": ("mean", "sequence"),
            "heads": ("joint", "separate"),
        }
        for name, values in known.items():
            if getattr(self, name) not in values:
                raise InputError(f"{name} = {getattr(self, name)!r}; known are {values}")
        if self.eps is not None and not self.eps > 0:
            raise InputError(f"eps = {self.eps} must be positive: a zero output has std 0")
        if self.heads == "separate" and self.source == "residual":
            raise InputError("heads = 'separate' needs source = 'attention'")
