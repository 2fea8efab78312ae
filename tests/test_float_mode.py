"""No float mode of the processor changes a verdict: hardmax refuses, its checker does not care."""

import ast
import json
from fractions import Fraction as F

import numpy as np
import pytest
from float_modes import python

import hardmax as hm
from hardmax.model.layers import RankOneBlock

LEAST = F(1, 2**1074)  # the least float64 above 0


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """(model, data) pairs: what is true of them, and what flushing makes of them."""
    folder = tmp_path_factory.mktemp("modes")
    wrong = hm.Transformer([RankOneBlock.of(1, b=LEAST, w=(1,), rho=0, alpha=1)])
    wrong.save(folder / "wrong.npz")  # takes 1 to 1 + 2^-1074
    np.savez(folder / "one.npz", tokens=np.ones((1, 1)), offsets=[0, 1], label=["1"],
             labels=np.array(json.dumps({"1": {"kind": "point", "point": [1]}})))  # fmt: skip
    hm.Transformer([RankOneBlock.of(1, rho=0, alpha=1)]).save(folder / "identity.npz")
    np.savez(folder / "tiny.npz", tokens=np.array([[2.0**-1060], [1.0]]), offsets=[0, 1, 2],
             label=["0", "1"], labels=np.array(json.dumps(
                 {k: {"kind": "point", "point": [int(k)]} for k in "01"})))  # fmt: skip
    np.savez(folder / "exact.npz", tokens=np.array([[0.0], [1.0]]), offsets=[0, 1, 2],
             label=["0", "1"])  # fmt: skip
    return folder


JUDGES = """
import io, sys
from contextlib import redirect_stderr, redirect_stdout
from hardmax import checker
from hardmax.cli import main
def ask(mode, judge):
    out, err = io.StringIO(), io.StringIO()
    set_mode(mode)
    try:
        with redirect_stdout(out), redirect_stderr(err):
            judge()
    except SystemExit as stop:
        code = stop.code
    set_mode("standard")
    print(repr((mode, code, out.getvalue()[:6], err.getvalue())))
for mode in ["standard", *_bits]:
    ask(mode, lambda: main(["verify", *sys.argv[1:]]))
    ask(mode, lambda: sys.exit(checker.main(sys.argv[1:])))
"""


@pytest.mark.parametrize(
    ("model", "data", "code"),
    [("wrong", "one", 1), ("identity", "tiny", 1), ("identity", "exact", 0)],
)
def test_the_two_judges_in_every_mode(files, model, data, code):
    done = python(JUDGES, f"{model}.npz", f"{data}.npz", folder=files)
    assert done.returncode == 0, done.stderr
    answers = [ast.literal_eval(line) for line in done.stdout.splitlines()]
    assert len(answers) >= 10
    for (mode, found, out, err), (_, checked, *_) in zip(answers[::2], answers[1::2], strict=True):
        assert checked == code, mode  # the checker does not care
        if mode == "standard":
            assert found == code
        else:
            assert (found, out, err.count("\n")) == (3, "", 1), mode
            assert "-ffast-math" in err


def test_certify_refuses_whatever_was_read_before():
    program = """
import hardmax as hm
data = hm.Dataset([[(0,)], [(1,)]], ["a", "b"])
model = hm.build(data)
assert hm.certify(model, data).proved
for mode in _bits:
    for action in (
        lambda: hm.certify(model, data), lambda: hm.build(data), lambda: model.outputs([[(1,)]]),
        lambda: hm.Dataset([[(0,)]]), lambda: hm.labels.Point((5e-324,)),
    ):
        set_mode(mode)
        try:
            action()
        except hm.errors.HardmaxError as problem:
            assert problem.exit_code == 3, problem
        else:
            raise AssertionError("a wrong mode was not noticed")
set_mode("standard")
assert hm.certify(model, data).proved
"""
    done = python(program, before="import hardmax as hm, hardmax.labels, hardmax.errors")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("mode", ["flush", "up"])
def test_a_single_thread_in_a_wrong_mode_is_noticed(mode):
    """Threads that start while it is set keep it; the one that asks need not have it."""
    program = f"""
import threading
import hardmax as hm
from hardmax.errors import FloatModeError
from hardmax.threads import in_threads
first = threading.Event()
def work(piece):
    return piece
def spoil(piece):
    set_mode({mode!r})
    return piece
from hardmax import threads
threads.cores.cache_clear()
threads.cores = lambda: 2
assert list(in_threads(work, [1, 2, 3])) == [1, 2, 3]
try:
    list(in_threads(spoil, list(range(50))))
except FloatModeError:
    pass
else:
    raise AssertionError("a worker thread went on in a wrong mode")
assert list(in_threads(work, [1, 2, 3])) == [1, 2, 3]
"""
    done = python(program)
    assert done.returncode == 0, done.stderr


def test_a_change_while_a_verdict_is_being_found(tmp_path):
    program = """
import hardmax as hm
from hardmax.errors import FloatModeError
data = hm.Dataset([[(0,)], [(1,)]], ["a", "b"])
model = hm.build(data)
try:
    hm.certify(model, data, lambda done: set_mode("up"))
except FloatModeError:
    pass
else:
    raise AssertionError("a verdict in a wrong mode")
"""
    done = python(program)
    assert done.returncode == 0, done.stderr
