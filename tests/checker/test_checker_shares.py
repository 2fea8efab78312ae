"""Samples and parts: nothing is proved before every sequence was looked at; parts make a whole."""

import importlib.util
import json
from fractions import Fraction

import definition
import numpy as np
import pytest
from checker_files import ROOT, certificate, data_file, identity, model_file, run, verdict

_specification = importlib.util.spec_from_file_location("join", ROOT / "tools" / "join_parts.py")
join_parts = importlib.util.module_from_spec(_specification)
_specification.loader.exec_module(join_parts)

COUNT = 11
SEQUENCES = [[[k % 2]] for k in range(COUNT)]
LABELS = ["ab"[k % 2] for k in range(COUNT)]
MODEL = model_file([identity(1)])
DATA = data_file(SEQUENCES, LABELS)


@pytest.fixture
def files(tmp_path):
    (tmp_path / "m.npz").write_bytes(MODEL)
    (tmp_path / "d.json").write_bytes(DATA)
    (tmp_path / "c.json").write_text(json.dumps(certificate(MODEL, DATA)))
    return tmp_path


def answers(capsys, folder, k, *more, data="d.json"):
    """What each of k parts prints, and its exit code."""
    found = []
    for i in range(1, k + 1):
        code, out, err = run(capsys, folder / "m.npz", folder / data, *more, "--part", f"{i}/{k}")
        assert err == ""
        found.append((code, out))
    return found


@pytest.mark.parametrize("size", [1, 4, COUNT - 1])
def test_a_sample_proves_nothing(files, capsys, size):
    code, out, _ = run(capsys, files / "m.npz", files / "d.json", "--sample", size)
    assert code == 3
    first = out.splitlines()[0]
    assert first.startswith(f"undecided: a sample: {size} of {COUNT} sequences were checked")
    assert run(capsys, files / "m.npz", files / "d.json", "--sample", size)[1] == out


@pytest.mark.parametrize("size", [COUNT, 10**6])
def test_a_sample_of_all_is_a_proof(files, capsys, size):
    code, out, _ = run(capsys, files / "m.npz", files / "d.json", "--sample", size)
    assert (code, out.splitlines()[0]) == (0, "proved")


