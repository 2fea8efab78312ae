"""The interactive page: one HTML file that holds everything it needs and asks for nothing.

Plotting library: plotly.js in its "basic" build, vendored in ``static`` (1.2 MB, MIT). It is well
kept, draws SVG that can be hovered, zoomed and saved, and works offline. The full bundle that the
Python package plotly ships takes 4.8 MB, most of a page, for charts that we do not draw; so the
page does not need that package either.
"""

from __future__ import annotations

import base64
import json
import re
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np

from ..certify import Certificate
from ..certify.predict import predicted
from ..dataset import Dataset
from ..errors import InputError
from ..labels import ArgmaxCone
from ..model.transformer import Transformer
from .components import components, run_basis
from .explain import lead, stage_line, step_name, token_texts, visible
from .features import section
from .film import Film
from .style import LABELS, NAMED, ON_DARK
from .words import (
    block_card,
    bound_rows,
    height,
    label_card,
    moment_title,
    short,
    verdict_rows,
)

# plotly's names of the glyphs, and their sizes. The first six are those of `style`.
SYMBOLS = (
    ("circle", 1.0), ("square", 1.25), ("star", 1.05), ("triangle-up", 1.15), ("diamond", 0.95),
    ("cross", 0.9), ("triangle-down", 1.15), ("x", 0.85), ("pentagon", 1.1),
)  # fmt: skip
_MOST = 1 << 24  # numbers of all label sets that a page holds
SCRIPTS = ("view.js", "maths.js", "page.js", "traces.js", "heights.js", "follow.js", "controls.js")


def page(
    model: Transformer, data: Dataset, film: Film, certificate: Certificate, title: str
) -> str:
    """The whole page as text."""
    parts = {
        "title": escape(title),
        "style": _read("page", "page.css"),
        "features": section(model, data),
        "data": json.dumps(
            payload(model, data, film, certificate), ensure_ascii=False, separators=(",", ":")
        ).replace("<", "\\u003c"),  # nothing in the data can end the script element
        "plotly": _read("static", "plotly-basic.min.js"),
        "script": "\n".join(_read("page", name) for name in SCRIPTS),
    }
    # every second piece of the template is the name of a part; parts are not looked into
    pieces = re.split(r"\{\{(\w+)\}\}", _read("page", "page.html"))
    return "".join(parts[piece] if k % 2 else piece for k, piece in enumerate(pieces))


def _read(*path: str) -> str:
    return files(__package__).joinpath(*path).read_text(encoding="utf-8")


def payload(
    model: Transformer, data: Dataset, film: Film, certificate: Certificate
) -> dict[str, Any]:
    """What the page's script reads."""
    if model.parameters is None:
        raise InputError("only models of rank-1 blocks can be drawn")
    chosen = film.sample
    labels = list(data.sets)
    cones = [each for each in data.sets.values() if isinstance(each, ArgmaxCone)]
    if sum((cone.classes - 1) * cone.dimension for cone in cones) > _MOST:
        raise InputError(
            f"a page would hold more than {_MOST} numbers for the label sets argmax of "
            f"{len(cones)} labels; hardmax run shows the outputs"
        )
    owner = [
        (k, position) for k, positions in enumerate(chosen.positions) for position in positions
    ]
    label_of = [labels.index(data.need_labels()[chosen.sequences[k]]) for k, _ in owner]
    sequences = _sequences(model, data, chosen.sequences)
    used = sorted({frame.number for frame in film.frames} - {0})
    return {
        "dimension": data.dimension,
        "lead": lead(model, data, certificate),
        "sampled": _left_out(model, data, film),
        "tokens": owner,
        "byLabel": [
            # the largest glyphs first, so that they lie below the others
            sorted(
                (t for t, c in enumerate(label_of) if c == k),
                key=lambda t: -sequences[owner[t][0]].get("size", 0),
            )
            for k in range(len(labels))
        ],
        "labels": [
            {**label_card(data.sets[name], visible(name)), **_glyph(k)}
            for k, name in enumerate(labels)
        ],
        "sequences": sequences,
        "places": base64.b64encode(film.places.astype("<f8").tobytes()).decode("ascii"),
        "texts": film.texts,
        "frames": _frames(film),
        "stages": {
            stage: {"name": step_name(stage), "line": stage_line(stage)}
            for stage in ("input", *dict.fromkeys(model.stages))
        },
        "blocks": {k: block_card(model.parameters[k - 1], model.masked) for k in used},
        "depth": len(model),
        "bases": _bases(film) if data.dimension > 2 else {},
        "height": height(model.parameters[k - 1] for k in used),
        "verdict": verdict_rows(certificate),
        "bounds": bound_rows(certificate),
        "follow": _travels(film),
        "markerSize": 14 if len(owner) <= 100 else 8 if len(owner) <= 400 else 6,
    }


