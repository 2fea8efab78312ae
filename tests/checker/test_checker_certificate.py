"""Certificates: every checked field counts, and disjointness is proved pair by pair."""

import json
from fractions import Fraction
from functools import cache
from itertools import combinations

import pytest
from checker_files import certificate, data_file, identity, model_file, texts, verdict
from definition import contains, dot
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

BLOCKS = [identity(2, u=[1, 0], b="1/3"), identity(2, v=[1, "1/7"], alpha=1, rho=0)]
MODEL = model_file(BLOCKS, {"strategy": "paper", "seed": 3}, ["cluster", "classify"])
POINTS = {"a": {"kind": "point", "point": [0, 0]}, "b": {"kind": "point", "point": [1, 5]}}
DATA = data_file([[[0, 0]], [[1, 5]], [[1, 5], [1, 5]]], ["a", "b", "b"], POINTS)


def judge(table, model=MODEL, data=DATA):
    content = table if isinstance(table, bytes) else json.dumps(table).encode()
    return verdict(model, data, content)


TRUE = certificate(MODEL, DATA)


def test_a_true_certificate():
    code, lines = judge(TRUE)
    assert code == 0
    assert lines[-1].startswith("the certificate agrees, the sets are disjoint")
    assert {key: TRUE[key] for key in ("N", "sequences", "stages", "strategy")} == {
        "N": 2, "sequences": 3, "stages": {"cluster": 1, "classify": 1}, "strategy": "paper"
    }  # fmt: skip


FALSE = {
    "format": ["hardmax-certificate/2", None],
    "verdict": ["refuted", "Proved", True],
    "sha256": [{}, TRUE["sha256"] | {"x": ""}, TRUE["sha256"] | {"data": "0" * 64}, None],
    "strategy": [None, "peel", ["paper"]],
    "numbers": ["binary64", None],
    "positional": [True, 0, None, "false"],
    "sequences": [2, 4, "3", 3.0, True],
    "N": [3, 1, "2", 2.0],
    "d": [1, 3, "2"],
    "M": [1, 3],
    "tokens": [3, 5],
    "blocks": [1, 3, True],
    "stages": [{}, {"cluster": 2}, {"cluster": 1, "classify": 1, "match": 0}, None],
    "block_bound": [19, 21],
    "parameters": [TRUE["parameters"] - 1, TRUE["parameters"] + 1],
    "parameter_bound": [None, 215],
    "bounds": ["exceeded", "n/a", True],
    "total_bits": [TRUE["total_bits"] + 1],
    "max_bits": [TRUE["max_bits"] - 1],
}
CASES = [pytest.param(k, x, id=f"{k}={x!r:.20}") for k, values in FALSE.items() for x in values]


@pytest.mark.parametrize(("key", "value"), CASES)
def test_a_false_field_is_refuted(key, value):
    code, reason = judge(TRUE | {key: value})
    assert code == 1
    assert reason.startswith(f"certificate: {key} is not as stated, but ")


def test_uniform_attention_may_be_stated_where_it_is_true():
    uniform = model_file([*BLOCKS[:1], identity(2)], {"strategy": "paper"})
    table = certificate(uniform, DATA)
    assert judge(table, uniform)[0] == judge(table | {"attention": "uniform"}, uniform)[0] == 0
    for model, value in [(MODEL, "uniform"), (uniform, "leaders"), (uniform, None)]:
        code, reason = judge(certificate(model, DATA) | {"attention": value}, model)
        assert code == 1
        assert reason.startswith("certificate: attention is not as stated")


def test_every_key_is_needed_and_no_other_is_known():
    for key in TRUE:
        assert judge({name: x for name, x in TRUE.items() if name != key})[0] == 2
    assert judge(TRUE | {"time": 0}) == (
        2, "certificate: it: missing or unknown field 'time'"
    )  # fmt: skip


@pytest.mark.parametrize(
    "changed",
    [
        {"float64": 1},
        {"float64": {}},
        {"float64": {"certified": True}},
        {"float64": {"certified": True, "least_margin": "-1/2"}},
        {"float64": {"certified": None, "least_margin": 1}},
        {"float64": {"certified": 1, "least_margin": 1}},
        {"radius": {"least": True, "median": 1}},
        {"float64": {"certified": True, "least_margin": "nan"}},
        {"radius": {"least": 0, "median": 1, "most": 2}},
        {"radius": [0, 1]},
        {"versions": None},
        {"versions": {"hardmax": 1}},
        {"separation": None},
        {"separation": [1]},
        {"separation": [None]},
        {"separation": [{}]},
    ],
)
def test_malformed_fields(changed):
    assert judge(TRUE | changed)[0] == 2


