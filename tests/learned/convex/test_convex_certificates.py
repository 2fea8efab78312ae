"""What a certificate proves: checked, attacked, and compared with exact arithmetic by hand."""

from __future__ import annotations

import ast
import copy
import json
import math
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np
import pytest
from convex_cases import HEADS, problem
from hypothesis import given
from hypothesis import strategies as st

from hardmax.errors import InputError
from hardmax.learned.convex import (
    Head,
    Problem,
    certify,
    checker,
    factored,
    gap,
    network_objective,
    proximal_gradient,
    recover,
    save,
)
from hardmax.learned.convex.burer_monteiro import balanced, descend, descent_heads, product
from hardmax.learned.convex.certificate import interval
from hardmax.learned.convex.enclosure import enclosed_interval, norm_bound

CHECKER = Path(checker.__file__)


def solved(*arguments, tolerance=1e-7, **options):
    case = problem(*arguments, **options)
    return case, proximal_gradient(case, tolerance=tolerance)


def accepted(cert) -> bool:
    try:
        checker.check(json.loads(json.dumps(cert)))
    except checker.Stop:
        return False
    return True


@pytest.mark.parametrize("loss", ["squared", "cross-entropy"])
@pytest.mark.parametrize("pooled", [True, False])
@pytest.mark.parametrize(("name", "activation"), HEADS)
def test_every_head_is_certified(name, activation, pooled, loss):
    case, solution = solved(name, activation, loss, pooled, tolerance=1e-6, beta=0.7)
    cert = certify(case, solution)
    assert accepted(cert)
    assert 0 <= gap(cert) < max(3 * solution.gap, 1e-7)
    weights = recover(case, solution.Zs)
    if case.head.penalty == "nuclear":  # the heads of the network reach the certified value
        value = network_objective(case, weights)
        assert abs(value - float(interval(cert)[1])) < 1e-9 * value


def test_the_command_line(tmp_path):
    cert = certify(*solved("self-attention", "linear"))
    good, bad, broken = (tmp_path / name for name in ("good.json", "bad.json", "broken.json"))
    save(cert, good)
    bad.write_text(json.dumps({**cert, "lower": cert["upper"]}))
    broken.write_text("{")

    def run(*paths):
        command = [sys.executable, str(CHECKER), *map(str, paths)]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)

    found = run(good)
    assert found.returncode == 0
    assert "certified: " in found.stdout
    assert run(good, bad).returncode == 1
    assert "refuted" in run(bad).stdout
    assert run(bad, broken).returncode == 2
    assert run(tmp_path / "none.json").returncode == 2
    assert run().returncode == 2


def test_the_checker_is_one_short_file_on_the_standard_library():
    text = CHECKER.read_text()
    assert len(text.splitlines()) <= 300
    names = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(str(node.module).split(".")[0])
    assert names <= sys.stdlib_module_names


def test_bounds_by_hand():
    """One token, one feature, squared loss: p* = β|y|/|x| − β²/(2x²) for a large target."""
    cert = certify(*_tiny(x=2.0, y=3.0, beta=0.5))
    exact = Fraction(1, 2) * 3 / 2 - Fraction(1, 4) / 8
    low, high = interval(cert)
    assert low <= exact <= high
    assert high - low < Fraction(1, 10**6)


def _tiny(x, y, beta):
    case = Problem(Head("mlp"), np.array([[[x]]]), np.array([[[y]]]), beta)
    return case, proximal_gradient(case, tolerance=1e-9)


@pytest.mark.parametrize("loss", ["squared", "cross-entropy"])
def test_no_width_goes_below_the_certified_bound(loss):
    """Weak duality: whatever the number of heads and the start, L-BFGS stays above."""
    case, solution = solved("self-attention", "linear", loss)
    low = float(interval(certify(case, solution))[0])
    rng = np.random.default_rng(0)
    for width in (1, 2, 4, 7):
        start = [(rng.normal(size=(a, width)), rng.normal(size=(b, width))) for a, b in case.shapes]
        found = descend(case, start, 500)
        value = network_objective(case, recover(case, product(found)))
        assert value >= low


def test_too_few_heads_are_certified_not_optimal():
    case = problem("self-attention", "linear")
    rng = np.random.default_rng(1)
    start = [(rng.normal(size=(a, 1)), rng.normal(size=(b, 1))) for a, b in case.shapes]
    one = balanced(product(descend(case, start)))
    V = case.criterion.residual(case.predict(product(one)), case.targets)
    cert = certify(case, factors=one, dual=V, descent=descent_heads(case, one))
    assert Fraction(cert["descent"]["drop"]) > 0
    assert "not optimal" in checker.check(cert)
    low, high = interval(cert)  # the interval is wide, and holds the optimum
    best = factored(case, tolerance=1e-8)
    assert float(low) <= best.lower
    assert best.upper <= float(high)
    worse = [(U * 9, W * 9) for U, W in descent_heads(case, one)]
    with pytest.raises(InputError, match="do not lower"):
        certify(case, factors=one, dual=V, descent=worse)
    with pytest.raises(InputError, match="needs a solution"):
        certify(case, factors=one)
    claimed = copy.deepcopy(cert)
    claimed["descent"]["drop"] = str(Fraction(cert["descent"]["drop"]) * 2)
    assert not accepted(claimed)


