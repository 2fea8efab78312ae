"""The commands as a user types them: exit codes, what goes to stdout and stderr, files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import hardmax as hm
from hardmax.cli import main as cli_main

EXAMPLES = Path(__file__).parent.parent / "examples"
FIGURE2 = EXAMPLES / "figure2.json"


def command(*arguments, flags=(), **options):
    """Run in a process of its own."""
    return subprocess.run(
        [sys.executable, *flags, "-m", "hardmax", *map(str, arguments)],
        capture_output=True, text=True, timeout=120, check=False, **options,
    )  # fmt: skip


@pytest.fixture
def built(run, tmp_path):
    """A model of Figure 2's data."""
    assert run("build", FIGURE2, "-o", tmp_path / "model.npz").code == 0
    return tmp_path / "model.npz"


def save(path, sequences, **more):
    document = {"dimension": len(sequences[0]["tokens"][0]), "sequences": sequences, **more}
    path.write_text(json.dumps(document))
    return path


CONTRADICTION = [
    {"tokens": [[0, 1], [1, 1]], "label": "a", "id": "one"},
    {"tokens": [[1, 1], [0, 1]], "label": "b"},
]

# ----------------------------------------------------------------------------------- build


def test_build_shows_what_it_proved(run, tmp_path):
    result = run("build", FIGURE2, "-o", tmp_path / "m.npz")
    assert (result.code, result.err) == (0, "")
    for words in (
        ["data", "3 distinct sequences, 9 tokens, dimension 2, 2 labels"],
        ["separate", "2 blocks"], ["cluster", "1 block"], ["match", "1 block"],
        ["classify", "1 block"], ["blocks", "5 of at most 8N+4 = 28"],
        ["parameters", "non-zero of at most 54Nd = 324"], ["bounds", "holds"],
        ["verdict", "proved"],
    ):  # fmt: skip
        assert any(all(word in line for word in words) for line in result.out.splitlines()), words
    assert [path.name for path in tmp_path.iterdir()] == ["m.npz"]


def test_build_json(run, tmp_path):
    result = run("build", FIGURE2, "-o", tmp_path / "m.npz", "--json")
    assert (result.code, result.err, result.out.count("\n")) == (0, "", 1)
    found = json.loads(result.out)
    assert found["verdict"] == "proved"
    assert (found["N"], found["d"], found["blocks"], found["block_bound"]) == (3, 2, 5, 28)
    assert found["stages"] == {"separate": 2, "cluster": 1, "match": 1, "classify": 1}
    assert found["parameters"] <= found["parameter_bound"] == 54 * 3 * 2
    assert found["bounds"] == "holds"
    assert found["witnesses"] == []


def test_equal_commands_write_equal_files(run, tmp_path):
    for name in ("a.npz", "b.npz"):
        assert run("build", EXAMPLES / "text.json", "-o", tmp_path / name, "--seed", 4).code == 0
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_contradictions_are_refuted_with_the_two_sequences(run, tmp_path):
    data = save(tmp_path / "data.json", CONTRADICTION)
    result = run("build", data, "-o", tmp_path / "m.npz")
    assert (result.code, result.err) == (1, "")
    assert result.out.startswith("refuted: sequence 1 (id 'one') and sequence 2 have the same")
    assert "1/2 at (0, 1), 1/2 at (1, 1)" in result.out
    assert "'a' and 'b'" in result.out
    assert "--positional" in result.out
    assert not (tmp_path / "m.npz").exists()

    result = run("build", data, "-o", tmp_path / "m.npz", "--json")
    assert result.code == 1
    found = json.loads(result.out)
    assert found["verdict"] == "refuted"
    assert found["contradiction"]["sequences"] == ["sequence 1 (id 'one')", "sequence 2"]
    assert found["contradiction"]["labels"] == ["a", "b"]
    assert found["contradiction"]["positional_resolves"] is True
    assert not (tmp_path / "m.npz").exists()

    assert run("build", data, "-o", tmp_path / "m.npz", "--positional").code == 0
    assert run("verify", tmp_path / "m.npz", data).code == 0  # positions as the model says


