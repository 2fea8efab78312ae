"""The report page and the animation: complete, offline, honest about what is left out."""

from __future__ import annotations

import base64
import json
import re
import shutil
from fractions import Fraction
from fractions import Fraction as F
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hardmax as hm
from hardmax.draw import explain, figures
from hardmax.draw.film import record
from hardmax.draw.moments import Attention
from hardmax.labels import Ball, Box, Halfspace, Point, Polyhedron

LIMIT = 4_000_000  # bytes of a page


@pytest.fixture
def written(tmp_path, run):
    """Write a model and its data, then report on them."""

    def write(data, document=None, suffix=".html", model=None):
        source = tmp_path / "data.json"
        source.write_text(json.dumps(document or as_json(data)), encoding="utf-8")
        loaded = hm.load(source)
        (model or hm.build(loaded)).save(tmp_path / "model.npz")
        target = tmp_path / f"run{suffix}"
        result = run("report", tmp_path / "model.npz", source, "-o", target)
        return result, target

    return write


def as_json(data):
    return {
        "dimension": data.dimension,
        "labels": {name: found.to_json() for name, found in data.sets.items()},
        "sequences": [
            {"tokens": [[str(x) for x in z] for z in Z], "label": label, "id": name}
            for Z, label, name in zip(data.sequences, data.labels, data.ids, strict=True)
        ],
    }


def payload(page):
    text = page.read_text("utf-8")
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    return json.loads(found[1])


def shown(content):
    """Coordinates of all tokens shown, frame by frame, as the page's script computes them."""
    d = content["dimension"]
    places = np.frombuffer(base64.b64decode(content["places"]), dtype="<f8").reshape(-1, d)
    states = np.zeros(len(content["tokens"]), dtype=int)
    for frame in content["frames"]:
        states[frame["at"]] = frame["to"]
        yield frame, states.copy(), places[states]


def test_the_page_holds_the_exact_run(written):
    data = figures.dataset("figure2")
    result, page = written(data)
    assert result.code == 0, result.err
    content = payload(page)
    model = hm.build(data)
    traces = [model.trace(Z) for Z in data.sequences]
    ends = {}
    for frame, states, places in shown(content):
        ends[frame["block"]] = states, places
    assert list(ends) == list(range(len(model) + 1))
    for k, (states, places) in ends.items():
        exact = [z for trace in traces for z in trace[k]]
        assert places.tolist() == [[float(x) for x in z] for z in exact]
        texts = [content["texts"][state] for state in states]
        assert texts == ["(" + ", ".join(map(str, z)) + ")" for z in exact]
    assert content["sampled"] is None
    assert ["verdict", "proved"] in content["verdict"]
    assert ["blocks, 8N+4", "5", "28"] in content["bounds"]


SMALL = st.integers(-2, 2)


@given(st.lists(st.tuples(SMALL, SMALL), min_size=1, max_size=5), st.tuples(SMALL, SMALL))
def test_attention_is_that_of_the_literal_layer(tokens, v):
    """Equation (2.4a) with A = vvᵀ, ties and ⟨v,z_i⟩ = 0 included."""
    layer = hm.SelfAttention(1, hm.Matrix.identity(2), hm.Matrix([[a * b for a in v] for b in v]))
    expected = layer.leaders(hm.Matrix(tokens))
    found = Attention.of([Fraction(v[0] * x + v[1] * y) for x, y in tokens])
    assert [found.sets[k] for k in found.choice] == [tuple(leaders) for leaders in expected]
    assert found.leaders == tuple(sorted({i for leaders in expected for i in leaders}))


def test_words_of_tokens_are_shown_only_where_all_data_agree(written):
    ids = ["two words", "three words here"]
    data = hm.Dataset([[(1, 2), (3, 4)], [(1, 1), (2, 2), (0, 1)]], ["a", "b"], ids=ids)
    content = payload(written(data)[1])
    assert [s["texts"] for s in content["sequences"]] == [name.split() for name in ids]
    data = hm.Dataset(data.sequences, ["a", "b"], ids=["two words", "three words"])
    content = payload(written(data)[1])
    assert [s["texts"] for s in content["sequences"]] == [None, None]


