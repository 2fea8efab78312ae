"""Run public verifiers on the instances, each in a process of its own, and table the answers.

    python -m studies.verifiers.run FOLDER [VERIFIER …]

Writes results/verdicts.csv, one row for an instance and verifier, and results/table.md. With names
of verifiers only these run, and their rows replace their old ones.
"""

from __future__ import annotations

import csv
import multiprocessing as mp
import sys
import tempfile
import time
import warnings
from collections import Counter
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
FIELDS = ("set", "instance", "truth", "exact_radius", "verifier", "answer", "witness", "seconds")


def marabou(
    folder: Path, row: dict[str, str], graph: str | None = None
) -> tuple[str, list[Fraction] | None]:
    """Marabou 2, its own ONNX reader; one query for each way to lose the label."""
    warnings.simplefilter("ignore")
    from maraboupy import Marabou, MarabouCore, MarabouUtils
    from vnnlib import compat, parse_query_file

    path = folder / row["vnnlib"].replace("vnnlib/", "vnnlib2/")
    (case,) = compat.transform(parse_query_file(str(path)))
    answers = []
    for polytope in case.output_constraints:
        network = Marabou.read_onnx(graph or str(folder / row["onnx"]))
        x, y = network.inputVars[0].flatten(), network.outputVars[0].flatten()
        for k, (low, high) in enumerate(case.input_box):
            network.setLowerBound(x[k], low)
            network.setUpperBound(x[k], high)
        for coefficients, bound in zip(polytope.coeff_matrix, polytope.rhs, strict=True):
            equation = MarabouUtils.Equation(MarabouCore.Equation.LE)
            for k, c in enumerate(coefficients):
                if c:
                    equation.addAddend(float(c), y[k])
            equation.setScalar(float(bound))
            network.addEquation(equation)
        answer, values, _ = network.solve(
            options=Marabou.createOptions(verbosity=0, timeoutInSeconds=60), verbose=False
        )
        if answer == "sat":
            return "sat", [Fraction(values[k]) for k in x]
        answers.append(answer)
    return ("unsat" if set(answers) <= {"unsat"} else "unknown"), None


def marabou_sequential(folder: Path, row: dict[str, str]) -> tuple[str, list[Fraction] | None]:
    """Marabou 2 on the same function without skip connections."""
    import onnx

    from studies.verifiers.sequential import sequential

    with tempfile.TemporaryDirectory() as place:
        path = f"{place}/graph.onnx"
        onnx.save(sequential(onnx.load(folder / row["onnx"])), path)
        return marabou(folder, row, path)


def _terms(folder: Path, row: dict[str, str]) -> str:
    """The graph as definitions in SMT-LIB, in front of the assertion on Y of the VNN-LIB file."""
    import onnx

    graph = onnx.load(folder / row["onnx"]).graph
    text = (folder / row["vnnlib"]).read_text()
    lines = [line for line in text.splitlines() if not line.startswith("(declare-const Y_")]
    arrays = {
        each.name: [
            [Fraction(float(t)) for t in line]
            for line in onnx.numpy_helper.to_array(each).reshape(-1, each.dims[-1])
        ]
        for each in graph.initializer
    }

    def number(q: Fraction) -> str:
        size = f"(/ {abs(q.numerator)}.0 {q.denominator}.0)"
        return f"(- {size})" if q < 0 else size

    width = sum(line.startswith("(declare-const X_") for line in lines)
    names: dict[str, list[str]] = {"X": [f"X_{i}" for i in range(width)]}
    definitions = []
    for node in graph.node:
        first = names[node.input[0]]
        if node.op_type == "Relu":
            terms = [f"(ite (> {t} 0.0) {t} 0.0)" for t in first]
        elif node.op_type == "Add":
            terms = [f"(+ {s} {t})" for s, t in zip(first, names[node.input[1]], strict=True)]
        else:  # MatMul, Gemm
            matrix = arrays[node.input[1]]
            bias = (
                arrays[node.input[2]][0] if len(node.input) > 2 else [Fraction(0)] * len(matrix[0])
            )
            terms = []
            for column, b in zip(zip(*matrix, strict=True), bias, strict=True):
                parts = [f"(* {number(c)} {t})" for c, t in zip(column, first, strict=True) if c]
                terms.append(f"(+ {number(b)} 0.0 {' '.join(parts)})")
        output = node.output[0]
        stem = "Y_" if output == "Y" else f"{output}_"
        names[output] = [f"{stem}{i}" for i in range(len(terms))]
        definitions += [
            f"(define-fun {name} () Real {term})"
            for name, term in zip(names[output], terms, strict=True)
        ]
    head = [line for line in lines if "Y_" not in line]
    tail = [line for line in lines if "Y_" in line]
    return "\n".join([*head, *definitions, *tail])


