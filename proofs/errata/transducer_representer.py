"""The hypotheses of the representer part of Theorem 2 exclude each other where some O other
than 0 vanishes at all data points."""

import sympy

from proofs.checking import require, require_equal
from proofs.sources import TRANSDUCER

SOURCE = TRANSDUCER
PLACE = "Theorem 2, second and third sentence"
KIND = "Gap"
FAILS = (
    "the hypotheses: no loss of this form is coercive where some O other than 0 vanishes at all v_i"
)
PRINTED = (
    (
        138,
        "If L is of the form L(., Do) = L 0 {0y, }i<n with L : U™ — R, then the dual "
        "T(Dp)* is in span{K(v;,.)(u)*,i < n,u € U}. Furthermore if for any Do, "
        "L(.,Dp) is strictly-convex, then T is unique.",
    ),
)
CLAIM = (
    "If L(., D) is coercive and of the form L~ o (delta_{v_i})_{i<=n}, the dual of the "
    "minimiser is in span{K(v_i, .)(u)*}; if L(., D) is strictly convex, T is unique."
)
MENDED = (
    "Add a penalty lambda phi(|O|_B), phi strictly increasing, or speak of the minimiser "
    "of least norm."
)


def witness() -> str:
    """Take functions on two points and one data point: no L~ is coercive, and minimisers lie
    outside the span.
    """
    t = sympy.Symbol("t", real=True)
    general = sympy.Function("L")
    O = sympy.Matrix([1, 0]) + t * sympy.Matrix([0, 1])  # O + t O_0, where O_0 vanishes at v_1
    require_equal(
        sympy.diff(general(O[0]), t),
        sympy.Integer(0),
        "L~ o delta is constant along O + t O_0, so neither coercive nor strictly convex",
    )
    require_equal(
        (O[0] - 1) ** 2, sympy.Integer(0), "L(O) = (O(v_1) - 1)^2 vanishes at (1, t) for every t"
    )
    # B = l^2 on two points: span{K(v_1, .)} = R e1, while (1, 5) is a minimiser
    require(
        sympy.Matrix([[1, 0], [1, 5]]).rank() == 2,
        "the minimiser (1, 5) is not in the span of K(v_1, .) = e1",
    )
    return (
        "B = R^2 (functions on v_1, v_2), data (v_1, 1): every L~ o delta_{v_1} is "
        "constant on (1, t), hence not coercive; (1, 5) minimises (O(v_1) - 1)^2 and is not "
        "in span{e1}."
    )