@pytest.mark.parametrize(
    "changed",
    [
        {"float64": {"certified": True, "least_margin": "1/1024"}},
        {"float64": {"certified": False, "least_margin": None}},
        {"radius": {"least": "1/3", "median": 0.5}},
        {"radius": {"least": None, "median": None}},
        {"versions": {}},
    ],
)
def test_stated_fields_are_not_checked(changed):
    code, lines = judge(TRUE | changed)
    assert code == 0
    assert lines[-1].endswith("only stated: float64, radius")


def test_no_json():
    for content in (b"", b"[]", b"null", b"{", b"\xff", b'{"N": 1, "N": 1}', b"[" * 100_000):
        assert judge(content)[0] == 2


def test_the_files_are_bound_by_their_bytes():
    assert judge(TRUE, data=DATA + b" ")[0] == 1
    assert judge(TRUE, data=DATA + b" ")[1].startswith("certificate: sha256 is not as stated")


def test_a_refuted_model_gives_the_witness_whatever_the_certificate_says():
    code, reason = judge(TRUE, model=model_file([identity(2, b=1, w=[0, 1])]))
    assert (code, reason[:10]) == (1, "sequence 1")


# ---- separation --------------------------------------------------------------------------------

SETS = {
    "point": {"kind": "point", "point": [0, 1]},
    "ball": {"kind": "ball", "center": [0, 0], "radius": 1},
    "far ball": {"kind": "ball", "center": [3, 4], "radius": 4},  # they touch in (3/5, 4/5)
    "box": {"kind": "box", "lower": [-9, -3], "upper": ["1/2", -1]},
    "halfspace": {"kind": "halfspace", "normal": [1, 1], "offset": "11/7"},
    "polyhedron": {"kind": "polyhedron", "A": [[-3, 4], [-1, -1], [9, 0]], "b": [-7, 2, 9]},
}


def entry(sets, a, b, normal, offset, **multipliers):
    return {"a": a, "b": b, "normal": texts(normal), "offset": texts(offset)} | {
        key: texts(value) for key, value in multipliers.items()
    }


GRID = [[Fraction(x, 4), Fraction(y, 4)] for x in range(-24, 25) for y in range(-24, 25)]


@cache
def near(x, y):
    """The grid, the points near (x, y) first."""
    return sorted(GRID, key=lambda p: abs(p[0] - x) + abs(p[1] - y))


def on(label_set):
    """A point of a set."""
    if label_set["kind"] == "point":
        return label_set["point"]
    middle = label_set.get("center") or label_set.get("lower") or [0, 0]
    return next(x for x in near(*map(Fraction, middle)) if contains(label_set, x))


def separated(sets, entries):
    """Verdict on data that have one sequence in each set, with these entries."""
    labels = list(sets)
    data = data_file([[on(sets[label])] for label in labels], labels, sets)
    model = model_file([identity(2)])
    return judge(certificate(model, data, separation=entries), model, data)


VALID = [
    ("point", "ball", [0, -1], -1, {}),
    ("ball", "point", [0, 1], 1, {}),
    ("point", "far ball", ["3/5", "3/5"], "3/5", {}),
    ("ball", "far ball", [3, 4], 5, {}),
    ("far ball", "ball", ["-3/4", -1], "-5/4", {}),
    ("box", "ball", [0, 1], -1, {}),
    ("box", "point", [1, 2], "3/4", {}),
    ("ball", "halfspace", [1, 1], "11/7", {}),
    ("halfspace", "point", ["-2/3", "-2/3"], "-22/21", {}),
    ("polyhedron", "point", [-3, 4], -7, {"multipliers_a": [1, 0, 0]}),
    ("box", "far ball", [0, 1], 0, {}),
    ("ball", "polyhedron", [3, -4], 7, {"multipliers_b": [1, 0, 0]}),
]


@pytest.mark.parametrize(("a", "b", "normal", "offset", "more"), VALID)
def test_separating_hyperplanes(a, b, normal, offset, more):
    sets = {a: SETS[a], b: SETS[b]}
    good = entry(sets, a, b, normal, offset, **more)
    assert separated(sets, [good])[0] == 0
    # the other order, with the signs changed
    swapped = {"a": b, "b": a, "normal": texts([-Fraction(x) for x in normal])} | {
        "offset": texts(-Fraction(offset))
    }
    swapped |= {{"a": "multipliers_b", "b": "multipliers_a"}[key[-1]]: x for key, x in more.items()}
    assert separated(sets, [swapped])[0] == 0
    # an entry too many, none, a zero normal, the wrong direction, a wrong offset on either side
    assert separated(sets, [good, good])[0] == 2
    assert separated(sets, [good, swapped])[0] == 2
    assert separated(sets, [])[0] == 1
    assert separated(sets, [good | {"normal": [0, 0]}])[0] == 1
    assert separated(sets, [good | {"normal": swapped["normal"]}])[0] == 1
    assert separated(sets, [good | {"offset": texts(Fraction(offset) + 40)}])[0] == 1
    assert separated(sets, [good | {"offset": texts(Fraction(offset) - 40)}])[0] == 1


