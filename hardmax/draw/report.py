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
from ..model.transformer import Transformer
from .components import components, run_basis
from .film import Film
from .style import BLACK, GREY, NAMED, RED, STAGES, STEPS
from .words import block_card, bound_rows, label_card, moment_title, short, verdict_rows

# plotly's names of the glyphs in `style`, and their sizes: large ones lie below small ones
_SYMBOLS = (
    ("circle", 1.0), ("square", 1.2), ("star", 1.05), ("triangle-up", 1.15), ("diamond", 0.95),
    ("cross", 0.9),
)  # fmt: skip


def page(
    model: Transformer, data: Dataset, film: Film, certificate: Certificate, title: str
) -> str:
    """The whole page as text."""
    parts = {
        "title": escape(title),
        "style": _read("page", "page.css"),
        "data": json.dumps(
            payload(model, data, film, certificate), ensure_ascii=False, separators=(",", ":")
        ).replace("<", "\\u003c"),  # nothing in the data can end the script element
        "plotly": _read("static", "plotly-basic.min.js"),
        "script": "\n".join(_read("page", name) for name in ("view.js", "page.js", "controls.js")),
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
    owner = [
        (k, position) for k, positions in enumerate(chosen.positions) for position in positions
    ]
    label_of = [labels.index(data.need_labels()[chosen.sequences[k]]) for k, _ in owner]
    sequences = _sequences(model, data, chosen.sequences)
    size_of = [sequence["size"] for sequence in sequences]
    used = sorted({frame.number for frame in film.frames} - {0})
    return {
        "dimension": data.dimension,
        "summary": _summary(model, data, certificate),
        "sampled": _left_out(model, data, film),
        "tokens": owner,
        "byLabel": [
            # the largest glyphs first, so that they lie below the others
            sorted(
                (t for t, c in enumerate(label_of) if c == k), key=lambda t: -size_of[owner[t][0]]
            )
            for k in range(len(labels))
        ],
        "labels": [label_card(data.sets[name], name, k) for k, name in enumerate(labels)],
        "sequences": sequences,
        "places": base64.b64encode(film.places.astype("<f8").tobytes()).decode("ascii"),
        "texts": film.texts,
        "frames": _frames(film),
        "blocks": {
            k: block_card(model.parameters[k - 1], model.stages[k - 1], k, len(model), model.masked)
            for k in used
        },
        "bases": _bases(film) if data.dimension > 2 else {},
        "verdict": verdict_rows(certificate),
        "bounds": bound_rows(certificate),
        "follow": _travels(film),
        "markerSize": 11 if len(owner) <= 100 else 8 if len(owner) <= 400 else 6,
        "red": RED,
    }


def _summary(model: Transformer, data: Dataset, certificate: Certificate) -> str:
    return (
        f"{len(data)} sequences, {len(data.tokens)} tokens in dimension {data.dimension}, "
        f"{certificate.M} labels; {len(model)} blocks; {certificate.verdict}."
    )


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
                "stage": STEPS.get(frame.stage, frame.stage),
                "colour": STAGES.get(frame.stage, GREY if frame.number == 0 else BLACK),
                "title": moment_title(frame),
                "at": changed.tolist(),
                "to": frame.states[changed].tolist(),
                "leaders": list(frame.leaders),
            }
        )
    return found


def _sequences(model: Transformer, data: Dataset, chosen: tuple[int, ...]) -> list[dict[str, Any]]:
    outputs = model.outputs(data.sequence(j) for j in chosen)
    found = []
    for k, (j, output) in enumerate(zip(chosen, outputs, strict=True)):
        label = data.need_labels()[j]
        nearest = predicted(output, data.sets)
        symbol, size = _SYMBOLS[NAMED.get(data.ids[j] or "", k) % len(_SYMBOLS)]
        mark = "" if data.sets[label].contains(output) else f" — outside its set, nearest {nearest}"
        found.append(
            {
                "name": data.name(j), "label": label, "output": short(output) + mark,
                "symbol": symbol, "size": size,
            }
        )  # fmt: skip
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
    return bool(whole > 8 * max(sizes[0], 1e-300))
