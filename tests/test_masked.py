"""Masked attention (4.2): token i sees tokens 1, …, i; theory, section 10."""

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
from hardmax.certify.radius import radii
from hardmax.cli.main import exit_code
from hardmax.formats.rocq import rocq_script
from hardmax.formats.smt2 import smt2_script
from hardmax.labels import Ball, Point
from hardmax.testing import general_models, rank_one_models, sequences
from tests import reference
from tests.perturbation import no_prediction_changes_within_the_radius

F = Fraction
EXAMPLES = Path(__file__).parent.parent / "examples"
BLOCK = hm.RankOneBlock.of
A, B = (0, 0), (1, 0)
# all orders, prefixes of one another, repetitions, constants, one token more
ORDERED = hm.Dataset(
    [[A, B], [B, A], [A, B, A], [A, A, B], [A, B, A, B], [A], [B, B, B], [A, B, B]],
    list("abcdefgh"),
)


def masked(model):
    return hm.Transformer(list(model.blocks), dimension=model.dimension, masked=True)


def same(Z, Y):
    """Whether no masked transformer tells two sequences apart (Theorem 8)."""
    return Z == Y or (len({*Z, *Y}) == 1)


# ------------------------------------------------------------------------------ evaluation


@given(rank_one_models(2).map(masked), st.lists(sequences(2), min_size=1, max_size=4))
def test_every_evaluator_follows_the_definition(model, given_sequences):
    expected = [reference.output(model.blocks, Z, masked=True) for Z in given_sequences]
    data = hm.Dataset(given_sequences)
    assert model.outputs(given_sequences) == expected
    assert list(outputs_by_definition(model, data)) == expected
    states = reference.trace(model.blocks, given_sequences[0], masked=True)
    assert model.trace(given_sequences[0]) == reference.tuples(states)


@given(general_models(2).map(masked), sequences(2))
def test_general_layers_are_masked_too(model, Z):
    assert model.output(Z) == reference.output(model.blocks, Z, masked=True)


def test_a_token_does_not_see_what_comes_behind_it():
    model = hm.Transformer([BLOCK(1, rho=0, alpha=1)], masked=True)
    assert model.trace([(1,), (4,), (7,)])[-1] == ((F(1),), (F(5, 2),), (F(4),))
    leaders = hm.Transformer([BLOCK(1, rho=0, alpha=1, v=(1,))], masked=True)
    assert leaders.trace([(1,), (4,), (2,)])[-1] == ((F(1),), (F(4),), (F(4),))
    assert leaders.trace([(-1,), (4,), (-2,)])[-1] == ((F(-1),), (F(4),), (F(-2),))


def test_slices_copies_and_comparison_keep_the_mask():
    model = hm.Transformer([BLOCK(1, rho=0, alpha=1)] * 2, masked=True)
    plain = hm.Transformer([BLOCK(1, rho=0, alpha=1)] * 2)
    assert [model[:1].masked, plain[:1].masked] == [True, False]
    assert model != plain
    assert model[:] == model
    assert plain.output([(0,), (1,)]) == (F(1, 2),) != model.output([(0,), (1,)])


@given(rank_one_models(2).map(masked), st.lists(sequences(2), min_size=1, max_size=3))
def test_the_two_judges_agree(tmp_path_factory, model, given_sequences):
    folder = tmp_path_factory.mktemp("judges")
    outputs = [reference.output(model.blocks, Z, masked=True) for Z in given_sequences]
    names = {output: str(k) for k, output in enumerate(dict.fromkeys(outputs))}
    sets = {name: Point(output) for output, name in names.items()}
    labels = [names[output] for output in outputs]
    model.save(folder / "model.npz")
    for wrong in (False, True):
        if wrong:
            sets[labels[-1]] = Point((outputs[-1][0] + F(1, 2**60), *outputs[-1][1:]))
        hm.Dataset(given_sequences, labels, sets).save(folder / "data.json")
        found = hm.certify(folder / "model.npz", folder / "data.json")
        code, line = checker.answer([str(folder / "model.npz"), str(folder / "data.json")])
        assert (found.verdict, code) == (("refuted", 1) if wrong else ("proved", 0)), line
        if not wrong:
            found.save(folder / "cert.json")
            arguments = [folder / "model.npz", folder / "data.json", "--certificate"]
            assert checker.answer([*map(str, arguments), str(folder / "cert.json")])[0] == 0


