"""Samples and parts: nothing is proved before every sequence was looked at; parts make a whole."""

import importlib.util
import json
from fractions import Fraction

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
        code, out, err = run(
            capsys, folder / "m.npz", folder / data, *more, "--part", f"{i}/{k}"
        )
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
    """Sequence 1 + floor(j J / K), j = 0 … K - 1: wrong there is refuted, wrong elsewhere is not."""
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
    """A model of thin tents, points, and how high each is lifted; all dyadic, so floats are exact.

    A tent adds max(0, 1 - |<u,x> - c| / h) to the third coordinate, which no u reads."""
    rng = np.random.default_rng(3)
    count, d, h = 40, 3, 2.0**-5
    normals = np.hstack([rng.integers(-9, 10, size=(count, 2)) / 8, np.zeros((count, 1))])
    levels = rng.integers(-64, 65, size=count) / 32
    blocks = [
        identity(d, u=[*u], b=place * h - c, w=[0, 0, weight / h])
        for u, c in zip(normals, levels, strict=True)
        for place, weight in ((1, 1), (0, -2), (-1, 1))
    ]
    points = np.hstack([rng.integers(-(2**9), 2**9, size=(400, 2)) / 2**8, np.zeros((400, 1))])
    lifts = np.maximum(0, 1 - abs(points @ normals.T - levels) / h).sum(axis=1)
    assert min((lifts > 0).sum(), (lifts == 0).sum()) > 50
    return model_file(blocks), points, lifts


def labelled(points, lifts):
    """The data set in which each point must be lifted just so."""
    heights = sorted({*lifts.tolist()})
    sets = {
        str(k): {
            "kind": "box", "lower": [-9, -9, Fraction(x) - Fraction(1, 2**90)],
            "upper": [9, 9, Fraction(x) + Fraction(1, 2**90)],
        }
        for k, x in enumerate(heights)
    }  # fmt: skip
    sequences = [[[Fraction(a) for a in x]] for x in points.tolist()]
    return data_file(sequences, [str(heights.index(x)) for x in lifts.tolist()], sets)


def test_many_points_beside_thin_tents(tents):
    model, points, lifts = tents
    code, lines = verdict(model, labelled(points, lifts))
    assert (code, lines[0]) == (0, "proved")


@pytest.mark.parametrize("wrong", [0, 1, 57, 200, 398, 399])
def test_one_wrong_point_among_many(tents, wrong):
    """Moved by 2^-60 towards a slab or away from it, or asked for another height."""
    model, points, lifts = tents
    other = lifts.copy()
    other[wrong] = lifts[lifts != lifts[wrong]][0]
    code, reason = verdict(model, labelled(points, other))
    assert (code, reason.split(":")[0]) == (1, f"sequence {wrong + 1}")


def test_a_point_on_the_edge_of_a_slab_stays_and_one_next_to_it_moves():
    """Among points that are far away, whose signs need no exact arithmetic."""
    h = Fraction(1, 2**20)
    blocks = [
        identity(2, u=[1, 0], b=place * h, w=[0, weight / h])
        for place, weight in ((1, 1), (0, -2), (-1, 1))
    ] * 3
    tiny = Fraction(1, 2**200)
    far = [[[k + 1, 0]] for k in range(200)]
    for x, y in ((h, 0), (-h, 0), (h - tiny, 3 * tiny / h), (tiny - h, 3 * tiny / h), (0, 3)):
        points = [*far, [[x, 0]], *far]
        sets = {
            "far": {"kind": "box", "lower": [0, -tiny], "upper": [999, tiny]},
            "near": {"kind": "point", "point": [x, y]},
        }
        labels = ["far"] * 200 + ["near"] + ["far"] * 200
        assert verdict(model_file(blocks), data_file(points, labels, sets))[0] == 0
        sets["near"]["point"][1] += tiny
        assert verdict(model_file(blocks), data_file(points, labels, sets))[0] == 1