def mutated(cert, rng):
    """A certificate with one number changed, or with another shape."""
    mutant = copy.deepcopy(cert)
    kind = rng.choice(["tokens", "targets", "heads", "dual", "beta", "lower", "upper", "scale"])
    if kind == "beta":
        value = Fraction(cert["beta"])
        mutant["beta"] = str(value * rng.choice([Fraction(9, 10), Fraction(11, 10), 2]))
    elif kind in ("lower", "upper"):
        move = Fraction(rng.choice([-1, 1]), rng.choice([10, 10**6]))
        mutant[kind] = str(Fraction(cert[kind]) + move)
    elif kind == "scale":
        mutant[rng.choice(["tokens", "heads", "dual"])]["denominator"] += rng.choice([1, 7, 10**9])
    else:
        place = mutant[kind]["values"]
        while isinstance(place[rng.randrange(len(place))], list):
            places = [x for x in place if x]
            if not places:
                return mutant
            place = rng.choice(places)
        at = rng.randrange(len(place))
        size = abs(place[at]) + 1
        place[at] += rng.choice([-1, 1]) * rng.choice([1, size // 7 + 1, 3 * size])
    return mutant


def true_optimum(cert):
    """Bounds on the optimum of a mutant's own problem, in floats from its exact data."""

    def array(value):
        return np.array(value["values"], dtype=float) / value["denominator"]

    names = {"attention": "self-attention", "mixer": "mixer", "fourier": "fno", "tokens": "mlp"}
    head = cert["head"]
    grid = tuple(head["grid"]) if head["grid"] else None
    gates = None if cert["gates"] is None else list(array(cert["gates"]))
    case = Problem(Head(names[head["mixing"]], head["activation"], grid), array(cert["tokens"]),
                   array(cert["targets"]), float(Fraction(cert["beta"])), cert["loss"],
                   head["pooled"], gates)  # fmt: skip
    return proximal_gradient(case, tolerance=1e-7, most=4000)


def _attack(count, cases, seed):
    """Mutants that the checker accepts must hold the truth; the others are refused."""
    rng, wrong, refused = Random(seed), 0, 0
    for j in range(count):
        cert = cases[j % len(cases)]
        mutant = mutated(cert, rng)
        if not accepted(mutant):
            refused += 1
            continue
        low, high = interval(mutant)
        truth = true_optimum(mutant)
        # the truth lies in [truth.lower, truth.upper] up to rounding, and must meet the interval
        slack = 1e-9 * (1 + truth.upper)
        wrong += float(low) > truth.upper + slack or float(high) < truth.lower - slack
    return wrong, refused


def _attacked():
    kinds = [("self-attention", "linear", "squared"), ("mixer", "gated", "squared"),
             ("fno", "linear", "cross-entropy"), ("mlp", "gated", "cross-entropy")]  # fmt: skip
    return [certify(*solved(*kind, n=4)) for kind in kinds]


def test_mutants_are_refused_or_true():
    wrong, refused = _attack(120, _attacked(), seed=1)
    assert wrong == 0
    assert refused > 60


@pytest.mark.slow
def test_two_thousand_mutants():
    wrong, refused = _attack(2000, _attacked(), seed=2)
    assert wrong == 0
    assert refused > 1000


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 5))
def test_positive_semidefinite_by_two_ways(seed, n, m):
    """The verified Cholesky factor and the elimination agree with the signs of the minors."""
    rng = Random(seed)
    A = [[rng.randint(-9, 9) for _ in range(m)] for _ in range(n)]
    S = [[sum(x * y for x, y in zip(A[i], A[j], strict=True)) for j in range(i + 1)]
         for i in range(n)]  # fmt: skip
    assert checker.positive(S)
    assert checker.eliminate(copy.deepcopy(S))
    i = rng.randrange(n)
    S[i][i] -= rng.choice([0, 1, 40])
    assert checker.positive(S) == checker.eliminate(copy.deepcopy(S))
    full = [[S[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)]
    minors = [_determinant([row[:k] for row in full[:k]]) for k in range(1, n + 1)]
    if all(x > 0 for x in minors):
        assert checker.positive(S)
    if any(x < 0 for x in minors):
        assert not checker.positive(S)


def _determinant(M):
    if not M:
        return 1
    return sum((-1) ** j * M[0][j] * _determinant([r[:j] + r[j + 1 :] for r in M[1:]])
               for j in range(len(M)) if M[0][j])  # fmt: skip


@given(st.integers(-(10**6), 10**6), st.integers(1, 10**4))
def test_enclosures_of_exp_and_ln(p, q):
    """The one-ulp steps around decimal's exp and ln hold the value that more digits give."""
    from decimal import Context, Decimal

    fine = Context(prec=80)
    x = Decimal(-abs(p)) / Decimal(q)
    assert checker.DOWN.next_minus(checker.DOWN.exp(x)) <= fine.exp(x)
    assert fine.exp(x) <= checker.UP.next_plus(checker.UP.exp(x))
    y = Decimal(abs(p) + 1)
    assert checker.DOWN.next_minus(checker.DOWN.ln(y)) <= fine.ln(y)
    assert fine.ln(y) <= checker.UP.next_plus(checker.UP.ln(y))


def test_entropy_certificate_by_hand():
    """β so large that Z = 0 is optimal: the optimum is n ln c."""
    case = problem("mlp", "linear", "cross-entropy", beta=100.0)
    low, high = interval(certify(case, proximal_gradient(case, tolerance=1e-9)))
    assert float(low) - 1e-6 <= 7 * math.log(2) <= float(high) + 1e-12


def test_unequal_lengths():
    rng = np.random.default_rng(5)
    tokens, lengths = rng.integers(-4, 5, size=(4, 5, 2)) / 2.0, np.array([5, 2, 3, 1])
    for row, length in zip(tokens, lengths, strict=True):
        row[length:] = 0
    case = Problem(Head("self-attention"), tokens, np.ones((4, 1, 1)), 0.25, lengths=lengths)
    solution = proximal_gradient(case, tolerance=1e-7)
    cert = certify(case, solution)
    assert [len(X) for X in cert["tokens"]["values"]] == lengths.tolist()
    assert accepted(cert)
    assert gap(cert) < 1e-6


def test_a_problem_too_large_for_the_checker_is_refused():
    case = Problem(Head("mixer"), np.ones((1, 400, 2)), np.ones((1, 400, 2)), 1.0, pooled=False)
    with pytest.raises(InputError, match="more features"):
        certify(case, factors=[(np.zeros((160000, 1)), np.zeros((4, 1)))], dual=case.targets)


@pytest.mark.parametrize("loss", ["squared", "cross-entropy"])
@pytest.mark.parametrize("pooled", [True, False])
@pytest.mark.parametrize(("name", "activation"), [h for h in HEADS if h[0] not in ("linear",)])
def test_the_enclosure_holds_the_exact_interval(name, activation, pooled, loss):
    """The float interval is wider than the exact one of the same heads, by little."""
    if "fno" in name and not pooled:
        pytest.skip("fast Fourier transforms have no enclosure")
    case, solution = solved(name, activation, loss, pooled, tolerance=1e-6, beta=0.7)
    factors = balanced(solution.Zs, 1e-9)
    low, high = enclosed_interval(case, factors, solution.V)
    exact = interval(certify(case, factors=factors, dual=solution.V))
    assert low <= float(exact[1])
    assert high >= float(exact[0])
    assert low <= solution.upper <= high
    assert high - low <= 2 * (solution.upper - solution.lower) + 1e-7 * solution.upper


@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 12))
def test_the_norm_bound_is_a_bound(seed, n, m):
    """β²I − NNᵀ is positive semidefinite, exactly, for β the bound."""
    rng = np.random.default_rng(seed)
    N = rng.integers(-9, 10, size=(n, m)).astype(float)
    bound = Fraction(norm_bound(N, abs(N), 1))
    assert checker.norm_bounded([[int(x) for x in row] for row in N], bound)
    assert float(bound) <= np.linalg.norm(N, 2) * (1 + 1e-5) + 1e-100


