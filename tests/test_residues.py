"""Targets reached, by residues: what is claimed of rings, of denominators and of outputs."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import prod

import numpy as np
import pytest
import reference
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from test_engine import collapsing

import hardmax as hm
from hardmax import RankOneBlock, Transformer
from hardmax.certify.verify import misclassified
from hardmax.engine import Plan, Targets, evaluate, outputs, targets
from hardmax.engine.replay import Replay
from hardmax.engine.rings import TERMS, Integers, Residues, rings
from hardmax.engine.sums import Limbs, sums_of_tokens
from hardmax.engine.tables import Tables
from hardmax.exact_array import ExactArray
from hardmax.labels import Point
from hardmax.testing import adversarial

F = Fraction
RINGS = rings(3)
FEW = [*rings(3)[:2], *rings(TERMS)[:2]]
INTEGERS = st.integers(-(2**300), 2**300) | st.integers(-(2**64), 2**64)
EXACT = settings(deadline=None)


@pytest.mark.parametrize(("terms", "bits"), [(3, 24), (120, 24), (200, 22), (TERMS, 22)])
def test_primes(terms, bits):
    from sympy import prevprime

    found = [p for ring in rings(terms) for p in ring.primes]
    assert found[0] == prevprime(2**bits)
    assert all(p == prevprime(q) for q, p in pairwise(found))
    assert all(2**ring.bits < prod(ring.primes) for ring in rings(terms))


@given(st.lists(INTEGERS, min_size=1))
def test_limbs(numbers):
    array = np.array(numbers, dtype=object)
    limbs = Limbs.of(array)
    assert limbs.integers().tolist() == numbers
    pieces, places = limbs.pieces
    assert np.abs(pieces).max() <= 2**21
    for column, number in zip(pieces.T.tolist(), numbers, strict=True):
        assert sum(int(x) << k for x, k in zip(column, places, strict=True)) == number
    assert Integers().of(limbs)[0].tolist() == numbers


@given(st.lists(INTEGERS, min_size=1), st.sampled_from(FEW))
def test_residues_of_integers(numbers, ring):
    found = ring.of(Limbs.of(np.array(numbers, dtype=object)))
    assert ((ring.scalars(*numbers) - found) % np.array(ring.primes)[:, None] == 0).all()
    for p, row in zip(ring.primes, found.tolist(), strict=True):
        assert all(abs(x) <= p / 2 + 4 for x in row)
        assert all((int(x) - number) % p == 0 for x, number in zip(row, numbers, strict=True))
        assert [x == 0 for x in row] == [number % p == 0 for number in numbers]


@given(st.integers(1, TERMS))
def test_the_largest_sums_are_exact(terms):
    """So many products of the largest residues, and what is reduced of them, are what they are."""
    for p in rings(terms)[0].primes:
        most = terms * int(p / 2 + 4) ** 2
        assert most + p < 2**53
        given = [most, -most, most - p, p // 2]
        for whole, x in zip(given, Residues([p]).reduced(np.array([given], float))[0], strict=True):
            assert abs(x) <= p / 2 + 4
            assert (whole - int(x)) % p == 0


def crt(ring_values, moduli):
    """The integer nearest zero with these residues."""
    whole, found = prod(moduli), 0
    for r, p in zip(ring_values, moduli, strict=True):
        rest = whole // p
        found += int(r) * rest * pow(rest, -1, p)
    found %= whole
    return found - whole if 2 * found > whole else found


@EXACT
@given(collapsing())
def test_outputs_from_residues(pair):
    """Enough residues are all of X and q, and `Replay.bits` says how many are enough for q."""
    model, batch = pair
    data = hm.Dataset(batch)
    caught = []

    def spy(plan, targets, of, points, replay):
        caught.append(replay)
        return np.zeros(len(points), dtype=bool)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(outputs, "reached", spy)
        expected = [reference.output(model.blocks, Z) for Z in batch]
        goal = Targets([Point(y).row for y in expected], np.arange(len(batch)))
        evaluate(model, data.tokens, data.offsets, targets=goal)
    assume(caught)
    (replay,) = caught
    if not len(replay.rows):
        return
    tables = Plan.of(model).kept(Tables)
    for entrance in {None, replay.entrance(tables)}:
        bits = replay.bits(tables, entrance)
        if bits.max() >= 700:
            continue
        residues = tables.residues(replay.table_rows, 14)
        clouds = [replay.outputs(table, entrance) for table in residues]
        moduli = [p for ring in tables.rings[:14] for p in ring.primes]
        z = np.concatenate([cloud.table.ring.reduced(cloud.z[:, 0]) for cloud in clouds])
        x, q = z[..., :-1], z[..., -1]
        for j, row in enumerate(replay.rows.tolist()):
            whole = crt(q[:, j], moduli)
            assert 0 < whole <= 2 ** int(bits[j])
            output = [F(crt(x[:, j, i], moduli), whole) for i in range(x.shape[2])]
            assert tuple(output) == expected[row]


def test_an_entrance_is_for_sequences_of_one_way():
    """A layer on all tokens of one sequence and on none of the other: no map fits both."""
    blocks = [RankOneBlock.of(1, u=[1], b=-1, w=[1], rho=0, alpha=3)]
    model = Transformer([*blocks, RankOneBlock.of(1, u=[1], b=20, w=[1])])
    for tokens, alike in (([[2], [3]], True), ([[0], [3]], False), ([[0], [F(1, 2)]], True)):
        batch = [[(F(x),)] for (x,) in tokens]
        replays = []

        def spy(plan, targets, of, points, replay, replays=replays):
            replays.append(replay)
            return np.zeros(len(points), dtype=bool)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(outputs, "reached", spy)
            data = hm.Dataset(batch)
            goal = Targets([Point((0,)).row], np.zeros(2, dtype=np.int64))
            evaluate(model, data.tokens, data.offsets, targets=goal)
        tables = Plan.of(model).kept(Tables)
        entrance = replays[0].entrance(tables)
        assert (entrance is not None) == alike


def nearly(exponent, rings_fooled):
    """One token that is off its label's point by a multiple of all primes of some rings, as an
    integer over 2^exponent: far less than float64 shows."""
    off = prod(p for ring in RINGS[:rings_fooled] for p in ring.primes)
    token = (1 + F(off, 2**exponent), F(1))
    data = hm.Dataset(
        [[token], [(F(5), F(1))]], ["a", "b"], {"a": Point((1, 1)), "b": Point((5, 1))}
    )
    blocks = [RankOneBlock.of(2, rho=0, alpha=1), RankOneBlock.of(2, u=[1, 0], b=-9, w=[1, 0])]
    return Transformer(blocks), data


@pytest.mark.parametrize("fooled", [1, 2, 3, 5])
def test_residues_alone_are_not_believed(fooled, monkeypatch):
    model, data = nearly(120 * fooled + 60, fooled)
    agreed = []
    original = targets._agrees

    def spy(*given):
        agreed.append(original(*given))
        return agreed[-1]

    monkeypatch.setattr(targets, "_agrees", spy)
    ((j, output),) = misclassified(model, data)
    assert j == 0
    assert output[0] != 1
    assert len(agreed) == fooled + 1  # all the fooled rings, and the one that is not
    assert all(found[0] for found in agreed[:-1])


FIRST = prod(RINGS[0].primes)


def test_later_residues_do_not_make_good():
    """A multiple of the second ring's primes that is none of the first's."""
    model, data = nearly(2 * 120 + 40, 2)
    off = prod(RINGS[1].primes)
    token = (1 + F(off, 2 ** (2 * 120 + 40)), F(1))
    wrong = hm.Dataset([[token], [(F(5), F(1))]], ["a", "b"], data.sets)
    assert [j for j, _ in misclassified(model, wrong)] == [0]


def test_far_below_the_error_of_floats():
    """Zero for all that floats and the first primes say; not for what floats can't exclude."""
    token = (1 + F(FIRST, 2**180), F(0))
    model = Transformer([RankOneBlock.translation((-1, 0), rho=0, alpha=1)])
    sets = {"a": Point((0, 0))}
    assert len(misclassified(model, hm.Dataset([[token]], ["a"], sets))) == 1
    assert misclassified(model, hm.Dataset([[(1, 0)]], ["a"], sets)) == []