def _glyph(place: int) -> dict[str, Any]:
    """Colour, on light and dark ground, and shape of a label; 108 pairs before one returns."""
    turn, colour = divmod(place, len(LABELS))
    light = LABELS[colour]
    return {"colours": [light, ON_DARK.get(light, light)], **_shape(colour + turn)}


def _shape(place: int) -> dict[str, Any]:
    symbol, size = SYMBOLS[place % len(SYMBOLS)]
    return {"symbol": symbol, "size": size}


def _left_out(model: Transformer, data: Dataset, film: Film) -> str | None:
    """One sentence on what the page does not show; None where it shows everything."""
    shown = [
        (len(film.sample.sequences), len(data), "sequences"),
        (film.sample.tokens, len(data.tokens), "tokens"),
        (len(film.frames), film.moments, "moments of the run"),
    ]
    parts = [f"{part} of {whole} {things}" for part, whole, things in shown if part < whole]
    if not parts:
        return None
    return f"A sample is shown: {', '.join(parts)}. The verdict is about all sequences."


def _frames(film: Film) -> list[dict[str, Any]]:
    """Frames as changes: the tokens whose state is new, and their states."""
    found = []
    before: np.ndarray | None = None
    for frame in film.frames:
        changed = np.arange(len(frame.states))
        if before is not None:
            changed = np.flatnonzero(frame.states != before)
        before = frame.states
        found.append(
            {
                "block": frame.number,
                "layer": frame.layer,
                "stage": frame.stage,
                "title": moment_title(frame),
                "at": changed.tolist(),
                "to": frame.states[changed].tolist(),
                "leaders": list(frame.leaders),
                "attention": [[each.choice, each.sets] for each in frame.attention],
            }
        )
    return found


def _sequences(model: Transformer, data: Dataset, chosen: tuple[int, ...]) -> list[dict[str, Any]]:
    outputs = model.outputs(data.sequence(j) for j in chosen)
    texts = token_texts(data, chosen)
    labels = list(data.sets)
    named = all(data.ids[j] in NAMED for j in chosen)
    found = []
    for j, output in zip(chosen, outputs, strict=True):
        label = data.need_labels()[j]
        right = data.sets[label].contains(output)
        found.append(
            {
                "name": data.name(j),
                "label": labels.index(label),
                "length": int(data.offsets[j + 1] - data.offsets[j]),
                "output": short(output),
                "wrong": None if right else visible(predicted(output, data.sets)),
                "texts": texts.get(j),
                # sequences called after a shape are drawn in it
                **(_shape(NAMED[data.ids[j] or ""]) if named else {}),
            }
        )
    return found


def _bases(film: Film) -> dict[str, list[list[float]]]:
    """Principal directions, for looking at more than two dimensions."""
    return {
        "principal components of the run": run_basis(film),
        "principal components of the input": components(film.positions(film.frames[0])),
    }


def _travels(film: Film) -> bool:
    """Whether one fixed window would leave the tokens too small to see."""
    sizes = [np.ptp(film.positions(frame), axis=0).max() for frame in film.frames]
    whole = np.ptp(film.places, axis=0).max()
    return bool(whole > 2.5 * max(sizes[0], 1e-300))
