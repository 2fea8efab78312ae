"""Label sets: membership, witnesses, disjointness with every proof checked, distances."""

from __future__ import annotations

from decimal import Decimal, getcontext
from fractions import Fraction
from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import dot

from hardmax.errors import InputError
from hardmax.labels import (
    Ball,
    Box,
    CommonPoint,
    Distance,
    Halfspace,
    Point,
    Polyhedron,
    Separation,
    check_disjoint,
    default_points,
    separate,
)
from hardmax.testing import KINDS, disjoint_sets, rationals

F = Fraction
DIMENSION = 2


def vectors(dimension=DIMENSION):
    return st.tuples(*[rationals()] * dimension)


@st.composite
def any_set(draw, kinds=KINDS, dimension=DIMENSION):
    """A set of any kind near the origin; sets drawn twice often overlap or touch."""
    kind = draw(st.sampled_from(kinds))
    x = draw(vectors(dimension))
    if kind == "point":
        return Point(x)
    if kind == "ball":
        return Ball(x, draw(st.sampled_from([F(1, 3), F(1), F(5, 2)])))
    if kind == "box":
        sides = draw(st.tuples(*[st.sampled_from([F(1, 2), F(1), F(3)])] * dimension))
        return Box(x, tuple(a + b for a, b in zip(x, sides, strict=True)))
    normals = vectors(dimension).filter(any)
    if kind == "halfspace":
        return Halfspace(draw(normals), draw(rationals()))
    rows = draw(st.lists(vectors(dimension), min_size=1, max_size=4))
    slack = draw(st.lists(st.sampled_from([F(1, 2), F(1)]), min_size=len(rows), max_size=len(rows)))
    return Polyhedron(rows, [dot(row, x) + s for row, s in zip(rows, slack, strict=True)])


def inside(label_set, x):
    """Membership, straight from the definition of each kind."""
    if isinstance(label_set, Point):
        return all(a == b for a, b in zip(label_set.point, x, strict=True))
    if isinstance(label_set, Ball):
        c = label_set.center
        return sum((a - b) ** 2 for a, b in zip(x, c, strict=True)) < label_set.radius**2
    if isinstance(label_set, Box):
        return all(a < t < b for a, t, b in zip(label_set.lower, x, label_set.upper, strict=True))
    if isinstance(label_set, Halfspace):
        return dot(label_set.normal, x) > label_set.offset
    return all(dot(row, x) < b for row, b in zip(label_set.A, label_set.b, strict=True))


def side_holds(label_set, normal, offset, multipliers):
    """⟨normal, ·⟩ ≤ offset on the whole set, by a finite computation."""
    if isinstance(label_set, Point):
        return dot(normal, label_set.point) <= offset
    if isinstance(label_set, Ball):  # ⟨n,c⟩ + r|n| ≤ offset, without the square root
        room = offset - dot(normal, label_set.center)
        return room >= 0 and room**2 >= label_set.radius**2 * dot(normal, normal)
    if isinstance(label_set, Box):
        far = [h if n > 0 else l for n, l, h in zip(normal, label_set.lower, label_set.upper)]
        return dot(normal, far) <= offset
    if isinstance(label_set, Halfspace):  # normal = −t·(its normal), t ≥ 0
        A, b = [[-a for a in label_set.normal]], [-label_set.offset]
    else:
        A, b = label_set.A, label_set.b
    combined = [sum(y * row[j] for y, row in zip(multipliers, A)) for j in range(len(normal))]
    return (
        all(y >= 0 for y in multipliers)
        and combined == list(normal)
        and sum(y * c for y, c in zip(multipliers, b, strict=True)) <= offset
    )


def check_pair(first, second):
    """Whether they are disjoint; the proof is checked either way."""
    found = separate(first, second)
    if isinstance(found, CommonPoint):
        assert inside(first, found.point)
        assert inside(second, found.point)
        return False
    assert isinstance(found, Separation)
    assert any(found.normal)
    assert side_holds(first, found.normal, found.offset, found.first)
    opposite = [-n for n in found.normal]
    assert side_holds(second, opposite, -found.offset, found.second)
    # two closed half-spaces share a hyperplane; both sets in it can only be two equal points
    if isinstance(first, Point) and isinstance(second, Point):
        assert first.point != second.point
        assert dot(found.normal, first.point) < dot(found.normal, second.point)
    return True


@given(any_set(), vectors())
def test_membership_is_the_definition(label_set, x):
    assert label_set.contains(x) == inside(label_set, x)


@given(any_set())
def test_the_witness_lies_inside(label_set):
    assert inside(label_set, label_set.witness())


@given(any_set(), any_set())
def test_either_answer_about_a_pair_is_proved(first, second):
    assert check_pair(first, second) == check_pair(second, first)


@given(st.randoms(use_true_random=False), st.integers(1, 4), st.integers(2, 5))
def test_sets_in_slabs_of_their_own_are_found_disjoint(rng, dimension, count):
    sets = disjoint_sets([str(k) for k in range(count)], dimension, rng)
    for first, second in combinations(sets.values(), 2):
        assert check_pair(first, second)
    proofs = check_disjoint(sets)
    assert set(proofs) == set(combinations(sets, 2))