def test_numbers_as_floats(run, tmp_path):
    """0.1 + 0.2 is 0.3 exactly, but not in binary64."""
    rows = [{"tokens": [["0.3"]], "label": "a"}, {"tokens": [[0.30000000000000004]], "label": "a"}]
    data = save(tmp_path / "d.json", rows)
    outputs = []
    for numbers in ("exact", "binary64"):
        assert run("build", data, "-o", tmp_path / "m.npz", "--numbers", numbers).code == 0
        assert run("verify", tmp_path / "m.npz", data).code == 0
        assert hm.Transformer.load(tmp_path / "m.npz").meta["numbers"] == numbers
        run("run", tmp_path / "m.npz", data, "--exact", "--trace", "-o", tmp_path / "out.json")
        trace = json.loads((tmp_path / "out.json").read_text())["results"][0]["trace"]
        outputs.append(Fraction(trace[0][0][0]))
    assert outputs == [Fraction(3, 10), Fraction(0.3)]


def test_test_data_are_counted_by_predictions(run, tmp_path):
    near = save(tmp_path / "t.json", [
        {"tokens": [[100, 100]], "label": "blue"}, {"tokens": [[100, 100]], "label": "orange"},
        {"tokens": [[2.5, 3], [3, -2], [-3, -0.5]], "label": "orange"},
    ])  # fmt: skip
    result = run("build", FIGURE2, "-o", tmp_path / "m.npz", "--test", near, "--json")
    assert result.code == 0
    found = json.loads(result.out)["test"]
    assert (found["right"], found["sequences"]) == (2, 3)
    assert (
        "2 of 3 sequences right (66.7 %)"
        in run("build", FIGURE2, "-o", tmp_path / "m.npz", "--test", near).out
    )


def test_resource_limits_are_undecided(run, tmp_path):
    tokens = [[[str(2**999)]], [[f"{2**1899 + 1}/{2**900}"]]]
    data = save(tmp_path / "d.json", [
        {"tokens": Z, "label": label} for Z, label in zip(tokens, "ab", strict=True)
    ])  # fmt: skip
    result = run("build", data, "-o", tmp_path / "m.npz")
    assert (result.code, result.out, result.err.count("\n")) == (3, "", 1)
    assert "proved" not in result.err
    assert not (tmp_path / "m.npz").exists()


def test_long_numbers_go_all_the_way(run, tmp_path):
    """Tokens and label sets of 10 000 digits, past what str() of an int writes."""
    tail = "7" * 9_998 + "1"
    rows = [
        {"tokens": [[f"1{tail}/3{tail}"]], "label": "a"},
        {"tokens": [[f"2{tail}/3{tail}"]], "label": "b"},
    ]
    ball = {"kind": "ball", "center": [f"9{tail}/1{tail}"], "radius": f"1{tail}/2{tail}"}
    sets = {"a": {"kind": "point", "point": [f"1{tail}/9{tail}"]}, "b": ball}
    data = save(tmp_path / "d.json", rows, labels=sets)
    certificate = tmp_path / "c.json"
    assert run("build", data, "-o", tmp_path / "m.npz", "--certificate", certificate).code == 0
    assert run("verify", tmp_path / "m.npz", data, "--json").code == 0
    assert max(map(len, certificate.read_text().split())) > 4300
    result = run("run", tmp_path / "m.npz", data, "--exact", "-o", tmp_path / "out.json")
    assert result.code == 0
    output = json.loads((tmp_path / "out.json").read_text())["results"][0]["output"]
    p, q = output[0].split("/")
    assert hm.Dataset([[(output[0],)]]).sequence(0)[0] == hm.load(data).sets["a"].point
    assert min(len(p), len(q)) > 4300


# ---------------------------------------------------------------------------------- verify


