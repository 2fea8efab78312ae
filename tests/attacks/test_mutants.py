"""A sample of ``make mutants``, and that a judge who errs would be found."""

import subprocess
import sys
from collections import Counter, defaultdict
from random import Random

import pytest

from hardmax.construct.build import STRATEGIES

from . import certificates, judges, mutants, mutations, pairs

QUICK = ("paper", "learn")


@pytest.mark.parametrize(
    "strategy",
    [s if s in QUICK else pytest.param(s, marks=pytest.mark.slow) for s in STRATEGIES],
)
def test_a_sample_of_mutants_is_judged_alike(strategy):
    report, differing = defaultdict(Counter), []
    mutants.sample("quick", 60, report, differing.append, [strategy], share=0.07)
    assert not differing, differing[:3]
    total = sum(report.values(), Counter())
    assert total.total() >= 100  # with those of certificates
    assert total[1] > 10  # really wrong, and refuted
    assert total[0] > 5  # still true, and proved


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_many_mutants_are_judged_alike(strategy):
    report, differing = defaultdict(Counter), []
    mutants.sample("slow", 1000, report, differing.append, [strategy])
    assert not differing, differing[:3]


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """A true pair with overrides, and sets of several kinds."""
    folder = tmp_path_factory.mktemp("pair")
    found = [
        pair for pair in pairs.true_pairs(folder, "planted", ["paper"], repeats=3)
        if any(pair.model.overrides.values())
    ]  # fmt: skip
    return found[0]


def wrong(pair):
    """A really wrong mutant."""
    for k in range(99):
        mutant = mutations.mutant("block dropped", mutations.block_dropped, Random(k), pair)
        if mutant.wanted() == 1:
            return mutant
    raise AssertionError("no such mutant")


@pytest.mark.parametrize("code", [0, 2, 3, 70])
def test_a_judge_who_errs_is_found(pair, code, monkeypatch):
    mutant = wrong(pair)
    with judges.Package() as package:
        assert mutants.examine(mutant, package) == 1
        with pytest.raises(judges.DisagreementError, match="hardmax verify"):
            mutants.examine(mutant, lambda model, data: (code, ""))
        monkeypatch.setattr(judges, "ask_checker", lambda *files: (code, ""))
        with pytest.raises(judges.DisagreementError, match="the checker"):
            mutants.examine(mutant, package)


@pytest.mark.parametrize("code", [0, 1, 2])
def test_the_programs_themselves_judge_alike(pair, tmp_path, code):
    """The command lines, each in a process of its own."""
    rng = Random(code)
    found = (
        mutations.mutant(kind, change, rng, pair) for kind, change in mutations.kinds().items()
    )
    mutant = next(x for x in found if x is not None and x.wanted() == code)
    paths = tmp_path / "model.npz", tmp_path / "data.json"
    for path, raw in zip(paths, mutant.files(), strict=True):
        path.write_bytes(raw)
    for program in (["-m", "hardmax", "verify"], [judges.checker.__file__]):
        done = subprocess.run([sys.executable, *program, *paths], capture_output=True, text=True)
        assert done.returncode == code, (mutant.kind, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr


def test_an_accepted_lie_in_a_certificate_is_found(pair, monkeypatch):
    found = [x for x in certificates.mutants(Random(0), pair) if x.wanted == certificates.NOT_TRUE]
    assert len(found) > 50
    mutants.examine_certificate(found[0])
    monkeypatch.setattr(judges, "ask_checker", lambda *files: (0, ""))
    with pytest.raises(judges.DisagreementError):
        mutants.examine_certificate(found[0])


def test_the_command_reports_and_fails_on_a_difference(capsys, monkeypatch):
    arguments = ["--count", "30", "--seed", "77"]
    assert mutants.main(arguments) == 0
    assert "really wrong, all of them refuted" in capsys.readouterr().out
    monkeypatch.setattr(judges, "ask_checker", lambda *files: (0, ""))
    assert mutants.main(arguments) == 1
    assert "DIFFERS" in capsys.readouterr().out


def test_every_parameter_and_part_has_its_kinds():
    names = set(mutations.kinds())
    for name in pairs.NAMES:
        for kind in ("one bit", "one ulp", "sign", "zeroed", "plus tiny", "override removed"):
            assert f"{name}: {kind}" in names
    assert len(names) == 6 * 11 + len(mutations.WHOLE_KINDS)
