"""Data sets and empirical measures."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hardmax as hm
from hardmax.dataset import ContradictionError, merge
from hardmax.dataset.grouping import measure, token_keys
from hardmax.errors import InputError
from hardmax.exact.array import ExactArray
from hardmax.labels import Ball, Box, Halfspace, Point
from hardmax.testing import datasets, sequences

F = Fraction
THIRD = F(1, 3)


def mu(Z):
    """Empirical measure as a dictionary of exact masses."""
    return {z: F(count, len(Z)) for z, count in Counter(Z).items()}


def test_tokens_labels_ids():
    data = hm.Dataset([[(0, "1/3")], [(0.5, 2), (1, 1)]], ["x", "y"], ids=["first", None])
    assert list(data.sequences) == [((0, THIRD),), ((F(1, 2), 2), (1, 1))]
    assert (len(data), data.dimension, data.labels) == (2, 2, ["x", "y"])
    assert (data.name(0), data.name(1)) == ("sequence 1 (id 'first')", "sequence 2")
    assert [Z.shape for Z in data.arrays()] == [(1, 2), (2, 2)]
    assert data.sets == {"x": Point((0, 0)), "y": Point((1, 0))}


def test_default_points_come_in_the_order_of_the_sorted_labels():
    data = hm.Dataset([[(0, 0)], [(1, 0)], [(2, 0)]], ["b", "a", "b"])
    assert list(data.sets) == ["a", "b"]
    assert data.sets["b"].point == (1, 0)


@given(st.permutations(["b", "10", "9", "-3", "-21", "a", "", "B", "07", "ä"]))
def test_default_points_do_not_depend_on_the_order_of_the_sequences(labels):
    data = hm.Dataset([[(k,)] for k in range(len(labels))], labels)
    assert list(data.sets) == ["-21", "-3", "9", "10", "", "07", "B", "a", "b", "ä"]
    assert [point.point for point in data.sets.values()] == [(k,) for k in range(len(labels))]


def test_labels_can_be_any_names():
    sets = {0: Point((5,)), 1: Point((6,))}
    for labels in ([0, 1], np.array([0, 1]), iter([0, 1]), ["0", "1"]):
        data = hm.Dataset([[(1,)], [(2,)]], labels, sets)
        assert data.names == ["0", "1"]
        assert data.sets["1"].point == data.sets[1].point == data.sets[np.int64(1)].point == (6,)
    assert hm.Dataset([[(1,)]]).labels == [None]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([],), "no sequences"),
        (([[(1,)], []],), "sequence 2 has no tokens"),
        (([[]],), "sequence 1 has no tokens"),
        (([[()]],), "at least one coordinate"),
        (([[(1, 2)], [(1, 2), (1,)]],), "sequence 2, token 2 has 1 coordinates, expected 2"),
        (([[(1, "a")]],), "sequence 1, token 1"),
        (([[(1, float("inf"))]],), "sequence 1, token 1"),
        (([[(1, True)]],), "sequence 1, token 1"),
        (([[1, 2]],), "sequence 1, token 1"),
        (([1, 2],), "sequence 1: 1 is not a list"),
        (([[(1,)]], []), "0 labels for 1 sequences"),
        (([[(1,)]], ["a", "b"]), "2 labels for 1 sequences"),
        (([[(1,)], [(2,)]], ["a", "b"], {"a": Point((0,))}), "sequence 2 has the label 'b'"),
        (([[(1,)]], ["a"], {"a": Point((0, 1))}), "label 'a' has dimension 2, the tokens have 1"),
        (([[(1,)]], ["a"], {"a": Point((0,)), "b": Ball((0,), 1)}), "labels 'a' and 'b' overlap"),
    ],
)  # fmt: skip
def test_errors_name_the_place(arguments, message):
    with pytest.raises(InputError, match=message):
        hm.Dataset(*arguments)


def test_ids_must_fit():
    with pytest.raises(InputError, match="2 ids for 1 sequences"):
        hm.Dataset([[(1,)]], ["a"], ids=["x", "y"])


def test_commands_that_need_labels_say_which_is_missing():
    data = hm.Dataset([[(1,)], [(2,)]], ["a", None], ids=[None, "this"])
    with pytest.raises(InputError, match="sequence 2 \\(id 'this'\\) has no label"):
        data.need_labels()


@given(datasets(max_dimension=2, max_sequences=4))
def test_positions_are_one_more_coordinate(data):
    twin = hm.Dataset(list(data.sequences), data.labels, positional=True)
    assert twin.dimension == data.dimension + 1
    for Z, with_positions in zip(data.sequences, twin.sequences, strict=True):
        assert with_positions == tuple((*z, i) for i, z in enumerate(Z, start=1))


def test_positions_keep_exact_tokens_and_lift_the_sets():
    sets = {"a": Point((THIRD, 0)), "b": Box((1, 1), (2, 2)), "c": Halfspace((-1, 0), 5)}
    data = hm.Dataset([[(THIRD, 1), (THIRD, 1)]], ["a"], sets, positional=True)
    assert data.sequence(0) == ((THIRD, 1, 1), (THIRD, 1, 2))
    assert data.sets["a"] == Point((THIRD, 0, 0))
    assert data.sets["b"].contains((F(3, 2), F(3, 2), F(10**9)))
    assert data.given_sets == sets


@given(datasets(max_sequences=5), st.data())
def test_keys_are_equal_where_tokens_are(data, more):
    tokens = [z for Z in data.sequences for z in Z]
    # nearby numbers with the same nearest float, some of them equal
    moved = [tuple(x + F(more.draw(st.integers(0, 1)), 3**60) for x in z) for z in tokens]
    twin = hm.Dataset([moved, tokens])
    flat = [*moved, *tokens]
    keys = token_keys(twin.tokens, range(len(flat)))
    assert len(set(keys)) == len(set(flat))
    assert len(set(zip(keys, flat, strict=True))) == len(set(flat))


def test_negative_zero_is_zero():
    data = hm.Dataset.from_arrays(
        ExactArray.from_numpy(np.array([[0.0], [-0.0]])), np.array([0, 1, 2]), ["a", "a"]
    )
    assert len(merge(data)) == 1
    nearly = hm.Dataset([[(F(-1, 2**1100),)], [(F(1, 2**1100),)], [(0,)]], ["a", "b", "c"])
    assert len(merge(nearly)) == 3


@given(sequences(2, 5), sequences(2, 5), st.integers(1, 3))
def test_equal_measures(Z, other, copies):
    """Order and common multiplicity do not matter; nothing else is forgotten."""
    same = sorted(Z) * copies
    assert measure(list(Z)) == measure(same)
    assert (measure(list(Z)) == measure(list(other))) == (mu(Z) == mu(other))


@given(datasets())
def test_merge_groups_equal_measures_or_proves_a_contradiction(data):
    masses = [mu(Z) for Z in data.sequences]
    contradictory = [
        (i, j)
        for j in range(len(data))
        for i in range(j)
        if masses[i] == masses[j] and data.labels[i] != data.labels[j]
    ]
    if contradictory:
        with pytest.raises(ContradictionError) as found:
            merge(data)
        tied = found.value.tied
        assert tied.labels[0] != tied.labels[1]
        i, j = (int(name.removeprefix("sequence ")) - 1 for name in (tied.first, tied.second))
        assert (i, j) in contradictory
        assert dict(tied.measure) == masses[i] == masses[j]
        assert tied.ordered == (data.sequence(i) != data.sequence(j))
        for part in (tied.first, tied.second, repr(tied.labels[0]), repr(tied.labels[1])):
            assert part in tied.sentence()
        return
    merged = merge(data)
    assert len(merged) == len({frozenset(m.items()) for m in masses})
    for j, place in enumerate(merged.group):
        first = merged.representatives[place]
        assert masses[first] == masses[j]
        assert first == min(i for i in range(len(data)) if masses[i] == masses[j])


def test_a_contradiction_says_whether_positions_help():
    swapped = hm.Dataset([[(0,), (1,)], [(1,), (0,)]], ["a", "b"])
    with pytest.raises(ContradictionError, match="--positional would tell them apart"):
        merge(swapped)
    equal = hm.Dataset([[(0,), (1,)], [(0,), (1,)]], ["a", "b"])
    with pytest.raises(ContradictionError, match="positions would not tell them apart either"):
        merge(equal)
    positional = hm.Dataset([[(0,), (1,)], [(1,), (0,)]], ["a", "b"], positional=True)
    assert len(merge(positional)) == 2
