"""Python as a new user meets it: what is accepted, what it looks like, what an error says."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hardmax as hm
from hardmax.errors import InputError
from hardmax.model.tokens import Tokens
from hardmax.testing import adversarial, datasets, rank_one_models, sequences

X = np.random.default_rng(0).normal(size=(12, 3, 2))
Y = np.arange(12) % 3
DATA = hm.Dataset(X, Y)
MODEL = hm.build(DATA)


# ------------------------------------------------------------------------- label sets, parts


def test_a_part_of_the_data_keeps_the_label_sets():
    """A test set with default sets of its own numbers its classes afresh: 0 right, not all."""
    train, test = DATA.split(0.75, seed=1)
    assert (len(train), len(test)) == (9, 3)
    model = hm.build(train)
    assert test.sets == train.sets == DATA.sets
    assert hm.certify(model, train)
    for part in (DATA[2:5], DATA[[1, 5]], DATA[np.array([1, 5])], DATA[Y == 2]):
        assert part.sets == DATA.sets
        assert hm.certify(MODEL, part)
    alone = hm.Dataset(X[Y == 2], Y[Y == 2])
    assert not hm.certify(MODEL, alone)  # label 2 alone gets the point 0
    assert hm.certify(MODEL, hm.Dataset(X[Y == 2], Y[Y == 2], sets=DATA))
    assert hm.certify(MODEL, hm.Dataset(X[Y == 2], Y[Y == 2], sets=DATA.sets))
    assert hm.certify(MODEL, alone.with_sets(DATA))


@given(st.permutations(range(12)))
def test_the_order_of_the_sequences_does_not_matter(order):
    assert hm.certify(MODEL, hm.Dataset(X[order], Y[order]))


@given(st.integers(2, 30), st.floats(0.01, 0.99), st.integers(0, 5))
def test_split_is_a_partition(count, fraction, seed):
    data = hm.Dataset(np.arange(count, dtype=float).reshape(-1, 1, 1), ["a"] * count)
    parts = data.split(fraction, seed)
    assert sorted(int(z[0][0]) for part in parts for z in part) == list(range(count))
    assert min(map(len, parts)) >= 1
    again = data.split(fraction, seed)
    assert [list(part) for part in parts] == [list(part) for part in again]


def test_parts_are_exact_and_positional_parts_keep_positions():
    data = hm.Dataset([[("1/3", 1)], [(0, 2), ("1/7", 3)], [(5, 5)]], ["a", "b", "a"],
                      ids=["x", None, "z"], positional=True)  # fmt: skip
    part = data[[2, 1]]
    assert list(part) == [data[2], data[1]]
    assert part[1] == ((0, 2, 1), (Fraction(1, 7), 3, 2))
    assert (part.ids, part.labels, part.positional) == (["z", None], ["a", "b"], True)
    assert part.sets == data.sets
    assert len(part.merged) == 2


def test_other_label_sets_get_no_certificate_in_the_name_of_the_file(tmp_path):
    (tmp_path / "d.csv").write_text("sequence,label,x1\ns,a,0\nt,b,1\n")
    loaded = hm.load(tmp_path / "d.csv", sets={"a": [7], "b": [8]})
    model = hm.build(loaded)
    model.save(tmp_path / "m.npz")
    certificate = hm.certify(hm.Transformer.load(tmp_path / "m.npz"), loaded)
    assert certificate
    with pytest.raises(InputError, match="label sets in the data file"):
        certificate.save(tmp_path / "c.json")
    loaded.save(tmp_path / "d.json")
    certificate = hm.certify(tmp_path / "m.npz", tmp_path / "d.json")
    certificate.save(tmp_path / "c.json")
    done = subprocess.run(
        [sys.executable, "-m", "hardmax.checker", tmp_path / "m.npz", tmp_path / "d.json",
         "--certificate", tmp_path / "c.json"], capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


# --------------------------------------------------------------------------------- labels


@pytest.mark.parametrize(
    ("labels", "plain"),
    [
        ([0, 1], [0, 1]), (np.array([0, 1]), [0, 1]), ([np.int8(3), np.int8(-1)], [3, -1]),
        (np.array(["x", "y"]), ["x", "y"]), ([np.str_("x"), None], ["x", None]),
        (iter([5, "a"]), [5, "a"]), ([True, False], [True, False]), ((0.5, 2.0), [0.5, 2.0]),
    ],
)  # fmt: skip
def test_labels_keep_their_type(labels, plain):
    data = hm.Dataset([[(1,)], [(2,)]], labels)
    assert data.labels == plain
    assert [*map(type, data.labels)] == [*map(type, plain)]
    assert data.names == [None if x is None else str(x) for x in plain]
    for label in plain:
        if label is not None:
            assert data.sets[label] is data.sets[str(label)]


def test_torch_labels_and_tokens():
    torch = pytest.importorskip("torch")
    data = hm.Dataset(torch.tensor(X), torch.tensor(Y))
    assert data.labels == Y.tolist()
    assert list(data) == list(DATA)
    assert hm.Dataset(torch.ones(1, 2, 3, dtype=torch.bfloat16), [torch.tensor(4)]).labels == [4]


def test_predictions_have_the_type_of_the_labels(tmp_path):
    assert MODEL.predict(DATA) == MODEL.predict(X) == Y.tolist()
    MODEL.save(tmp_path / "m.npz")
    assert hm.Transformer.load(tmp_path / "m.npz").predict(X) == Y.tolist()
    named = hm.build(X, [f"class {y}" for y in Y])
    assert named.predict(X[:2]) == ["class 0", "class 1"]
    for name in ("d.json", "d.json.gz", "d.npz"):
        DATA.save(tmp_path / name)
        assert hm.load(tmp_path / name).labels == Y.tolist()


def test_predict_takes_one_output_or_many():
    outputs = MODEL.outputs(DATA)
    assert hm.predict(outputs, DATA.sets) == hm.predict(outputs, DATA) == Y.tolist()
    assert hm.predict(outputs[1], DATA.sets) == 1
    assert hm.predict(np.array([[0.2, 0], [1.9, 0]]), DATA) == [0, 2]
    assert hm.predict(np.array([0.2, 0]), {"a": [0, 0], "b": [1, 1]}) == "a"
    assert hm.predict([], DATA) == []


# ----------------------------------------------------------------------------------- data


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "i8", "u8", ">f8"])
def test_arrays_mean_what_lists_mean(dtype):
    array = (np.arange(24).reshape(4, 3, 2) * 7).astype(dtype)
    written = hm.Dataset([[[int(x) for x in z] for z in Z] for Z in array])
    for form in (
        array,
        list(array),
        array.tolist(),
        array[:, ::-1][:, ::-1],
        np.asfortranarray(array),
    ):
        data = hm.Dataset(form)
        assert list(data) == list(written)
        assert data.offsets.tolist() == written.offsets.tolist()


@given(datasets(max_sequences=4))
def test_a_data_set_is_the_list_of_its_sequences(data):
    assert [data[j] for j in range(len(data))] == list(data) == list(data.sequences)
    assert data[-1] == data[len(data) - 1]
    again = hm.Dataset(list(data), data.labels, data)
    assert list(again) == list(data)
    with pytest.raises(IndexError):
        data[len(data)]


def test_numbers_at_the_limits_come_back_from_a_file(tmp_path):
    largest = Fraction(2) ** 1000 - Fraction(1, 3)
    data = hm.Dataset([[[largest, Fraction(1, 10**9999)]], [[-largest, 0]]], ["a", "b"])
    data.save(tmp_path / "d.json")
    assert list(hm.load(tmp_path / "d.json")) == list(data)


def test_ids_are_texts(tmp_path):
    """As in files: an integer stands for its digits."""
    data = hm.Dataset(X[:3], ids=[np.int64(7), "b", None])
    data.save(tmp_path / "d.json")
    assert data.ids == hm.load(tmp_path / "d.json").ids == ["7", "b", None]


def test_a_fraction_splits_too():
    assert len(DATA.split(Fraction(1, 4))[0]) == 3
    assert list(DATA.split(0.5, seed=np.int32(3))[0]) == list(DATA.split(0.5, seed=3)[0])


@given(datasets(max_sequences=4), st.sampled_from(["d.json", "d.json.gz"]))
def test_saved_data_are_the_same_data(tmp_path, data, name):
    data.save(tmp_path / name)
    again = hm.load(tmp_path / name)
    assert list(again) == list(data)
    assert (again.names, again.sets, again.ids) == (data.names, data.sets, data.ids)


def test_saved_arrays(tmp_path):
    sets = {0: [1, 1], 1: hm.Ball((5, 5), "1/2"), 2: hm.Box((7, 7), (8, 8))}
    data = hm.Dataset(X, Y, sets)
    data.save(tmp_path / "d.npz")
    again = hm.load(tmp_path / "d.npz")
    assert (list(again), again.labels, again.sets) == (list(data), data.labels, data.sets)
    with pytest.raises(InputError, match=r"float64 does not hold.*\.json"):
        hm.Dataset([[("1/3",)]], ["a"]).save(tmp_path / "e.npz")
    with pytest.raises(InputError, match=r"\.json, \.json\.gz, \.npz, \.csv or \.parquet"):
        data.save(tmp_path / "d.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["d.npz"]


def test_lists_of_floats_stay_exact_and_integers_past_float64_too():
    assert hm.Dataset([[[0.1, 2.0]]])[0] == ((Fraction(0.1), 2),)
    assert hm.Dataset([[[2**53 + 1, 1]]])[0] == ((2**53 + 1, 1),)
    assert hm.Dataset([[[2**70 + 1, 1]]])[0] == ((2**70 + 1, 1),)
    assert hm.Dataset(np.array([[[2**53 + 1]]]))[0] == ((2**53 + 1,),)
    # arrays of different types are not brought to one: that would round
    both = [np.array([[2**53 + 1]]), np.array([[0.5]])]
    assert list(hm.Dataset(both)) == [((2**53 + 1,),), ((Fraction(1, 2),),)]


# ---------------------------------------------------------------------------------- models


def test_certify_is_a_function_whatever_is_imported():
    code = (
        "import hardmax as hm, hardmax.certify, hardmax.certify.radius\n"
        "from hardmax.certify import bounds_of\n"
        "import types\n"
        "assert isinstance(hm.certify, types.FunctionType), hm.certify\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_verdict_is_the_truth_of_a_certificate():
    assert bool(hm.certify(MODEL, DATA)) is True
    assert bool(hm.certify(MODEL, DATA.with_sets({0: [9, 9], 1: [8, 8], 2: [7, 7]}))) is False


def test_build_and_certify_take_what_there_is(tmp_path):
    DATA.save(tmp_path / "d.json")
    for model in (
        hm.build(X, Y), hm.build(DATA), hm.build(tmp_path / "d.json"),
        hm.build(str(tmp_path / "d.json")),
        hm.build(list(X), list(Y)), hm.build(DATA, strategy="paper"), hm.build(DATA, "paper"),
        hm.build(X, Y, "paper", 0), hm.build(X, Y, sets={0: [0, 0], 1: [1, 0], 2: [2, 0]}),
    ):  # fmt: skip
        assert model == MODEL
    assert hm.build(X, Y, strategy="peel") == hm.build(DATA, "peel") != MODEL
    MODEL.save(tmp_path / "m.npz")
    assert hm.certify(tmp_path / "m.npz", tmp_path / "d.json")
    found = hm.certify(MODEL, DATA, radius=True, executor="float64")
    assert Fraction(found.radius["least"]) > 0
    assert found.float64["certified"] is True


def test_equal_models_are_equal(tmp_path):
    MODEL.save(tmp_path / "m.npz")
    again = hm.Transformer.load(tmp_path / "m.npz")
    assert again == MODEL
    assert hash(again) == hash(MODEL)
    assert hm.Transformer(list(MODEL)) == MODEL
    assert copy.deepcopy(MODEL) == pickle.loads(pickle.dumps(MODEL)) == MODEL
    blocks = list(MODEL)
    blocks[-1] = hm.RankOneBlock.of(2, b=Fraction(1, 3), w=(1, 0))
    assert hm.Transformer(blocks) != MODEL
    assert MODEL != "a model"
    third = hm.Transformer([hm.RankOneBlock.of(1, alpha="1/3")])
    assert third != hm.Transformer([hm.RankOneBlock.of(1, alpha=1 / 3)])  # the same floats


def test_a_model_is_the_list_of_its_blocks():
    assert [MODEL[k] for k in range(len(MODEL))] == list(MODEL) == list(MODEL.blocks)
    assert MODEL[-1] == MODEL.blocks[-1]
    head = MODEL[:3]
    assert (list(head), head.stages) == (list(MODEL)[:3], MODEL.stages[:3])
    assert MODEL.trace(X[0])[3] == head.trace(X[0])[-1]


def test_a_model_takes_data_sets_and_arrays():
    assert (MODEL(DATA) == MODEL(X)).all()
    assert MODEL(DATA).shape == (12, 2)
    assert MODEL.outputs(DATA) == MODEL.outputs(X) == MODEL.outputs(list(X))
    assert MODEL.output(X[1]) == MODEL.outputs(X)[1]


@given(st.data())
def test_outputs_of_the_engine_are_those_of_the_definition(data):
    d = data.draw(st.integers(1, 3))
    model = data.draw(rank_one_models(d))
    batch = data.draw(st.lists(sequences(d), min_size=1, max_size=4))
    assert model.outputs(batch) == model.run(Tokens.from_sequences(batch))


@pytest.mark.parametrize("strategy", ["paper", "peel", "cover"])
def test_outputs_of_built_models(strategy):
    data = adversarial("collinear", 9)
    model = hm.build(data, strategy)
    assert model.outputs(data) == model.run(Tokens.from_sequences(data))


def test_outputs_past_the_range_of_float64():
    model = hm.Transformer([hm.RankOneBlock.of(1, rho=0, alpha=1)])
    assert model.outputs([[(Fraction(2) ** 1100,), (0,)]]) == [(Fraction(2) ** 1099,)]


def test_the_order_of_the_labels_is_kept_on_save(tmp_path):
    """Ties go to the label that comes first: in the data, and in the model's file."""
    data = hm.Dataset([[(0, 0)], [(9, 0)]], ["z", "a"], {"z": [0, 0], "a": [2, 0]})
    model = hm.build(data)
    model.save(tmp_path / "m.npz")
    again = hm.Transformer.load(tmp_path / "m.npz")
    assert list(again.meta["labels"]) == list(data.sets) == ["z", "a"]
    middle = hm.Transformer([hm.RankOneBlock.of(2)], meta=again.meta)
    assert middle.predict([[(1, 0)]]) == middle.predict(hm.Dataset([[(1, 0)]], sets=data)) == ["z"]


