"""How tokens of a file become tokens of a model (docs/certificate.md, section 3)."""

from __future__ import annotations

import json
import pickle
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hardmax as hm
from hardmax.certify.membership import surely_inside
from hardmax.engine.forward.points import EnclosedPoints
from hardmax.labels import (
    Ball,
    Halfspace,
    Point,
    Polyhedron,
    Separation,
    argmax_sets,
    separate,
)

NEAR = st.one_of(
    st.integers(-2, 2).map(F),
    st.builds(lambda k, s: k + s * F(1, 2**200), *[st.integers(-1, 1)] * 2),
)
READINGS = st.builds(
    hm.Reading,
    positional=st.booleans(),
    window=st.integers(1, 6),
    dilations=st.lists(st.integers(1, 9), min_size=1, max_size=3),
    stride=st.integers(1, 6),
    lift=st.integers(0, 3),
)
NUMBERS = st.one_of(
    st.integers(-3, 3), st.floats(-9, 9), st.integers(2**53, 2**70), st.just(F(1, 3)),
    st.fractions(max_denominator=10**30), st.builds(lambda k: 1 + k * F(1, 2**200), st.integers()),
)  # fmt: skip


def sequences(numbers=NUMBERS):
    def of(d):
        token = st.lists(numbers, min_size=d, max_size=d)
        return st.lists(st.lists(token, min_size=1, max_size=7), min_size=1, max_size=5)

    return st.integers(1, 3).flatmap(of)


