"""Nothing but an evaluation of every sequence makes `proved`; one place in each program says it."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import hardmax
import hardmax.certify.verify as verifier
from hardmax import checker
from hardmax.cli import main
from hardmax.dataset import Dataset
from hardmax.engine import outputs, part
from hardmax.model.tokens import Tokens
from hardmax.model.transformer import Transformer

from . import judges, pairs

PACKAGE = Path(hardmax.__file__).parent
# what is learned has certificates of its own, about other statements
CORE = [path for path in sorted(PACKAGE.rglob("*.py")) if "learned" not in path.parts]


@pytest.fixture
def files(tmp_path):
    """A model whose output is 0, data for which that is right, and for which it is wrong."""
    model = pairs.of_blocks([([1, 0], 0, [0, 1], 0, 0, [1, 1])])
    (tmp_path / "model.npz").write_bytes(model.raw())
    for name, point in (("right", 0), ("wrong", 1)):
        table = {
            "dimension": 2,
            "labels": {"a": {"kind": "point", "point": [0, point]}},
            "sequences": [{"tokens": [[1, 2], [3, 4]], "label": "a"}],
        }
        (tmp_path / f"{name}.json").write_bytes(pairs.data_json(table))
    return tmp_path


def verify(capsys, folder, data="right.json", model="model.npz"):
    """Exit code and all output of `hardmax verify`."""
    with pytest.raises(SystemExit) as stop:
        main(["verify", str(folder / model), str(folder / data)])
    captured = capsys.readouterr()
    return stop.value.code, captured.out + captured.err


def check(capsys, folder, data="right.json", model="model.npz"):
    """Exit code and all output of the checker."""
    with judges.long_integers():
        code = checker.main([str(folder / model), str(folder / data)])
    captured = capsys.readouterr()
    return code, captured.out + captured.err


PROGRAMS = pytest.mark.parametrize("program", [verify, check])


@PROGRAMS
def test_what_is_right_holds_and_what_is_wrong_does_not(capsys, files, program):
    code, text = program(capsys, files)
    assert (code, "proved" in text) == (0, True)
    code, text = program(capsys, files, "wrong.json")
    assert (code, "proved" in text) == (1, False)


@pytest.mark.parametrize("problem", [ValueError, ZeroDivisionError, StopIteration, KeyError])
@pytest.mark.parametrize("data", ["right.json", "wrong.json"])
def test_an_exception_in_the_evaluation(capsys, files, monkeypatch, problem, data):
    def fails(*arguments):
        raise problem("broken")

    for owner, name in ((part, "collapse"), (part, "forward"), (part, "constant_outputs"),
                        (verifier, "evaluate"), (verifier, "outside")):  # fmt: skip
        with monkeypatch.context() as context:
            context.setattr(owner, name, fails)
            code, text = verify(capsys, files, data)
        assert (code, "proved" in text) == (70, False)
    for owner, name in ((Tokens, "feed_forward"), (Tokens, "attend_heads"), (Tokens, "means")):
        with monkeypatch.context() as context:
            context.setattr(part, "collapse", lambda *arguments: None)  # all block by block
            context.setattr(owner, name, fails)
            code, text = verify(capsys, files, data)
        assert (code, "proved" in text) == (70, False)
    for name in ("feed_forward", "attention", "contains", "prepare"):
        with monkeypatch.context() as context:
            context.setattr(checker, name, fails)
            code, text = check(capsys, files, data)
        assert (code, "proved" in text) == (70, False)


def test_an_interrupt_or_no_memory_in_the_evaluation(capsys, files, monkeypatch):
    for problem, wanted in ((KeyboardInterrupt, 130), (MemoryError, 3)):

        def fails(*arguments, problem=problem):
            raise problem

        with monkeypatch.context() as context:
            context.setattr(part, "constant_outputs", fails)
            context.setattr(checker, "outputs", fails)
            for program in (verify, check):
                code, text = program(capsys, files)
                assert (code, "proved" in text) == (wanted, False)


EMPTY = {
    "json": b'{"dimension": 2, "sequences": []}',
    "json with labels": b'{"dimension": 2, "sequences": [], '
    b'"labels": {"a": {"kind": "point", "point": [0, 0]}}}',
    "csv": b"sequence,label,x1,x2\n",
    "empty csv": b"sequence,label,x1,x2",
    "empty": b"",
    "npz": pairs.npz(
        {"tokens": np.zeros((0, 2)), "offsets": np.array([0]), "label": np.array([], dtype="<U1")}
    ),
    "npz without offsets": pairs.npz(
        {
            "tokens": np.zeros((0, 2)),
            "offsets": np.array([], dtype=int),
            "label": np.array([], dtype="<U1"),
        }
    ),
    "empty npz": pairs.npz({}),
    "an empty sequence": b'{"dimension": 2, "sequences": [{"tokens": [], "label": "a"}]}',
}


@PROGRAMS
@pytest.mark.parametrize("raw", EMPTY.values(), ids=EMPTY)
def test_an_empty_data_set(capsys, files, program, raw):
    (files / "empty").write_bytes(raw)
    code, text = program(capsys, files, "empty")
    assert (code, "proved" in text) == (2, False)


@PROGRAMS
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("name", pairs.NAMES)
def test_nan_in_the_model(capsys, files, program, name, value):
    model = pairs.Model.read((files / "model.npz").read_bytes())
    model.arrays[name].flat[0] = value
    (files / "nan.npz").write_bytes(model.raw())
    code, text = program(capsys, files, model="nan.npz")
    assert (code, "proved" in text) == (2, False)


@PROGRAMS
@pytest.mark.parametrize(
    "text", ["NaN", "Infinity", "-Infinity", '"nan"', '"inf"', "null", "1e999"]
)
@pytest.mark.parametrize("place", ["[1, 2]", "[0, 0]"])
def test_nan_in_the_data(capsys, files, program, text, place):
    raw = (files / "right.json").read_text().replace(place, f"[0, {text}]")
    (files / "nan.json").write_text(raw)
    code, out = program(capsys, files, "nan.json")
    assert (code, "proved" in out) == (2, False)
    if text != "null":
        value = 1e305 if text == "1e999" else float(text.strip('"'))
        tokens = np.array([[0.0, value]])
        members = {"tokens": tokens, "offsets": [0, 1], "label": ["a"]}
        (files / "nan.json").write_bytes(pairs.npz(members))
        code, out = program(capsys, files, "nan.json")
        assert (code, "proved" in out) == (2, False)


def test_a_loop_over_nothing(capsys, files, monkeypatch):
    """An evaluation that yields no output, or not one for each sequence, proves nothing."""
    nothing = np.zeros(0, dtype=int)
    for count in (0, 2):
        found = outputs.Outputs(np.zeros(count, dtype=int), [(0, 0)], {}, nothing > 0)
        with monkeypatch.context() as context:
            context.setattr(verifier, "evaluate", lambda *arguments, found=found: found)
            code, text = verify(capsys, files)
        assert (code, "proved" in text) == (70, False)
        with monkeypatch.context() as context:  # and block by block
            context.setattr(part, "collapse", lambda *arguments: None)
            context.setattr(Transformer, "run", lambda *_, count=count: [(0, 0)] * count)
            code, text = verify(capsys, files)
        assert (code, "proved" in text) == (70, False)
    for owner, name in ((outputs, "parts"), (part, "chunks")):
        with monkeypatch.context() as context:
            context.setattr(owner, name, lambda *arguments: [])
            code, text = verify(capsys, files)
        assert (code, "proved" in text) == (70, False)
    with monkeypatch.context() as context:
        context.setattr(Dataset, "__len__", lambda self: 0)
        context.setattr(Dataset, "need_labels", lambda self: [])
        code, text = verify(capsys, files)
    assert (code, "proved" in text) == (70, False)
    with monkeypatch.context() as context:
        context.setattr(checker, "read_data", lambda raw, mode: ([], {}, 2))
        code, text = check(capsys, files)
    assert code == 2
    assert "proved" not in text


OPTIONS = [["-O"], ["-OO"], ["-W", "error"], ["-O", "-W", "error"], ["-I", "-S"]]
RUN = """
import importlib.util
import sys
program, folder = sys.argv[1:]
if program == "hardmax":
    from hardmax.cli import main
    start = ["verify"]
