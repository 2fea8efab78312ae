"""Equal empirical measures are found fast, and hashes decide nothing."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import hardmax as hm
from hardmax.dataset import ContradictionError, merge
from hardmax.dataset.grouping import group_measures
from hardmax.dataset.hashes import token_hashes
from hardmax.dataset.measures import count_measures
from hardmax.exact.array import ExactArray

F = Fraction
TINY = F(1, 3**60)
# few numbers, so that tokens and measures come again; some share their nearest float
NUMBERS = [F(0), F(1), F(1) + TINY, F(1) + 2 * TINY, F(-1), F(1, 3), TINY, -TINY, F(2) ** 60 + 1]


def by_definition(sequences):
    """First sequence with the same measure, of every sequence."""
    seen, first = {}, []
    for j, Z in enumerate(sequences):
        masses = frozenset((z, F(count, len(Z))) for z, count in Counter(Z).items())
        first.append(seen.setdefault(masses, j))
    return first


def check(sequences, **hashes):
    data = hm.Dataset(sequences, ["same"] * len(sequences))
    merged = group_measures(data.tokens, data.offsets, **hashes)
    assert [merged.representatives[k] for k in merged.group] == by_definition(sequences)
    assert merged.representatives == sorted(set(by_definition(sequences)))
    assert count_measures(data) == len(merged) == len(merged.representatives)


@st.composite
def lists_of_tokens(draw):
    """Sequences over few tokens, some shuffled or repeated copies of earlier ones."""
    dimension = draw(st.integers(1, 3))
    token = st.tuples(*[st.sampled_from(NUMBERS)] * dimension)
    sequences = draw(st.lists(st.lists(token, min_size=1, max_size=6), min_size=1, max_size=8))
    for k in draw(st.lists(st.integers(0, len(sequences) - 1), max_size=4)):
        sequences.append(draw(st.permutations(sequences[k] * draw(st.integers(1, 3)))))
    return sequences


A, B, C = (F(1), F(0)), (F(1) + TINY, F(0)), (F(0), F(1))


@given(lists_of_tokens())
@example([[A, C], [A, A, C], [A, C, C], [C, A, C, A], [A], [A, A, A]])
@example([[A], [B], [A, B], [B, A], [A, A, B], [B, B, A], [A, B, A, B, A, B]])
def test_groups_are_those_of_the_definition(sequences):
    check(sequences)


WEAK = {
    "constant": lambda values: np.zeros(len(values), np.uint64),
    "one bit": lambda values: (values[:, 0] > 0).astype(np.uint64),
    "first number": lambda values: np.ascontiguousarray(values[:, 0]).view(np.uint64),
}


@pytest.mark.parametrize("weak", WEAK.values(), ids=WEAK)
@given(lists_of_tokens())
@example([[A, C], [A, A, C], [A, C, C], [C, A, C, A], [A], [A, A, A]])
def test_collisions_of_tokens_merge_nothing_else(weak, sequences):
    check(sequences, hash_tokens=weak)


@given(lists_of_tokens())
@example([[A, C], [A, A, C], [A, C, C], [C, A, C, A], [A, A, C, A, A, C]])
def test_collisions_of_measures_merge_nothing_else(sequences):
    check(sequences, hash_sequences=lambda hashes, offsets: offsets[1:] * 0)


@pytest.mark.parametrize("hashes", [token_hashes, *WEAK.values()], ids=["strong", *WEAK])
@pytest.mark.parametrize("lengths", [(4,), (1, 2, 3, 4, 6)])
def test_many_sequences(hashes, lengths):
    """Words over few letters: supports, multiplicities and whole sequences come again."""
    rng = np.random.default_rng(0)
    count = 3000
    offsets = np.cumsum([0, *rng.choice(lengths, size=count)])
    letters = rng.integers(-1, 2, size=(7, 3)) / 4
    tokens = letters[rng.integers(0, 7, size=offsets[-1])]
    merged = group_measures(ExactArray.from_numpy(tokens), offsets, hashes)
    rows = [tuple(row) for row in tokens.tolist()]
    expected = by_definition([rows[a:b] for a, b in itertools.pairwise(offsets)])
    assert [merged.representatives[k] for k in merged.group] == expected
    assert merged.representatives == sorted(set(expected))


def test_the_first_contradiction_is_the_proof():
    data = hm.Dataset([[A], [C], [A, A], [C], [C]], ["a", "c", "a", "b", "a"])
    with pytest.raises(ContradictionError) as found:
        merge(data)
    tied = found.value.tied
    assert (tied.first, tied.second, tied.labels) == ("sequence 2", "sequence 4", ("c", "b"))


def test_hashes_of_simple_tokens_differ():
    """Coordinates with few bits, opposite signs and single bits: no two of the hashes agree."""
    grid = np.array(np.meshgrid(*[np.arange(-10, 11)] * 3)).reshape(3, -1).T / 4
    powers = np.r_[2.0 ** np.arange(-1000, 1000), np.arange(2**52, 2**52 + 500)]
    single = np.c_[powers, np.zeros((len(powers), 2))]
    values = np.unique(np.r_[grid, single, -single, single[:, [1, 0, 2]]] + 0.0, axis=0)
    assert len(np.unique(token_hashes(values))) == len(values)


def test_the_work_is_done_once():
    data = hm.Dataset([[A], [A]], ["a", "a"])
    assert count_measures(data) == 1
    assert merge(data) is data.merged is data.merged


def test_label_codes():
    data = hm.Dataset([[A]] * 5, ["b", "a", None, "a", "c"])
    codes, names = data.label_codes
    assert (codes.dtype, codes.tolist(), names) == (np.int64, [0, 1, -1, 1, 2], ["b", "a", "c"])
    assert data.label_codes[0] is codes
