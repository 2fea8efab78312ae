"""The bounds table of `hardmax info`."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import hardmax as hm
from hardmax.certify.lower_bounds import lower_block_bound
from hardmax.cli.main import exit_code
from hardmax.construct.build import STRATEGIES
from hardmax.labels import Box, Point


def facts(model, tmp_path, capsys, *options):
    path = tmp_path / "model.npz"
    model.save(path)
    assert exit_code(["info", str(path), *options]) == 0
    text = capsys.readouterr().out
    return json.loads(text) if options else text


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_as_many_points_as_sequences(strategy, tmp_path, capsys):
    # the first and the last sequence have the same measure: N = 3
    data = hm.Dataset([[(0, 0)], [(1, 0)], [(0, 1)], [(0, 0), (0, 0)]], ["a", "b", "c", "a"])
    model = hm.build(data, strategy=strategy)
    assert (model.meta["N"], model.meta["M"]) == (3, 3)
    bounds = facts(model, tmp_path, capsys, "--json")["bounds"]
    built = model.meta.get("built", strategy)
    built = "peel" if built == "cover" and model.meta["form"] == "peel" else built
    paper, peel = built == "paper", built == "peel"
    assert bounds == {
        "N": 3,
        "M": 3,
        "block_bound": 28 if paper else None,
        "parameter_bound": 54 * 3 * 2 if paper else None,
        "block_bound_theorem_b": 5 if peel else None,
        "blocks_for_almost_all_targets": None,  # the default targets lie on a line
        "block_counting_bound": 0 if built == "learn" else 1,  # its tokens have more coordinates
    }
    text = facts(model, tmp_path, capsys)
    for part in ("N = 3 distinct sequences, 3 labels", "total bits"):
        assert part in text
    assert "≥" not in text
    assert "almost all" not in text
    assert ("8N+4" in text, "54Nd" in text, "Theorem B" in text) == (paper, paper, peel)
    assert "n/a" not in text


def test_the_count_for_almost_all_targets(tmp_path, capsys):
    sets = {"a": Point((0, 0)), "b": Point((1, 0)), "c": Point((0, 1))}
    data = hm.Dataset([[(0, 0)], [(1, 0)], [(0, 1)]], ["a", "b", "c"], sets)
    model = hm.build(data, strategy="peel")
    found = facts(model, tmp_path, capsys, "--json")["bounds"]
    assert found["blocks_for_almost_all_targets"] == 1
    text = facts(model, tmp_path, capsys)
    assert "almost all targets need so many" in text
    assert "≥" not in text  # it is no statement about these targets


def test_a_proved_model_below_what_almost_all_targets_need(tmp_path, capsys):
    # N = M = 200 and the default targets 0, e1, 2e1, … on a line (Theorem 6d)
    rng = np.random.default_rng(0)
    data = hm.Dataset(rng.standard_normal((200, 2, 6)).tolist(), [str(j) for j in range(200)])
    model = hm.build(data, strategy="auto")
    assert hm.certify(model, data).proved
    assert (model.meta["N"], model.meta["M"]) == (200, 200)
    assert len(model) == 1 + 34 + 5 + 1
    assert lower_block_bound(200, 6) == 93
    assert (
        facts(model, tmp_path, capsys, "--json")["bounds"]["blocks_for_almost_all_targets"] is None
    )
    text = facts(model, tmp_path, capsys)
    assert "≥" not in text
    assert "almost all" not in text
    assert " 93" not in text


@pytest.mark.parametrize(
    "damage",
    [{"kind": "point"}, {"kind": "point", "point": "x"}, {"kind": "point", "point": [1, 2, 3]}],
)
def test_targets_that_cannot_be_read(damage, tmp_path, capsys):
    meta = {"N": 2, "M": 2, "labels": {"a": damage, "b": {"kind": "point", "point": [0, 0]}}}
    model = hm.Transformer([hm.RankOneBlock.of(2)], meta=meta)
    assert (
        facts(model, tmp_path, capsys, "--json")["bounds"]["blocks_for_almost_all_targets"] is None
    )


def test_no_lower_bound_where_labels_repeat_or_are_open(tmp_path, capsys):
    repeated = hm.build(hm.Dataset([[(0,)], [(1,)], [(2,)]], ["a", "b", "a"]))
    found = facts(repeated, tmp_path, capsys, "--json")["bounds"]
    assert found["blocks_for_almost_all_targets"] is None
    assert found["parameter_bound"] is None  # d = 1
    text = facts(repeated, tmp_path, capsys)
    assert "8N+4" in text
    assert "54Nd" not in text
    assert "(Nd−1)/(2d+1)" not in text
    sets = {"a": Box((0, 0), (1, 1)), "b": Point((5, 5))}
    opened = hm.build(hm.Dataset([[(0, 0)], [(1, 1)]], ["a", "b"], sets))
    assert (
        facts(opened, tmp_path, capsys, "--json")["bounds"]["blocks_for_almost_all_targets"] is None
    )


@pytest.mark.parametrize("meta", [{}, {"N": "3", "M": 2}, {"N": True, "M": True}, {"N": 2, "M": 3}])
def test_models_that_do_not_say_n(meta, tmp_path, capsys):
    model = hm.Transformer([hm.RankOneBlock.of(2)], meta=meta)
    assert facts(model, tmp_path, capsys, "--json")["bounds"] is None
    assert "not recorded in the model" in facts(model, tmp_path, capsys)


@pytest.mark.parametrize(
    ("count", "dimension", "bound"), [(270, 12, 130), (1, 1, 0), (2, 2, 1), (3, 2, 1), (4, 2, 2)]
)
def test_lower_bound_is_rounded_up(count, dimension, bound):
    assert lower_block_bound(count, dimension) == bound


def test_what_bounds_md_quotes_is_in_the_paper():
    root = Path(__file__).parent.parent
    quoted = re.findall("- line (\\d+): “(.*)”", (root / "docs" / "bounds.md").read_text())
    assert len(quoted) == 2
    paper = root.parent / "shared" / "seeds" / "hardmax.txt"
    if not paper.is_file():
        pytest.skip("the paper's text is not here")
    lines = paper.read_text().splitlines()
    for line, text in quoted:
        assert text in lines[int(line) - 1]