# ----------------------------------------------------------------------------- how it looks


def test_short_reprs():
    assert repr(DATA) == "<Dataset: 12 sequences, 36 tokens, dimension 2, 3 labels>"
    assert repr(DATA[:1]) == "<Dataset: 1 sequence, 3 tokens, dimension 2, 3 labels>"
    assert repr(MODEL) == f"<Transformer: {len(MODEL)} blocks, dimension 2, paper>"
    assert repr(hm.Transformer([hm.RankOneBlock.of(1)])) == "<Transformer: 1 block, dimension 1>"
    found = repr(hm.certify(MODEL, DATA))
    assert found.startswith("<Certificate: proved; data 12 sequences")
    assert len(found) < 200


def test_notebooks_get_tables():
    data = hm.Dataset([[(0,)]], ["<b>"])
    for shown in (data, hm.build(data), hm.certify(hm.build(data), data)):
        html = shown._repr_html_()
        assert html.startswith("<table>")
        assert html.endswith("</table>")
        assert "<b>'" not in html
    assert "&lt;b&gt;" in data._repr_html_()


def test_help_describes_the_strategies():
    for name in ("paper", "peel", "cover", "auto"):
        assert f'"{name}"' in hm.build.__doc__
    assert "memorises" in hm.build.__doc__


