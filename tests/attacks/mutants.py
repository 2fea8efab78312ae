"""Mutate true models, data and certificates, and ask three judges (``make mutants``).

    python -m tests.attacks.mutants [--count 10000] [--seed 0]

Prints how many mutants of each kind are really wrong (plain Fractions decide) and how many of
those `hardmax verify` and the checker refute. The exit code is 1 if a judge differs anywhere.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter, defaultdict
from itertools import count
from random import Random

from . import certificates, judges, mutations, pairs


def examine(mutant, package):
    """The verdict of plain Fractions; raises DisagreementError where another judge differs."""
    wanted = mutant.wanted()
    model, data = mutant.files()
    for judge, (code, reason) in (
        ("hardmax verify", package(model, data)),
        ("the checker", judges.ask_checker(model, data)),
    ):
        if code != wanted:
            raise judges.DisagreementError(
                f"{mutant.kind} of {mutant.pair.name}: {judge} says {code} ({reason}), "
                f"plain Fractions say {wanted}"
            )
    return wanted


def examine_certificate(mutant):
    """Whether the certificate is true; raises DisagreementError where the checker differs."""
    code, reason = judges.ask_checker(*mutant.files())
    if code not in mutant.wanted:
        raise judges.DisagreementError(
            f"{mutant.kind} of {mutant.name}: the checker says {code} ({reason}), "
            f"wanted {sorted(mutant.wanted)}"
        )
    return code


def sample(seed, wanted, report, complain, strategies=None, share=1.0):
    """Examine at least ``wanted`` mutants of models and data, and those of their certificates.

    Goes on pair by pair, each strategy and kind of label set in turn; of each pair a share of
    the mutants is made, at random.
    """
    kinds = mutations.kinds()
    with tempfile.TemporaryDirectory(dir=judges.memory_folder()) as folder, judges.Package() as ask:
        for turn in count():
            for pair in pairs.true_pairs(folder, f"{seed} {turn}", strategies):
                rng = Random(f"{seed} {turn} {pair.name}")
                found = [mutations.Mutant("none: the pair itself", pair)]
                for kind, change in kinds.items():
                    if rng.random() < share:
                        found.append(mutations.mutant(kind, change, rng, pair))
                for mutant in filter(None, found):
                    _count(mutant, lambda mutant=mutant: examine(mutant, ask), report, complain)
                for mutant in certificates.mutants(rng, pair):
                    if rng.random() < share:
                        _count(
                            mutant,
                            lambda mutant=mutant: examine_certificate(mutant),
                            report,
                            complain,
                        )
                if _total(report, "") - _total(report, "certificate: ") >= wanted:
                    return


def _total(report, start):
    return sum(row.total() for kind, row in report.items() if kind.startswith(start))


def _count(mutant, judge, report, complain):
    try:
        report[mutant.kind][judge()] += 1
    except judges.DisagreementError as problem:
        report[mutant.kind]["differs"] += 1
        complain(str(problem))


def table(report):
    """Lines of the report."""
    rows = [("kind", "mutants", "true", "wrong", "refuted", "malformed", "refused", "differ")]
    for kind, found in [*report.items(), ("all", sum(report.values(), Counter()))]:
        right, wrong, malformed, differ = (found[key] for key in (0, 1, 2, "differs"))
        # what is judged differently is in no other column, so these are all refuted, refused
        cells = (found.total(), right, wrong, wrong, malformed, malformed, differ)
        rows.append((kind, *map(str, cells)))
    width = max(len(row[0]) for row in rows)
    for row in rows:
        yield row[0].ljust(width) + "".join(cell.rjust(11) for cell in row[1:])


def summary(report):
    """What was found, in one paragraph."""
    kinds = {name: row for name, row in report.items() if not name.startswith("certificate: ")}
    pairs_, certified = (
        sum(rows, Counter())
        for rows in (kinds.values(), (row for name, row in report.items() if name not in kinds))
    )
    differ = pairs_["differs"] + certified["differs"]
    if differ:
        return f"{differ} of {pairs_.total() + certified.total()} mutants are judged differently"
    return (
        f"{pairs_.total()} mutants of models and data: {pairs_[1]} really wrong, all of them "
        f"refuted by hardmax verify and the checker; {pairs_[2]} malformed, all refused by both; "
        f"{pairs_[0]} still true, all proved by both.\n"
        f"{certified.total()} mutants of certificates: {certified[1] + certified[2]} wrong or "
        f"malformed, all refused by the checker; {certified[0]} still true, all accepted."
    )


def main(arguments=None):
    """Run, print the report, return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.attacks.mutants")
    parser.add_argument("--count", type=int, default=10_000, help="at least so many mutants")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    report, start = defaultdict(Counter), time.perf_counter()
    sample(options.seed, options.count, report, lambda line: print("DIFFERS", line, flush=True))
    print(*table(report), summary(report), sep="\n")
    print(f"{time.perf_counter() - start:.0f} s")
    differ = sum(row["differs"] for row in report.values())
    return 1 if differ or _total(report, "") < options.count else 0


if __name__ == "__main__":
    sys.exit(main())