def test_floats_run_masked_models():
    """Powers of two as lengths: float64 rounds nothing."""
    rng = np.random.default_rng(0)
    blocks = [
        BLOCK(2, u=(1, -1), b=1, w=(1, 2), rho="1/2", alpha="1/2"),
        BLOCK(2, rho=1, alpha=-1, v=(1, 2)),
    ]
    model = hm.Transformer(blocks, masked=True)
    data = [rng.integers(-4, 5, (n, 2)).astype(float) for n in (1, 2, 2)]
    assert model(data).tolist() == [[float(x) for x in y] for y in model.outputs(data)]
    general = hm.Transformer([block.general() for block in blocks], masked=True)
    assert general(data).tolist() == model(data).tolist()


# ---------------------------------------------------------------------------- construction


@st.composite
def ordered_data(draw, dimension=None):
    """Words over a few letters with their prefixes, permutations, repetitions and extensions."""
    d = dimension or draw(st.integers(2, 3))
    number = st.sampled_from([F(0), F(1), F(-2), F(1, 3), F(1, 2**200), F(10**20, 7)])
    letter = st.tuples(*[number] * d)
    letters = draw(st.lists(letter, min_size=1, max_size=4, unique=True))
    words = []
    for _ in range(draw(st.integers(1, 3))):
        word = draw(st.lists(st.sampled_from(letters), min_size=1, max_size=6))
        cut = draw(st.integers(1, len(word)))
        more = draw(st.sampled_from(letters))
        words += [word, word[:cut], draw(st.permutations(word)), [*word, more], word * 2]
    labels = []
    for k, word in enumerate(words):
        first = next(j for j, other in enumerate(words) if same(word, other))
        labels.append(labels[first] if first < k else str(draw(st.integers(0, 3))))
    sets = {str(k): Ball((4 * k, *[0] * (d - 1)), 1) for k in range(4)}
    return hm.Dataset(words, labels, sets if draw(st.booleans()) else None)


def classes(data):
    found = []
    for Z in data.sequences:
        if not any(same(Z, Y) for Y in found):
            found.append(Z)
    return len(found)


@settings(deadline=None)
@given(ordered_data(), st.integers(0, 3))
def test_ordered_data_are_proved_within_four_blocks_a_sequence(data, seed):
    model = hm.build(data, masked=True, seed=seed)
    found = hm.certify(model, data)
    assert found.proved
    assert classes(data) == found.N
    assert found.to_json()["masked"] is True
    extra = model.stages.count("separate") + 1
    assert len(model) <= 4 * found.N + extra
    assert extra <= 5  # K': more than the proof promises, and more than was ever seen
    assert hm.certify(model, data, evaluator="definition").proved


@settings(deadline=None)
@given(ordered_data(dimension=1))
def test_one_coordinate_is_enough(data):
    model = hm.build(data, masked=True)
    found = hm.certify(model, data)
    assert found.proved
    assert len(model) <= max(1, 3 * found.N + model.stages.count("separate"))


def test_one_coordinate_has_a_limit_that_is_told():
    words = [[(int(x),) for x in f"{k:07b}"] for k in range(100)]
    data = hm.Dataset(words, [str(k % 2) for k in range(100)])
    with pytest.raises(hm.ResourceLimitError, match="--positional"):
        hm.build(data, masked=True)


@pytest.mark.parametrize(
    ("pair", "reason"),
    [
        ([[A, B], [A, B]], "equal token by token"),
        ([[B], [B, B, B]], "repeat the same token"),
    ],
)
def test_two_sequences_that_no_masked_model_tells_apart(pair, reason):
    with pytest.raises(hm.ContradictionError, match=reason) as found:
        hm.build([[A], *pair], ["x", "y", "z"], masked=True)
    assert {found.value.tied.first, found.value.tied.second} == {"sequence 2", "sequence 3"}
    assert hm.certify(hm.build([[A], *pair], ["x", "y", "y"], masked=True),
                      hm.Dataset([[A], *pair], ["x", "y", "y"])).N == 2  # fmt: skip