def test_every_stage_of_every_strategy_has_a_line_of_its_own(written):
    data = figures.dataset("figure2")
    for strategy in ("paper", "peel", "cover", "fold"):
        model = hm.build(data, strategy=strategy)
        stages = payload(written(data, model=model)[1])["stages"]
        assert set(stages) == {"input", *model.stages}
        lines = [stage["line"] for stage in stages.values()]
        assert len(set(lines)) == len(lines)
        assert explain.OTHER_STAGE not in lines


class Links(HTMLParser):
    """Everything a page asks for from elsewhere, and its inline scripts."""

    def __init__(self):
        super().__init__()
        self.asked, self.scripts = [], 0

    def handle_starttag(self, tag, attrs):
        self.asked += [value for name, value in attrs if name in ("src", "href", "action", "data")]
        self.scripts += tag == "script"


def test_the_page_asks_for_nothing_and_its_policy_forbids_it(written):
    _, page = written(figures.dataset("figure2"))
    text = page.read_text("utf-8")
    links = Links()
    links.feed(text)
    assert links.asked == []
    assert links.scripts == 3
    assert "default-src 'none'" in text
    assert "{{" not in text.split("<script")[0]
    assert page.stat().st_size < LIMIT


def test_names_in_the_data_stay_text(written):
    evil = "</script><script>alert(1)</script>{{plotly}}<!--"
    sets = {evil: Halfspace((0, 1), 0), "<b>": Halfspace((0, -1), 0)}
    data = hm.Dataset([[(0, 1)], [(1, 0)]], [evil, "<b>"], sets, ids=[evil, None])
    result, page = written(data)
    assert result.code == 0, result.err
    links = Links()
    links.feed(page.read_text("utf-8"))
    assert links.scripts == 3
    assert payload(page)["labels"][0]["name"] == evil


def test_every_kind_of_label_set_and_dimension_is_drawn(written):
    sets = {
        "point": Point((9, 9, 9)),
        "ball": Ball((0, 0, 0), 1),
        "box": Box((2, 2, 2), (3, 3, 3)),
        "halfspace": Halfspace((0, 0, -1), 20),
        "polyhedron": Polyhedron([[1, 0, 0], [-1, 0, 0], [0, 0, -1]], [-5, 6, 10]),
    }
    data = hm.Dataset([[(j, 1, 2), (j, j, 0)] for j in range(5)], list(sets), sets)
    result, page = written(data)
    assert result.code == 0, result.err
    content = payload(page)
    assert [("rows" in label, "centre" in label) for label in content["labels"]] == [
        (False, True), (False, True), (True, False), (True, False), (True, False)
    ]  # fmt: skip
    for basis in content["bases"].values():
        assert np.allclose(np.array(basis) @ np.array(basis).T, np.eye(2))
    result, _ = written(hm.Dataset([[(0,), (1,)], [(0,)]], ["a", "b"]))
    assert result.code == 0, result.err


def test_of_large_data_a_sample_is_shown_and_the_page_says_so(written):
    rng = np.random.default_rng(0)
    data = hm.Dataset(rng.integers(-50, 50, (150, 12, 64)).tolist(), [j % 5 for j in range(150)])
    result, page = written(data)
    assert result.code == 0, result.err
    content = payload(page)
    assert content["sampled"].startswith("A sample is shown: ")
    assert "of 150 sequences" in content["sampled"]
    assert "1800 tokens" in content["sampled"]
    assert page.stat().st_size < LIMIT


def test_a_refuted_model_is_shown_with_its_witness(written):
    data = figures.dataset("figure2")
    model = hm.Transformer([hm.RankOneBlock.translation((0, -10))])
    result, page = written(data, model=model)
    assert result.code == 0
    assert "refuted" in result.out
    names = [row[0] for row in payload(page)["verdict"]]
    assert "witness" in names


@pytest.mark.parametrize("suffix", ["", ".pdf", ".htm"])
def test_other_names_are_bad_use(written, suffix):
    result, target = written(figures.dataset("figure2"), suffix=suffix)
    assert result.code == 2
    assert ".html, .gif or .mp4" in result.err
    assert not target.exists()


def test_mp4_without_ffmpeg_is_bad_use_and_leaves_no_file(written, monkeypatch):
    from matplotlib.animation import FFMpegWriter

    monkeypatch.setattr(FFMpegWriter, "isAvailable", classmethod(lambda cls: False))
    result, target = written(figures.dataset("figure2"), suffix=".mp4")
    assert result.code == 2
    assert "ffmpeg" in result.err
    assert not target.exists()


