"""Exported Rocq files: the proof assistant accepts true models and no wrong one."""

from __future__ import annotations

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


def _coqc(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "exported.v").write_text(text)
    subprocess.run(["make", "-s", "-C", ROCQ], check=True, capture_output=True)
    command = ["coqc", "-q", "-R", str(ROCQ), "Hardmax", "exported.v"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_every_block_and_sequence_is_written():
    data = _data()
    model = hm.build(data)
    text = rocq_script(model, data)
    assert text.count("QBlock [::") == len(model)
    assert text.count("label_") == 2 * len(data)
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
    assert text.count("qset := ") == 2
    assert "label_2" not in text


def test_the_command(tmp_path, capsys):
    from hardmax.cli.main import _code

    model, script = tmp_path / "model.npz", tmp_path / "proved.v"
    figure2 = str(ROCQ.parents[1] / "examples" / "figure2.json")
    assert _code(["build", figure2, "-o", str(model)]) == 0
    assert _code(["export", str(model), figure2, "--to", "rocq", "-o", str(script)]) == 0
    assert "Theorem proved" in script.read_text()
    refused = ["export", str(model), figure2, "--to", "rocq", "--radius", "1", "-o", str(script)]
    assert _code(refused) == 2
    assert "--radius" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed")
def test_rocq_proves_a_true_model_and_refuses_a_wrong_one(tmp_path):
    data = _data()
    model = hm.build(data)
    good = _coqc(rocq_script(model, data), tmp_path)
    assert good.returncode == 0, good.stderr
    assert "Closed under the global context" in good.stdout
    blocks = list(model.blocks)
    wrong = hm.Transformer(blocks[:-1])
    assert not hm.certify(wrong, data).proved
    bad = _coqc(rocq_script(wrong, data), tmp_path)
    assert bad.returncode != 0
    assert "check 2 model data = true" in bad.stderr  # what Qed could not accept
    nothing = _coqc(rocq_script(model, data, []), tmp_path)  # J >= 1 in docs/certificate.md
    assert nothing.returncode != 0
    assert "check 2 model data = true" in nothing.stderr
