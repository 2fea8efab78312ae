"""Lemmas 3.1 to 3.5 as the paper states them (mended as in the errata); every answer is proved."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from random import Random

import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import dot

from hardmax import ContradictionError, Dataset, RankOneBlock, build
from hardmax.construct import (
    Hyperplane,
    Leader,
    NotExtreme,
    common_direction,
    extreme_token,
    leader_shift,
    separating_hyperplane,
    split_means,
)
from hardmax.construct.paper.separate import separate
from hardmax.dataset import merge
from hardmax.errors import InputError
from hardmax.model.tokens import Tokens
from hardmax.testing import FAMILIES, adversarial, datasets, sequences

F = Fraction
families = pytest.mark.parametrize("family", FAMILIES)


def mean(Z):
    return tuple(sum(column) / F(len(Z)) for column in zip(*Z))


def measure(Z):
    return frozenset((z, F(Z.count(z), len(Z))) for z in Z)


def check_extreme(Z, p):
    """Lemma 3.1: exactly one of the two proofs exists, and the one given is checked."""
    found = extreme_token(Z, p)
    if isinstance(found, Leader):
        top = dot(found.v, Z[p])
        assert all(dot(found.v, z) < top for z in Z if tuple(z) != tuple(Z[p]))
        return True
    assert isinstance(found, NotExtreme)
    assert sum(found.weights) == 1
    assert min(found.weights) >= 0
    assert all(not w for w, z in zip(found.weights, Z, strict=True) if tuple(z) == tuple(Z[p]))
    combined = [sum(w * z[i] for w, z in zip(found.weights, Z)) for i in range(len(Z[p]))]
    assert combined == list(Z[p])
    return False


@given(st.integers(1, 4).flatmap(lambda d: sequences(d, 8)), st.data())
def test_lemma_3_1(Z, more):
    check_extreme(Z, more.draw(st.integers(0, len(Z) - 1)))


@families
def test_lemma_3_1_on_adversarial_sequences(family):
    for Z in list(adversarial(family, 4).sequences):
        extreme = [p for p in range(len(Z)) if check_extreme(Z, p)]
        assert extreme  # a finite set has an extreme point


def test_lemma_3_1_a_leader_leads_and_others_cannot():
    """The remark behind it: after the shift of Lemma 3.3, SA sends everything to the leader."""
    square = [(F(0), F(0)), (F(4), F(0)), (F(0), F(4)), (F(4), F(4)), (F(2), F(0)), (F(1), F(1))]
    for p, z in enumerate(square):
        found = extreme_token(square, p)
        assert isinstance(found, Leader) == (p < 4)
        if p < 4:
            batch = Tokens.from_sequences([square])
            shift = leader_shift(batch, found.v)
            block = RankOneBlock.translation(shift, rho=0, alpha=1, v=found.v)
            leader = [a + s for a, s in zip(z, shift)]
            assert reference.step(block, square) == [leader] * len(square)


@pytest.mark.parametrize("bits", [10, 60, 200, 900])
def test_lemma_3_1_close_to_a_face(bits):
    """The midpoint of an edge moved in or out by 2^-bits."""
    tiny = F(1, 2**bits)
    corners = [(F(0), F(0)), (F(2), F(0)), (F(1), F(5))]
    assert check_extreme([*corners, (F(1), -tiny)], 3)
    assert not check_extreme([*corners, (F(1), tiny)], 3)
    assert not check_extreme([*corners, (F(1), F(0))], 3)


@given(datasets(max_sequences=5, max_dimension=3), st.data())
def test_lemma_3_2(data, more):
    """One direction gives every sequence one leader, and sequence q the leader asked for."""
    all_tokens = list(data.sequences)
    q = more.draw(st.integers(0, len(data) - 1))
    p = more.draw(st.integers(0, len(all_tokens[q]) - 1))
    if isinstance(extreme_token(all_tokens[q], p), NotExtreme):
        with pytest.raises(InputError, match="not extreme"):
            common_direction(all_tokens, q, p)
        return
    v, leaders = common_direction(all_tokens, q, p, seed=more.draw(st.integers(0, 5)))
    assert all_tokens[q][leaders[q]] == all_tokens[q][p]
    for Z, i in zip(all_tokens, leaders, strict=True):
        assert all(dot(v, z) < dot(v, Z[i]) for z in Z if z != Z[i])


@given(datasets(max_sequences=4, max_dimension=3), st.integers(-5, 50), st.randoms())
def test_lemma_3_3(data, at_least, rng):
    """After the shift all scores exceed the bound, and the leader is the one for v (3.16)."""
    v = tuple(F(rng.randint(-3, 3)) for _ in range(data.dimension))
    if not any(v):
        v = (F(1),) * data.dimension
    bound = F(max(at_least, 0))
    batch = Tokens.from_sequences(data.sequences)
    shift = leader_shift(batch, v, bound)
    assert all(s * b == t * a for (s, a), (t, b) in combinations(zip(shift, v), 2))  # s = κv
    for Z in data.sequences:
        moved = [[a + s for a, s in zip(z, shift)] for z in Z]
        assert all(dot(v, z) > bound for z in moved)
        top = max(dot(v, z) for z in Z)
        best = [l for l, z in enumerate(Z) if dot(v, z) == top]
        for z in moved:  # the maximisers of ⟨Az_i, z_l⟩ are those of ⟨v, z_l⟩
            scores = [dot(v, z) * dot(v, other) for other in moved]
            assert [l for l, s in enumerate(scores) if s == max(scores)] == best


def test_lemma_3_3_shifts_nothing_where_nothing_is_needed():
    batch = Tokens.from_sequences([[(F(1),), (F(3),)]])
    assert leader_shift(batch, (F(2),)) == (0,)
    assert leader_shift(batch, (F(2),), F(2))[0] > 0


@given(
    st.integers(1, 3).flatmap(lambda d: st.tuples(sequences(d), sequences(d))), st.integers(0, 9)
)
def test_lemma_3_4(pair, seed):
    """ReLU is positive on one token of the difference alone, and every w moves the means apart."""
    first, second = pair
    if measure(first) == measure(second):
        with pytest.raises(InputError, match="equal empirical measures"):
            split_means(first, second, Random(seed))
        return
    found = split_means(first, second, Random(seed))
    masses = dict(measure(first))
    for z, mass in measure(second):
        masses[z] = masses.get(z, F(0)) - mass
    active = [z for z, mass in masses.items() if mass and dot(found.u, z) + found.b > 0]
    assert active == [found.token]
    assert found.gap == masses[found.token] * (dot(found.u, found.token) + found.b) != 0
    w = [F(seed + 1)] + [F(2)] * (len(first[0]) - 1)
    images = []
    for Z in pair:
        block = RankOneBlock.of(len(w), u=found.u, b=found.b, w=w)
        images.append(mean(reference.step(block, Z)))
    for i, x in enumerate(w):
        before = mean(first)[i] - mean(second)[i]
        assert images[0][i] - images[1][i] == before + x * found.gap


def test_lemma_3_4_with_unequal_lengths():
    """The counterexample to the printed (3.19) (errata): the means must move apart here, too."""
    plus = [(F(0), F(1)), (F(0), F(-1)), (F(1), F(0)), (F(-1), F(0))]
    found = split_means(plus, plus[:2])
    assert found.gap != 0


# ------------------------------------------------------------------ Lemma 3.5: separation


def shared(all_tokens):
    return [(i, j) for (i, Z), (j, Y) in combinations(enumerate(all_tokens), 2) if set(Z) & set(Y)]


def components(all_tokens):
    groups = [{j} for j in range(len(all_tokens))]
    for i, j in shared(all_tokens):
        first = next(g for g in groups if i in g)
        second = next(g for g in groups if j in g)
        if first is not second:
            groups.remove(second)
            first |= second
    return len(groups)


def check_separation(all_tokens, seed=0):
    """(3.2) holds after at most N − 1 blocks, run here by the definition, and each block parts
    at least one component and merges no two tokens of different sequences."""
    batch = Tokens.from_sequences(all_tokens)
    steps = separate(batch, seed)
    N = len(all_tokens)
    assert len(steps) <= N - components(all_tokens) <= max(N - 1, 0)
    states = [[tuple(z) for z in Z] for Z in all_tokens]
    before = components(states)
    for step in steps:
        pairs = set(shared(states))
        states = [[tuple(z) for z in reference.step(step.block, Z)] for Z in states]
        assert set(shared(states)) <= pairs  # what is apart stays apart (theory A4)
        assert components(states) == step.components > before
        before = step.components
    assert not shared(states)
    assert [set(batch.sequence(j)) for j in range(N)] == [set(Z) for Z in states]
    return [step.case for step in steps]


def distinct(data):
    return [data.sequence(j) for j in merge(data).representatives]


@given(datasets(max_dimension=3, max_sequences=6, max_labels=1), st.integers(0, 3))
@settings(max_examples=80)
def test_lemma_3_5(data, seed):
    check_separation(distinct(data), seed)


@pytest.mark.slow
@given(datasets(max_dimension=4, max_sequences=9, max_labels=1), st.integers(0, 9))
@settings(max_examples=1000)
def test_lemma_3_5_more(data, seed):
    check_separation(distinct(data), seed)


@families
def test_lemma_3_5_on_adversarial_sequences(family):
    check_separation(list(adversarial(family, 8, seed=1).sequences))


def test_the_three_cases():
    a, b, c = (F(0), F(0)), (F(8), F(0)), (F(0), F(8))
    hull = [a, b, c]
    assert check_separation([[a, b], [a, c]]) == [1]
    assert check_separation([hull, [*hull, a]]) == [2]
    inside = [(F(1), F(2)), (F(3), F(2)), (F(2), F(1)), (F(2), F(3))]
    assert check_separation([[*hull, *inside[:2]], [*hull, *inside[2:]]]) == [3]


def test_the_witness_against_the_printed_induction():
    """Theory A4: with the literal proof the third sequence meets the second."""
    Z = [[(F(0),), (F(10),)], [(F(-5),), (F(20),)], [(F(30),), (F(-20, 3),)]]
    check_separation(Z)


def test_equal_measures_cannot_be_separated():
    Z = [(F(0),), (F(1),), (F(3),)]
    with pytest.raises(ContradictionError):
        build(Dataset([Z, Z[::-1] * 2], ["a", "b"]))


# ---------------------------------------------------------- separating hyperplanes, exactly


@st.composite
def two_sets(draw):
    d = draw(st.integers(1, 3))
    return draw(sequences(d)), draw(sequences(d))


@given(two_sets())
def test_separating_hyperplane(pair):
    above, below = pair
    found = separating_hyperplane(above, below)
    if isinstance(found, Hyperplane):
        values = [found.value(x) for x in above], [found.value(x) for x in below]
        assert min(values[0]) > 0 > max(values[1])
        least = min(map(abs, [*values[0], *values[1]]))
        assert found.margin == (least / sum(map(abs, found.u)) if any(found.u) else least)
    else:  # a point of both hulls
        for side in pair:
            around = [tuple(a - b for a, b in zip(x, found, strict=True)) for x in side]
            zero = (F(0),) * len(found)
            assert zero in around or isinstance(extreme_token([zero, *around], 0), NotExtreme)
