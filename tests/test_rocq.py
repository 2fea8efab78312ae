"""Exported Rocq files: the proof assistant accepts true models and no wrong one."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from pathlib import Path

import pytest

import hardmax as hm
from hardmax.formats.rocq import rocq_script
from hardmax.labels import Ball, Box, Halfspace, Point, Polyhedron

ROCQ = Path(__file__).parents[1] / "proofs" / "rocq"

SETS = {
    "a point (* not a comment": Point((0, 0)),
    "ball": Ball((5, 5), 1),
    "box": Box((-5, -5), (-4, -4)),
    "half-space": Halfspace((1, 0), 10),
    "polyhedron": Polyhedron([[0, 1], [1, 0]], [-20, "1/2"]),
}


def _data() -> hm.Dataset:
    return hm.Dataset([[(0, 0), (i, "1/3")] for i in range(1, 6)], list(SETS), SETS)


def compile_what_exports_need() -> None:
    """Compile Certificate.v; one process does, others wait for it."""
    with (ROCQ / "Makefile").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(["make", "-s", "-C", ROCQ, "Certificate.vo"], check=True)


def _coqc(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "exported.v").write_text(text)
    compile_what_exports_need()
    command = ["coqc", "-q", "-R", str(ROCQ), "Hardmax", "exported.v"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_every_block_and_sequence_is_written():
    data = _data()
    model = hm.build(data)
    text = rocq_script(model, data)
    assert text.count("QBlock [::") == len(model)
    assert text.count("Definition label_") == len(data)
    assert text.count("  Hyperplane ") == len(data) * (len(data) - 1) // 2  # no two are points
    assert "(1 # 3)" in text
    for kind in ("QPoint", "QBall", "QBox", "QHalfspace", "QPolyhedron"):
        assert text.count(f"qset := {kind}") == 1


def test_names_of_labels_cannot_end_a_comment():
    data = hm.Dataset([[(0,)], [(1,)]], ["*) Admitted. (*", "b"])
    assert "Admitted. (" not in rocq_script(hm.build(data), data)


def test_general_layers_are_refused():
    data = hm.Dataset([[(0,)]], ["a"])
    general = hm.Transformer([block.general() for block in hm.build(data).blocks])
    with pytest.raises(hm.InputError, match="rank-1"):
        rocq_script(general, data)


def test_balls_with_positions_are_refused():
    data = hm.Dataset([[(0,)]], ["a"], {"a": Ball((0,), 1)}, positional=True)
    with pytest.raises(hm.InputError, match="positions"):
        rocq_script(hm.build(data), data)


def test_chosen_sequences_only():
    data = _data()
    text = rocq_script(hm.build(data), data, [0, 3])
    assert text.split("Definition data")[1].count("  ([:: [::") == 2
    assert text.count("Definition label_") == 5  # the label sets of the file, as in DISJOINT
    assert "measures R 2 data = 2%nat" in text


def test_the_counts_are_those_of_the_certificate():
    data = hm.Dataset([[(0, 0)], [(0, 0), (0, 0)], [(1, 2)]], ["a", "a", "b"])
    model = hm.build(data)
    found = hm.certify(model, data)
    text = rocq_script(model, data)
    assert f"measures R 2 data = {found.N}%nat" in text
    assert f"size model = {found.blocks}%nat" in text
    assert f"parameters R 2 model = {found.parameters}%nat" in text


def test_bounds_are_claimed_only_where_they_hold():
    data = hm.Dataset([[(0, 0)], [(1, 2)]], ["a", "b"])
    model = hm.build(data)
    assert "Theorem bounds" in rocq_script(model, data)
    idle = hm.RankOneBlock.of(2)
    long = hm.Transformer([*model.blocks, *[idle] * 20])
    assert "Theorem bounds" not in rocq_script(long, data)  # more than 8N + 4 = 20 blocks
    line = hm.Dataset([[(0,)], [(1,)]], ["a", "b"])
    assert "Theorem bounds" not in rocq_script(hm.build(line), line)  # Theorem 2.4 asks for d ≥ 2


def test_several_heads_are_refused(tmp_path):
    from hardmax.cli.main import exit_code

    data = hm.Dataset([[(0, 1)]], ["a"])
    two = hm.Transformer([hm.MultiHeadBlock.of(2, heads=[(1, (0, 0)), (1, (1, 0))])])
    with pytest.raises(hm.InputError, match="head"):
        rocq_script(two, data)
    model, points, script = tmp_path / "m.npz", tmp_path / "data.json", tmp_path / "proved.v"
    two.save(model)
    data.save(points)
    assert exit_code(["export", str(model), str(points), "--to", "rocq", "-o", str(script)]) == 2
    assert not script.exists()


def test_the_command(tmp_path, capsys):
    from hardmax.cli.main import exit_code

    model, script = tmp_path / "model.npz", tmp_path / "proved.v"
    figure2 = str(ROCQ.parents[1] / "examples" / "figure2.json")
    assert exit_code(["build", figure2, "-o", str(model)]) == 0
    assert exit_code(["export", str(model), figure2, "--to", "rocq", "-o", str(script)]) == 0
    assert "Theorem proved" in script.read_text()
    refused = ["export", str(model), figure2, "--to", "rocq", "--radius", "1", "-o", str(script)]
    assert exit_code(refused) == 2
    assert "--radius" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed")
def test_rocq_proves_a_true_model_and_refuses_a_wrong_one(tmp_path):
    data = _data()
    model = hm.build(data)
    good = _coqc(rocq_script(model, data), tmp_path)
    assert good.returncode == 0, good.stderr
    assert good.stdout.splitlines() == ["Closed under the global context"] * 3
    blocks = list(model.blocks)
    wrong = hm.Transformer(blocks[:-1])
    assert not hm.certify(wrong, data).proved
    bad = _coqc(rocq_script(wrong, data), tmp_path)
    assert bad.returncode != 0
    assert "check_proved 2" in bad.stderr  # what Qed could not accept
    nothing = _coqc(rocq_script(model, data, []), tmp_path)  # J >= 1 in docs/certificate.md
    assert nothing.returncode != 0
    assert "check_proved 2" in nothing.stderr


# what is changed in the exported text, and which computation must then refuse it
MUTANTS = {
    "sets that meet": ("QBall [:: (5 # 1); (5 # 1)] (1 # 1)", "QBall [:: (5 # 1); (5 # 1)] (8 # 1)",
                       "check_proved"),
    "a hyperplane off its place": ("(10 # 1)\n    [:: ] [:: (1 # 1)]",
                                   "(11 # 1)\n    [:: ] [:: (1 # 1)]", "check_proved"),
    "a pair of sets without hyperplane": ("  Hyperplane 1 3", "  Hyperplane 1 4", "check_proved"),
    "a sequence with the label of another": ("(1 # 3)]], 4%nat)", "(1 # 3)]], 3%nat)",
                                             "check_proved"),
    "a label that is not there": ("(1 # 3)]], 4%nat)", "(1 # 3)]], 5%nat)", "check_proved"),
    "one sequence too many": ("measures R 2 data = 5%nat", "measures R 2 data = 6%nat",
                              "counts_sound"),
    "a number of blocks": ("model data 5 8 ", "model data 5 7 ", "check_counts"),
    "a number of parameters": ("model data 5 8 43", "model data 5 8 42", "check_counts"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed")
@pytest.mark.parametrize("name", MUTANTS)
def test_rocq_refuses_false_statements(tmp_path, name):
    data = _data()
    before, after, told = MUTANTS[name]
    text = rocq_script(hm.build(data), data)
    assert text.count(before) == 1
    found = _coqc(text.replace(before, after), tmp_path)
    assert found.returncode != 0
    assert told in found.stderr


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed")
@pytest.mark.parametrize("kind", ["argmax", "positions", "equal measures"])
def test_rocq_proves_other_readings(tmp_path, kind):
    sequences = [[(0, 1), (2, 1)], [(1, 0)], [(3, 3)], [(3, 3), (3, 3)]]
    if kind == "argmax":
        data = hm.Dataset(sequences, ["a", "b", "c", "c"], label_sets="argmax")
    elif kind == "positions":
        sets = {"a": Box((0, 0), (1, 1)), "b": Halfspace((1, 1), 2), "c": Point((-1, -1))}
        data = hm.Dataset(sequences, ["a", "b", "c", "b"], sets, positional=True)
    else:
        data = hm.Dataset(sequences, ["a", "b", "c", "c"])
    found = _coqc(rocq_script(hm.build(data), data), tmp_path)
    assert found.returncode == 0, found.stderr