@pytest.mark.parametrize("size", range(1, COUNT + 1))
def test_the_sample_is_the_one_that_is_stated(tmp_path, capsys, size):
    """Sequence 1 + floor(j J / K), j = 0 … K - 1: what is wrong elsewhere is not seen."""
    (tmp_path / "m.npz").write_bytes(MODEL)
    sample = {1 + j * COUNT // size for j in range(size)}
    for wrong in range(1, COUNT + 1):
        sequences = [[[5]] if k + 1 == wrong else Z for k, Z in enumerate(SEQUENCES)]
        (tmp_path / "d.json").write_bytes(data_file(sequences, LABELS))
        code, out, _ = run(capsys, tmp_path / "m.npz", tmp_path / "d.json", "--sample", size)
        assert code == (1 if wrong in sample else 3), out


@pytest.mark.parametrize("k", [2, 3, 5, COUNT, COUNT + 4])
@pytest.mark.parametrize("more", [(), ("--certificate", "c.json")], ids=["plain", "certificate"])
def test_parts_make_a_whole(files, capsys, k, more):
    more = [files / x if x == "c.json" else x for x in more]
    found = answers(capsys, files, k, *more)
    assert {code for code, _ in found} == {3}
    code, text = join_parts.join([out for _, out in found])
    assert (code, text.splitlines()[0]) == (0, "proved")
    whole = run(capsys, files / "m.npz", files / "d.json", *more)[1].splitlines()
    assert text.splitlines()[:3] == whole[:3]


def test_each_sequence_is_in_one_part(tmp_path, capsys):
    (tmp_path / "m.npz").write_bytes(MODEL)
    for wrong in range(COUNT):
        sequences = [[[5]] if k == wrong else Z for k, Z in enumerate(SEQUENCES)]
        (tmp_path / "d.json").write_bytes(data_file(sequences, LABELS))
        found = answers(capsys, tmp_path, 3)
        assert [code for code, _ in found].count(1) == 1
        assert found[wrong % 3][0] == 1
        code, text = join_parts.join([out for _, out in found])
        assert (code, text.partition(":")[0]) == (1, "refuted")


def changed(out, **fields):
    first, _, rest = out.partition("\n")
    return f"{first}\n{json.dumps(json.loads(rest) | fields)}\n"


def test_what_is_no_whole_is_refused(files, tmp_path, capsys):
    one, two, three = (out for _, out in answers(capsys, files, 3))
    half = [out for _, out in answers(capsys, files, 2)]
    (tmp_path / "e.json").write_bytes(DATA + b" ")
    other = answers(capsys, files, 3, data="e.json")[2][1]
    table = json.loads(three.partition("\n")[2])
    sample = run(capsys, files / "m.npz", files / "d.json", "--sample", 3)[1]
    whole = run(capsys, files / "m.npz", files / "d.json")[1]
    bad = [
        [], [one], [one, two], [one, two, two], [one, two, three, three], [half[0], two, three],
        [one, two, other], [one, two, sample], [one, two, whole], [one, two, ""],
        [one, two, "undecided: a coordinate needs more than 200 bits\n"],
        [one, two, three[: len(three) // 2]],
        [one, two, changed(three, checked=table["checked"] - 1)],
        [one, two, changed(three, checked=True)],
        [one, two, changed(three, share=["part", 3, 4])],
        [one, two, changed(three, share=["part", 3, "3"])],
        [one, two, changed(three, extra=1)],
        [changed(x, lines=["sequences 5"]) for x in (one, two, three)],
        [changed(x, lines=[]) for x in (one, two, three)],
        [half[0]] * 2,
    ]  # fmt: skip
    for k, texts in enumerate([*bad, [one, two, three]]):
        paths = [tmp_path / f"{k}-{i}" for i in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text)
        code = join_parts.main([str(path) for path in paths])
        captured = capsys.readouterr()
        if k < len(bad):
            assert (code, captured.out, captured.err.count("\n")) == (2, "", 1), texts
        else:
            assert (code, captured.err) == (0, "")


@pytest.mark.parametrize("words", [
    ["--part", "0/3"], ["--part", "4/3"], ["--part", "3"], ["--part", "1/0"], ["--part", "1/2/3"],
    ["--part", "-1/3"], ["--part", "1 / 3"], ["--part"], ["--sample", "0"], ["--sample", "-3"],
    ["--sample", "1/3"], ["--sample", "1.5"], ["--sample", "\u0663"], ["--part", "1/2", "--sample",
    "3"], ["--sample", "3", "--sample", "3"], ["--parts", "1/2"],
])  # fmt: skip
def test_unusable_shares(files, capsys, words):
    code, out, err = run(capsys, files / "m.npz", files / "d.json", *words)
    assert (code, out, err.count("\n")) == (2, "", 1)


@pytest.fixture(scope="module")
def tents():
    """A model of thin tents, points, and how high each is lifted.

    A tent adds max(0, 1 - |<u,x> - c| / h) to the third coordinate, which no u reads. Some normals
    are long numbers, some short."""
    rng = np.random.default_rng(3)
    h = Fraction(1, 2**6)
    normals = [[*x, 0.0] for x in (rng.integers(-9, 10, size=(40, 2)) / 8).tolist()]
    normals[::2] = [[*x, 0.0] for x in rng.normal(size=(20, 2)).tolist()]
    tents = [(u, Fraction(c)) for u, c in zip(normals, (rng.normal(size=40)).tolist(), strict=True)]
    blocks = [
        identity(3, u=u, b=place * h - c, w=[0, 0, weight / h])
        for u, c in tents
        for place, weight in ((1, 1), (0, -2), (-1, 1))
    ]
    points = [[*x, 0] for x in (rng.integers(-(2**9), 2**9, size=(600, 2)) / 2**8).tolist()]
    lifts = [
        sum(max(0, 1 - abs(sum(map(Fraction.__mul__, map(Fraction, u), map(Fraction, x))) - c) / h)
            for u, c in tents)
        for x in points
    ]  # fmt: skip
    assert min(sum(map(bool, lifts)), lifts.count(0)) > 50
    return model_file(blocks), points, lifts


def labelled(points, lifts):
    """The data set in which each point must be lifted just so."""
    heights = sorted({*lifts})
    tiny = Fraction(1, 2**200)
    sets = {
        str(k): {"kind": "box", "lower": [-9, -9, x - tiny], "upper": [9, 9, x + tiny]}
        for k, x in enumerate(heights)
    }
    sequences = [[[Fraction(a) for a in x]] for x in points]
    return data_file(sequences, [str(heights.index(x)) for x in lifts], sets)


def test_many_points_beside_thin_tents(tents):
    model, points, lifts = tents
    code, lines = verdict(model, labelled(points, lifts))
    assert (code, lines[0]) == (0, "proved"), lines


@pytest.mark.parametrize("wrong", [0, 1, 57, 200, 598, 599])
def test_one_wrong_point_among_many(tents, wrong):
    model, points, lifts = tents
    other = lifts.copy()
    other[wrong] = next(x for x in lifts if x != lifts[wrong])
    code, reason = verdict(model, labelled(points, other))
    assert (code, reason.split(":")[0]) == (1, f"sequence {wrong + 1}")


NORMALS = [1, 3, 2**60 + 1, 7, -(2**75) - 1, 5, Fraction(1, 3), 2**20]


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(1, 2**40), Fraction(10**30)])
@pytest.mark.parametrize("end", [0, 1])
def test_the_edge_of_a_slab_and_what_lies_next_to_it(scale, end):
    """Among points that are far away. Past a tent (end = 0) nothing moves, past a ramp all does."""
    h = scale / 2**20
    steps = ((1, 1), (0, -2), (-1, 1)) if end == 0 else ((1, 1), (0, -1))
    blocks = [
        identity(2, u=[c, 0], b=place * h * abs(c), w=[0, weight / (h * abs(c))])
        for c in NORMALS
        for place, weight in steps
    ]
    tiny = scale / 2**200
    far = [-scale * (k + 1) for k in range(100)] + [scale * (k + 1) for k in range(100)]

    def lift(x):
        ramps = [min(1, max(0, 1 + (x if c > 0 else -x) / h)) for c in NORMALS]
        return len(NORMALS) * max(0, 1 - abs(x) / h) if end == 0 else sum(ramps)

    for x in (h, -h, h - tiny, tiny - h, h + tiny, -h - tiny, 0, tiny, -tiny, h / 2, -h / 3):
        points = [*far, x, *far]
        assert verdict(model_file(blocks), edge(points, [lift(y) for y in points]))[0] == 0
        wrong = [lift(y) for y in points]
        wrong[len(far)] += tiny
        assert verdict(model_file(blocks), edge(points, wrong))[0] == 1


def edge(points, lifts):
    """Each point (x, 0) must become (x, its lift)."""
    sets = {str(k): {"kind": "point", "point": [x, y]} for k, (x, y) in enumerate(
        zip(points, lifts, strict=True))}  # fmt: skip
    return data_file([[[x, 0]] for x in points], list(sets), sets)


def test_few_points_move_often_and_far():
    """Each block reads what the one before has moved; all but a few points rest in all of them."""
    idle = identity(2, u=[1, 2], b=-(10**9), w=[1, 1])
    steps = [
        identity(2, u=[3, 0], b=-3000, w=[0, 1]),
        identity(2, u=[0, "1/7"], b=-1, w=[1, "1/3"]),
        identity(2, u=[1, 1], b=-(10**6), w=["-1/5", 0]),
        identity(2, u=[-1, 0], b=-1, w=[0, -8]),
    ]
    blocks = [idle, *steps, idle, *steps[::-1], idle, *steps]
    points = [[k, 0] for k in range(300)]
    points[17], points[170], points[299] = [10**6, 0], [-5, "1/3"], [1001, "-1/9"]
    outputs = [definition.output(blocks, [x]) for x in points]
    sets = {str(k): {"kind": "point", "point": y} for k, y in enumerate(outputs)}
    code, lines = verdict(
        model_file(blocks), data_file([[x] for x in points], list(sets), sets)
    )  # fmt: skip
    assert (code, lines[0]) == (0, "proved"), lines