@pytest.mark.parametrize("a", ["ball", "far ball"])
def test_touching_balls_leave_no_room(a):
    sets = {name: SETS[name] for name in ("ball", "far ball")}
    for gap in (Fraction(1, 2**60), Fraction(-1, 2**60)):
        assert separated(sets, [entry(sets, "ball", "far ball", [3, 4], 5 + gap)])[0] == 1
        wider = sets | {a: sets[a] | {"radius": sets[a]["radius"] + abs(gap)}}
        assert separated(wider, [entry(wider, "ball", "far ball", [3, 4], 5)])[0] == 1


@pytest.mark.parametrize(
    "changed",
    [
        {"multipliers_b": [1, 0]},
        {"multipliers_b": [1, 0, 0, 0]},
        {"multipliers_b": 1},
        {"multipliers_b": [1, None, 0]},
        {"multipliers_a": [1, 0, 0]},
        {"a": "polyhedron"},
        {"a": "ball", "b": "ball"},
        {"a": "nobody"},
        {"a": 1},
        {"a": ["ball"]},
        {"normal": [3]},
        {"normal": [3, -4, 0]},
        {"normal": "3"},
        {"offset": None},
        {"offset": [7]},
        {"note": ""},
    ],
)
def test_malformed_entries(changed):
    sets = {name: SETS[name] for name in ("ball", "polyhedron")}
    good = entry(sets, "ball", "polyhedron", [3, -4], 7, multipliers_b=[1, 0, 0])
    assert separated(sets, [good])[0] == 0
    assert separated(sets, [good | changed])[0] == 2
    del good["multipliers_b"]
    assert separated(sets, [good])[0] == 2


@pytest.mark.parametrize(
    "multipliers",
    [[0, 0, 0], [1, 1, 0], ["1/2", 0, 0], [2, 0, 0], [-1, 0, 0], [1, 9, 1], [1, -1, "-1/9"]],
)
def test_wrong_multipliers(multipliers):
    sets = {name: SETS[name] for name in ("ball", "polyhedron")}
    wrong = entry(sets, "ball", "polyhedron", [3, -4], 7, multipliers_b=multipliers)
    assert separated(sets, [wrong])[0] == 1


def test_a_negative_multiplier_proves_nothing():
    """The rows x < 1 and -x < 1 with y = (-1, 0) would "show" -x <= -1 on the whole strip."""
    strip = {"kind": "polyhedron", "A": [[1, 0], [-1, 0]], "b": [1, 1]}
    sets = {"strip": strip, "ball": SETS["ball"]}
    for normal, offset, y in (([-1, 0], -1, [-1, 0]), ([1, 0], -1, [0, -1])):
        wrong = entry(sets, "strip", "ball", normal, offset, multipliers_a=y)
        assert separated(sets, [wrong])[0] == 1


def test_points_are_compared_directly():
    same = {"a": SETS["point"], "b": {"kind": "point", "point": ["0/7", "2/2"]}}
    assert separated(same, [])[1] == "certificate: two labels have the same point"
    on_both = entry(same, "a", "b", [1, 0], 0)
    assert separated(same, [on_both])[0] == 1
    apart = {"a": SETS["point"], "b": {"kind": "point", "point": [0, "1/3"]}}
    assert separated(apart, [])[0] == 0
    assert separated(apart, [entry(apart, "b", "a", [0, 1], "2/3")])[0] == 0
    assert separated(apart, [entry(apart, "a", "b", [0, 1], "2/3")])[0] == 1


def test_every_pair_with_an_open_set_is_needed():
    sets = {
        name: {"kind": "box", "lower": [k, 0], "upper": [k + 1, 1]} for k, name in enumerate("abc")
    } | {"p": {"kind": "point", "point": [9, 9]}, "q": {"kind": "point", "point": [9, 8]}}
    walls = {
        (x, y): entry(sets, x, y, [1, 0], k + 1 if y != "p" and y != "q" else 9)
        for k, x in enumerate("abc")
        for y in "abcpq"
        if x < y
    }
    assert len(walls) == 9
    assert separated(sets, list(walls.values()))[0] == 0
    points = entry(sets, "q", "p", [0, 1], 8)
    assert separated(sets, [*walls.values(), points])[0] == 0
    for pair in walls:
        left = [x for key, x in walls.items() if key != pair]
        assert separated(sets, left)[1] == "certificate: a pair is missing"
        assert separated(sets, [*left, points])[1] == "certificate: a pair is missing"


