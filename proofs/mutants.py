"""Change one thing in a lemma or a program and see whether a check fails.

    python -m proofs.mutants        # a table; exit status 1 if a mutant survives

A mutant replaces one piece of text, which must occur exactly once, in one file. Its checks are
those of the lemmas that are named with it. A mutant that no check refutes survives, unless it is
listed with the reason why it changes nothing that is stated.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import NamedTuple

from proofs.registry import short_name

ROOT = Path(__file__).resolve().parent


class Mutant(NamedTuple):
    """A change of a file, by name without its ending, and the lemmas that are to notice it."""

    file: str
    old: str
    new: str
    lemmas: tuple[str, ...] = ()  # the file itself where it is a lemma
    equivalent: str = ""


PROGRAMS = ("theorem_b", "strategy", "masked", "cover", "outputs", "learn")
MUTANTS = (
    # the definition of the transformer
    Mutant("definition", "l in C_i else", "l == C_i[0] else", ("measure_invariance",)),
    Mutant("definition", "add(scale(rho, z), apply", "add(z, apply", ("measure_invariance",
           "theorem_b")),
    # tie splitting, collapse, peeling
    Mutant("theorem_b", "if injective and apart and", "if apart and", ("theorem_b",)),
    Mutant("theorem_b", "if injective and apart and", "if injective and", ("theorem_b",),
           "a tie that arises between other means is split later; the count K <= N - #means is "
           "kept by the third condition, that the number of means rises"),
    Mutant("theorem_b", "dot(u, z) for z in support)[-2]",
           "dot(u, z) for z in support)[-1]", ("theorem_b",)),
    Mutant("theorem_b", "if p.get(z, 0) != q.get(z, 0)]", "]", ("theorem_b", "separation")),
    Mutant("theorem_b", "4**k * near > far", "4**k + near > far", ("theorem_b",)),
    # the strategy of the paper
    Mutant("strategy", "if len({z for Z in moved for z in Z}) == len(tokens) and kept", "if kept",
           ("separation",)),
    Mutant("strategy", "== keep:", "!= None:", ("separation",)),
    Mutant("strategy", "if keys[j] == keys[k]]", "if keys[j] != keys[k]]", ("separation",)),
    Mutant("strategy", "reverse=True)", "reverse=False)", ("separation",)),
    Mutant("strategy", "floor = max(", "floor = -7 + min(", ("separation",)),
    # masked attention
    Mutant("masked", "if not merged and run", "if run", ("d1_masked",)),
    Mutant("masked", "run([block], p)[-1] != run([block], q)[-1]", "True", ("d1_masked",),
           "the two states are equal and their means differ after the layer, so beta (m - m') is "
           "not 0 and the condition holds for every beta"),
    # output sequences
    Mutant("outputs", "if len(mixed) == len(points):", "if True:", ("d4_outputs",)),
    Mutant("outputs", "setdefault((z, measures.index(measure)), y) != y", "setdefault((z, measures."
           "index(measure)), y) is None", ("d4_outputs",)),
    Mutant("outputs", "4**k * near > far", "4**k * near > 0", ("d4_outputs",)),
    # learn before the collapse
    Mutant("learn", "if y[i] != y[j] and points", "if y[i] == y[j] and points", ("e1_lift",)),
    Mutant("learn", "scale(offset, unit(classes - 1)), rho=0", "scale(0, unit(0)), rho=0",
           ("e1_lift",)),
    Mutant("learn", "(Fraction(1, 2), -1), (Fraction(-1, 2), -1)", "(Fraction(1, 2), -1), (0, -1)",
           ("e1_lift",)),
    Mutant("learn", "min(away, ", "max(away, ", ("e1_lift",)),
    Mutant("learn", "rest - x[c] + 1, c", "rest - x[c], c", ("e1_lift",)),
    Mutant("learn", "scale(-1, unit(c)), unit(classes - 1)", "scale(-1, unit(c))", ("e1_lift",)),
    # identities
    Mutant("lemmas/b1_tie_splitting", "+ (tau * r) * w) - (y", "- (tau * r) * w) - (y"),
    Mutant("lemmas/b1_tie_splitting", "dist + blocks + gain, n", "dist + blocks - gain, n"),
    Mutant("lemmas/b1_tie_splitting", "[token(2), token(2), token(-4)]",
           "[token(2), token(3), token(-5)]"),
    Mutant("lemmas/b2_collapse", "s = (1 / lam) * c - ml", "s = (1 / lam) * c + ml"),
    Mutant("lemmas/b2_collapse", "out = [0 * z + lam", "out = [1 * z + lam"),
    Mutant("lemmas/b2_collapse", "weight.subs(a, 0)", "weight.subs(a, 1)"),
    Mutant("lemmas/b3_radial_peeling", "b = h - gram", "b = -h - gram"),
    Mutant("lemmas/b3_radial_peeling", "gap = 2 * h + extra + more", "gap = h / 2 + extra + more"),
    Mutant("lemmas/b3_radial_peeling", '"landed") + near', '"landed") - near'),
    Mutant("lemmas/b3_radial_peeling", "/ 2 + inner(u - q, u - q) / 2",
           "/ 2 - inner(u - q, u - q) / 2"),
    Mutant("lemmas/b3_radial_peeling", "inner(u, q) - inner(u - q, u - q) / 2",
           "inner(u, q) - inner(u - q, u - q)"),
    Mutant("lemmas/b4_tent", "plus + rest)  # eps", "2 * plus + rest)  # eps"),
    Mutant("lemmas/b4_shells", "sympy.Rational(4, 3) * top", "sympy.Rational(5, 4) * top"),
    Mutant("lemmas/b4_lower_facets", "(1 - EPS) * relu(DEPTH)", "(1 - 2 * EPS) * relu(DEPTH)"),
    Mutant("lemmas/b4_lower_facets", "lacking = H + EPS * DEPTH", "lacking = H + DEPTH"),
    Mutant("lemmas/b4_lower_facets", "delta = gap / (s + MORE)", "delta = 2 * gap / (s + MORE)"),
    Mutant("lemmas/b4_lower_facets", "C * H / (over + MORE)", "2 * C * H / (over + MORE)"),
    Mutant("lemmas/b4_lower_facets", "virtual = B + H / EPS", "virtual = B - H / EPS"),
    Mutant("lemmas/b4_shells", "/ (1 - 2 * half)", "/ (1 - half)"),
    Mutant("lemmas/b4_shells", "delta = GAP / (SLOPE + ABOVE)",
           "delta = 2 * GAP / (SLOPE + ABOVE)"),
    Mutant("lemmas/b4_exact_heights", "- over * Q / ETA", "+ over * Q / ETA"),
    Mutant("lemmas/b4_exact_heights", "P + (TAU1 - 1) * Q", "P + TAU1 * Q"),
    Mutant("lemmas/b4_exact_heights", "gate = top / ETA", "gate = top / (2 * ETA)"),
    Mutant("lemmas/b4_exact_heights", "B = 2 * spread / slack", "B = spread / slack"),
    Mutant("lemmas/b6_lower_bound", '"rho": 1, ', '"rho": 2, '),
    Mutant("lemmas/b6_lower_bound", "scalings = 2 ", "scalings = 1 "),
    Mutant("lemmas/b6_lower_bound", "inner((1 / k) * u, k * z)", "inner(k * u, k * z)"),
    Mutant("lemmas/d1_masked", 'gram("e", "e") * q - gram', 'gram("e", "e") * q + gram'),
    Mutant("lemmas/d1_masked_heights", "c + p - (1 + lam)", "c + p - (2 + lam)"),
    Mutant("lemmas/d1_masked_heights", "3 * relu(t - eps))", "2 * relu(t - eps))"),
    Mutant("lemmas/d1_masked_heights", "s + weight * relu(c - s)", "s + weight * relu(s - c)"),
    Mutant("lemmas/d1_masked_heights", "q = lam * r / (2 * (1 + lam))", "q = 2 * r"),
    Mutant("lemmas/d1_masked_heights", "(2 + beyond / least)", "(2 - beyond / least)"),
    Mutant("lemmas/d1_masked_heights", "if side * (to - h) > 0 and", "if to > h and"),
    Mutant("lemmas/d1_masked_heights", "- side * to + 1", "+ side * to + 1"),
    Mutant("lemmas/d2_heads", "if s == max(scores)]", "if s == min(scores)]"),
    Mutant("lemmas/d2_heads", "(-10, 4, 4, 4, 3)", "(-10, 4, 4, 2, 0)"),
    Mutant("lemmas/d4_outputs", "lam * beta * middle", "lam * middle"),
    Mutant("lemmas/d4_outputs", "blocks = ties + 1 + (pairs_asked - 1)",
           "blocks = ties + 1 + pairs_asked"),
    Mutant("lemmas/c8_softmax", "relu(t + a) - relu(t))", "relu(t + a) + relu(t))"),
    Mutant("lemmas/c8_softmax", "p - eta + own", "p - eta + own + 1"),
    Mutant("lemmas/c8_softmax", "p = room + eta ", "p = room - eta "),
    Mutant("lemmas/c8_softmax", "sympy.exp(beta * (s - g))", "sympy.exp(beta * (s + g))"),
    Mutant("lemmas/c8_softmax", "middle = half * (z + y)", "middle = half * (z - y)"),
    Mutant("lemmas/e1_lift", "(-P if low else Q)", "(P if low else -Q)"),
    Mutant("lemmas/e1_lift", "after = 0 * own + 1 * mean", "after = 1 * own + 1 * mean"),
    Mutant("lemmas/e1_lift", "- relu(t - a / 2) + relu(t - a)", "- relu(t - a / 2)"),
    Mutant("lemmas/e1_lift", "size = sum(plus) + sum(minus)", "size = sum(plus)"),
    Mutant("lemmas/e1_lift", "values[:-1]]", "values[1:]]"),
    Mutant("lemmas/lemma_3_1", "(m - h)) / (s + t)", "(m + h)) / (s + t)"),
    Mutant("lemmas/lemma_3_1", "-inner(v, zp) * inner(v, zp) +", "-inner(v, zp) + inner(v, zp) +"),
    Mutant("lemmas/lemma_3_2", "eps = g / (2 * big", "eps = g / (big"),
    Mutant("lemmas/lemma_3_2", "value = g - eps * small", "value = g - eps * big"),
    Mutant("lemmas/lemma_3_2", "w = v + eps * u", "w = v - eps * u"),
    Mutant("lemmas/lemma_3_3", "b = m + eps ", "b = m - eps "),
    Mutant("lemmas/lemma_3_3", "subs(gram(\"v\", \"z\"), -m + slack)",
           "subs(gram(\"v\", \"z\"), m + slack)"),
    Mutant("lemmas/lemma_3_3", "inner(v, own) * inner(v, z)", "inner(v, own) + inner(v, z)"),
    Mutant("lemmas/lemma_3_3", "inner(v, own) * inner(v, z)", "-inner(v, own) * inner(v, z)"),
    Mutant("lemmas/lemma_3_4", "(1 / n - 1 / k)).subs(k, n)", "(1 / n + 1 / k)).subs(k, n)"),
    Mutant("lemmas/lemma_3_4", "z + relu(e) * w) for n", "z - relu(e) * w) for n"),
    Mutant("lemmas/lemma_3_4", "(g / 4 - p) - (g / 4 - q)", "(g / 2 - p) - (g / 2 - q)"),
    Mutant("lemmas/lemma_3_5", "x, l = y + f, k + e", "x, l = y + f, k - e"),
    Mutant("lemmas/lemma_3_5", "forbidden = c / (c - 1)", "forbidden = c / (c + 1)"),
    Mutant("lemmas/separation", "c + blocks + gain, n", "c + blocks - gain, n"),
    Mutant("lemmas/separation", "if key[j] == key[k]]", "if key[j] != key[k]]"),
    Mutant("lemmas/stages", "w = (1 / h) * (y - x)", "w = (1 / h) * (y + x)"),
    Mutant("lemmas/stages", "rho, alpha = 1, 0", "rho, alpha = 1, 1"),
    Mutant("lemmas/stages", "b = -(t - gap)", "b = -(t + gap)"),
    Mutant("lemmas/stages", 'k / gram("v", "v")', '-k / gram("v", "v")'),
)  # fmt: skip


def reload_with(mutant: Mutant) -> None:
    """Run the changed source of a file in its module, and all modules that may have copied from
    it again.
    """
    name = f"proofs.{mutant.file.replace('/', '.')}"
    source = (ROOT / f"{mutant.file}.py").read_text(encoding="utf-8")
    if source.count(mutant.old) != 1:
        raise SystemExit(f"{mutant.file}: {mutant.old!r} occurs {source.count(mutant.old)} times")
    order = ["definition", *PROGRAMS, "lemmas/theorem_b"]
    after = order[order.index(mutant.file) + 1 :] if mutant.file in order else []
    module = importlib.import_module(name)
    exec(compile(source.replace(mutant.old, mutant.new), name, "exec"), module.__dict__)
    for other in [*after, *(f"lemmas/{lemma}" for lemma in mutant.lemmas)]:
        path = ROOT / f"{other}.py"
        found = importlib.import_module(f"proofs.{other.replace('/', '.')}")
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), found.__dict__)


def noticed(mutant: Mutant) -> bool:
    """Tell, in a process of its own, whether some check of the named lemmas fails."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0
    try:
        reload_with(mutant)
        names = mutant.lemmas or (mutant.file.rpartition("/")[2],)
        for name in names:
            module = importlib.import_module(f"proofs.lemmas.{name}")
            for key, check in list(vars(module).items()):
                if key.startswith("prove_") and short_name(module) == name:
                    check()
    except SystemExit as error:
        print(error, file=sys.stderr)
        os._exit(0)
    except BaseException:
        os._exit(1)
    os._exit(0)


def main() -> int:
    """Print the table; return the number of survivors that are not argued."""
    survivors = 0
    for mutant in MUTANTS:
        found = noticed(mutant)
        result = "refuted" if found else "equivalent" if mutant.equivalent else "SURVIVES"
        survivors += result == "SURVIVES"
        note = f"  ({mutant.equivalent})" if result == "equivalent" else ""
        print(f"{result:10}  {mutant.file:28}  {mutant.old!r} -> {mutant.new!r}{note}", flush=True)
    print(f"\n{len(MUTANTS)} mutants, {survivors} survive")
    return survivors


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