@pytest.mark.slow
def test_the_animation_shows_every_moment(written):
    from PIL import Image

    result, target = written(figures.dataset("figure2"), suffix=".gif")
    assert result.code == 0, result.err
    first = target.read_bytes()
    with Image.open(target) as picture:
        assert picture.n_frames > 9
        assert picture.info["loop"] == 0
    assert len(first) < 1_000_000
    written(figures.dataset("figure2"), suffix=".gif")
    assert target.read_bytes() == first


@pytest.mark.parametrize(("far", "follows"), [(3, False), (10**6, True)])
def test_tokens_fill_the_window_of_an_animation(far, follows):
    """In a window that holds all of a run on two scales, all tokens would be one dot."""
    from hardmax.draw.animation import _figures

    data = hm.Dataset([[(0, 0), (1, 1)], [(1, 0)]], ["a", "b"])
    there, back = (hm.RankOneBlock.translation((sign * far, 0)) for sign in (1, -1))
    pictures = _figures(data, record(hm.Transformer([there, back]), data))
    windows = []
    for picture, figure in pictures:
        low, high = figure.axes[0].get_xlim()
        assert (low < picture.places[:, 0]).all()
        assert (picture.places[:, 0] < high).all()
        windows.append(high - low)
    assert (max(windows) > min(windows)) == follows
    assert windows[0] < 8


def test_one_label_is_one():
    data = hm.Dataset([[(0, 0)], [(1, 1)]], ["a", "a"])
    model = hm.build(data)
    sentence = explain.lead(model, data, hm.certify(model, data))[0]
    assert "one label, the same for all" in sentence


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="there is no ffmpeg here")
def test_the_animation_as_mp4(written):
    result, target = written(figures.dataset("figure2"), suffix=".mp4")
    assert result.code == 0, result.err
    assert target.read_bytes()[4:8] == b"ftyp"


def lifted():
    """Four series, and a model with two features of their windows and a rule on the first."""
    series = [[0, 0, 9, 0, 0, 0, 0], [0, 9, 0, 0], [0, 0, 0, 8, 8], [1, 1, 1]]
    how = hm.Reading(window=3, stride=2, lift=2)
    sets = {"peak": Halfspace((1,), 0), "flat": Halfspace((-1,), 0)}
    data = hm.Dataset([[[x] for x in Z] for Z in series], ["peak", "peak", "flat", "flat"], sets,
                      ids=["<b>", None, None, None], reading=how)  # fmt: skip
    blocks = [
        hm.RankOneBlock.of(5, u=(-1, 2, -1, 0, 0), b="-1/2", w=(0, 0, 0, 2, 0)),
        hm.RankOneBlock.of(5, u=(0, 1, 0, 0, 0), b=-100, w=(0, 0, 0, 0, 1)),
        hm.RankOneBlock.of(5, rho=0, alpha=1),
        hm.RankOneBlock.of(5, u=(0, 0, 0, "1/3", 0), w=(1, 0, 0, 0, 0)),
    ]
    return data, hm.Transformer(blocks, meta=how.to_meta())


def test_features_are_found_with_their_windows_and_weights():
    from hardmax.draw.features import features, firings

    data, model = lifted()
    first, second = features(model)
    assert (first.number, first.uses) == (1, ((4, F(2, 3)),))
    assert (second.number, second.uses) == (2, ())
    # 2y − x − z − 1/2 on (0, 9, 0); on all other windows it is negative
    assert [(x.sequence, x.place, x.value) for x in firings(first, data)] == [(0, 1, F(35, 2))]
    assert firings(second, data) == []
    plain = hm.Transformer(model.blocks, meta={})
    assert features(plain) == []


def test_the_page_shows_what_features_see(tmp_path, run):
    data, model = lifted()
    data.save(tmp_path / "d.json")
    model.save(tmp_path / "m.npz")
    assert (
        run("report", tmp_path / "m.npz", tmp_path / "d.json", "-o", tmp_path / "r.html").code == 0
    )
    text = (tmp_path / "r.html").read_text("utf-8")
    section = text.split('<section id="features">')[1].split("</section>")[0]
    assert "a window of 3 tokens" in section
    assert "sequence 1 (id &#x27;&lt;b&gt;&#x27;) (peak), tokens 2 to 4: 35/2" in section
    assert "block 4: 2/3" in section
    assert "fires on no token" in section
    assert section.count("<svg") == 1
