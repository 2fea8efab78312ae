"""Exact kernel regression of one ADR operator, with its certificate.

    python -m studies.transducer.exact

The first sine coefficients of v and u, rounded to multiples of 2⁻¹⁶, are the rational data.
"""

from __future__ import annotations

import time
from fractions import Fraction

import click
import numpy as np

from hardmax.learned.transducer import KernelRegression, Polynomial, RationalQuadratic, Sine
from studies.transducer.adr import make_tasks
from studies.transducer.metric import relative_error

UNIT = 1 << 16


def rational(vectors: np.ndarray) -> list[list[Fraction]]:
    """Rows rounded to multiples of 1/UNIT."""
    return [[Fraction(int(x), UNIT) for x in np.rint(row * UNIT)] for row in vectors]


@click.command()
@click.option("--modes", default=12, show_default=True)
@click.option("--queries", default=10, show_default=True)
def main(modes: int, queries: int) -> None:
    """Print residual, norm, sizes of numbers, error and time for several n."""
    v, u = make_tasks(2_000_099, 1, 60 + queries)
    code = Sine(modes)
    a, b = rational(code.encode(v[0])), rational(code.encode(u[0]))
    targets = u[0, -queries:].astype(float)
    kernels = {
        "quadratic (⟨x,y⟩ + 1)²": Polynomial(2, 1),
        "1/(1 + ‖x−y‖²/100)": RationalQuadratic("1/100"),
    }
    for name, kernel in kernels.items():
        for n in (5, 10, 20, 40):
            start = time.perf_counter()
            model = KernelRegression(kernel).fit(a[:n], b[:n])
            certificate = model.certificate()
            found = model.predict(a[-queries:])
            seconds = time.perf_counter() - start
            digits = max(len(str(x.denominator)) for row in found for x in row)
            error = relative_error(code.decode(np.array(found, float)), targets)
            click.echo(
                f"{name}  n={n:2d}  interpolates {certificate.interpolates}, rank "
                f"{certificate.rank}, norm² {float(certificate.norm):.3g}, digits {digits}, "
                f"error {error:.1e}, {seconds:.2f} s"
            )


if __name__ == "__main__":
    main()