def test_every_pair_of_kinds_meets_and_is_separated():
    """Around the origin all kinds overlap; far apart, or touching, they do not."""
    far = F(100)
    near = {
        "point": Point((0, 0)),
        "ball": Ball((F(1, 2), 0), 1),
        "box": Box((-1, -1), (1, 1)),
        "halfspace": Halfspace((1, 0), -1),
        "polyhedron": Polyhedron([(1, 1), (-1, 0), (0, -1)], [1, 1, 1]),
    }
    away = {
        "point": Point((-far, 0)),
        "ball": Ball((-far, 0), 1),
        "box": Box((-far, -1), (-far + 1, 1)),
        "halfspace": Halfspace((-1, 0), 50),
        "polyhedron": Polyhedron([(1, 1), (1, -1)], [-50, -50]),
    }
    for first in near.values():
        for second in near.values():
            assert not check_pair(first, second)
        for second in away.values():
            assert check_pair(first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Ball((0, 0), 3), Ball((3, 4), 2)),
        (Ball((0, 0), 5), Point((3, 4))),
        (Ball((0, 0), 5), Halfspace((3, 4), 25)),
        (Ball((0, 0), 1), Box((1, -1), (2, 1))),
        (Box((0, 0), (1, 1)), Box((1, 1), (2, 2))),
        (Box((0, 0), (1, 1)), Point((1, F(1, 2)))),
        (Halfspace((1, 2), 0), Halfspace((-2, -4), 0)),
        (Halfspace((1, 0), 1), Polyhedron([(1, 1), (1, -1)], [1, 1])),
        (Point((0, 0)), Point((0, F(1, 2**500)))),
    ],
    ids=lambda s: s.kind,
)
def test_touching_sets_are_disjoint(first, second):
    assert check_pair(first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Ball((0, 0), 3), Ball((3, 4), 2 + F(1, 2**300))),
        (Ball((0, 0), 5 + F(1, 2**300)), Point((3, 4))),
        (Ball((0, 0), 5 + F(1, 2**300)), Halfspace((3, 4), 25)),
        (Ball((0, 0), 1 + F(1, 2**300)), Box((1, -1), (2, 1))),
        (Box((0, 0), (1, 1)), Box((1 - F(1, 2**300), 0), (2, 2))),
        (Halfspace((1, 2), -F(1, 2**300)), Halfspace((-2, -4), 0)),
        (Ball((0, 0), 1), Ball((0, 0), 1)),
    ],
    ids=lambda s: s.kind,
)
def test_the_smallest_overlap_is_found(first, second):
    assert not check_pair(first, second)


def test_the_error_names_the_pair_and_a_common_point():
    sets = {"a": Point((0, 5)), "b": Ball((0, 0), 1), "c": Halfspace((0, 1), F(1, 2))}
    with pytest.raises(InputError, match="labels 'a' and 'c' overlap: both contain \\(0, 5\\)"):
        check_disjoint(sets)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Ball((0,), 0), "radius is not positive"),
        (lambda: Ball((0,), -1), "radius is not positive"),
        (lambda: Box((0, 0), (1, 0)), "coordinate 2"),
        (lambda: Box((0,), (1, 2)), "different dimensions"),
        (lambda: Halfspace((0, 0), -1), "normal"),
        (lambda: Polyhedron([(1,), (-1,)], [0, 0]), "rows 1, 2 exclude"),
        (lambda: Polyhedron([(0, 0)], [0]), "rows 1 exclude"),
        (lambda: Polyhedron([(1, 1), (-1, 0), (0, -1), (5, 5)], [0, 0, 0, 9]), "rows 1, 2, 3"),
        (lambda: Polyhedron([], []), "at least one"),
        (lambda: Polyhedron([(1,)], [1, 2]), "found 1 and 2"),
        (lambda: Polyhedron([(1,), (1, 2)], [1, 2]), "different lengths"),
        (lambda: Point((float("nan"),)), "finite"),
    ],
)  # fmt: skip
def test_empty_and_broken_sets_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_default_points():
    points = default_points(["x", "y", "z"], 3)
    assert [p.point for p in points.values()] == [(0, 0, 0), (1, 0, 0), (2, 0, 0)]
    assert list(points) == ["x", "y", "z"]


@given(any_set(), vectors(), rationals())
def test_lifting_frees_the_last_coordinate_and_fixes_it_for_points(label_set, x, last):
    lifted = label_set.lifted(1)
    assert lifted.dimension == DIMENSION + 1
    expected = inside(label_set, x) and (last == 0 or not isinstance(label_set, Point))
    assert lifted.contains((*x, last)) == expected
    assert lifted.contains(lifted.witness())