def test_damaged_files_are_refused(tmp_path, capsys):
    """Any field lost or of another type: one line, exit code 1 or 2, no traceback."""
    cert = certify(*solved("self-attention", "gated", "cross-entropy", n=3))

    def places(value, path=()):
        if path:
            yield path
        keys = list(value) if isinstance(value, dict) else range(min(len(value), 2)) if isinstance(
            value, list) else ()  # fmt: skip
        for key in keys:
            yield from places(value[key], (*path, key))

    every = [path for path in places(cert) if "grid" not in path]  # ignored without a Fourier head
    rng, file = Random(0), tmp_path / "damaged.json"
    for path in every:
        for value in (None, *rng.sample([True, 1.5, "x", "1/0", {}, [], [[]], -(10**30)], 2)):
            damaged = copy.deepcopy(cert)
            place = damaged
            for key in path[:-1]:
                place = place[key]
            if value is None:
                del place[path[-1]]
            else:
                place[path[-1]] = value
            file.write_text(json.dumps(damaged))
            assert checker.main([str(file)]) in (1, 2), (path, value)
            assert len(capsys.readouterr().out.splitlines()) == 1


def test_the_kept_certificate_holds():
    """The study's certificate of the small instance, on file."""
    path = Path(__file__).parents[3] / "studies/convex_attention/results/instance_certificate.json"
    cert = json.loads(path.read_text())
    assert "certified: 2.43505505" in checker.check(cert)
    assert gap(cert) < 1e-9
