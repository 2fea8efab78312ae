"""`hardmax verify`, the checker and plain Fractions on pairs that Hypothesis makes.

Models are random rank-1 blocks, built by no strategy; label sets of every kind are laid around
an output, through it, or beside it; data comes in every form.
"""

from fractions import Fraction
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from . import judges, mutations, pairs

SMALL = st.integers(-3, 3)
NUMBER = st.one_of(
    SMALL.map(Fraction),
    st.builds(Fraction, SMALL, st.sampled_from([2, 3, 7, 1024])),
)
TINY = Fraction(1, 2**90)
WRITTEN = st.one_of(SMALL, st.sampled_from(["0.1", "-2.3", "1/3", "-5/2", "1e-3", "0.5", "2"]))


@st.composite
def rank_one_blocks(draw, d):
    vector = st.lists(NUMBER, min_size=d, max_size=d)
    block = st.tuples(
        vector, NUMBER, vector | st.just([Fraction(0)] * d),
        st.sampled_from([0, 1, 1, -1, "1/2"]).map(Fraction), NUMBER,
        vector | st.just([Fraction(0)] * d),
    )  # fmt: skip
    return draw(st.lists(block, min_size=1, max_size=5))


def sets_around(draw, x, kind):
    """Disjoint sets a, b, c: x lies in a, on its boundary, or not far from it."""
    d = len(x)
    gap = st.sampled_from([Fraction(0), TINY, Fraction(1), Fraction(1, 3)])
    low, high = x[0] - draw(gap), x[0] + draw(gap)
    if low == high:
        high += 1
    first, rest = [1] + [0] * (d - 1), [Fraction(0)] * (d - 1)
    minus = [-1] + [0] * (d - 1)
    sets = {
        "b": {"kind": "halfspace", "normal": first, "offset": high},
        "c": {"kind": "halfspace", "normal": minus, "offset": -low},
    }
    middle = (low + high) / 2
    if kind == "point":
        near = draw(st.sampled_from([Fraction(0), TINY]))
        sets["a"] = {"kind": "point", "point": [min(max(x[0] + near, low), high), *x[1:]]}
    elif kind == "ball":
        center = [middle, *(a + draw(gap) for a in x[1:])]
        sets["a"] = {"kind": "ball", "center": center, "radius": (high - low) / 2}
    elif kind == "box":
        sides = [draw(gap) for _ in rest]
        sets["a"] = {
            "kind": "box",
            "lower": [low, *(a - 1 for a in x[1:])],
            "upper": [high, *(a + side for a, side in zip(x[1:], sides, strict=True))],
        }
    elif kind == "halfspace":
        del sets["b"]
        sets["a"] = {"kind": "halfspace", "normal": first, "offset": low}
    else:
        row = [draw(SMALL) for _ in range(d)]
        bound = judges.definition.dot([Fraction(a) for a in row], x) + draw(gap)
        if not any(row):
            bound = Fraction(1)  # the polyhedron must not be empty
        inner = [Fraction(middle), *x[1:]]
        if judges.definition.dot([Fraction(a) for a in row], inner) >= bound:
            bound = judges.definition.dot([Fraction(a) for a in row], inner) + 1
        sets["a"] = {"kind": "polyhedron", "A": [first, minus, row], "b": [high, -low, bound]}
    return sets


@st.composite
def made_pairs(draw):
    """A pair of random blocks and data whose labels mostly say where the outputs lie."""
    width = draw(st.integers(1, 3))
    positional = width > 1 and draw(st.booleans())
    binary64, masked = draw(st.booleans()), draw(st.booleans())
    d = width - positional
    token = st.lists(WRITTEN, min_size=d, max_size=d)
    sequences = draw(st.lists(st.lists(token, min_size=1, max_size=4), min_size=1, max_size=4))
    model = pairs.of_blocks(
        draw(rank_one_blocks(width)),
        {"numbers": "binary64" if binary64 else "exact", "positional": positional}
        | ({"masked": True} if masked else {}),
    )
    kind = draw(st.sampled_from([*pairs.KIND_CHOICES][:-1]))
    table = {"dimension": d, "sequences": [{"tokens": Z, "label": "a"} for Z in sequences]}
    if kind == "default":
        for k, item in enumerate(table["sequences"]):
            item["label"] = f"label {k % 2}"
        return pairs.Pair("default", model, table)
    exact, _, _ = judges.read_table(table | {"labels": {}}, model.meta)
    outputs = [judges.definition.output(model.blocks(), Z, masked) for Z in exact]
    sets = sets_around(draw, outputs[0][:d], kind)
    table["labels"] = pairs.numbers(sets)
    _, _, read = judges.read_table(table, model.meta)
    for item, x in zip(table["sequences"], outputs, strict=True):
        right = [name for name in read if judges.inside(read[name], x)]
        others = draw(st.integers(0, 9)) == 0
        item["label"] = draw(st.sampled_from([*read])) if others or not right else right[0]
    return pairs.Pair(kind, model, table)


def agree(pair, package):
    """The verdict of all three judges, in every form of the data."""
    found = pair.classified()
    wanted = 2 if found is None else 0 if found else 1
    model = pair.model.raw()
    for form, data in pairs.forms(pair.table).items():
        for judge in (package, judges.ask_checker):
            code, reason = judge(model, data)
            if code != wanted:
                raise judges.DisagreementError(f"{form}, {judge}: {code} {reason}, wanted {wanted}")
    return wanted


def check(pair, seed):
    """A pair, and a mutant of it."""
    rng = Random(seed)
    kind, change = rng.choice([*mutations.kinds().items()])
    mutant = mutations.mutant(kind, change, rng, pair)
    with judges.Package() as package:
        agree(pair, package)
        if mutant is not None and not mutant.refused:
            agree(mutant.pair, package)


HEALTH = {"suppress_health_check": list(HealthCheck), "deadline": None, "database": None}


@settings(max_examples=40, **HEALTH)
@given(made_pairs(), st.integers(0, 2**32))
def test_judges_agree(pair, seed):
    check(pair, seed)


@pytest.mark.slow
@settings(max_examples=2000, **HEALTH)
@given(made_pairs(), st.integers(0, 2**32))
def test_judges_agree_on_two_thousand_pairs(pair, seed):
    check(pair, seed)


@pytest.mark.slow
def test_pairs_are_true_and_wrong_and_of_every_kind():
    seen = set()

    @settings(max_examples=300, derandomize=True, phases=settings.default.phases[:3], **HEALTH)
    @given(made_pairs())
    def look(pair):
        found = pair.classified()
        seen.add((pair.name, found))

    look()
    for kind in [*pairs.KIND_CHOICES][:-1]:
        assert {(kind, True), (kind, False)} <= seen, kind