def test_labels_without_a_sequence_must_be_disjoint_too():
    sets = {"a": SETS["ball"], "b": SETS["far ball"]}
    data = data_file([[[0, 0]]], ["a"], sets)
    model = model_file([identity(2)])
    table = certificate(model, data)
    assert table["M"] == 2
    assert judge(table, model, data)[0] == 1
    table["separation"] = [entry(sets, "a", "b", [3, 4], 5)]
    assert judge(table, model, data)[0] == 0


def test_separation_with_positions_is_in_the_dimension_of_the_data():
    sets = {"a": SETS["ball"], "b": SETS["far ball"]}
    data = data_file([[[0, 0]], [[3, 4]]], ["a", "b"], sets)
    model = model_file([identity(3)], {"positional": True})
    good = certificate(model, data, separation=[entry(sets, "a", "b", [3, 4], 5)])
    assert good["d"] == 3
    assert judge(good, model, data)[0] == 0
    wide = good | {"separation": [entry(sets, "a", "b", [3, 4, 0], 5)]}
    assert judge(wide, model, data)[0] == 2


SMALL = st.integers(-3, 3).map(Fraction)
VECTOR = st.lists(SMALL, min_size=2, max_size=2)
SET = st.one_of(
    st.builds(lambda p: {"kind": "point", "point": p}, VECTOR),
    st.builds(
        lambda c, r: {"kind": "ball", "center": c, "radius": Fraction(r, 2)},
        VECTOR, st.integers(1, 5),
    ),
    st.builds(
        lambda low, size: {
            "kind": "box", "lower": low, "upper": [a + Fraction(b, 2) for a, b in zip(low, size)],
        },
        VECTOR, st.lists(st.integers(1, 6), min_size=2, max_size=2),
    ),
    st.builds(lambda a, o: {"kind": "halfspace", "normal": a, "offset": o}, VECTOR, SMALL),
    st.builds(
        lambda A, b: {"kind": "polyhedron", "A": A, "b": b},
        st.lists(VECTOR, min_size=3, max_size=3), st.lists(SMALL, min_size=3, max_size=3),
    ),
)  # fmt: skip


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)
@given(SET, SET, VECTOR, SMALL, st.lists(SMALL, min_size=3, max_size=3))
def test_an_accepted_pair_has_no_common_point(first, second, normal, offset, y):
    """Random hyperplanes and multipliers: where the checker says disjoint, a grid agrees."""
    sets = {"a": first, "b": second}
    assume(all(any(x.get("normal", [1])) for x in sets.values()))
    inside = {name: [x for x in GRID if contains(sets[name], x)] for name in sets}
    assume(all(inside.values()))
    tries = []
    for sign in (1, -1):  # hyperplanes along a row of either set have a better chance
        for label, label_set in sets.items():
            rows = label_set.get("A", [])
            for k in range(len(rows)):
                unit = [Fraction(int(i == k)) for i in range(len(rows))]
                u = [sign * a for a in rows[k]]
                tries.append((u, sign * label_set["b"][k], {f"multipliers_{label}": unit}))
        tries.append(([sign * a for a in normal], offset, {}))
    data = data_file([[inside["a"][0]], [inside["b"][0]]], ["a", "b"], sets)
    model = model_file([identity(2)])
    table = certificate(model, data)
    common = [x for x in inside["a"] if contains(second, x)]
    for u, t, more in tries:
        wanted = {f"multipliers_{x}": y for x in sets if sets[x]["kind"] == "polyhedron"}
        wanted |= {key: x for key, x in more.items() if key in wanted}
        table["separation"] = [entry(sets, "a", "b", u, t, **wanted)]
        code, reason = judge(table, model, data)
        assert code in (0, 1), reason
        if code == 0:
            assert not common
            assert all(dot(u, x) <= t for x in inside["a"])
            assert all(dot(u, x) >= t for x in inside["b"])


def test_the_examples_of_the_kinds_are_disjoint():
    """The hyperplanes above are about sets that really do not meet on a grid."""
    pairs = {frozenset(x[:2]) for x in VALID}
    for a, b in combinations(SETS, 2):
        if {a, b} in pairs:
            assert not any(contains(SETS[a], x) and contains(SETS[b], x) for x in GRID)
