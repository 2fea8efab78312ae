"""A run recorded for viewing: which sequences, tokens and moments, and where each token is.

Small runs are recorded whole. Of large ones a sample is recorded that keeps the page small, and
the film says what it left out. The sample is drawn by order, not by chance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np

from ..dataset import Dataset
from ..exact.numbers import Vector, nearest_float, show
from ..model.parameters import PackedBlock
from ..model.transformer import Transformer
from .moments import Attention, Key, Moment, moments
from .sample import Sample, evenly, sample

MAX_MOMENTS = 300
MAX_BYTES = 2_200_000  # of the recorded states on the page, which with plotly stays below 4 MB
SHOWN = 6  # coordinates written out exactly


@dataclass(frozen=True)
class Frame:
    """One moment: ``states`` (T,) numbers the state of every token shown, ``leaders`` are
    those among them that tokens attend to in this block, ``attention`` says it by sequence."""

    number: int
    layer: str
    stage: str
    states: np.ndarray
    leaders: tuple[int, ...]
    attention: tuple[Attention, ...] = ()


@dataclass
class Film:
    """Frames, and the exact states they refer to: ``places`` (S, d) as floats, ``texts`` exact."""

    sample: Sample
    moments: int  # of the run, shown or not
    frames: list[Frame]
    places: np.ndarray
    texts: list[str] = field(default_factory=list)

    def positions(self, frame: Frame) -> np.ndarray:
        """Tokens of a frame, shape (T, d)."""
        found: np.ndarray = self.places[frame.states]
        return found


def record(
    model: Transformer, data: Dataset, progress: Callable[[int], None] | None = None
) -> Film:
    """Run the sampled sequences exactly and record the moments worth a look."""
    chosen = sample(data)
    recorder = _Recorder(chosen, partial=len(chosen.sequences) < len(data))
    stages = list(model.stages)
    total = 1 + sum(_layers(block) for block in model.parameters or ())
    keep = set(evenly(total, MAX_MOMENTS))
    run = moments(model, (data.sequence(j) for j in chosen.sequences))
    for place, moment in enumerate(run):
        ends = _ends_stage(stages, moment)
        if ends or place in keep:
            recorder.add(moment, always=ends)
        if progress is not None:
            progress(moment.number)
    return recorder.film(total)


def _layers(block: PackedBlock) -> int:
    """How many moments a block has, as `moments` counts them."""
    return max(any(block.w) + block.mixes, 1)


def _ends_stage(stages: Sequence[str], moment: Moment) -> bool:
    k = moment.number
    return k == 0 or k == len(stages) or stages[k] != stages[k - 1]


class _Recorder:
    """Numbers the states of tokens; a token that stays keeps its number."""

    def __init__(self, chosen: Sample, partial: bool) -> None:
        self.sample = chosen
        self.partial = partial
        self.frames: list[Frame] = []
        self.places: list[list[float]] = []
        self.texts: list[str] = []
        self._known: dict[Key, int] = {}

    def add(self, moment: Moment, always: bool) -> None:
        """Record one moment; of a sample only where it moves, or ``always``."""
        known: dict[Key, int] = {}
        states: list[int] = []
        leaders: list[int] = []
        for j, positions in enumerate(self.sample.positions):
            keys = moment.keys(j)
            led = set(moment.attention[j].leaders) if moment.attention else ()
            for position in positions:
                if position in led:
                    leaders.append(len(states))
                key = keys[position]
                if key not in known:
                    known[key] = self._known[key] if key in self._known else self._new(key)
                states.append(known[key])
        self._known = known
        same = bool(self.frames) and np.array_equal(self.frames[-1].states, states)
        if same and self.partial and not always:
            return  # only tokens that are not shown have moved
        self.frames.append(
            Frame(
                moment.number,
                moment.layer,
                moment.stage,
                np.array(states),
                tuple(leaders),
                moment.attention,
            )
        )

    def _new(self, key: Key) -> int:
        token: Vector = tuple(Fraction(x, key[-1]) for x in key[:-1])
        self.places.append([_float(x) for x in token])
        texts = [show(x, 48) for x in token[:SHOWN]]
        if len(token) > SHOWN:
            texts.append(f"… {len(token) - SHOWN} more")
        self.texts.append("(" + ", ".join(texts) + ")")
        return len(self.texts) - 1

    def film(self, total: int) -> Film:
        """What has been recorded, thinned out until it fits on a page."""
        places = np.array(self.places)
        film = Film(self.sample, total, self.frames, places, self.texts)
        while _size(film) > MAX_BYTES and len(film.frames) > 8:
            film = _thinned(film)
        return film


def _float(x: Fraction) -> float:
    try:
        return nearest_float(x)
    except OverflowError:  # past the screen either way
        return 1e300 if x > 0 else -1e300


def _size(film: Film) -> int:
    changes = sum(int((a.states != b.states).sum()) for a, b in pairwise(film.frames))
    looks = sum(
        2 * len(each.choice) + 5 * sum(map(len, each.sets))
        for frame in film.frames
        for each in frame.attention
    )
    return 11 * film.places.size + sum(len(text) + 4 for text in film.texts) + 12 * changes + looks


def _thinned(film: Film) -> Film:
    """Drop every other frame within the stages; forget the states that none refers to."""
    frames = [
        frame
        for k, frame in enumerate(film.frames)
        if k % 2 == 0 or k + 1 == len(film.frames) or film.frames[k + 1].stage != frame.stage
    ]
    if len(frames) == len(film.frames):
        frames = frames[:1] + frames[2::2]
    used, renumbered = np.unique(np.concatenate([f.states for f in frames]), return_inverse=True)
    parts = np.split(renumbered.ravel(), len(frames))
    frames = [replace(f, states=part) for f, part in zip(frames, parts, strict=True)]
    return Film(
        film.sample, film.moments, frames, film.places[used], [film.texts[k] for k in used.tolist()]
    )
