"""Several heads, (4.1): Σ_h V^h Σ_l Λ_il(Z, A^h) z_l; theory, Theorems 9b and 9c."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hardmax as hm
from hardmax import checker
from hardmax.certify.definition import outputs_by_definition
from hardmax.certify.floating import certify_float
from hardmax.certify.predict import predict
from hardmax.certify.radius import radii
from hardmax.certify.softmax import certify_softmax
from hardmax.cli.main import exit_code
from hardmax.formats.rocq import rocq_script
from hardmax.formats.smt2 import smt2_script
from hardmax.labels import Point
from hardmax.testing import FAMILIES, adversarial, adversarial_datasets, rank_one_models, sequences
from tests import reference
from tests.perturbation import no_prediction_changes_within_the_radius

F = Fraction
EXAMPLES = Path(__file__).parent.parent / "examples"
ZERO, ONE = (0,), (1,)
# means 0 or 1, largest tokens 3 or 4, the least −10: no single head tells them apart (theory)
FOUR = hm.Dataset(
    [[(x,) for x in row] for row in
     ((-10, 3, 3, 3, 1), (-10, 3, 3, 3, 3, 3, 2), (-10, 4, 4, 2), (-10, 4, 4, 4, 3))],
    list("abcd"),
)  # fmt: skip


def headed(dimension, most=3, blocks=3):
    return rank_one_models(dimension, blocks, max_heads=most)


def masked(model):
    return hm.Transformer(model.blocks, dimension=model.dimension, masked=True)


# ------------------------------------------------------------------------------ evaluation


@given(headed(2), st.lists(sequences(2), min_size=1, max_size=4), st.booleans())
def test_every_evaluator_follows_the_definition(model, given_sequences, mask):
    model = masked(model) if mask else model
    expected = [reference.output(model.blocks, Z, masked=mask) for Z in given_sequences]
    assert model.outputs(given_sequences) == expected
    assert list(outputs_by_definition(model, hm.Dataset(given_sequences))) == expected
    general = [block.general() for block in model]
    assert hm.Transformer(general, masked=mask).outputs(given_sequences) == expected
    states = reference.trace(model.blocks, given_sequences[0], masked=mask)
    assert model.trace(given_sequences[0]) == reference.tuples(states)


def test_heads_add_up():
    block = hm.MultiHeadBlock.of(1, rho="1/2", heads=[(2, ZERO), (-1, ONE), (0, ONE)])
    model = hm.Transformer([block])
    assert model.trace([(1,), (4,), (1,)])[-1] == ((F(1, 2),), (F(2),), (F(1, 2),))
    assert [model.heads, model[:1].heads] == [3, 3]
    assert model[0] == block


def test_on_one_token_heads_act_as_one():
    """Theorem 9c (ii): ρx + Σ_h α_h x."""
    heads = [(2, (0, 0)), (F(1, 3), (1, 2)), (-1, (0, 1))]
    many = hm.Transformer([hm.MultiHeadBlock.of(2, rho=3, heads=heads)])
    one = hm.Transformer([hm.RankOneBlock.of(2, rho=3, alpha=F(4, 3))])
    for Z in ([(1, 2)], [(5, "1/7")] * 3):
        assert many.output(Z) == one.output(Z)


@given(headed(2), st.integers(2, 5))
def test_heads_of_zero_change_nothing(model, more):
    count = max(more, model.heads)
    wide = hm.Transformer(model.parameters.with_heads(count), dimension=2)
    assert wide.heads == count
    assert wide.parameters.nonzero() == model.parameters.nonzero()
    Z = [(1, 2), ("1/3", -1), (0, 0)]
    assert wide.output(Z) == model.output(Z)


@pytest.mark.parametrize("mask", [False, True])
def test_floats_run_several_heads(mask):
    """Powers of two as lengths, and no ties of an odd number: float64 rounds nothing."""
    rng = np.random.default_rng(0)
    heads = [(F(1, 2), (0, 0)), (-1, (1, 64)), (0, (1, 1)), (2, (-64, 1))]
    blocks = [
        hm.MultiHeadBlock.of(2, u=(1, -1), b=1, w=(1, 2), rho=1, heads=heads),
        hm.MultiHeadBlock.of(2, w=(20, 20), b=1, rho=0, heads=heads[:2]),
    ]
    model = hm.Transformer(blocks, masked=mask)
    data = [rng.integers(-4, 5, (n, 2)).astype(float) for n in ((1, 2, 2) if mask else (1, 2, 4))]
    assert model(data).tolist() == [[float(x) for x in y] for y in model.outputs(data)]
    general = hm.Transformer([block.general() for block in blocks], masked=mask)
    assert general(data).tolist() == model(data).tolist()


@pytest.mark.parametrize("heads", [[], [(1, (1, 2))], [(1, ONE), (1, (1, 2))]])
def test_heads_have_the_dimension_of_their_block(heads):
    with pytest.raises(hm.InputError, match="head"):
        hm.MultiHeadBlock.of(1, heads=heads)


def test_general_attention_needs_heads_without_residual():
    I = hm.Matrix.identity(1)
    with pytest.raises(hm.InputError, match="ρ = 0"):
        hm.MultiHeadAttention(F(1), (hm.SelfAttention(F(1), I, I),))
    with pytest.raises(hm.InputError, match="at least one head"):
        hm.MultiHeadAttention(F(1), ())


# ---------------------------------------------------------------------------- construction


def judged(folder, model, data):
    """The verdicts of engine, definition and checker, which must be the same."""
    data.save(folder / "data.json")
    model.save(folder / "model.npz")
    model, data = hm.Transformer.load(folder / "model.npz"), hm.load(folder / "data.json")
    found = hm.certify(model, data)
    files = [str(folder / "model.npz"), str(folder / "data.json")]
    if found.proved:
        found.save(folder / "cert.json")
        files += ["--certificate", str(folder / "cert.json")]
    code, line = checker.answer(files)
    assert {"proved": 0, "refuted": 1}[found.verdict] == code, line
    assert hm.certify(model, data, evaluator="definition").verdict == found.verdict
    return found


@settings(deadline=None)
@given(adversarial_datasets(max_sequences=8), st.integers(1, 4), st.integers(0, 3))
def test_adversarial_data_are_proved(tmp_path_factory, data, heads, seed):
    model = hm.build(data, heads=heads, seed=seed)
    found = judged(tmp_path_factory.mktemp("heads"), model, data)
    assert found.proved
    assert model.heads == found.structure.heads == heads
    assert found.to_json().get("heads") == (heads if heads > 1 else None)
    assert len(model) <= 2 * found.N + 1
    one = hm.build(data, seed=seed)
    assert model.stages.count("separate") <= one.stages.count("separate")


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_with_every_label_different(name):
    """Separation blocks never grow with H, and are at most N − D_H (Theorem 9c) where split."""
    data = adversarial(name, 12, 2)
    if len(set(map(tuple, map(sorted, data.sequences)))) < len(data):
        return
    data = hm.Dataset(data.sequences, [str(k) for k in range(len(data))])
    for heads in (2, 3):
        try:
            model = hm.build(data, heads=heads)
        except hm.ContradictionError:
            return
        assert hm.certify(model, data).proved
        assert model.stages.count("cluster") == 1
        assert model.stages.count("separate") <= len(data) - 1


def test_two_heads_tell_apart_what_one_does_not():
    """Theorem 9c (iii)."""
    assert "separate" in hm.build(FOUR).stages
    model = hm.build(FOUR, heads=2)
    assert model.stages.count("separate") == 0
    assert hm.certify(model, FOUR).proved


def test_what_no_number_of_heads_tells_apart():
    """Theorem 9c (i): equal means, equal leaders in all directions."""
    twins = hm.Dataset([[(x,) for x in row] for row in ((-2, -1, 1, 2), (-2, 0, 0, 2))], ["a", "b"])
    model = hm.build(twins, heads=4)
    assert model.stages.count("separate") == 1
    assert hm.certify(model, twins).proved
    with pytest.raises(hm.ContradictionError):
        hm.build([[(1,), (2,)], [(2,), (1,)]], ["a", "b"], heads=4)


@pytest.mark.parametrize("name", ["figure2.json", "text.json", "zen.json"])
def test_examples(name, tmp_path):
    data = hm.load(EXAMPLES / name)
    model = hm.build(data, heads=3)
    assert hm.certify(model, data).proved
    assert model.stages.count("separate") < hm.build(data).stages.count("separate")
    for file in ("a.npz", "b.npz"):
        hm.build(data, heads=3).save(tmp_path / file)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_one_head_is_the_model_of_today(tmp_path):
    hm.build(FOUR, heads=1).save(tmp_path / "a.npz")
    hm.build(FOUR).save(tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    with np.load(tmp_path / "a.npz") as file:
        assert file["alpha"].shape == (len(file["b"]),)
        assert file["v"].shape == file["u"].shape


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"heads": 0}, "from 1 to 64"),
        ({"heads": 65}, "from 1 to 64"),
        ({"heads": True}, "expected an integer"),
        ({"heads": 1.5}, "expected an integer"),
        ({"heads": 2, "masked": True}, "masked attention takes one head"),
        ({"heads": 2, "strategy": "peel"}, "strategy peel takes one head"),
        ({"heads": 2, "strategy": "learn"}, "strategy learn takes one head"),
    ],
)
def test_what_has_one_head(options, reason):
    with pytest.raises(hm.InputError, match=reason):
        hm.build(FOUR, **options)


def test_outputs_have_one_head():
    data = hm.Dataset([[(0,), (4,)]], outputs=[[[1], [2]]])
    with pytest.raises(hm.InputError, match="outputs takes one head"):
        hm.build(data, heads=2)
    block = hm.MultiHeadBlock.of(1, rho=0, heads=[(1, ZERO), (1, ONE)])
    found = hm.certify(hm.Transformer([block]), data)  # any model is judged, though
    assert [(x.token, x.output) for x in found.witnesses] == [(1, (F(4),)), (2, (F(6),))]


# ----------------------------------------------------------------------------------- files


@given(headed(2), st.lists(sequences(2), min_size=1, max_size=3), st.booleans())
def test_the_judges_agree(tmp_path_factory, model, given_sequences, mask):
    folder = tmp_path_factory.mktemp("judges")
    model = masked(model) if mask else model
    outputs = [reference.output(model.blocks, Z, masked=mask) for Z in given_sequences]
    names = {output: str(k) for k, output in enumerate(dict.fromkeys(outputs))}
    sets = {name: Point(output) for output, name in names.items()}
    labels = [names[output] for output in outputs]
    for wrong in (False, True):
        if wrong:
            sets[labels[-1]] = Point((outputs[-1][0] + F(1, 2**60), *outputs[-1][1:]))
        found = judged(folder, model, hm.Dataset(given_sequences, labels, sets))
        assert found.verdict == ("refuted" if wrong else "proved")


@given(headed(2), st.booleans())
def test_files_come_back(tmp_path_factory, model, mask):
    path = tmp_path_factory.mktemp("files") / "model.npz"
    model = masked(model) if mask else model
    model.save(path)
    again = hm.Transformer.load(path)
    assert again == model
    assert (again.heads, again.masked, list(again)) == (model.heads, mask, list(model))
    with np.load(path) as file:
        of_heads = (model.heads,) if model.heads > 1 else ()
        assert file["alpha"].shape == (len(model), *of_heads)
        assert file["v"].shape == (len(model), *of_heads, 2)


@pytest.fixture
def written(tmp_path):
    FOUR.save(tmp_path / "data.json")
    hm.build(hm.load(tmp_path / "data.json"), heads=2).save(tmp_path / "model.npz")
    return tmp_path / "model.npz", tmp_path / "data.json"


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("alpha", lambda x: x[:, :1]),
        ("alpha", lambda x: x[:, :0]),
        ("alpha", lambda x: x[:, 0]),
        ("alpha", lambda x: x[:, :, None]),
        ("alpha", lambda x: np.repeat(x, 2, axis=1)),
        ("v", lambda x: x[:, 0]),
        ("v", lambda x: x[:, :1]),
        ("v", lambda x: x[:, :, :0]),
        ("b", lambda x: x[:, None]),
        ("rho", lambda x: np.stack([x, x], axis=1)),
        ("u", lambda x: x[:, None]),
        ("v", lambda x: x * np.nan),
    ],
)
def test_shapes_that_do_not_fit(written, name, change):
    model, data = written
    arrays = dict(np.load(model))
    arrays[name] = change(arrays[name])
    np.savez(model, **arrays)
    with pytest.raises(hm.InputError, match="parameter"):
        hm.Transformer.load(model)
    assert checker.answer([str(model), str(data)])[0] == 2


def test_overrides_name_entries_of_all_heads(tmp_path):
    heads = [("1/3", ("2/3", 0)), (1, (0, "1/7"))]
    model = hm.Transformer([hm.MultiHeadBlock.of(2, heads=heads)] * 2)
    model.save(tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz") as file:
        found = json.loads(bytes(file["exact"]))
    assert found == {
        "alpha": [[0, "1/3"], [2, "1/3"]],
        "v": [[0, "2/3"], [3, "1/7"], [4, "2/3"], [7, "1/7"]],
    }
    assert hm.Transformer.load(tmp_path / "model.npz") == model


def test_mutants_are_refuted(written):
    """Every number of every head matters, or the output stays: three judges say the same."""
    path, _ = written
    model = hm.Transformer.load(path)
    p, k = model.parameters, model.stages.index("cluster")
    refuted = 0
    for h, (alpha, v) in enumerate(p[k].heads):
        for wrong in ((alpha * (1 + F(1, 2**60)), v), (alpha, tuple(-x for x in v)), (-alpha, v),
                      (alpha + F(1, 2**60), v), (alpha, tuple(x + 1 for x in v))):  # fmt: skip
            heads = [*p[k].heads[:h], wrong, *p[k].heads[h + 1 :]]
            block = hm.MultiHeadBlock(p[k].u, p[k].b, p[k].w, p[k].rho, tuple(heads))
            blocks = [*p[:k], block, *p[k + 1 :]]
            reached = all(
                reference.output(blocks, Z) == FOUR.sets[label].point
                for Z, label in zip(FOUR.sequences, FOUR.labels, strict=True)
            )
            found = judged(path.parent, hm.Transformer(blocks, stages=model.stages), FOUR)
            assert found.proved == reached
            refuted += not reached
    assert refuted >= 5


def test_certificates_say_the_heads(written):
    model, data = written
    path = model.parent / "cert.json"
    found = hm.certify(model, data)
    assert found.bounds.status == "n/a"  # the paper's bounds are about one head
    found.save(path)
    content = json.loads(path.read_text())
    assert content["heads"] == 2
    arguments = [str(model), str(data), "--certificate", str(path)]
    assert checker.answer(arguments)[0] == 0
    for change in ({"heads": 3}, {"heads": 1}, {"parameters": content["parameters"] + 1}):
        path.write_text(json.dumps(content | change))
        assert checker.answer(arguments)[0] == 1
    content.pop("heads")
    path.write_text(json.dumps(content))
    assert checker.answer(arguments)[0] != 0


# -------------------------------------------------------------------- commands and exports


def test_commands(tmp_path, capsys):
    FOUR.save(tmp_path / "data.json")
    model, data, page = (str(tmp_path / name) for name in ("m.npz", "data.json", "page.html"))
    assert exit_code(["build", data, "-o", model, "--heads", "3"]) == 0
    assert "3 heads" in capsys.readouterr().out
    assert exit_code(["verify", model, data, "--definition"]) == 0
    assert exit_code(["verify", model, data, "--radius", "--executor", "float64"]) == 0
    assert exit_code(["run", model, data, "--exact", "--trace"]) == 0
    assert exit_code(["run", model, data]) == 0
    capsys.readouterr()
    assert exit_code(["info", model]) == 0
    shown = capsys.readouterr().out
    assert "3, 2 of them with α ≠ 0" in shown
    assert "8N+4" not in shown
    assert exit_code(["report", model, data, "-o", page]) == 0
    assert "m1 + " in Path(page).read_text(encoding="utf-8")
    assert exit_code(["export", model, data, "--to", "smt2", "-o", str(tmp_path / "m.smt2")]) == 0
    capsys.readouterr()
    for target in ("onnx", "torch", "safetensors", "vnnlib", "rocq"):
        out = tmp_path / f"out.{target}"
        arguments = ["export", model, data, "--to", target, "-o", str(out)]
        assert exit_code(arguments) == 2, target
        told = capsys.readouterr().err
        assert "one head" in told
        assert "Traceback" not in told
        assert not out.exists()
    assert exit_code(["verify", model, data, "--executor", "softmax"]) == 2
    assert "one head" in capsys.readouterr().err
    other = str(tmp_path / "n.npz")
    assert exit_code(["build", data, "-o", other, "--heads", "2", "--strategy", "cover"]) == 2
    assert exit_code(["build", data, "-o", other, "--heads", "0"]) == 2
    assert not Path(other).exists()


def test_what_knows_one_head_says_so():
    model = hm.build(FOUR, heads=2)
    with pytest.raises(hm.InputError, match="one head"):
        rocq_script(model, FOUR)
    with pytest.raises(hm.InputError, match="one head"):
        certify_softmax(model, FOUR)
    pytest.importorskip("torch")
    with pytest.raises(hm.InputError, match="one head"):
        model.to_torch()


def test_networks_have_heads():
    model = hm.build(FOUR, heads=3)
    assert hm.Network.of(model).outputs(FOUR.sequences) == model.outputs(FOUR)


@settings(max_examples=20, deadline=None)
@given(headed(2, most=2, blocks=2), sequences(2, 3), st.booleans())
def test_solvers_agree(model, Z, mask):
    z3 = pytest.importorskip("z3")
    model = masked(model) if mask else model
    output = reference.output(model.blocks, Z, masked=mask)
    for moved, answer in ((F(0), "unsat"), (F(1, 2**70), "sat")):
        data = hm.Dataset([Z], ["a"], {"a": Point((output[0] + moved, output[1]))})
        solver = z3.SolverFor("QF_LRA")
        solver.from_string(smt2_script(model, data))
        assert str(solver.check()) == answer


# ------------------------------------------------------------------------ radii and floats


@settings(deadline=None)
@given(headed(1, blocks=2), sequences(1), st.booleans(), st.data())
def test_within_the_radius_no_prediction_changes(model, Z, mask, draw):
    model = masked(model) if mask else model
    no_prediction_changes_within_the_radius(model, Z, draw)


def test_built_models_have_radii_and_float_certificates():
    data = adversarial("text-like", 8, 1)
    model = hm.build(data, heads=3)
    assert radii(model, data).least > 0
    found = certify_float(model, data)
    assert found.certified, found.reason
    assert model.predict(data) == [
        predict(tuple(map(F, row)), data.sets) for row in model(data).tolist()
    ]


@settings(deadline=None)
@given(headed(2, blocks=2), sequences(2), st.integers(0, 100))
def test_no_float_run_contradicts_a_certificate(model, Z, seed):
    """Heads added in any order: each sum has its own rounding."""
    output = model.output(Z)
    data = hm.Dataset([Z], ["a"], {"a": Point(output), "b": Point((output[0] + 1, output[1]))})
    found = certify_float(model, data)
    if not found.certified:
        return
    rng = np.random.default_rng(seed)
    shuffled = [
        hm.MultiHeadBlock(x.u, x.b, x.w, x.rho,
                          tuple(x.heads[i] for i in rng.permutation(len(x.heads))))
        for x in model
    ]  # fmt: skip
    row = hm.Transformer(shuffled, dimension=2)(data)[0].tolist()
    away = max(abs(F(a) - b) for a, b in zip(row, output, strict=True))
    assert away <= found.distance