def z3(folder: Path, row: dict[str, str]) -> tuple[str, list[Fraction] | None]:
    """z3 in exact linear real arithmetic."""
    import z3 as library

    solver = library.SolverFor("QF_LRA")
    solver.from_string(_terms(folder, row))
    return str(solver.check()), None


def cvc5(folder: Path, row: dict[str, str]) -> tuple[str, list[Fraction] | None]:
    """cvc5 in exact linear real arithmetic."""
    import cvc5 as library

    solver = library.Solver()
    parser = library.InputParser(solver)
    text = f"(set-logic QF_LRA)\n{_terms(folder, row)}\n"
    parser.setStringInput(library.InputLanguage.SMT_LIB_2_6, text, "instance")
    symbols = parser.getSymbolManager()
    while not (command := parser.nextCommand()).isNull():
        command.invoke(solver, symbols)
    return str(solver.checkSat()), None


VERIFIERS = {
    "marabou": marabou, "marabou, sequential": marabou_sequential, "z3": z3, "cvc5": cvc5
}  # fmt: skip
PACKAGES = {
    "marabou": "maraboupy", "marabou, sequential": "maraboupy", "z3": "z3-solver", "cvc5": "cvc5"
}  # fmt: skip
SECONDS = 20  # for one instance


def _work(queue: mp.Queue, name: str, folder: Path, row: dict[str, str]) -> None:
    try:
        answer, witness = VERIFIERS[name](folder, row)
        queue.put((answer, _loses(folder, row, witness) if witness else ""))
    except Exception as problem:
        queue.put((f"error: {type(problem).__name__}", ""))


def _loses(folder: Path, row: dict[str, str], witness: list[Fraction]) -> str:
    """Whether an input that a verifier names loses the label, exactly; it is clipped to the box."""
    from tests.test_vnnlib import exact, first_version, lost, onnx

    box, ways = first_version((folder / row["vnnlib"]).read_text())
    clipped = [min(max(t, low), high) for t, (low, high) in zip(witness, box, strict=True)]
    y = exact(onnx.load(folder / row["onnx"]).graph, clipped)
    return "loses the label" if lost(y, ways) else "keeps the label"


def ask(name: str, folder: Path, row: dict[str, str], limit: float) -> tuple[str, str, float]:
    """The answer within a time limit, what its witness is worth, and the seconds it took."""
    queue: mp.Queue = mp.Queue()
    process = mp.Process(target=_work, args=(queue, name, folder, row))
    start = time.perf_counter()
    process.start()
    try:
        answer, witness = queue.get(timeout=limit)
    except Exception:
        answer, witness = ("timeout", "") if process.is_alive() else ("crash", "")
    process.kill()
    process.join()
    return answer, witness, time.perf_counter() - start


def main(folder: str, names: list[str]) -> None:
    path = HERE / "results" / "verdicts.csv"
    found = []
    if path.exists() and names:
        with open(path) as file:
            found = [tuple(row) for row in list(csv.reader(file))[1:] if row[4] not in names]
    for place in sorted(Path(folder).iterdir()):
        with open(place / "ground_truth.csv") as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            for name in names or VERIFIERS:
                answer, witness, seconds = ask(name, place, row, SECONDS)
                found.append((
                    place.name, row["vnnlib"], row["result"], str(row["robust_radius"] != "?"),
                    name, answer, witness, f"{seconds:.2f}",
                ))  # fmt: skip
        print(place.name, flush=True)
    with open(path, "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([FIELDS, *sorted(found)])
    text = table(found)
    (HERE / "results" / "table.md").write_text(text)
    print(text)


def table(found: list[tuple]) -> str:
    """How often each verifier was right, undecided and wrong, by gap and truth."""
    lines = [
        "| verifier | gap | truth | instances | right | wrong | no answer |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in VERIFIERS:
        for gap in ("wide", "narrow"):
            for truth in ("unsat", "sat"):
                mine = [
                    row for row in found
                    if row[4] == name and row[0].endswith(gap) and row[2] == truth
                ]  # fmt: skip
                kinds = Counter(
                    "right" if row[5] == truth else
                    "wrong" if row[5] in ("sat", "unsat") else "none" for row in mine
                )  # fmt: skip
                lines.append(
                    f"| {name} {version(PACKAGES[name])} | {gap} | {truth} | {len(mine)} | "
                    f"{kinds['right']} | {kinds['wrong']} | {kinds['none']} |"
                )
    for name in ("marabou", "marabou, sequential"):
        for truth in ("unsat", "sat"):
            mine = Counter(row[6] for row in found if row[6] and row[2] == truth and row[4] == name)
            told = ", ".join(f"{count} {kind}" for kind, count in sorted(mine.items())) or "none"
            lines += ["", f"Inputs that come with {name}'s answer `sat`, truth {truth}: {told}."]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