def test_unclear_layers():
    """A layer that floats can't tell from an active one, and that would lead to the target if it
    were one."""
    tiny = F(1, 2**100)
    for sign in (1, -1):
        layer = RankOneBlock.of(2, u=[1, 0], b=-1 + sign * tiny, w=[1, 0])
        model = Transformer([RankOneBlock.of(2, rho=0, alpha=1), layer])
        sets = {"a": Point((1 + sign * tiny, 1))}
        wrong = misclassified(model, hm.Dataset([[(1, 1)]], ["a"], sets))
        assert bool(wrong) == (sign < 0)


def test_long_denominators_of_targets():
    sets = {"a": Point((1 + F(FIRST, 2**180), 1))}
    model = Transformer([RankOneBlock.of(2, rho=0, alpha=1)])
    assert len(misclassified(model, hm.Dataset([[(1, 1)]], ["a"], sets))) == 1
    assert misclassified(model, hm.Dataset([[sets["a"].point]], ["a"], sets)) == []


def test_the_last_layers_count():
    """What the last layers add is a multiple of the first primes, in front of them all is well."""
    token = (F(1), F(1))
    blocks = [RankOneBlock.of(2, rho=0, alpha=1), RankOneBlock.translation((FIRST, 0))]
    sets = {"a": Point(token)}
    assert len(misclassified(Transformer(blocks), hm.Dataset([[token]], ["a"], sets))) == 1
    assert misclassified(Transformer(blocks[:1]), hm.Dataset([[token]], ["a"], sets)) == []