def test_verify_in_a_process_of_its_own(built):
    result = command("verify", built, FIGURE2, "--bounds", "--json")
    assert (result.returncode, result.stderr) == (0, "")
    assert json.loads(result.stdout)["verdict"] == "proved"


def test_verify_refutes_with_a_witness(run, built, tmp_path):
    with np.load(built) as file:
        members = dict(file)
    members["w"][-1, 1] *= -1  # the stars land above the axis
    np.savez(tmp_path / "bad.npz", **members)
    result = run("verify", tmp_path / "bad.npz", FIGURE2)
    assert (result.code, result.err) == (1, "")
    assert "verdict" in result.out
    model = hm.Transformer.load(tmp_path / "bad.npz")
    output = model.output(hm.load(FIGURE2).sequence(2))
    assert f"refuted: sequence 3 (id 'stars') has the exact output ({output[0]}, " in result.out
    assert "outside the set of its label 'orange'" in result.out
    found = json.loads(run("verify", tmp_path / "bad.npz", FIGURE2, "--json").out)
    assert found["verdict"] == "refuted"
    assert [w["sequence"] for w in found["witnesses"]] == [2]
    assert found["witnesses"][0]["output"] == [str(x) for x in output]


def test_verify_shows_both_bounds(run, built):
    out = run("verify", built, FIGURE2, "--bounds").out
    assert "(3d+3)(8N+4) = 252" in out
    assert "54Nd = 324" in out


# ------------------------------------------------------------------------------- run, info


def test_run_predicts_without_labels(run, built, tmp_path):
    rows = json.loads(FIGURE2.read_text())["sequences"]
    for row in rows:
        del row["label"]
    data = save(tmp_path / "d.json", rows)
    for extra in ([], ["--exact"]):
        result = run("run", built, data, *extra)
        assert (result.code, result.err) == (0, "")
        assert result.out.splitlines()[0].startswith("sequence 1 (id 'circles'): blue ")
        assert result.out.splitlines()[2].startswith("sequence 3 (id 'stars'): orange ")


def test_run_writes_outputs_and_traces(run, built, tmp_path):
    model, data = hm.Transformer.load(built), hm.load(FIGURE2)
    for extra in ([], ["--exact"]):
        result = run("run", built, FIGURE2, "--trace", "-o", tmp_path / "out.json", *extra)
        assert (result.code, result.err) == (0, "")
        document = json.loads((tmp_path / "out.json").read_text())
        assert document["exact"] == bool(extra)
        for j, entry in enumerate(document["results"]):
            assert (entry["sequence"], entry["id"]) == (j + 1, data.ids[j])
            assert entry["label"] == data.labels[j]
            trace = model.trace(data.sequence(j))
            for found, state in zip(entry["trace"], trace, strict=True):
                for token, exact in zip(found, state, strict=True):
                    assert [Fraction(x) for x in token] == pytest.approx(exact, abs=1e-9)
            if extra:
                output = tuple(Fraction(x) for x in entry["output"])
                assert output == model.output(data.sequence(j))


def test_run_prints_traces(run, built):
    lines = run("run", built, FIGURE2, "--exact", "--trace").out.splitlines()
    assert len(lines) == 3 * (1 + 6)
    assert lines[1] == '     0 input: [[-2, "-3/2"], ["5/2", 3], ["-1/2", -2]]'
    assert lines[6].startswith("     5 classify: ")


def test_labels_that_would_break_the_line(run, tmp_path):
    data = save(tmp_path / "d.json", [{"tokens": [[1]], "label": "\n", "id": "a\tb"}])
    assert run("build", data, "-o", tmp_path / "m.npz").code == 0
    result = run("run", tmp_path / "m.npz", data)
    assert result.out == "sequence 1 (id 'a\\tb'): '\\n'  (0)\n"