else:
    specification = importlib.util.spec_from_file_location("checker", program)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    main, start = module.main, []
for model, data in (("model", "right"), ("model", "wrong"), ("model", "empty"), ("nan", "right")):
    try:
        code = main([*start, f"{folder}/{model}.npz", f"{folder}/{data}.json"])
    except SystemExit as stop:
        code = stop.code
    print("code", code)
"""


@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
@pytest.mark.parametrize("program", ["hardmax", PACKAGE / "checker.py"], ids=["hardmax", "checker"])
def test_python_options_change_no_verdict(files, options, program):
    if "-S" in options and program == "hardmax":
        pytest.skip("without site-packages there is no hardmax; the checker needs none")
    (files / "empty.json").write_bytes(EMPTY["json"])
    model = pairs.Model.read((files / "model.npz").read_bytes())
    model.arrays["w"].flat[0] = float("nan")
    (files / "nan.npz").write_bytes(model.raw())
    done = subprocess.run(
        [sys.executable, *options, "-c", RUN, program, files],
        capture_output=True, text=True, env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    codes = [int(line[5:]) for line in done.stdout.splitlines() if line.startswith("code ")]
    assert codes == [0, 1, 2, 2], (done.stdout, done.stderr)
    assert done.stdout.replace("test_", "").count("proved") == 1
    assert "Traceback" not in done.stderr
    assert "Warning" not in done.stderr


def uses_of_proved():
    """[(module, the node's line, parent)] for every literal "proved" of the package."""
    for path in CORE:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and node.value == "proved":
                yield path.relative_to(PACKAGE).as_posix(), node, parents[node]


def test_one_place_in_each_program_says_proved():
    made = []
    for module, node, parent in uses_of_proved():
        if isinstance(parent, ast.Compare):
            continue  # asks, does not say
        made.append((module, type(parent).__name__))
    # verify.py: `"refuted" if witnesses else "proved"`; checker.py: the first line that it
    # prints, and the value that a certificate must have; judge.py: the verdict on a network,
    # and how many sequences have it; rounded.py: "prediction", from exact outputs or certify
    assert made == [
        ("certify/verify.py", "IfExp"),
        ("checker.py", "List"),
        ("checker.py", "Dict"),
        ("exchange/rounded.py", "IfExp"),
        ("network/judge.py", "IfExp"),
        ("network/judge.py", "Dict"),
    ]


def test_only_the_verifier_makes_certificates():
    """No other module builds, changes or imitates a Certificate."""
    for path in CORE:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", getattr(node.func, "attr", None))
                inside = path.relative_to(PACKAGE).as_posix()
                assert name != "Certificate" or inside == "certify/verify.py", (path, node.lineno)
                if ast.unparse(node.func) == "object.__setattr__":  # of a frozen class, from inside
                    assert ast.unparse(node.args[0]) == "self", (path, node.lineno)
            if isinstance(node, ast.Attribute) and node.attr in ("verdict", "proved", "witnesses"):
                assert isinstance(node.ctx, ast.Load), (path, node.lineno)


def test_the_exit_code_0_of_verify_comes_from_the_certificate():
    source = (PACKAGE / "cli" / "verify.py").read_text(encoding="utf-8")
    returns = [ast.unparse(x) for x in ast.walk(ast.parse(source)) if isinstance(x, ast.Return)]
    assert returns
    assert all(text == "return 0 if found.proved else 1" for text in returns if "0" in text)


def test_a_certificate_cannot_be_changed(files):
    found = hardmax.certify(
        Transformer.load(files / "model.npz"), hardmax.load(files / "wrong.json")
    )
    assert found.verdict == "refuted"
    with pytest.raises(AttributeError):
        found.verdict = "proved"
    with pytest.raises(AttributeError):
        found.proved = True
    assert json.loads(json.dumps(found.to_json()))["verdict"] == "refuted"