def test_denominators_without_inverses():
    """Denominators that are multiples of the primes themselves."""
    p = RINGS[0].primes[0]
    tokens = [[(F(1, p), F(2))], [(F(1, p) + F(1, p**2), F(2))]]
    sets = {"a": Point((F(1, p), 2))}
    model = Transformer([RankOneBlock.of(2, rho=0, alpha=1)])
    assert misclassified(model, hm.Dataset(tokens[:1], ["a"], sets)) == []
    assert [j for j, _ in misclassified(model, hm.Dataset(tokens, ["a", "a"], sets))] == [1]


def test_targets_past_the_range_of_floats():
    model = Transformer([RankOneBlock.of(2, rho=0, alpha=1)])
    sets = {"a": Point((10**400, 1)), "b": Point((1, 1))}
    data = hm.Dataset([[(1, 1)], [(2, 1)], [(1, 1)]], ["a", "a", "b"], sets)
    assert [j for j, _ in misclassified(model, data)] == [0, 1]


def test_more_bits_than_all_rings_have():
    """What residues can't prove, integers do."""
    token = (F(1, 3**2000), F(1))
    model = Transformer([RankOneBlock.of(2, rho=0, alpha=1)])
    assert misclassified(model, hm.Dataset([[token]], ["a"], {"a": Point(token)})) == []
    other = (token[0] + F(1, 5**2000), F(1))
    assert misclassified(model, hm.Dataset([[token]], ["a"], {"a": Point(other)}))


@pytest.mark.parametrize("strategy", ["paper", "peel"])
@pytest.mark.parametrize("family", ["collinear", "equal-means-unequal-lengths", "text-like"])
def test_nothing_is_left_to_integers(strategy, family, monkeypatch):
    """Built models of points: residues prove all, and integers are not asked."""
    data = adversarial(family, 12)
    model = hm.build(data, strategy=strategy)
    asked = []
    original = Replay.outputs

    def spy(self, table, entrance=None):
        asked.append(isinstance(table.ring, Integers))
        return original(self, table, entrance)

    monkeypatch.setattr(Replay, "outputs", spy)
    assert misclassified(model, data) == []
    assert not any(asked)


def test_one_wrong_among_many():
    data = adversarial("collinear", 12)
    model = hm.build(data, strategy="peel")
    p = model.parameters
    w = p.w.values.copy()
    k = int(np.flatnonzero(w.any(axis=1))[-1])
    exact = dict(p.w.exact)
    place = k * model.dimension + int(np.flatnonzero(w[k])[0])
    exact[place] = exact.get(place, F(float(w.flat[place]))) + F(1, 2**180)
    blocks = list(model.blocks)
    row = [exact.get(k * model.dimension + i, F(float(w[k, i]))) for i in range(model.dimension)]
    given = blocks[k]
    blocks[k] = RankOneBlock.of(
        model.dimension, u=given.u, b=given.b, w=row, rho=given.rho, alpha=given.alpha, v=given.v
    )
    assert len(misclassified(Transformer(blocks), data)) == 1


def test_denominators_of_targets_count():
    """An output that is the numerator of its target alone."""
    model = Transformer([RankOneBlock.of(2, rho=0, alpha=1)])
    sets = {"a": Point((F(1, 2), F(3, 2)))}
    assert len(misclassified(model, hm.Dataset([[(1, 3)]], ["a"], sets))) == 1
    assert misclassified(model, hm.Dataset([[(F(1, 2), F(3, 2))]], ["a"], sets)) == []