@pytest.mark.slow
def test_vowels_and_the_poem_without_positions():
    vowels = hm.load(EXAMPLES / "vowels.json.gz")
    zen = hm.load(EXAMPLES / "zen.json")
    words = [[(number, 0) for number, _ in Z] for Z in zen.sequences]
    for data in (vowels, hm.Dataset(words, zen.labels, sets=zen.sets)):
        model = hm.build(data, masked=True)
        found = hm.certify(model, data)
        assert found.proved
        assert len(model) <= 4 * found.N + 1 + model.stages.count("separate")


def test_other_strategies_have_no_mask():
    for strategy in ("peel", "cover", "fold", "auto"):
        with pytest.raises(hm.InputError, match="one construction"):
            hm.build(ORDERED, masked=True, strategy=strategy)


def test_equal_seeds_give_equal_files(tmp_path):
    for name in ("a.npz", "b.npz"):
        hm.build(ORDERED, masked=True, seed=5).save(tmp_path / name)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


# ------------------------------------------------------------------- files and other judges


def written(folder, data=ORDERED):
    data.save(folder / "data.json")
    hm.build(hm.load(folder / "data.json"), masked=True).save(folder / "model.npz")
    return folder / "model.npz", folder / "data.json"


def with_meta(path, change):
    arrays = dict(np.load(path))
    meta = json.loads(str(arrays["meta"]))
    change(meta)
    arrays["meta"] = np.array(json.dumps(meta))
    np.savez(path, **arrays)


def test_without_its_mask_a_model_is_refuted(tmp_path):
    model, data = written(tmp_path)
    assert hm.certify(model, data).proved
    with_meta(model, lambda meta: meta.pop("masked"))
    assert hm.certify(model, data).verdict == "refuted"
    assert checker.answer([str(model), str(data)])[0] == 1


@pytest.mark.parametrize("value", [1, None, "true", [], {}])
def test_a_mask_is_true_or_false(tmp_path, value):
    model, data = written(tmp_path)
    with_meta(model, lambda meta: meta.update(masked=value))
    with pytest.raises(hm.InputError, match="masked"):
        hm.Transformer.load(model)
    assert checker.answer([str(model), str(data)])[0] == 2


def test_mutants_are_refuted(tmp_path):
    path, data = written(tmp_path)
    model = hm.Transformer.load(path)
    for k in range(len(model)):
        block = model.blocks[k]
        i = next((i for i, x in enumerate(block.w) if x), None)
        if i is None:
            continue
        step = block.w[i] * (1 + F(1, 2**60))
        wrong = BLOCK(2, u=block.u, b=block.b, w=(*block.w[:i], step, *block.w[i + 1 :]),
                      rho=block.rho, alpha=block.alpha, v=block.v)  # fmt: skip
        blocks = [*model.blocks[:k], wrong, *model.blocks[k + 1 :]]
        mutant = hm.Transformer(blocks, masked=True, stages=model.stages)
        mutant.save(tmp_path / "mutant.npz")
        mine = hm.certify(mutant, data).verdict
        theirs = checker.answer([str(tmp_path / "mutant.npz"), str(data)])[0]
        reached = all(
            reference.output(blocks, Z, masked=True) == ORDERED.sets[label].point
            for Z, label in zip(ORDERED.sequences, ORDERED.labels, strict=True)
        )
        assert (mine, theirs) == (("proved", 0) if reached else ("refuted", 1))
        assert not reached or block.rho != 1  # a layer of a tent must matter


def test_certificates_say_the_mask(tmp_path):
    model, data = written(tmp_path)
    found = hm.certify(model, data)
    assert found.bounds.status == "n/a"  # the paper's bounds are about models without mask
    found.save(tmp_path / "cert.json")
    content = json.loads((tmp_path / "cert.json").read_text())
    arguments = [str(model), str(data), "--certificate", str(tmp_path / "cert.json")]
    assert checker.answer(arguments)[0] == 0
    for change in ({"masked": False}, {"N": content["N"] + 1}, {"bounds": "holds"}):
        (tmp_path / "cert.json").write_text(json.dumps(content | change))
        assert checker.answer(arguments)[0] == 1
    content.pop("masked")
    (tmp_path / "cert.json").write_text(json.dumps(content))
    assert checker.answer(arguments)[0] != 0