@given(any_set(), any_set())
def test_lifting_keeps_disjointness(first, second):
    before = isinstance(separate(first, second), Separation)
    assert isinstance(separate(first.lifted(1), second.lifted(1)), Separation) == before


# ----------------------------------------------------------------------------- distances


def real(distance: Distance) -> Decimal:
    getcontext().prec = 200
    square, offset = distance.square, distance.offset
    root = (Decimal(square.numerator) / Decimal(square.denominator)).sqrt()
    return root - Decimal(offset.numerator) / Decimal(offset.denominator)


@st.composite
def distances(draw):
    offset = draw(rationals(6))
    square = draw(st.builds(lambda x: abs(x), rationals(30)) | rationals(6).map(lambda x: x * x))
    return Distance(square, offset)


@given(distances(), distances())
def test_distances_are_ordered_as_real_numbers(first, second):
    difference = real(first) - real(second)
    if abs(difference) < Decimal(10) ** -150:
        assert first == second
        assert not first < second
        assert not second < first
    else:
        assert first != second
        assert (first < second) == (difference < 0)
        assert (first > second) == (difference > 0)
    assert (first <= second) == (first < second or first == second)


def test_distances_that_differ_in_the_last_place():
    tiny = F(1, 2**400)
    assert Distance(F(2)) < Distance(F(2) + tiny)
    assert Distance(F(2), F(1)) > Distance(F(2), F(1) + tiny)
    assert Distance(F(8)) == Distance(F(8))
    assert Distance(F(0)) == Distance(F(9), F(3)) == Distance(F(4), F(2))
    assert Distance(F(0)) <= Distance(F(9), F(3)) <= Distance(F(0))
    # √8 − √2 = √2 is irrational: equal only through the squares
    assert Distance(F(9, 4), F(1, 2)) == Distance(F(1))
    assert not Distance(F(9, 4), F(1, 2)) < Distance(F(1))
    with pytest.raises(TypeError):
        hash(Distance(F(1)))
    assert float(Distance(F(9), F(1))) == 2.0


def nearest_square(label_set, x):
    """Least squared distance to a closed polyhedral set in the plane, by trying all faces."""
    if isinstance(label_set, Halfspace):
        A, b = [[-n for n in label_set.normal]], [-label_set.offset]
    elif isinstance(label_set, Box):
        A = [[1, 0], [0, 1], [-1, 0], [0, -1]]
        b = [*label_set.upper, *(-t for t in label_set.lower)]
    else:
        A, b = label_set.A, label_set.b
    candidates = [list(x)]
    for row, bound in zip(A, b, strict=True):
        if any(row):
            shift = (bound - dot(row, x)) / dot(row, row)
            candidates.append([a + shift * r for a, r in zip(x, row)])
    for (row, bound), (other, limit) in combinations(list(zip(A, b)), 2):
        det = row[0] * other[1] - row[1] * other[0]
        if det:
            candidates.append([(bound * other[1] - row[1] * limit) / F(det),
                               (row[0] * limit - bound * other[0]) / F(det)])  # fmt: skip
    squares = [
        sum((a - c) ** 2 for a, c in zip(x, point))
        for point in candidates
        if all(dot(row, point) <= bound for row, bound in zip(A, b, strict=True))
    ]
    return min(squares)


@given(any_set(), vectors())
def test_distance_to_a_set(label_set, x):
    found = label_set.distance(x)
    if isinstance(label_set, Point):
        assert found == Distance(sum((a - b) ** 2 for a, b in zip(x, label_set.point)))
    elif isinstance(label_set, Ball):
        square = sum((a - b) ** 2 for a, b in zip(x, label_set.center))
        outside = square > label_set.radius**2
        assert found == (Distance(square, label_set.radius) if outside else Distance(F(0)))
    else:
        assert found == Distance(nearest_square(label_set, x))
    if inside(label_set, x):
        assert found == Distance(F(0))


@given(st.randoms(use_true_random=False))
def test_json_form_comes_back(rng: Random):
    from hardmax.formats.data.label_sets import read_label_sets
    from hardmax.formats.written import NumberReader, parse

    sets = disjoint_sets(["a", "b", "c"], 3, rng)
    import json

    text = json.dumps({name: entry.to_json() for name, entry in sets.items()})
    assert read_label_sets(parse(text.encode()), NumberReader("exact"), 3) == sets


def test_points_need_no_pairs():
    """A thousand points are told apart at sight; each hyperplane is there when asked for."""
    sets = {str(k): Point((k, -k)) for k in range(1000)}
    sets["ball"] = Ball((0, 500), 1)
    proofs = check_disjoint(sets)
    assert len(proofs) == 1001 * 500
    assert list(proofs.without_points()) == [(str(k), "ball") for k in range(1000)]
    found = proofs["3", "999"]
    assert found == separate(sets["3"], sets["999"])
    with pytest.raises(KeyError):
        _ = proofs["999", "3"]
    sets["twin"] = Point((7, -7))
    with pytest.raises(InputError, match="labels '7' and 'twin' overlap"):
        check_disjoint(sets)