def literal(tokens, how):
    """The definition, token by token."""
    W, n, out = how.window, len(tokens), []
    far = sorted({delta * (k - (W - 1) // 2) for delta in how.dilations for k in range(W)})
    for i in range(0, n, how.stride):
        z = [F(x) for distance in far for x in tokens[min(max(i + distance, 0), n - 1)]]
        if how.positional:
            z.append(F(len(out) + 1))
        out.append((*z, *[F(0)] * how.lift))
    return tuple(out)


def same(data, other):
    return (
        list(data) == list(other)
        and data.sets == other.sets
        and data.labels == other.labels
        and data.ids == other.ids
        and data.reading == other.reading
    )


@given(sequences(), READINGS)
def test_the_definition(given_tokens, how):
    names = ["ab"[j % 2] for j in range(len(given_tokens))]
    data = hm.Dataset(given_tokens, names, reading=how)
    assert list(data) == [literal(Z, how) for Z in given_tokens]
    assert data.dimension == how.dimension(len(given_tokens[0][0])) == data.tokens.shape[1]
    assert data.offsets.tolist()[-1] == len(data.tokens)


@given(sequences(st.sampled_from([F(1, 10), F(3, 10), F(7, 5), F(2)])), READINGS)
def test_decimals_of_one_denominator(given_tokens, how):
    """What files with decimals give: integers over one denominator."""
    text = json.dumps({"sequences": [
        {"tokens": [[float(x) for x in z] for z in Z], "label": "a"} for Z in given_tokens
    ]})  # fmt: skip
    from hardmax.formats.data.json_file import read

    data = read(text.encode(), "exact", {}).read_as(how)
    assert list(data) == [literal(Z, how) for Z in given_tokens]
    floats = [[float(x) for x in z] for Z in data for z in Z]
    assert np.array_equal(data.tokens.values, floats)


@given(sequences(), READINGS, READINGS, st.data())
def test_read_again_taken_apart_copied(given_tokens, how, then, draw):
    names = [f"{j % 3}" for j in range(len(given_tokens))]
    plain = hm.Dataset(given_tokens, names)
    data = plain.read_as(how)
    assert same(data.read_as(then), plain.read_as(then))
    assert same(data.read_as(hm.Reading()), plain)
    rows = draw.draw(st.lists(st.integers(0, len(data) - 1), min_size=1))
    assert same(data[rows], plain[rows].read_as(how))
    assert same(data[rows].read_as(then), plain[rows].read_as(then))
    assert same(pickle.loads(pickle.dumps(data)).read_as(then), plain.read_as(then))
    assert list(plain) == [literal(Z, hm.Reading()) for Z in given_tokens]


@pytest.mark.parametrize("name", ["d.json", "d.json.gz", "d.npz"])
@pytest.mark.parametrize("label_sets", ["points", "argmax"])
def test_saved_data_read_the_same(tmp_path, name, label_sets):
    how = hm.Reading(True, 3, (1, 2), 2, 1, label_sets)
    data = hm.Dataset([[(1, 2), (3, 0.5), (5, 6)], [(7, 8)], [(0, 0)]], ["b", 3, "a"], reading=how)
    data.save(tmp_path / name)
    assert list(hm.load(tmp_path / name, reading=how)) == list(data)
    assert hm.load(tmp_path / name, reading=how).sets == data.sets
    assert list(hm.load(tmp_path / name)) == list(data.read_as(hm.Reading()))


def test_windows_of_a_short_sequence_repeat_its_ends():
    data = hm.Dataset([[(5,)], [(1,), (2,)]], ["a", "b"]).windowed(4, (1, 10), stride=9)
    assert data.reading.offsets == (-10, -1, 0, 1, 2, 10, 20)
    assert data[0] == ((5,) * 7,)
    assert data[1] == ((1, 1, 1, 2, 2, 2, 2),)


@pytest.mark.parametrize(
    ("how", "tokens"),
    [
        ({"window": 3}, ((5, 5, 7), (5, 7, 9), (7, 9, 9))),
        ({"window": 2}, ((5, 7), (7, 9), (9, 9))),
        ({"window": 2, "stride": 2, "positional": True, "lift": 1}, ((5, 7, 1, 0), (9, 9, 2, 0))),
    ],
)
def test_the_examples_of_the_specification(how, tokens):
    data = hm.Dataset([[(5,), (7,), (9,)]], ["a"], reading=hm.Reading(**how))
    assert data[0] == tokens


def test_label_sets_are_extended():
    sets = {"p": Point((1,)), "h": Halfspace((1,), 3), "b": Ball((-5,), 1)}
    data = hm.Dataset([[(5,)]], ["p"], sets, reading=hm.Reading(positional=True, window=2, lift=1))
    assert data.sets["p"].point == (1, 0, 0, 0)
    assert data.sets["h"].contains((F(4), F(-9), F(9), F(7)))
    assert data.sets["b"].contains((F(-5), F(-9), F(9), F(7)))
    assert data.given_sets["h"] == sets["h"]


# -- argmax ---------------------------------------------------------------------------------------


@given(st.integers(1, 5), st.data())
def test_the_cones(count, draw):
    names = [str(k) for k in range(count)]
    data = hm.Dataset([[(0,)]] * count, names, label_sets="argmax")
    assert data.dimension == count
    x = draw.draw(st.lists(st.integers(-2, 2).map(F), min_size=count, max_size=count))
    inside = [name for name, cone in data.sets.items() if cone.contains(tuple(x))]
    winners = [names[k] for k in range(count) if x[k] == max(x)]
    assert inside == (winners if len(winners) == 1 else [])
    for name, cone in data.sets.items():
        assert cone.contains(cone.witness())
        assert name == names[int(np.argmax(cone.witness()))]


@given(st.integers(2, 5), st.integers(0, 2), st.data())
def test_a_cone_is_the_polyhedron_of_its_rows(count, more, draw):
    c = draw.draw(st.integers(0, count - 1))
    cone = argmax_sets([str(k) for k in range(count)])[str(c)].lifted(more)
    plain = Polyhedron(cone.A, cone.b)  # that these rows are a cone, it does not know
    assert (cone, plain) == (plain, cone)
    assert cone.to_json() == plain.to_json()
    assert cone.dimension == plain.dimension == count + more
    assert cone.contains(cone.witness())
    x = tuple(draw.draw(st.lists(NEAR, min_size=count + more, max_size=count + more)))
    assert cone.contains(x) == plain.contains(x)
    assert cone.distance(x) == plain.distance(x)
    values = np.array([[float(a) for a in x]])
    error = np.array([[float(abs(F(v) - a)) * 2 for v, a in zip(values[0].tolist(), x)]])
    for radius in (error, error + 1):
        sure = surely_inside(cone, EnclosedPoints(values, radius))[0]
        assert cone.contains(x) or not sure
        assert not (sure and radius[0, 0] >= 1 and max(x[:count]) - min(x[:count]) < 1)
    far = np.array([[9.0 if k == c else 0.0 for k in range(count + more)]])
    assert surely_inside(cone, EnclosedPoints(far, np.full(far.shape, 4.0)))[0]
    assert not surely_inside(cone, EnclosedPoints(far, np.full(far.shape, 4.5)))[0]


def test_two_cones_are_told_apart_and_shifted_copies_are_not_equal():
    one, two = argmax_sets("ab").values()
    assert one != two
    assert one.lifted(1) != one
    assert {one, two, one.lifted(0)} == {one, two}
    assert pickle.loads(pickle.dumps(one)) == one
    assert isinstance(separate(one, two), Separation)


def test_classes_are_sorted_and_parts_keep_them():
    data = hm.Dataset([[(0, 0, 0)], [(1, 0, 0)], [(2, 0, 0)]], [10, 9, "b"], label_sets="argmax")
    assert [*data.sets] == ["9", "10", "b"]
    part = data[1:]
    assert part.sets == data.sets
    assert part.read_as(hm.Reading()).sets == data.read_as(hm.Reading()).sets
    with pytest.raises(hm.InputError, match="no sequence has '10'"):
        part.save("part.json")
    test = hm.Dataset([[(5, 5, 5)]], [10], sets=data, label_sets="argmax")
    assert test.sets == data.sets


@pytest.mark.parametrize("strategy", ["paper", "peel", "cover", "fold", "auto"])
def test_every_strategy_reaches_the_cones(strategy):
    rng = np.random.default_rng(1)
    X, y = rng.integers(-4, 5, (9, 4, 1)), [0, 1, 2] * 3
    data = hm.Dataset(X, y, label_sets="argmax").windowed(3)
    model = hm.build(data, strategy=strategy)
    assert model.reading == data.reading
    assert hm.certify(model, data).proved
    assert model.predict(data) == y
    outputs = model.outputs(data)
    assert all(np.argmax(x[:3]) == c for x, c in zip(outputs, y, strict=True))


def test_argmax_by_definition():
    """The engine and the literal evaluator judge alike, ties included."""
    identity = hm.Transformer([hm.RankOneBlock.of(2)])
    for token, verdict in [((1, 0), "proved"), ((1, 1), "refuted"), ((0, 1), "refuted")]:
        data = hm.Dataset([[token], [(0, 9)]], ["a", "b"], label_sets="argmax")
        for evaluator in ("engine", "definition"):
            assert hm.certify(identity, data, evaluator=evaluator).verdict == verdict


def test_labels_that_are_not_sorted_in_a_meta(tmp_path):
    data = hm.Dataset([[(0,)], [(1,)]], ["a", "b"], label_sets="argmax")
    model = hm.build(data)
    for labels in (["b", "a"], ["a", "a"], ["a", 1], {"a": 0}, [], "ab", ["a", "b", "c"]):
        model.meta["labels"] = labels
        with pytest.raises(hm.InputError, match="sorted labels"):
            model.predict([[(0, 0)]])


# -- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "place"),
    [
        ({"window": 0}, "'window' is 0"),
        ({"window": 2.0}, "'window'"),
        ({"window": True}, "'window'"),
        ({"window": 1 << 21}, "neighbours"),
        ({"window": 1 << 19, "dilations": (1, 2, 3)}, "neighbours"),
        ({"dilations": ()}, "'dilations' is empty"),
        ({"dilations": (0,)}, "'dilations' is 0"),
        ({"dilations": "1"}, "'dilations'"),
        ({"dilations": (1, None)}, "'dilations'"),
        ({"stride": -1}, "'stride'"),
        ({"stride": 10**9}, "'stride'"),
        ({"lift": "3"}, "'lift'"),
        ({"positional": 1}, "'positional'"),
        ({"label_sets": "cones"}, "'label_sets'"),
    ],
)
def test_what_is_no_reading(wrong, place):
    with pytest.raises(hm.InputError, match=place):
        hm.Reading(**wrong)


@pytest.mark.parametrize(
    "how",
    [
        hm.Reading(lift=10**9 - 1),
        hm.Reading(window=1 << 20),
        hm.Reading(window=1 << 18, dilations=(1, 999_999_999)),
    ],
)
def test_too_large_is_refused_before_memory_is_asked_for(how):
    data = hm.Dataset(np.zeros((100, 100, 4)), ["a"] * 100)
    with pytest.raises(hm.InputError, match="allowed are"):
        data.read_as(how)


def test_too_many_numbers_are_refused_before_memory_is_asked_for():
    data = hm.Dataset(np.zeros((1000, 100, 4)), ["a"] * 1000)
    with pytest.raises(hm.InputError, match="100000 tokens of 40000 coordinates"):
        data.read_as(hm.Reading(window=10_000))


def test_many_labels_are_too_many_cones():
    data = hm.Dataset([[(k,)] for k in range(5000)], range(5000))
    with pytest.raises(hm.InputError, match="5000 labels"):
        data.read_as(hm.Reading(label_sets="argmax"))


def test_label_sets_of_their_own_are_no_cones(tmp_path):
    with pytest.raises(hm.InputError, match="of their own"):
        hm.Dataset([[(1, 2)]], ["a"], {"a": [0, 0]}, label_sets="argmax")
    data = hm.Dataset([[(1, 2)]], ["a"], {"a": [0, 0]})
    with pytest.raises(hm.InputError, match="of their own"):
        data[:1].read_as(hm.Reading(label_sets="argmax"))
    data.save(tmp_path / "d.json")
    with pytest.raises(hm.InputError, match=r"d\.json: .* of their own"):
        hm.load(tmp_path / "d.json", label_sets="argmax")
    (tmp_path / "d.csv").write_text("sequence,label,x1\ns,a,1\n")
    (tmp_path / "labels.json").write_text('{"a": {"kind": "point", "point": [0]}}')
    with pytest.raises(hm.InputError, match=r"d\.csv: .* of their own"):
        hm.load(tmp_path / "d.csv", label_sets="argmax")


def test_what_was_not_read_yet_is_read_as_the_model_reads():
    X, y = [[(1,), (2,), (5,)], [(3,), (4,)]], ["a", "b"]
    data = hm.Dataset(X, y, reading=hm.Reading(window=3, lift=1))
    model = hm.build(data)
    plain = hm.Dataset(X, y)
    assert model.outputs(X) == model.outputs(plain) == model.outputs(data)
    assert model.predict(X) == model.predict(plain) == y
    assert (model(plain) == model(data)).all()
    assert hm.certify(model, plain).to_json() == hm.certify(model, data).to_json()
    assert model.trace(X[0]) == model.trace(data[0])
    assert model.trace(X[0])[0] == data[0]


def test_data_read_in_another_way_stay_as_they_are():
    X, y = [[(1,), (2,), (5,)], [(3,), (4,)]], ["a", "b"]
    model = hm.build(hm.Dataset(X, y, reading=hm.Reading(window=3)))
    with pytest.raises(hm.InputError, match="dimension"):
        hm.certify(model, hm.Dataset(X, y, positional=True))


# -- commands -------------------------------------------------------------------------------------


@pytest.fixture
def series(tmp_path):
    """Two series with the same values in another order, and one with another label."""
    path = tmp_path / "d.csv"
    rows = [("s", "up", "0 1/3 2 3"), ("t", "down", "3 2 1/3 0"), ("u", "up", "0 0 1 5")]
    lines = [f"{name},{label},{x}" for name, label, xs in rows for x in xs.split()]
    path.write_text("\n".join(["sequence,label,x1", *lines, ""]))
    return path


@pytest.mark.parametrize("label_sets", ["points", "argmax"])
def test_the_commands_read_as_the_model(run, tmp_path, series, label_sets):
    model, cert = tmp_path / "m.npz", tmp_path / "c.json"
    assert run("build", series, "-o", model).code == 1  # equal measures
    options = ("--window", 3, "--dilation", "1,2", "--stride", 2, "--label-sets", label_sets)
    built = run("build", series, "-o", model, *options, "--certificate", cert, "--test", series)
    assert built.code == 0
    assert "3 of 3 sequences right" in built.out
    assert run("verify", model, series).code == 0
    assert run("verify", model, series, "--definition", "--radius").code == 0
    assert run("verify", model, series, "--labels-of", model).code == 0
    found = json.loads(cert.read_text())["reading"]
    expected = {"window": 3, "dilations": [1, 2], "stride": 2}
    assert found == expected | ({"label_sets": "argmax"} if label_sets == "argmax" else {})
    out = json.loads(run("run", model, series, "--exact", "--trace", "-o", "-").out)
    assert [result["label"] for result in out["results"]] == ["up", "down", "up"]
    how = hm.Reading(window=3, dilations=(1, 2), stride=2)
    start = [[F(x) for x in z] for z in out["results"][0]["trace"][0]]
    assert start == [[*z] for z in literal([[0], [F(1, 3)], [2], [3]], how)]
    info = run("info", model).out
    assert "window" in info
    assert "1, 2" in info
    for to in ("smt2", "rocq"):
        script = tmp_path / f"m.{to}"
        assert run("export", model, series, "--to", to, "-o", script).code == 0
    assert run("report", model, series, "-o", tmp_path / "r.html").code == 0


def test_a_part_is_judged_by_the_sets_of_the_whole_where_it_is_asked_for(run, tmp_path):
    table = "sequence,label,x1\n" + "".join(f"{k},{name},{k}\n" for k, name in enumerate("abc"))
    (tmp_path / "all.csv").write_text(table)
    (tmp_path / "part.csv").write_text(table.replace("1,b,1\n", ""))
    model = tmp_path / "m.npz"
    assert run("build", tmp_path / "all.csv", "-o", model, "--label-sets", "argmax").code == 0
    alone = run("verify", model, tmp_path / "part.csv")
    assert alone.code == 1
    assert "here coordinate 1 of 2, there coordinate 1 of 3" in alone.err
    assert run("verify", model, tmp_path / "part.csv", "--labels-of", model).code == 0
    out = json.loads(run("run", model, tmp_path / "part.csv", "--exact", "-o", "-").out)
    assert [result["label"] for result in out["results"]] == ["a", "c"]


def test_data_without_labels_are_read_too(run, tmp_path, series):
    model, plain = tmp_path / "m.npz", tmp_path / "p.json"
    assert run("build", series, "-o", model, "--window", 2, "--label-sets", "argmax").code == 0
    plain.write_text('{"sequences": [{"tokens": [[0], [1], [5]]}]}')
    assert run("run", model, plain).code == 0


@pytest.mark.parametrize(
    ("options", "place"),
    [
        (("--dilation", "1,4"), "--window"),
        (("--window", 3, "--dilation", "1;4"), "--dilation"),
        (("--window", 3, "--dilation", "0"), "dilations"),
        (("--window", 0), "--window"),
        (("--stride", 0), "--stride"),
        (("--window", 10**7), "neighbours"),
        (("--label-sets", "cones"), "--label-sets"),
    ],
)
def test_options_that_make_no_sense(run, tmp_path, series, options, place):
    found = run("build", series, "-o", tmp_path / "m.npz", *options)
    assert found.code == 2
    assert place in found.err
    assert not (tmp_path / "m.npz").exists()


@pytest.mark.parametrize(
    "meta", [{"window": 2.5}, {"dilations": [2, 1]}, {"lift": -1}, {"label_sets": ["argmax"]}]
)
def test_a_meta_that_says_nonsense(run, tmp_path, series, meta):
    model = hm.build(hm.load(series, positional=True))
    model.meta |= meta
    model.save(tmp_path / "m.npz")
    for command in ("verify", "run"):
        found = run(command, tmp_path / "m.npz", series)
        assert found.code == 2
        assert "the model's meta" in found.err
        assert len(found.err.splitlines()) == 1
    assert run("info", tmp_path / "m.npz").code == 2


def test_default_sets_of_other_data_are_no_sets_of_their_own():
    """Test data that take the label names of the training data are read as the model's data."""
    train = hm.Dataset([[(k,), (k + 1,)] for k in range(12)], ["low"] * 6 + ["high"] * 6)
    model = hm.build(train, strategy="learn")
    assert model.reading.label_sets == "argmax"
    again = hm.Dataset(train.sequences, train.labels, sets=train)
    for data in (again, hm.Dataset(train.sequences, train.labels, sets=again)):
        assert model.predict(data) == train.labels
        assert hm.certify(model, data).proved
    own = hm.Dataset([[(0,)], [(9,)]], ["a", "b"], sets={"a": hm.Point((0,)), "b": hm.Point((1,))})
    with pytest.raises(hm.InputError, match="of their own"):
        hm.Dataset([[(0,)]], ["a"], sets=own).read_as(hm.Reading(label_sets="argmax"))


def test_info_counts_the_labels_of_argmax(tmp_path, capsys):
    from hardmax.cli.main import exit_code

    data = hm.Dataset([[(0,)], [(4,)], [(9,)]], ["a", "b", "c"], label_sets="argmax")
    hm.build(data, strategy="peel").save(tmp_path / "model.npz")
    assert exit_code(["info", str(tmp_path / "model.npz")]) == 0
    line = next(x for x in capsys.readouterr().out.splitlines() if x.split()[:1] == ["labels"])
    assert line.split() == ["labels", "3"]
