"""Check that every baseline gives the exact outputs: ``python benchmarks/baselines/check.py``.

Models of all strategies on small data, and random models whose attention meets positive,
negative and zero scores, ties, and repeated tokens. Fractions and SymPy must agree exactly,
floats to within TOLERANCE of the largest number that occurs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from data import gaussian, text_like

import hardmax as hm
from baselines import fractions_blocks, numpy_blocks, sympy_blocks, torch_blocks, torch_dense
from hardmax.exact.array import ExactArray
from hardmax.model.parameters import NAMES, VECTORS, Parameters
from hardmax.model.tokens import Tokens

TOLERANCE = 1e-10


def arrays(model: hm.Transformer, data: hm.Dataset) -> tuple[np.ndarray, ...]:
    """What the baselines in float64 take: u, b, w, ρ, α, v, tokens, offsets."""
    p = model.parameters
    return (*(p.arrays[name].values for name in NAMES), data.tokens.values, data.offsets)


def numbers(model: hm.Transformer, data: hm.Dataset) -> tuple[list, ...]:
    """What the exact baselines take: the same in Fractions."""
    p = model.parameters
    return (
        *(rows(p.arrays[name]) if name in VECTORS else list(p.arrays[name].numbers())
          for name in NAMES),
        rows(data.tokens),
        data.offsets.tolist(),
    )  # fmt: skip


def rationals(given: tuple[list, ...]) -> tuple[list, ...]:
    """The same in SymPy's Rationals."""
    convert = sympy_blocks.rationals
    return (
        *([convert(x) for x in part] if part and isinstance(part[0], tuple) else convert(part)
          for part in given[:-1]),
        given[-1],
    )  # fmt: skip


def rows(array: ExactArray) -> list[tuple]:
    return [array.row(i) for i in range(len(array))]


def check(
    model: hm.Transformer, data: hm.Dataset, *, floats: bool = True, exact: bool = True
) -> None:
    """Assert agreement of the baselines, those in floats, those that are exact, or both."""
    right = model.run(Tokens.from_sequences(data.sequences))  # by the definition
    if floats:
        check_floats(arrays(model, data), right)
    if exact:
        fractions = numbers(model, data)
        if [tuple(y) for y in fractions_blocks.outputs(*fractions)] != right:
            raise AssertionError("B4 is not exact")
        if [tuple(y) for y in sympy_blocks.outputs(*rationals(fractions))] != [
            tuple(sympy_blocks.rationals(y)) for y in right
        ]:
            raise AssertionError("B5 is not exact")


def check_floats(given: tuple[np.ndarray, ...], right: list[tuple]) -> None:
    expected = np.array([[float(x) for x in y] for y in right])
    size = max(1.0, *(float(np.abs(x).max(initial=0)) for x in given[:-1]))
    for name, run in {
        "B1": numpy_blocks.outputs,
        "B2": torch_blocks.outputs,
        "B3": torch_dense.outputs,
        "B3 without identities": partial(torch_dense.outputs, skip_identity=True),
    }.items():
        before = given[-2].copy()
        error = float(np.abs(run(*given) - expected).max()) / size
        if not error <= TOLERANCE:
            raise AssertionError(f"{name} is off by {error:.3g} of the largest number")
        if not np.array_equal(before, given[-2]):
            raise AssertionError(f"{name} changed its input")


def held_by_floats(model: hm.Transformer, data: hm.Dataset) -> bool:
    """Whether float64 holds every token after every block, so that ties stay ties."""
    return all(
        Fraction(float(x)) == x
        for Z in data.sequences
        for state in model.trace(Z)
        for token in state
        for x in token
    )


def random_case(seed: int) -> tuple[hm.Transformer, hm.Dataset]:
    """Blocks and tokens of small dyadic numbers."""
    rng = np.random.default_rng(seed)
    d, depth, count = int(rng.integers(1, 4)), int(rng.integers(1, 6)), int(rng.integers(1, 6))
    shapes = {name: (depth, d) if name in VECTORS else (depth,) for name in NAMES}
    parts = {name: rng.integers(-2, 3, shape).astype(float) for name, shape in shapes.items()}
    for name in VECTORS:  # layers that do nothing, leaders of every kind
        parts[name][rng.random(depth) < 0.3] = 0
    still = rng.random(depth) < 0.3
    parts["rho"][still], parts["alpha"][still] = 1, 0
    parts["rho"][rng.random(depth) < 0.4] = 0
    lengths = rng.integers(1, 5, count) if rng.random() < 0.7 else np.full(count, 2)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    tokens = rng.integers(-2, 3, (int(offsets[-1]), d)) / 2.0
    if rng.random() < 0.2:  # one token, repeated
        tokens = np.repeat(tokens[offsets[:-1]], lengths, axis=0)
    model = hm.Transformer(Parameters(*(ExactArray(parts[name]) for name in NAMES)))
    return model, hm.Dataset.from_arrays(ExactArray(tokens + 0.0), offsets)


def part(data: hm.Dataset, chosen: list[int]) -> hm.Dataset:
    """Some of the sequences, with their labels."""
    return hm.Dataset([data.sequence(j) for j in chosen], [data.labels[j] for j in chosen])


def cases() -> Iterator[tuple[str, hm.Transformer, hm.Dataset]]:
    vowels = hm.load(Path(__file__).parents[2] / "examples" / "vowels.json.gz")
    small = {
        "vowels": part(vowels, list(range(0, 270, 27))),
        "text": text_like(10, longest=5, dimension=3),
        "gaussian": gaussian(10, 4),
    }
    for name, data in small.items():
        for strategy in ("paper", "peel", "cover", "auto"):
            yield f"{name} {strategy}", hm.build(data, strategy=strategy), data


def check_all(random: int = 400) -> None:
    """Assert agreement on all cases."""
    compared = 0
    for name, model, data in cases():
        try:
            check(model, data)
        except AssertionError as problem:
            raise AssertionError(f"{name}: {problem}") from None
    for seed in range(random):
        model, data = random_case(seed)
        floats = held_by_floats(model, data)
        compared += floats
        try:
            check(model, data, floats=floats, exact=seed < random // 4)
        except AssertionError as problem:
            raise AssertionError(f"random model {seed}: {problem}") from None
    if compared < random // 4:
        raise AssertionError(f"only {compared} random models could be compared in floats")


if __name__ == "__main__":
    check_all()
    print("every baseline gives the exact outputs")
