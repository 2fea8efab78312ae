"""The figures: what they show is proved, their look is guarded, their bytes are the same."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

import hardmax as hm
from hardmax.construct import NotExtreme, extreme_token
from hardmax.construct.paper.separate import separate
from hardmax.draw import figures, style
from hardmax.draw.figures.cases import first_step
from hardmax.model.tokens import Tokens

ROOT = Path(__file__).parents[1]
BASELINE = Path(__file__).parent / "figures"
TOLERANCE = 4.0  # root mean square of 0 … 255; pictures may have one, verdicts may not


@pytest.mark.parametrize("name", figures.FIGURES)
def test_the_data_of_every_figure_passes_the_verifier(name):
    data = figures.dataset(name)
    assert hm.certify(hm.build(data), data).verdict == "proved"


def test_figure_1_has_the_maximisers_of_the_caption():
    tokens = figures.dataset("figure1").sequence(0)
    identity = hm.Matrix.identity(2)
    attention = hm.SelfAttention(1, identity, identity)
    assert attention.leaders(hm.Matrix(tokens))[0] == [1, 2]  # z2 and z3


def test_figure_2_takes_the_steps_of_the_caption():
    data = figures.dataset("figure2")
    assert len(data) == 3
    assert data.labels == ["blue", "blue", "orange"]
    assert data.ids == ["circles", "squares", "stars"]
    shared = Counter(z for Z in data.sequences for z in set(Z))
    assert max(shared.values()) > 1  # tokens overlap in (a)
    model = hm.build(data)
    assert model.stages == ["separate", "separate", "cluster", "match", "classify"]
    states = [model.trace(Z) for Z in data.sequences]
    separated = [set(states[j][2]) for j in range(3)]
    assert not any(separated[i] & separated[j] for i in range(3) for j in range(i))  # (c)
    for k in (3, 4, 5):
        assert all(len(set(states[j][k])) == 1 for j in range(3))  # (d), (e), (f): one token each
    for k in (4, 5):  # the blue circle and the blue square overlap, the star is elsewhere
        assert states[0][k][0] == states[1][k][0] != states[2][k][0]


def test_figure_2_is_drawn_from_the_example():
    example = ROOT / "examples" / "figure2.json"
    if not example.exists():
        pytest.skip("no examples here")
    assert figures.source("figure2") == example.read_bytes()


def means(data):
    return Tokens.from_sequences(data.sequences).means()


@pytest.mark.parametrize(("name", "case"), [("figure3", 1), ("figure4", 2), ("figure5", 3)])
def test_figures_3_to_5_show_the_cases_of_lemma_3_5(name, case):
    data = figures.dataset(name)
    steps = separate(Tokens.from_sequences(data.sequences))
    assert [step.case for step in steps] == [case]
    first, second = data.sequences
    corner = {
        z for i, z in enumerate(second) if not isinstance(extreme_token(second, i), NotExtreme)
    }
    extreme = [
        z for i, z in enumerate(first) if not isinstance(extreme_token(first, i), NotExtreme)
    ]
    if case == 1:  # an extreme token of Z¹ that is no extreme token of Z²
        assert any(z in second and z not in corner for z in extreme)
    else:
        assert all(z in corner for z in extreme)
        assert (means(data)[0] == means(data)[1]) == (case == 3)


def test_figure_3_marks_one_leader_a_sequence_after_a_shift():
    case = first_step(figures.dataset("figure3"))
    assert [len(chosen) for chosen in case.leaders] == [1, 1]
    assert any(case.step.block.w)
    assert any(case.step.block.v)


LOOKS = [*figures.FIGURES, "side"]  # depth and radii change with the constructions


def plain(name, folder):
    """A figure without its words: fonts differ between versions of matplotlib."""
    from matplotlib.text import Text

    figure = figures.draw(name)
    for text in figure.findobj(Text):
        text.set_text("")
    target = folder / f"{name}.png"
    with style.look():
        figure.savefig(target, dpi=60, metadata=style.FORMATS["png"])
    return target


def difference(expected, actual):
    from matplotlib.testing.compare import compare_images

    found = compare_images(str(expected), str(actual), TOLERANCE, in_decorator=True)
    return found["rms"] if found else 0.0


@pytest.mark.parametrize("name", LOOKS)
def test_the_look_of_every_figure_is_the_stored_one(name, tmp_path):
    """After a change that is meant: python tests/test_figures.py, and look at the pictures."""
    assert difference(BASELINE / f"{name}.png", plain(name, tmp_path)) == 0.0


def test_the_stored_look_notices_a_missing_glyph(tmp_path, monkeypatch):
    from hardmax.draw.figures import cases

    draw = cases.draw_tokens
    monkeypatch.setattr(
        cases, "draw_tokens", lambda ax, tokens, *rest, **more: draw(ax, tokens[:1], *rest, **more)
    )
    assert difference(BASELINE / "figure4.png", plain("figure4", tmp_path)) > TOLERANCE


@pytest.mark.slow
def test_the_command_writes_all_figures_twice_the_same(run, tmp_path, monkeypatch):
    monkeypatch.setattr(figures, "MORE", {"side": figures.MORE["side"]})  # the others take long
    formats = [word for form in figures.FORMATS for word in ("--format", form)]
    for folder in ("one", "two"):
        result = run("figures", "-o", tmp_path / folder, *formats)
        assert result.code == 0, result.err
    files = sorted(p.relative_to(tmp_path / "one") for p in (tmp_path / "one").rglob("*.*"))
    assert len(files) == (len(figures.FIGURES) + 1) * len(figures.FORMATS) + len(figures.FIGURES)
    for file in files:
        content = (tmp_path / "one" / file).read_bytes()
        assert content == (tmp_path / "two" / file).read_bytes(), file
    pdf = (tmp_path / "one" / "figure2.pdf").read_bytes()
    assert b"/FontFile2" in pdf
    assert b"/Type3" not in pdf
    assert b"CreationDate" not in pdf
    svg = (tmp_path / "one" / "figure2.svg").read_text("utf-8")
    assert "<dc:date>" not in svg
    assert "<text" not in svg


def test_the_repository_holds_the_data_it_draws():
    for name in figures.FIGURES:
        copy = ROOT / "figures" / "data" / f"{name}.json"
        if copy.parent.exists():
            assert copy.read_bytes() == figures.source(name)
            json.loads(copy.read_text("utf-8"))


def test_a_folder_that_cannot_be_made_is_bad_use(run, tmp_path):
    (tmp_path / "file").write_text("")
    result = run("figures", "-o", tmp_path / "file")
    assert result.code == 2
    assert "file" in result.err


def test_tent_and_clamp_lift_as_theory_b4_says():
    from hardmax.draw.figures import side

    def height(blocks, t):
        return hm.Transformer(blocks).trace([(t, 0)])[-1][0][1]

    for t in (Fraction(k, 12) for k in range(-60, 61)):
        lifted = height(side.tent(), t)
        flat = height([*side.tent(), *side.clamp()], t)
        assert lifted == side.RISE / side.EPSILON * max(2 * side.EPSILON - abs(t), 0)
        assert flat == min(lifted, side.RISE)
        assert (flat == side.RISE) == (abs(t) <= side.EPSILON)
    assert all(abs(t) <= side.EPSILON for t in side.RAISED)
    assert all(abs(t) >= 2 * side.EPSILON for t in side.AVOIDED)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["depth", "radii"])
def test_the_figures_of_strategies_are_drawn(name):
    from hardmax.draw.figures import depth

    with style.look():
        figure = depth.draw((8, 32)) if name == "depth" else figures.draw(name)
    drawn = {line.get_label() for ax in figure.axes for line in ax.lines}
    assert drawn >= {"paper", "peel", "cover"}
    if name == "depth":
        few, many = figure.axes
        for ax in (few, many):
            heights = {line.get_label(): line.get_ydata() for line in ax.lines}
            for strategy in ("paper", "peel"):
                assert all(heights[strategy] <= heights["bound $8N+4$"])
        assert all(heights["peel"] >= heights["lower bound"])


@pytest.mark.parametrize("command", ["figures", "report"])
def test_help_imports_no_matplotlib(command):
    code = (
        "import sys\nfrom hardmax.cli import main\n"
        "try:\n    main([sys.argv[1], '--help'])\nexcept SystemExit: pass\n"
        "sys.exit('matplotlib' in sys.modules or 'numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, command], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


if __name__ == "__main__":
    for each in LOOKS:
        print(plain(each, BASELINE))
