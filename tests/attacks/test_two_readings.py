"""hardmax, its checker and plain Fractions read and judge alike, whatever the meta says."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hardmax as hm

from . import judges
from .test_agreement import WRITTEN, rank_one_blocks
from .test_crashes import both, model_bytes

definition = judges.definition


@st.composite
def cases(draw):
    """(meta, blocks, data set as a JSON object)."""
    how = draw(st.fixed_dictionaries({}, optional={
        "window": st.integers(1, 3), "stride": st.integers(1, 4), "lift": st.integers(0, 2),
        "dilations": st.sampled_from([[1], [2], [1, 3]]), "positional": st.booleans(),
        "label_sets": st.sampled_from(["points", "argmax"]),
    }))  # fmt: skip
    d = draw(st.integers(1, 2))
    token = st.lists(WRITTEN, min_size=d, max_size=d)
    sequence = st.fixed_dictionaries(
        {"tokens": st.lists(token, min_size=1, max_size=5), "label": st.sampled_from("ab")}
    )
    table = {"dimension": d, "sequences": draw(st.lists(sequence, min_size=1, max_size=3))}
    width = len(judges.as_read([[0] * d], how)[0])
    blocks = draw(rank_one_blocks(width))
    if width > 1 and draw(st.booleans()):  # labels that are right, but for ties
        for item, Z in zip(table["sequences"], judges.read_table(table, how)[0], strict=True):
            x = definition.output(blocks, Z)
            item["label"] = "ab"[x[0] < x[1]]
    return how, blocks, table


def expected(how, blocks, table):
    """Exit code that the definition asks for."""
    found = judges.classified(blocks, table, how)
    return 2 if found is None else 0 if found else 1


@settings(max_examples=60)
@given(cases())
def test_verdicts(tmp_path_factory, case):
    how, blocks, table = case
    model = hm.Transformer([hm.RankOneBlock(*block) for block in blocks], meta=how)
    raw = model_bytes(model, tmp_path_factory.getbasetemp())
    code = expected(how, blocks, table)
    assert both(raw, json.dumps(table).encode()) == (code, code)


def one(tmp_path, how, d, table):
    """Both exit codes for the model that changes nothing."""
    model = hm.Transformer([hm.RankOneBlock.of(d)], meta=how)
    return both(model_bytes(model, tmp_path), json.dumps(table).encode())


@pytest.mark.parametrize(
    ("tokens", "code"),
    [([[1, 0]], 0), ([[1, 1]], 1), ([[0, 1]], 1), ([[1, "0.999999999999999999999"]], 0),
     ([[1, 0], [0, 1]], 1)],
)  # fmt: skip
def test_argmax(tmp_path, tokens, code):
    """A tie lies in no cone."""
    table = {"sequences": [{"tokens": tokens, "label": 9}, {"tokens": [[0, 1]], "label": 10}]}
    assert one(tmp_path, {"label_sets": "argmax"}, 2, table) == (code, code)


def test_argmax_of_one_label_is_everything(tmp_path):
    table = {"sequences": [{"tokens": [["-7"]], "label": "a"}]}
    assert one(tmp_path, {"label_sets": "argmax"}, 1, table) == (0, 0)


def test_argmax_and_label_sets_of_their_own(tmp_path):
    table = {"labels": {"a": {"kind": "point", "point": [0]}},
             "sequences": [{"tokens": [[0]], "label": "a"}]}  # fmt: skip
    assert one(tmp_path, {"label_sets": "argmax"}, 1, table) == (2, 2)
    cones = {"a": {"kind": "polyhedron", "A": [[-1, 1]], "b": [0]},
             "b": {"kind": "polyhedron", "A": [[1, -1]], "b": [0]}}  # fmt: skip
    table = {"labels": cones, "sequences": [{"tokens": [[1, 0]], "label": "a"}]}
    assert one(tmp_path, {"label_sets": "argmax"}, 2, table) == (2, 2)
    assert one(tmp_path, {}, 2, table) == (0, 0)


def test_more_labels_than_coordinates(tmp_path):
    table = {"sequences": [{"tokens": [[0]], "label": x} for x in "ab"]}
    assert one(tmp_path, {"label_sets": "argmax"}, 1, table) == (2, 2)


@pytest.mark.parametrize("change", [
    {"window": 3}, {"stride": 1}, {"label_sets": "points"}, {}, {"lift": 1}, None,
])  # fmt: skip
def test_the_certificate_states_the_reading(tmp_path, change):
    how = hm.Reading(window=2, stride=2, label_sets="argmax")
    (tmp_path / "d.json").write_text(
        json.dumps(
            {"sequences": [{"tokens": [[k], [0], ["1/3"]], "label": k % 2} for k in range(4)]}
        )
    )
    data = hm.load(tmp_path / "d.json", reading=how)
    hm.build(data).save(tmp_path / "m.npz")
    found = hm.certify(tmp_path / "m.npz", tmp_path / "d.json")
    found.save(tmp_path / "c.json")
    raw = [(tmp_path / name).read_bytes() for name in ("m.npz", "d.json", "c.json")]
    assert judges.ask_checker(*raw)[0] == 0
    stated = json.loads(raw[2])
    assert stated["reading"] == {"window": 2, "stride": 2, "label_sets": "argmax"}
    assert stated["separation"] == []
    if change is None:
        del stated["reading"]
    elif change:
        stated["reading"] |= change
    else:
        stated["separation"] = [{"a": "0", "b": "1", "normal": [1, -1], "offset": 0}]
    assert judges.ask_checker(*raw[:2], json.dumps(stated).encode())[0] in (1, 2)
