"""The stages of Section 3.1, one by one: what each promises, and within how many blocks."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from reference import dot

from hardmax import RankOneBlock
from hardmax.construct.paper.classify import classify
from hardmax.construct.paper.cluster import cluster
from hardmax.construct.paper.match import LabelledPoints, match_labels
from hardmax.construct.paper.preprocess import preprocess
from hardmax.construct.paper.state import TokenState
from hardmax.construct.shared.move import move, rounded
from hardmax.construct.shared.split_means import split_means
from hardmax.errors import InputError, ResourceLimitError
from hardmax.labels import Halfspace, Point
from hardmax.model.tokens import Tokens
from hardmax.testing import datasets, disjoint_sets, rationals, sequences

F = Fraction


def run(blocks, Z):
    return [tuple(z) for z in reference.trace(blocks, Z)[-1]]


@given(datasets(max_dimension=3, max_sequences=4))
def test_preprocess_leaves_no_token_zero(data):
    blocks, after = preprocess(TokenState.of_tokens(Tokens.from_sequences(data.sequences)))
    zero = (F(0),) * data.dimension
    assert len(blocks) == int(any(zero in Z for Z in data.sequences))
    moved = [run(blocks, Z) for Z in data.sequences]
    assert zero not in [z for Z in moved for z in Z]
    batch = after.exact.batch()
    assert [list(batch.sequence(j)) for j in range(len(data))] == moved


def test_preprocess_hits_zero_with_no_other_token():
    Z = [(F(0),), (F(-1),), (F(-2),), (F(-4),)]
    blocks, _ = preprocess(TokenState.of_tokens(Tokens.from_sequences([Z])))
    assert run(blocks, Z) == [(3,), (2,), (1,), (-1,)]


@st.composite
def separated(draw):
    """Sequences without shared tokens, and some targets."""
    d = draw(st.integers(1, 3))
    drawn = draw(st.lists(sequences(d, 4), min_size=1, max_size=5))
    apart = [[(z[0] + 100 * j, *z[1:]) for z in Z] for j, Z in enumerate(drawn)]
    targets = draw(st.lists(st.tuples(*[rationals(9)] * d), max_size=3))
    return apart, targets


@given(separated(), st.integers(0, 5))
def test_cluster_collapses_to_leaders_above_the_targets(drawn, seed):
    apart, targets = drawn
    state = TokenState.of_tokens(Tokens.from_sequences(apart))
    block, v, left = cluster(state, targets, seed)
    points = []
    for j, Z in enumerate(apart):
        image = run([block], Z)
        assert len(set(image)) == 1
        assert left.vector(j) == image[0]
        leader = max(Z, key=lambda z: dot(v, z))
        assert [a + s for a, s in zip(leader, block.w)] == list(image[0])
        points.append(image[0])
    heights = [dot(v, x) for x in points]
    assert len(set(heights)) == len(heights)
    assert all(dot(v, y) < h for y in targets for h in heights)


POINTS = st.tuples(*[rationals(9)] * 3)


@given(POINTS, POINTS, rationals(9), st.integers(1, 9))
def test_move_takes_one_point_to_its_target_and_leaves_what_is_lower(x, y, u0, gap):
    u = (u0, F(1), F(-2))
    below = dot(u, x) - F(gap, 7)
    block = move(x, y, u, below)
    assert run([block], [x]) == [y]
    # a point exactly at the height of the nearest other one, and a lower one
    for height in (below, below - 5):
        z = (x[0], x[1] + height - dot(u, x), x[2])
        assert dot(u, z) == height
        assert run([block], [z]) == [z]


def test_rounding_to_float64():
    block = RankOneBlock.of(1, u=(1,), b=F(1, 3), w=(F(2, 3),))
    assert rounded(block).b == F(1 / 3)
    assert rounded(block).w == (F(2 / 3),)
    with pytest.raises(ResourceLimitError):
        rounded(RankOneBlock.of(1, w=(F(2) ** 1024,)))


@st.composite
def clouds(draw, most=8):
    """Distinct points of a line above all targets, with labels: what `cluster` leaves."""
    count = draw(st.integers(1, most))
    labels = draw(st.lists(st.sampled_from("abc"), min_size=count, max_size=count))
    heights = draw(st.lists(rationals(40), min_size=count, max_size=count, unique=True))
    points = [(draw(rationals()), F(50) + h) for h in heights]
    return points, labels


def check_ending(points, labels, sets):
    """Match: at most N − 1 blocks, one point for each label. Classify: at most one block each.

    Every block is run here on the points; nothing but the block's own point may move.
    """
    v = (F(0), F(1))
    targets = {name: label_set.witness() for name, label_set in sets.items()}
    floor = max(dot(v, y) for y in targets.values())
    points = [(x, y + floor) for x, y in points]
    state = LabelledPoints.of(points, labels, v)
    matching = match_labels(state, targets)
    current = [run(matching, [x])[0] for x in points]
    for label in set(labels):
        assert len({x for x, l in zip(current, labels) if l == label}) == 1
    assert len({(x, l) for x, l in zip(current, labels)}) == len(set(current))
    assert len(matching) <= len(points) - 1
    left = {(x, l) for x, l in zip(current, labels) if x != targets[l]}
    assert {(x, l) for x, l in state.points} == left
    classifying = classify(state, sets, targets)
    assert len(classifying) <= len(set(labels))
    for x, label in zip(current, labels):
        assert sets[label].contains(run(classifying, [x])[0])
    for block in [*matching, *classifying]:
        moved = [x for x in points if run([block], [x]) != [x]]
        points = [run([block], [x])[0] for x in points]
        assert len(set(moved)) <= 1
    return len(matching), len(classifying)


@given(clouds(), st.randoms(use_true_random=False))
def test_match_and_classify(cloud, rng):
    points, labels = cloud
    check_ending(points, labels, disjoint_sets(sorted(set(labels)), 2, rng))


@pytest.mark.parametrize(
    ("labels", "blocks"),
    [("a", (0, 1)), ("ab", (0, 2)), ("aa", (1, 1)), ("aba", (1, 2)), ("aab", (1, 2)),
     ("abab", (2, 2)), ("abba", (2, 2)), ("aabb", (3, 1)), ("abc", (0, 3)), ("abcabc", (3, 3))],
)  # fmt: skip
def test_blocks_of_match_and_classify(labels, blocks):
    """From the top down: a point of a class with more points joins it; a class that is whole
    and in the way is parked on its target."""
    points = [(F(0), F(9 - k)) for k in range(len(labels))]
    sets = {name: Point((k, 0)) for k, name in enumerate("abc")}
    assert check_ending(points, list(labels), sets) == blocks


def test_a_point_joins_a_current_point_of_its_class():
    """Theory A5: read literally, the paper lets b₁ join b₂ and then moves b₂ to b₁."""
    points = [(F(0), F(10 + k)) for k in (-3, -2, -1)]
    sets = {"b": Point((0, 0)), "c": Point((1, 0))}
    check_ending(points, ["b", "b", "c"], sets)


def test_lowest_points_that_fit_already_stay():
    sets = disjoint_sets(["a", "b"], 2, Random(3), ["halfspace"])
    targets = {name: label_set.witness() for name, label_set in sets.items()}
    for name, label_set in sets.items():
        v = (F(0), F(1))
        deep = tuple(c * 1000 for c in (label_set.normal))
        if dot(v, deep) <= max(dot(v, y) for y in targets.values()):
            continue
        state = LabelledPoints.of([deep], [name], v)
        assert classify(state, sets, targets) == []


SIDES = {"a": Halfspace((-1, 0), -5), "b": Halfspace((1, 0), 5)}  # x < 5 and x > 5


def test_rounding_does_not_catch_the_next_point():
    """Rounded to float64, the first b would be -10, and both points above it."""
    height = 10 + F(1, 2**70)
    points = [(F(9, 2), height + F(1, 2**80)), (F(-1), height)]
    assert check_ending(points, ["a", "b"], SIDES) == (0, 2)


def test_rounding_does_not_leave_a_point_in_the_way():
    """Rounded to float64, the first block would take its point a tenth of the way only: into
    its set, but still above the next point's hyperplane."""
    unit = F(1, 2**49)  # spacing of floats at 10
    points = [(F(1), 10 + unit * F(105, 100)), (F(-1), 10 + unit * F(5, 100))]
    assert check_ending(points, ["a", "b"], SIDES) == (0, 2)


def test_split_means_needs_a_difference():
    with pytest.raises(InputError):
        split_means([(1,), (2,)], [(2,), (1,), (1,), (2,)])
