"""The checker stands alone: one short file, the standard library, any folder, also with -O."""

import json
import os
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest
from checker_files import CHECKER, ROOT, certificate, data_file, identity, model_file

DATA = data_file([[[0]], [[1]]], ["a", "b"])
MODEL = model_file([identity(1)])
WRONG = model_file([identity(1, b=1, w=["1/1024"])])
EXAMPLES = ROOT / "examples" / "certificates"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "checker.py").write_bytes(CHECKER.read_bytes())
    (tmp_path / "data.json").write_bytes(DATA)
    (tmp_path / "model.npz").write_bytes(MODEL)
    (tmp_path / "wrong.npz").write_bytes(WRONG)
    (tmp_path / "bad.json").write_bytes(DATA[:-1])
    (tmp_path / "certificate.json").write_text(json.dumps(certificate(MODEL, DATA)))
    return tmp_path


def python(folder, *arguments, **options):
    environment = {key: x for key, x in os.environ.items() if not key.startswith("PYTHON")}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder, capture_output=True, text=True, timeout=60, env=environment, **options,
    )  # fmt: skip


def test_at_most_680_lines():
    """One file has to check all: models, windows, heads, masks, outputs, and at a good speed."""
    lines = CHECKER.read_text().splitlines()
    assert len(lines) <= 680
    assert max(map(len, lines)) <= 100


def test_it_imports_the_standard_library_only():
    imported = {
        line.split()[1].split(".")[0]
        for line in CHECKER.read_text().splitlines()
        if line.startswith(("import ", "from "))
    }
    assert imported <= set(sys.stdlib_module_names)


def test_no_assert_and_no_float_literal():
    with tokenize.open(CHECKER) as file:
        tokens = list(tokenize.generate_tokens(file.readline))
    assert not [x for x in tokens if x.type == tokenize.NAME and x.string == "assert"]
    numbers = [x.string for x in tokens if x.type == tokenize.NUMBER]
    assert all(int(x.replace("_", "")) >= 0 for x in numbers)


@pytest.mark.parametrize("flags", [(), ("-O",), ("-OO",), ("-W", "error"), ("-I",), ("-P",)])
def test_a_copy_in_an_empty_folder(folder, flags):
    done = python(folder, *flags, "checker.py", "model.npz", "data.json")
    assert (done.returncode, done.stdout[:7], done.stderr) == (0, "proved\n", "")
    done = python(folder, *flags, "checker.py", "wrong.npz", "data.json")
    assert (done.returncode, done.stdout[:9], done.stderr) == (1, "refuted: ", "")
    done = python(folder, *flags, "checker.py", "model.npz", "bad.json")
    assert (done.returncode, done.stdout, done.stderr[:7]) == (2, "", "error: ")
    done = python(
        folder, *flags, "checker.py", "model.npz", "data.json", "--certificate", "certificate.json"
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_files_beside_it_do_not_stand_in_for_the_standard_library(folder):
    for name in ("json", "fractions", "zipfile", "numbers"):
        (folder / f"{name}.py").write_text("raise SystemExit(0)")
    done = python(folder, "checker.py", "wrong.npz", "data.json")
    assert (done.returncode, done.stdout[:9]) == (1, "refuted: ")


def test_neither_numpy_nor_flint_gets_loaded(folder):
    program = (
        "import runpy, sys\n"
        "sys.argv = ['checker.py', 'model.npz', 'data.json']\n"
        "try:\n"
        "    runpy.run_path('checker.py', run_name='__main__')\n"
        "except SystemExit as done:\n"
        "    assert done.code == 0\n"
        "print([x for x in sys.modules if x.split('.')[0] in ('numpy', 'flint', 'hardmax')])\n"
    )
    done = python(folder, "-c", program)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


def test_as_a_module_of_the_package(folder):
    done = python(
        ROOT, "-X", "importtime", "-m", "hardmax.checker",
        str(folder / "model.npz"), str(folder / "data.json"),
    )  # fmt: skip
    assert (done.returncode, done.stdout[:7]) == (0, "proved\n")
    loaded = {line.split("|")[-1].strip().split(".")[0] for line in done.stderr.splitlines()}
    assert not loaded & {"numpy", "flint"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_behind_stdout(folder):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "checker.py", "model.npz", "data.json"],
            cwd=folder, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "error: the output can't be written: No space left on device\n"


@pytest.mark.parametrize("model", ["model", "wrong"])
def test_a_closed_output_gets_no_verdict(folder, model):
    command = f"'{sys.executable}' checker.py {model}.npz data.json >&-"
    done = subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (
        2,
        "error: the output can't be written: it is closed\n",
    )


@pytest.mark.parametrize("model", ["model", "wrong"])
def test_a_reader_who_left(folder, model):
    command = f"'{sys.executable}' checker.py {model}.npz data.json; echo $? > code"
    done = subprocess.run(
        ["sh", "-c", f"({command}) | true"],
        cwd=folder, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.stderr == ""
    assert (folder / "code").read_text() == "141\n"


def examples():
    table = json.loads((EXAMPLES / "expected.json").read_text())
    return [pytest.param(*x.split(), code, id=x.replace(" ", "-")) for x, code in table.items()]


@pytest.mark.parametrize(("model", "data", "cert", "code"), examples())
def test_the_example_files(model, data, cert, code):
    more = () if cert == "-" else ("--certificate", cert)
    done = python(EXAMPLES, str(CHECKER), model, data, *more)
    assert done.returncode == code, done.stdout + done.stderr
    assert (done.stderr if code == 2 else done.stdout).count("\n") == (1 if code else 3)