@pytest.mark.parametrize(
    "name", ["Point", "Ball", "Box", "Halfspace", "Polyhedron", "ResourceLimitError"]
)
def test_exported(name):
    assert name in hm.__all__
    assert getattr(hm, name).__name__ == name


# ------------------------------------------------------------------------- what errors say

WRONG = {
    "a 2-D array": (lambda: hm.Dataset(X[0], Y[:3]), r"X\[:, None, :\]"),
    "a number": (lambda: hm.Dataset(3), "sequences are a list of arrays"),
    "a path": (lambda: hm.Dataset("a.json"), "hardmax.load"),
    "a dict": (lambda: hm.Dataset({}), "sequences are a list of arrays"),
    "a flat list": (lambda: hm.Dataset([[1, 2]]), "sequence 1, token 1.*list of numbers"),
    "text as a token": (lambda: hm.Dataset([["12"]]), "sequence 1, token 1.*list of numbers"),
    "NaN": (lambda: hm.Dataset(np.full((1, 2, 3), np.nan)), "sequence 1, token 1 holds NaN.*fill"),
    "masked entries": (
        lambda: hm.Dataset(np.ma.array([[[1.0, 2.0]]], mask=[[[0, 1]]])),
        "1 of 2 entries are masked",
    ),
    "masked entries of one": (
        lambda: hm.Dataset([np.ones((1, 2)), np.ma.array([[1.0, 2.0]], mask=[[0, 1]])]),
        "sequence 2: 1 of 2 entries are masked",
    ),
    "a masked entry": (
        lambda: hm.Dataset([[[np.ma.masked, 1]]]), "sequence 1, token 1.*is not a number",
    ),
    "a set": (lambda: hm.Dataset({((0, 1),)}), "no order"),
    "no coordinates": (lambda: hm.Dataset(np.zeros((2, 3, 0))), "at least one coordinate"),
    "a large float": (
        lambda: hm.Dataset([[[0, 1]], [[1.0, -(2.0**1000)]]]),
        r"sequence 2, token 1, coordinate 2: .* 2\^1000 or more",
    ),
    "a large array": (
        lambda: hm.Dataset(np.full((1, 2, 3), 2.0**1000)), r"sequence 1, token 1, coordinate 1: ",
    ),
    "a large integer": (lambda: hm.Dataset([[[2**1000]]]), r"2\^1000 or more"),
    "too many digits": (lambda: hm.Dataset([[[Fraction(1, 10**10000)]]]), "more than 10000 digits"),
    "a data set": (lambda: hm.Dataset(DATA), "with_sets"),
    "text as labels": (lambda: hm.Dataset(X, "abc"), "3 labels for 12 sequences"),
    "a number as labels": (lambda: hm.Dataset(X, 3), "one label for each"),
    "a dict as labels": (lambda: hm.Dataset(X, {0: "a"}), "one label for each"),
    "labels in a column": (lambda: hm.Dataset(X, Y[:, None]), r"one axis, \(N,\)"),
    "a set as labels": (lambda: hm.Dataset(X, {*range(12)}), "no order"),
    "half a character as a label": (
        lambda: hm.Dataset(X[:2], ["a", "\ud800"]), "label of sequence 2.*half a surrogate pair",
    ),
    "half a character as an id": (
        lambda: hm.Dataset(X[:1], ids=["\ud800"]), "id of sequence 1.*half a surrogate pair",
    ),
    "a list as an id": (lambda: hm.Dataset(X[:1], ids=[[1]]), "id of sequence 1 is a list"),
    "a number as ids": (lambda: hm.Dataset(X, ids=3), "one id for each"),
    "NaN as a label": (lambda: hm.Dataset(X[:1], [float("nan")]), "write None"),
    "sets in a list": (lambda: hm.Dataset(X, Y, [[0, 0]]), "a dict of label"),
    "sets of text": (lambda: hm.Dataset(X, Y, {0: "x"}), "Halfspace or Polyhedron"),
    "an unknown kind": (lambda: hm.Dataset(X, Y, {0: {"kind": "bal"}}), "known are point, ball"),
    "sets of one name": (lambda: hm.Dataset(X, Y, {1: [0, 0], "1": [1, 0]}), "one name, '1'"),
    "lifted sets": (
        lambda: hm.Dataset(X, Y, hm.Dataset(X, Y, positional=True).sets, positional=True),
        "sets=other",
    ),
    "no such index": (lambda: DATA["a"], "a slice"),
    "no part": (lambda: DATA[5:5], "at least one sequence"),
    "split too far": (lambda: DATA.split(1), "between 0 and 1"),
    "sequences without labels": (lambda: hm.build(X), r"build\(sequences, labels\)"),
    "labels twice": (lambda: hm.build(DATA, Y), "leave the others out"),
    "a model to build": (lambda: hm.build(MODEL), "takes a data set"),
    "an unknown strategy": (
        lambda: hm.build(DATA, "poppy"),
        "known are paper, peel, cover, fold, learn, auto",
    ),
    "a seed of text": (lambda: hm.build(DATA, seed="1"), "an integer"),
    "a negative seed": (lambda: hm.build(DATA, "cover", seed=-1), "seed is -1.*not negative"),
    "a seed of text to split": (lambda: DATA.split(0.5, seed="1"), "seed is '1'.*an integer"),
    "a number as a point": (lambda: hm.Point(3), "'3' is not a list of numbers"),
    "swapped": (lambda: hm.certify(DATA, MODEL), r"certify\(model, data\)"),
    "an array to certify": (lambda: hm.certify(MODEL, X), r"hardmax.Dataset\(sequences, labels\)"),
    "no model": (lambda: hm.certify(None, DATA), "give a Transformer or its file"),
    "float32": (lambda: hm.certify(MODEL, DATA, executor="float32"), "float64 has"),
    "no path to load": (lambda: hm.load(3), "not the name of a data file"),
    "no path to save": (lambda: MODEL.save(3), "not the name of a file"),
    "a descriptor": (lambda: hm.Transformer.load(0), "not the name of a file"),
    "a model's file as blocks": (lambda: hm.Transformer("m.npz"), "Transformer.load"),
    "numbers as blocks": (lambda: hm.Transformer([1]), "give RankOneBlock or Block"),
    "a number to run": (lambda: MODEL(3), "give a Dataset or arrays"),
    "NaN to run": (lambda: MODEL([[(0, 1)], [(0, 1), (1, np.nan)]]), "sequence 2, token 2 holds"),
    "complex numbers to run": (lambda: MODEL(np.ones((1, 2, 2)) * 1j), "not an array of numbers"),
    "masked entries to run": (
        lambda: MODEL(np.ma.array(np.ones((1, 2, 2)), mask=True)), "4 of 4 entries are masked",
    ),
    "a number to put out": (lambda: MODEL.outputs(3), "give a Dataset or arrays"),
    "several to trace": (lambda: MODEL.trace(X), "give one"),
    "a token to trace": (lambda: MODEL.trace(X[0][0]), "list of tokens"),
    "another dimension": (lambda: MODEL.outputs([[(1, 2, 3)]]), "the model has dimension 2"),
    "no positions": (
        lambda: hm.build(hm.Dataset(X, Y, positional=True)).trace(X[0]), "positional=True",
    ),
    "no sets": (lambda: hm.predict((1, 2), None), "a dict of label"),
    "no output": (lambda: hm.predict(3, DATA), "N times d"),
    "outputs of another dimension": (lambda: hm.predict((1,), DATA), "dimension 2"),
    "a model without sets": (lambda: hm.Transformer(list(MODEL)).predict(X), "sets=data"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_types_get_a_sentence_that_names_the_fix(case):
    call, message = WRONG[case]
    with pytest.raises(InputError, match=message) as found:
        call()
    assert "\n" not in str(found.value)