def test_commands(tmp_path, capsys):
    ORDERED.save(tmp_path / "data.json")
    model, data, page = (str(tmp_path / name) for name in ("m.npz", "data.json", "page.html"))
    assert exit_code(["build", data, "-o", model, "--masked"]) == 0
    assert exit_code(["verify", model, data, "--definition"]) == 0
    assert exit_code(["run", model, data, "--exact", "--trace"]) == 0
    assert exit_code(["info", model]) == 0
    shown = capsys.readouterr().out
    assert "token i sees tokens 1 to i" in shown
    assert "S+1+4N" in shown
    assert "8N+4" not in shown
    assert exit_code(["report", model, data, "-o", page]) == 0
    assert "mean of the tokens up to it" in Path(page).read_text(encoding="utf-8")
    assert exit_code(["build", data, "-o", model, "--masked", "--strategy", "peel"]) == 2
    bad = hm.Dataset([[A], [A, A]], ["x", "y"])
    bad.save(tmp_path / "bad.json")
    assert (
        exit_code(["build", str(tmp_path / "bad.json"), "-o", str(tmp_path / "n"), "--masked"]) == 1
    )
    assert "no masked transformer" in capsys.readouterr().out


def test_rocq_refuses_what_its_checker_does_not_know():
    with pytest.raises(hm.InputError, match="masked"):
        rocq_script(hm.build(ORDERED, masked=True), ORDERED)


@settings(max_examples=20, deadline=None)
@given(rank_one_models(2, 2).map(masked), sequences(2, 3))
def test_solvers_agree(model, Z):
    z3 = pytest.importorskip("z3")
    output = reference.output(model.blocks, Z, masked=True)
    for moved, answer in ((F(0), "unsat"), (F(1, 2**70), "sat")):
        data = hm.Dataset([Z], ["a"], {"a": Point((output[0] + moved, output[1]))})
        solver = z3.SolverFor("QF_LRA")
        solver.from_string(smt2_script(model, data))
        assert str(solver.check()) == answer


# ------------------------------------------------------------------------ radii and floats


def test_within_the_radius_no_prediction_changes():
    model = hm.build(ORDERED, masked=True)
    found = radii(model, ORDERED)
    rng = np.random.default_rng(1)
    for j, Z in enumerate(ORDERED.sequences):
        radius = found.each[j].value
        assert radius > 0
        for _ in range(20):
            signs = rng.choice([-1, 1], (len(Z), 2)).tolist()
            moved = [
                tuple(x + s * radius * F(999, 1000) for x, s in zip(z, row, strict=True))
                for z, row in zip(Z, signs, strict=True)
            ]
            assert model.predict([moved], ORDERED) == [ORDERED.labels[j]]


@settings(deadline=None)
@given(rank_one_models(1, 3).map(masked), sequences(1), st.data())
def test_radii_of_masked_leaders(model, Z, draw):
    no_prediction_changes_within_the_radius(model, Z, draw)


def test_float_certificates_know_prefix_means():
    data = hm.Dataset([[A, B, B], [B, A, B]], ["a", "b"])
    blocks = [BLOCK(2, u=(1, 1), b="-1/3", w=(1, 0), rho="1/2", alpha="1/2")] * 2
    model = hm.Transformer(blocks, masked=True)
    sets = {"a": Ball(model.output(data.sequence(0)), "1/100"),
            "b": Ball(model.output(data.sequence(1)), "1/100")}  # fmt: skip
    found = certify_float(model, data.with_sets(sets))
    assert found.certified
    assert found.least_margin > 0
    lazy = hm.Transformer([BLOCK(2, rho=1, alpha=1, v=(1, 0))], masked=True)
    with pytest.raises(hm.InputError, match="v = 0"):
        certify_float(lazy, data)