@pytest.mark.parametrize("largest", [7, 2**21 - 1, 2**21, 2**23 - 1, 2**23, 2**40])
def test_residues_of_counts(largest):
    """Numbers of tokens, short as they are or not."""
    numbers = np.array([0, 1, largest])
    for ring in FEW:
        found = ring.counts(numbers)
        for p, row in zip(ring.primes, found.tolist(), strict=True):
            assert (np.abs(row) <= p / 2 + 4).all()
            assert all((int(x) - n) % p == 0 for x, n in zip(row, numbers.tolist(), strict=True))
    assert Integers().counts(numbers).tolist() == [numbers.tolist()]


def test_targets_that_are_moved():
    """What is remembered of targets is that of these rows, not of this data set."""
    data = adversarial("collinear", 12)
    model = hm.build(data, strategy="peel")
    assert misclassified(model, data) == []
    first, *_ = data.sets
    moved = Point(tuple(x + F(1, 3) for x in data.sets[first].point))
    other = hm.Dataset.from_arrays(
        data.tokens, data.offsets, data.labels, {**data.sets, first: moved}
    )
    assert {data.labels[j] for j, _ in misclassified(model, other)} == {first}
    assert misclassified(model, data) == []


@pytest.mark.parametrize("terms", [3, TERMS])
def test_residues_of_very_long_integers(terms):
    """Every piece as large as can be where its weight is positive: their sum passes 2^53."""
    ring = rings(terms)[0]
    p = ring.primes[0]
    words = (bytes([255 * (0 < 2 * pow(2, 32 * i, p) < p)] * 4) for i in range(24_000))
    number = int.from_bytes(b"".join(words), "little")
    found = ring.of(Limbs.of(np.array([number, 1 - number], dtype=object)))
    for p, (x, y) in zip(ring.primes, found.tolist(), strict=True):
        assert (int(x) - number) % p == 0
        assert (int(x) + int(y) - 1) % p == 0


@given(st.lists(st.tuples(INTEGERS, st.integers(0, 2**30)), min_size=1), st.integers(1, 2**40))
def test_residues_of_multiples(rows, factor):
    """Numbers times a factor, each so many times."""
    numbers = np.array([[n] for n, _ in rows], dtype=object)
    counts = np.array([count for _, count in rows])
    wanted = [n * factor * count for n, count in rows]
    limbs = Limbs.of(numbers)
    assert Integers().of(limbs, factor, counts)[0, :, 0].tolist() == wanted
    for some in (counts, counts % 50):
        wanted = [n * factor * count for (n, _), count in zip(rows, some.tolist(), strict=True)]
        for p, row in zip(RINGS[0].primes, RINGS[0].of(limbs, factor, some), strict=True):
            assert (np.abs(row) <= p / 2 + 4).all()
            found = row[:, 0].tolist()
            assert all((int(x) - n) % p == 0 for x, n in zip(found, wanted, strict=True))


@pytest.mark.parametrize("terms", [3, TERMS])
def test_residues_of_many_pieces(terms):
    """The largest pieces, times the largest weights: odd sums on both sides of 2^53."""
    ring = rings(terms)[0]
    p = ring.primes[0]
    piece, weight = 2**21 - 1, p // 2
    for count in (2**53 // (piece * weight) + k for k in (-1, 0, 1, 2, 3, 101)):
        limbs = Limbs((np.array([piece]),) * count, 0, 1)
        for factor, sign in ((weight, 1), (-weight, -1)):
            for q, (x,) in zip(ring.primes, ring.of(limbs, factor).tolist(), strict=True):
                assert (int(x) - sign * count * piece * weight) % q == 0
                assert abs(x) <= q / 2 + 4


def test_denominators_of_attention_count():
    """Attention behind the collapse that divides by 3, so often that a prime is next to nothing."""
    p = RINGS[0].primes[0]
    blocks = [RankOneBlock.of(1, rho=0, alpha=1)] + [
        RankOneBlock.of(1, rho=F(1, 6), alpha=F(1, 6))
    ] * 40
    model = Transformer(blocks)
    sets = {"a": Point((0,))}
    assert len(misclassified(model, hm.Dataset([[(p,)]], ["a"], sets))) == 1
    assert misclassified(model, hm.Dataset([[(0,)]], ["a"], sets)) == []


@pytest.mark.parametrize("count", [511, 512, 1024, 2000])
def test_sums_of_many_long_tokens(count):
    """Integers just below 2^53: int64 holds the sum of 1 023 of them."""
    tokens = ExactArray(np.full((count, 1), 2.0**53 - 1))
    sums = sums_of_tokens(tokens, np.arange(count), np.array([0, count]))
    assert sums.integers().tolist() == [[count * (2**53 - 1) * sums.denominator]]
