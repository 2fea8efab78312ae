"""First contact on the command line: label sets, files, messages, narrow terminals, progress."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hardmax as hm
from hardmax.cli.output.table import lines
from hardmax.stages import listening

EXAMPLES = Path(__file__).parent.parent / "examples"
FIGURE2 = EXAMPLES / "figure2.json"
ROWS = ["s,b,0,1", "t,a,1,1", "u,c,1,2", "v,c,4,2"]


def table(path, rows):
    path.write_text("sequence,label,x1,x2\n" + "".join(f"{row}\n" for row in rows))
    return path


@pytest.fixture
def built(run, tmp_path):
    """A model of three labels, and its CSV file."""
    data = table(tmp_path / "all.csv", ROWS)
    assert run("build", data, "-o", tmp_path / "m.npz").code == 0
    return tmp_path / "m.npz"


def test_an_empty_name_is_no_file(run, built, tmp_path):
    data = table(tmp_path / "d.csv", ROWS)
    for arguments in (("build", "", "-o", tmp_path / "n.npz"), ("build", data, "-o", ""),
                      ("verify", built, ""), ("run", built, data, "-o", "")):  # fmt: skip
        result = run(*arguments)
        assert (result.code, result.out) == (2, "")
        assert result.err == "hardmax: the name of a file is empty\n"


def test_a_trace_past_the_memory_is_refused(run, built, tmp_path):
    """docs/formats.md, Limits: 2^24 numbers; 2^22 tokens of 2 numbers, before and after blocks."""
    tokens = np.ones((1 << 22, 2))
    np.savez(tmp_path / "d.npz", tokens=tokens, offsets=[0, len(tokens)], label=["a"])
    result = run("run", built, tmp_path / "d.npz", "--trace", "-o", tmp_path / "out.json")
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert "--trace" in result.err
    assert not (tmp_path / "out.json").exists()


def test_rows_that_disagree_on_the_label(run, tmp_path):
    """An empty label is none, as docs/formats.md says; so the message does."""
    data = table(tmp_path / "d.csv", ["s,a,1,2", "s,,3,4"])
    result = run("build", data, "-o", tmp_path / "n.npz")
    assert result.code == 2
    assert "line 3: sequence 's' has the labels 'a' and none" in result.err


def test_tokens_too_close_for_float64_name_the_way_out(run, tmp_path):
    path = tmp_path / "d.json"
    for exponent, code in ((-400, 3), (-300, 0)):  # the second is the first, multiplied by 10^100
        tokens = [f"1e{exponent}", f"2e{exponent}"]
        one, two = (f'{{"tokens": [[{x}, 2]], "label": {x[0]}}}' for x in tokens)
        path.write_text(f'{{"sequences": [{one}, {two}]}}')
        result = run("build", path, "-o", tmp_path / "n.npz")
        assert result.code == code
        assert ("multiply the coordinates" in result.err) == (code == 3)


def test_broken_csv_names_the_line(run, tmp_path):
    data = table(tmp_path / "d.csv", ["s,a,1,2", "t,b,3,4", "u," + "c" * 200_000 + ",5,6"])
    assert "at line 4: " in run("build", data, "-o", tmp_path / "n.npz").err


# ------------------------------------------------------------------------------ label sets


def test_shuffled_rows_are_proved(run, built, tmp_path):
    """Default sets are numbered by sorted label, so the order of the rows does not matter."""
    for rows in (ROWS[::-1], ROWS[2:] + ROWS[:2]):
        data = table(tmp_path / "shuffled.csv", rows)
        result = run("verify", built, data)
        assert (result.code, result.err) == (0, "")
        checked = subprocess.run(
            [sys.executable, "-m", "hardmax.checker", built, data], capture_output=True, check=False
        )
        assert checked.returncode == 0


def test_a_part_of_the_data_with_the_label_sets_of_the_model(run, built, tmp_path):
    part = table(tmp_path / "part.csv", ROWS[1:])
    result = run("verify", built, part)
    assert result.code == 1  # the default sets of a and c alone are others
    assert result.err.count("\n") == 1
    assert f"{built} remembers others (label 'c'" in result.err
    assert f"--labels-of {built}" in result.err
    result = run("verify", built, part, "--labels-of", built)
    assert (result.code, result.err) == (0, "")
    assert "label sets" in result.out
    assert json.loads(run("verify", built, part, "--labels-of", built, "--json").out)["M"] == 3
    (tmp_path / "plain").mkdir()
    alike = table(tmp_path / "plain" / "alike.csv", ROWS[:2])  # a and b have the same sets
    assert run("verify", built, alike).err == ""


def test_a_report_says_so_too(run, built, tmp_path):
    part = table(tmp_path / "part.csv", ROWS[1:])
    result = run("report", built, part, "-o", tmp_path / "r.html")
    assert result.code == 0
    assert "--labels-of" in result.err


def test_build_and_run_take_the_label_sets_of_a_model(run, built, tmp_path):
    part = table(tmp_path / "part.csv", ROWS[1:])
    assert run("build", part, "-o", tmp_path / "n.npz", "--labels-of", built).code == 0
    first, second = (hm.Transformer.load(x).meta["labels"] for x in (built, tmp_path / "n.npz"))
    assert first == second
    own = {"a": {"kind": "point", "point": [0, 0]}, "c": {"kind": "point", "point": [9, 9]}}
    rows = [{"tokens": [[1, 2]], "label": "c"}]
    (tmp_path / "own.json").write_text(json.dumps({"sequences": rows, "labels": own}))
    assert ": a  " in run("run", built, tmp_path / "own.json").out  # (2, 0) is nearer to a
    assert ": c  " in run("run", built, tmp_path / "own.json", "--labels-of", built).out
    result = run("build", table(tmp_path / "x.csv", ["s,new,0,0"]), "-o", tmp_path / "x.npz",
                 "--labels-of", built)  # fmt: skip
    assert (result.code, result.out) == (2, "")
    assert "x.csv: sequence 1 (id 's') has the label 'new'" in result.err


def test_a_model_without_label_sets(run, built, tmp_path):
    hm.Transformer([hm.RankOneBlock.of(2)]).save(tmp_path / "bare.npz")
    result = run("verify", built, tmp_path / "all.csv", "--labels-of", tmp_path / "bare.npz")
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert "remembers no label sets" in result.err
    assert run("verify", tmp_path / "bare.npz", tmp_path / "all.csv").code == 1


def test_label_sets_beside_csv_files(run, built, tmp_path):
    sets = {name: {"kind": "point", "point": [k, 0]} for k, name in enumerate("abc")}
    (tmp_path / "labels.json").write_text(json.dumps(sets))
    part = table(tmp_path / "part.csv", ROWS[1:])
    for document in (sets, {"labels": sets}):
        (tmp_path / "labels.json").write_text(json.dumps(document))
        result = run("verify", built, part)
        assert result.code == 0
        assert result.err == f"note: {part} has the label sets of {tmp_path / 'labels.json'}\n"
    assert len(hm.load(part).sets) == 3
    (tmp_path / "data.json").write_text('{"sequences": [{"tokens": [[1, 1]], "label": "c"}]}')
    assert len(hm.load(tmp_path / "data.json").sets) == 1  # JSON says its own
    for broken in ("[]", "{", '{"a": {"kind": "point", "point": [1]}}', '{"sequences": []}'):
        (tmp_path / "labels.json").write_text(broken)
        result = run("verify", built, part)
        assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
        assert "labels.json" in result.err


def test_positional_label_sets(run, tmp_path):
    data = table(tmp_path / "all.csv", ["s,b,0,1", "s,b,1,1", "t,a,1,1", "t,a,0,1", "u,c,1,2"])
    model = tmp_path / "m.npz"
    assert run("build", data, "-o", model, "--positional").code == 0
    part = table(tmp_path / "part.csv", ["t,a,1,1", "t,a,0,1", "u,c,1,2"])
    assert run("verify", model, part).code == 1
    assert run("verify", model, part, "--labels-of", model).code == 0


@pytest.mark.parametrize("beside", [True, False])
def test_no_certificate_where_the_label_sets_are_elsewhere(run, built, tmp_path, beside):
    """A certificate speaks of two files; the checker would read other sets in the data file."""
    part = table(tmp_path / "part.csv", ROWS[1:])
    options = ["--certificate", tmp_path / "c.json"]
    if beside:
        sets = {name: {"kind": "point", "point": [k, 0]} for k, name in enumerate("abc")}
        (tmp_path / "labels.json").write_text(json.dumps(sets))
    else:
        options += ["--labels-of", built]
    for command in (["verify", built, part], ["build", part, "-o", tmp_path / "n.npz"]):
        result = run(*command, *options)
        assert (result.code, result.out) == (2, "")
        assert ".save('data.json')" in result.err
        assert not (tmp_path / "c.json").exists()
        assert not (tmp_path / "n.npz").exists()


# --------------------------------------------------------------------- tests before writing


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("sequence,label,x1\ns,a,0\n", "test.csv: the data set has dimension 1"),
        ("sequence,label,x1,x2\ns,a,0,1\nt,,0,2\n", "test.csv: sequence 2 (id 't') has no label"),
        ("nonsense", "test.csv: not a data set"),
    ],
)
def test_test_data_are_checked_before_anything_is_written(run, tmp_path, content, message):
    data = table(tmp_path / "all.csv", ROWS)
    (tmp_path / "test.csv").write_text(content)
    result = run("build", data, "-o", tmp_path / "m.npz", "--test", tmp_path / "test.csv")
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert message in result.err
    assert not (tmp_path / "m.npz").exists()


# ------------------------------------------------------------------------------------ info


@pytest.mark.parametrize(
    ("strategy", "there", "not_there"),
    [("paper", ["8N+4", "54Nd"], ["Theorem B"]), ("peel", ["2N−1"], ["8N+4", "54Nd"])],
)
def test_info_shows_the_bounds_that_apply(run, tmp_path, strategy, there, not_there):
    assert run("build", FIGURE2, "-o", tmp_path / "m.npz", "--strategy", strategy).code == 0
    out = run("info", tmp_path / "m.npz").out
    assert all(words in out for words in there)
    assert not any(words in out for words in [*not_there, "n/a", "Nd−1"])


def test_one_is_singular(run, tmp_path):
    data = table(tmp_path / "one.csv", ["s,a,0,1"])
    out = run("build", data, "-o", tmp_path / "m.npz", "--test", data).out
    assert "1 distinct sequence, 1 token, dimension 2, 1 label\n" in out
    assert "1 of 1 sequence right" in out
    assert "1 results" not in run("run", tmp_path / "m.npz", data, "-o", tmp_path / "o.json").out
    block = hm.RankOneBlock.of(2, alpha="1/3")
    hm.Transformer([block], meta={"N": 1, "M": 1}).save(tmp_path / "t.npz")
    out = run("info", tmp_path / "t.npz").out
    assert "1 parameter past" in out
    assert "N = 1 distinct sequence, 1 label\n" in out
    out = run("verify", tmp_path / "t.npz", data).out
    assert "1 parameter needs more than float64" in out


# --------------------------------------------------------------------- files that are there


@pytest.mark.parametrize("content", [b"my thesis", b"PK\x03\x04 no zip", b"{}", b"\x1f\x8b"])
def test_a_file_that_is_not_ours_stays(run, built, tmp_path, content):
    data, mine = tmp_path / "all.csv", tmp_path / "precious"
    for suffix, command in {
        "": ["build", data, "-o"],
        ".c": ["verify", built, data, "--certificate"],
        ".o": ["run", built, data, "-o"],
        ".html": ["report", built, data, "-o"],
        ".smt2": ["export", built, data, "--to", "smt2", "-o"],
        ".v": ["export", built, data, "--to", "rocq", "-o"],
    }.items():
        target = mine.with_suffix(suffix)
        target.write_bytes(content)
        result = run(*command, target)
        if command[0] != "export" or result.code == 2:
            assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
            assert f"{target}: this file exists and was not written by hardmax" in result.err
            assert "--force" in result.err
        assert target.read_bytes() == content
    assert run("build", data, "-o", mine, "--force").code == 0
    assert mine.read_bytes()[:4] == b"PK\x03\x04"


def test_a_data_set_is_no_model_to_overwrite(run, built, tmp_path):
    np.savez(tmp_path / "data.npz", tokens=np.ones((1, 2)), offsets=[0, 1], label=["a"])
    before = (tmp_path / "data.npz").read_bytes()
    assert run("build", tmp_path / "all.csv", "-o", tmp_path / "data.npz").code == 2
    assert (tmp_path / "data.npz").read_bytes() == before


def test_files_of_ours_are_overwritten(run, built, tmp_path):
    data = tmp_path / "all.csv"
    (tmp_path / "empty").touch()
    assert run("build", data, "-o", tmp_path / "empty").code == 0
    for _ in range(2):
        assert run("build", data, "-o", built, "--certificate", tmp_path / "c.json").code == 0
        assert run("verify", built, data, "--certificate", tmp_path / "c.json").code == 0
        assert run("run", built, data, "-o", tmp_path / "o.json").code == 0
        assert run("report", built, data, "-o", tmp_path / "r.html").code == 0


# ------------------------------------------------------------------- standard input, output


def piped(*arguments, content=b""):
    return subprocess.run(
        [sys.executable, "-m", "hardmax", *map(str, arguments)], input=content,
        capture_output=True, check=False,
    )  # fmt: skip


def test_pipes(built, tmp_path):
    data = (tmp_path / "all.csv").read_bytes()
    model = piped("build", "-", "-o", "-", content=data)
    assert model.returncode == 0
    assert b"proved" in model.stderr
    assert model.stdout == built.read_bytes()
    verdict = piped("verify", "-", tmp_path / "all.csv", content=model.stdout)
    assert (verdict.returncode, verdict.stderr) == (0, b"")
    results = piped("run", built, "-", "-o", "-", content=data)
    assert (results.returncode, results.stderr) == (0, b"")
    assert [x["label"] for x in json.loads(results.stdout)["results"]] == ["b", "a", "c", "c"]
    certificate = piped("verify", built, tmp_path / "all.csv", "--certificate", "-", "--json")
    assert json.loads(certificate.stdout)["format"] == "hardmax-certificate/1"
    assert json.loads(certificate.stderr)["verdict"] == "proved"
    for arguments in (["verify", "-", "-"], ["build", "-", "-o", "-", "--certificate", "-"],
                      ["verify", "-", tmp_path / "all.csv", "--labels-of", "-"],
                      ["figures", "-o", "-"]):  # fmt: skip
        result = piped(*arguments, content=data)
        assert (result.returncode, result.stdout, result.stderr.count(b"\n")) == (2, b"", 1)
    assert not (Path.cwd() / "-").exists()
    broken = piped("build", "-", "-o", tmp_path / "x.npz", content=b"nonsense")
    assert broken.stderr.startswith(b"hardmax: standard input: not a data set")


# -------------------------------------------------------------------------- the way out


def arrays(**members):
    stream = io.BytesIO()
    np.savez(stream, **members)
    return stream.getvalue()


def test_swapped_arguments(run, built, tmp_path):
    data = tmp_path / "all.csv"
    hm.load(data).save(tmp_path / "d.npz")
    for swapped in (data, tmp_path / "d.npz", FIGURE2, EXAMPLES / "vowels.json.gz"):
        result = run("verify", swapped, built)
        assert (result.code, result.out) == (2, "")
        assert result.err == (
            f"hardmax: {swapped}: this is a data set, not a model; the order is MODEL DATA\n"
        )
    result = run("build", built, "-o", tmp_path / "x.npz")
    assert "this is a model, not a data set" in result.err


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (arrays(X=np.ones((2, 2, 2)), y=np.arange(2)), ["holds X, y", "hardmax.Dataset(f['X']"]),
        (arrays(features=np.ones((2, 2))), ["holds features", "'tokens'", "'offsets'"]),
        (b"[[1, 2]]", ['{"sequences": [{"tokens":']),
        (b'{"sequences": [{"tokens": [[1, NaN]], "label": "a"}]}',
         ["sequence 1, token 1, coordinate 2", "NaN is not a number", "leave"]),
        (arrays(tokens=np.array([[np.nan]]), offsets=[0, 1], label=["a"]),
         ["sequence 1, token 1 holds NaN", "leave"]),
        (b'{"sequences": [{"tokens": [[1]]}]}', ["sequence 1 has no label"]),
        (b'{"format": "hardmax-certificate/1"}', ["this is a certificate"]),
    ],
)  # fmt: skip
def test_messages_name_the_file_and_the_way_out(run, tmp_path, content, words):
    (tmp_path / "d").write_bytes(content)
    result = run("build", tmp_path / "d", "-o", tmp_path / "m.npz")
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    for word in [f"{tmp_path / 'd'}: ", *words]:
        assert word in result.err


def test_the_dimension_may_be_left_out(run, tmp_path):
    rows = [{"tokens": [[0, 1], [2, 3]], "label": 10}, {"tokens": [[1, 1]], "label": 9}]
    (tmp_path / "d.json").write_text(json.dumps({"sequences": rows}))
    data = hm.load(tmp_path / "d.json")
    assert (data.dimension, data.labels, list(data.sets)) == (2, [10, 9], ["9", "10"])
    assert run("build", tmp_path / "d.json", "-o", tmp_path / "m.npz").code == 0
    rows[0]["tokens"][1].append(4)
    (tmp_path / "d.json").write_text(json.dumps({"sequences": rows}))
    result = run("build", tmp_path / "d.json", "-o", tmp_path / "m.npz")
    assert "sequence 1, token 2 has 3 coordinates, expected 2" in result.err


# ------------------------------------------------------------------------ narrow terminals


def on_a_terminal(width, *arguments):
    """What a command writes to a terminal of some width, and its exit code."""
    pty = pytest.importorskip("pty")
    import fcntl
    import struct
    import termios

    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")}
    process = subprocess.Popen(
        [sys.executable, "-m", "hardmax", *map(str, arguments)], stdout=child,
        stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, env=environment,
    )  # fmt: skip
    os.close(child)
    parts = []
    try:
        while part := os.read(parent, 1 << 16):
            parts.append(part)
    except OSError:  # the end of a terminal
        pass
    os.close(parent)
    return b"".join(parts).decode().replace("\r\n", "\n"), process.wait(60)


@pytest.mark.parametrize("width", [pytest.param(40, marks=pytest.mark.slow), 80])
def test_words_stay_whole_on_terminals(built, tmp_path, width):
    wide = 10_000
    for arguments in (["info", built], ["verify", built, tmp_path / "all.csv", "--bounds"]):
        narrow, code = on_a_terminal(width, *arguments)
        assert code == 0
        assert max(map(len, narrow.splitlines())) <= width
        assert not any(line.endswith(" ") for line in narrow.splitlines())
        known = {*on_a_terminal(wide, *arguments)[0].split()}
        for word in narrow.split():  # longer ones and times aside
            if not any(x in word for x in (str(tmp_path)[:12], "─", "0.")) and len(word) < 30:
                assert word in known or any(word in x for x in known if len(x) > width - 4), word


def test_help_fits_40_columns():
    for name in ("build", "verify", "run", "info"):
        shown, code = on_a_terminal(40, name, "--help")
        assert code == 0
        before = shown.partition("Examples:")[0].partition("Example:")[0]
        assert max(map(len, before.splitlines())) <= 40


def test_nothing_ends_in_blanks_when_piped(run, built, tmp_path):
    for arguments in (["info", built], ["verify", built, tmp_path / "all.csv", "--bounds"],
                      ["build", tmp_path / "all.csv", "-o", tmp_path / "n.npz"]):  # fmt: skip
        out = run(*arguments).out
        assert "blocks" in out
        assert not any(line != line.rstrip() for line in out.splitlines())


WORDS = st.text("abcdefgh", min_size=1, max_size=9)
CELLS = st.lists(WORDS, min_size=1, max_size=9).map(" ".join)


ROW_LISTS = st.integers(2, 4).flatmap(
    lambda n: st.lists(st.tuples(*[WORDS] * (n - 1), CELLS), min_size=1, max_size=5)
)


@given(ROW_LISTS, st.integers(40, 120))
def test_tables_keep_words_and_their_order(rows, width):
    shown = lines("title", rows, (), width)
    assert max(map(len, shown)) <= width
    assert " ".join(shown).split() == [
        "title",
        *(word for row in rows for x in row for word in x.split()),
    ]
    assert not any(line.endswith(" ") for line in shown)


# -------------------------------------------------------------------------------- progress


@pytest.mark.parametrize(
    ("strategy", "stages"),
    [("paper", {"merge", "match"}), ("peel", {"merge", "peel"}), ("cover", {"merge", "tents"})],
)
def test_a_construction_tells_its_stages_and_the_points_left(strategy, stages):
    rng = np.random.default_rng(3)
    data = hm.Dataset(rng.normal(size=(300, 2, 8)), rng.integers(0, 2, 300))
    told = []
    with listening(lambda stage, left: told.append((stage, left))):
        hm.build(data, strategy, learn=False)
    assert stages <= {stage for stage, _ in told}
    for stage in stages - {"merge"}:
        left = [count for name, count in told if name == stage and count is not None]
        assert left[0] > 0
        assert min(left) < left[0] or len(left) == 1
    told.clear()
    hm.build(data, strategy, learn=False)
    assert told == []  # nobody listens any more


@pytest.mark.parametrize("strategy", ["paper", "peel", "cover"])
def test_a_verdict_tells_what_is_done_before_it_is_done(strategy):
    rng = np.random.default_rng(3)
    data = hm.Dataset(rng.normal(size=(200, 2, 4)), rng.integers(0, 2, 200))
    model, done = hm.build(data, strategy), []
    assert hm.certify(model, data, done.append)
    assert 0 < done[0] < len(model)
    assert done[-1] == len(model)


def test_the_bars_show_what_is_done(tmp_path):
    pytest.importorskip("pty")
    script = (
        "import sys, time\n"
        "sys.stderr.isatty = lambda: True\n"
        "from hardmax.cli.common import progress, stages\n"
        "from hardmax.stages import tell\n"
        "with stages('building'):\n"
        "    tell('match', 12); time.sleep(0.3); tell('peel', 1); time.sleep(0.3)\n"
        "with progress('verifying', 7) as step:\n"
        "    time.sleep(0.2); step(3); time.sleep(0.3)\n"
    )
    shown = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True,
        env={**os.environ, "FORCE_COLOR": "1", "TERM": "xterm"},
    ).stderr  # fmt: skip
    for words in ("building: match, 12 points left", "building: peel, 1 point left", "3 of 7"):
        assert words in shown
    assert "0 of 7" not in shown
    assert "0/" not in shown