def test_run_past_float64_says_so(run, tmp_path):
    model = hm.Transformer([hm.RankOneBlock.of(1, u=(1,), w=(1,))] * 1100)
    model.save(tmp_path / "m.npz")
    data = save(tmp_path / "d.json", [{"tokens": [[1]]}])
    result = run("run", tmp_path / "m.npz", data)
    assert (result.code, result.out, result.err.count("\n")) == (3, "", 1)
    assert "--exact" in result.err
    assert run("run", tmp_path / "m.npz", data, "--exact").code == 0


def test_info(run, built):
    result = run("info", built)
    assert (result.code, result.err) == (0, "")
    for text in ("separate", "classify", "non-zero of 45", "paper"):
        assert text in result.out
    found = json.loads(run("info", built, "--json").out)
    assert (found["dimension"], found["blocks"]) == (2, 5)
    assert found["stages"] == {"separate": 2, "cluster": 1, "match": 1, "classify": 1}
    assert found["parameters"] == hm.Transformer.load(built).parameters.nonzero()
    assert found["meta"]["seed"] == 0
    assert found["sha256"] == hm.Transformer.load(built).sha256


# ----------------------------------------------------------------------------- bad use


@pytest.mark.parametrize(
    "arguments",
    [["build"], ["build", FIGURE2], ["nonsense"], ["build", FIGURE2, "-o", "x", "--nonsense"],
     ["build", FIGURE2, "-o", "x", "--seed", "-1"], ["build", FIGURE2, "-o", "x", "--seed", "a"],
     ["build", FIGURE2, "-o", "x", "--numbers", "float"], ["verify", FIGURE2], ["run"],
     ["build", FIGURE2, "-o", "x", "--strategy", "nonsense"], ["info"], ["info", "a", "b"]],
    ids=lambda a: " ".join(map(str, a[:1] + a[2:])),
)  # fmt: skip
def test_bad_use(run, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert result.code == 2
    assert result.out == ""
    assert result.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_no_command_shows_the_help(run):
    result = run()
    assert result.code == 2
    assert "hardmax build data.json -o model.npz" in result.out + result.err


def test_version(run):
    result = run("--version")
    assert (result.code, result.out) == (0, f"hardmax, version {hm.__version__}\n")


@pytest.mark.parametrize("name", ["build", "verify", "run", "info"])
def test_help_has_examples(run, name):
    result = run(name, "--help")
    assert result.code == 0
    assert "Example" in result.out
    assert f"hardmax {name} " in result.out


def test_bugs_are_apologised_for(run, tmp_path, monkeypatch):
    from hardmax.formats import data

    def broken(*arguments, **options):
        raise ZeroDivisionError("a bug\nof two lines")

    monkeypatch.setattr(data, "load", broken)
    result = run("build", FIGURE2, "-o", tmp_path / "m.npz")
    assert (result.code, result.out) == (70, "")
    assert "internal error, sorry: ZeroDivisionError" in result.err
    assert "please report" in result.err
    assert "Traceback" not in result.err


def test_an_interruption_while_modules_are_loaded():
    """No traceback at any time: Ctrl-C may come before the command has begun."""
    code = (
        "import sys\n"
        "from hardmax.__main__ import main\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'hardmax.cli.build':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "main()\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert (result.returncode, result.stdout, result.stderr) == (130, "", "interrupted\n")


@pytest.mark.parametrize(
    ("problem", "code"), [(KeyboardInterrupt, 130), (MemoryError, 3), (RecursionError, 70)]
)
def test_interruptions_while_the_model_is_written(run, tmp_path, monkeypatch, problem, code):
    """The old file stays, whatever happens between the first byte and the last."""
    from hardmax.formats import npz

    original = npz.np.lib.format.write_array
    written = []

    def broken(file, array, **options):
        original(file, array, **options)
        written.append(array)
        if len(written) == 5:
            raise problem

    (tmp_path / "m.npz").write_text("old")
    monkeypatch.setattr(npz.np.lib.format, "write_array", broken)
    assert run("build", FIGURE2, "-o", tmp_path / "m.npz", "--force").code == code
    assert len(written) == 5
    assert [path.name for path in tmp_path.iterdir()] == ["m.npz"]
    assert (tmp_path / "m.npz").read_text() == "old"


def test_a_model_that_is_not_proved_gets_no_name(run, tmp_path, monkeypatch):
    """`build` verifies the file before it is renamed; a builder's bug is an internal error."""
    from hardmax.construct.paper import strategy

    def wrong(data, merged, *rest):
        return hm.Transformer([hm.RankOneBlock.of(data.dimension)], stages=["classify"])

    monkeypatch.setattr(strategy, "build_paper", wrong)
    result = run("build", FIGURE2, "-o", tmp_path / "m.npz")
    assert (result.code, result.out) == (70, "")
    assert "refuted" in result.err
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------------------- processes


def test_python_m_without_asserts(tmp_path):
    """Nothing depends on assert: the same files and exit codes under -O."""
    data = save(tmp_path / "d.json", [{"tokens": [[k, 1]], "label": str(k)} for k in range(3)])
    for name, flags in (("a.npz", []), ("m.npz", ["-O"])):
        result = command("build", data, "-o", tmp_path / name, flags=flags)
        assert (result.returncode, result.stderr) == (0, "")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "m.npz").read_bytes()
    result = command("verify", tmp_path / "m.npz", data, flags=["-O"])
    assert (result.returncode, result.stderr) == (0, "")
    bad = save(tmp_path / "bad.json", CONTRADICTION)
    assert command("build", bad, "-o", tmp_path / "x.npz", flags=["-O"]).returncode == 1
    assert command("build", tmp_path, "-o", tmp_path / "x.npz", flags=["-O"]).returncode == 2
    wrong = save(tmp_path / "wrong.json", [{"tokens": [[9, 9]], "label": "blue"}],
                 labels={"blue": {"kind": "point", "point": [8, 8]}})  # fmt: skip
    assert command("verify", tmp_path / "m.npz", wrong, flags=["-O"]).returncode == 1


def test_terminals_that_know_only_latin_letters(tmp_path):
    data = save(tmp_path / "d.json", [{"tokens": [[1, 2]], "label": "ä→", "id": "ß"}])
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    model = tmp_path / "m.npz"
    for arguments in (["build", data, "-o", model], ["run", model, data],
                      ["verify", model, data, "--json"], ["build", "--help"]):  # fmt: skip
        result = command(*arguments, env=environment, encoding="latin-1")
        assert (result.returncode, result.stderr) == (0, "")
        if arguments[0] == "run":
            assert result.stdout == "sequence 1 (id 'ß'): ä\\u2192  (0, 0)\n"


def test_a_reader_that_goes_away_is_no_traceback(tmp_path):
    command("build", EXAMPLES / "text.json", "-o", tmp_path / "m.npz")
    process = subprocess.Popen(
        [sys.executable, "-m", "hardmax", "run", tmp_path / "m.npz", EXAMPLES / "text.json",
         "--trace"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    process.wait(60)


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_control_c(tmp_path):
    """Interrupted in the middle of the work: 130, one word, no file."""
    rng = np.random.default_rng(0)  # work for many seconds, quickly made
    np.savez(
        tmp_path / "d.npz",
        tokens=rng.normal(size=(100_000, 8)),
        offsets=np.arange(100_001),
        label=rng.integers(0, 2, 100_000).astype(str),
    )
    (tmp_path / "out").mkdir()
    process = subprocess.Popen(
        [
            sys.executable, "-m", "hardmax", "build", tmp_path / "d.npz",
            "--strategy", "cover", "--no-learn", "-o", tmp_path / "out/m",
        ],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err.strip()) == (130, "", "interrupted")
    assert not list((tmp_path / "out").iterdir())


def test_main_takes_the_arguments_of_the_process(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["hardmax", "--version"])
    with pytest.raises(SystemExit) as stop:
        cli_main()
    assert stop.value.code == 0
    assert hm.__version__ in capsys.readouterr().out
