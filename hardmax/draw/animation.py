"""The run as a moving picture: an animated GIF, or MP4 through ffmpeg."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..dataset import Dataset
from ..errors import InputError
from ..labels import Point
from .components import run_basis
from .film import Film, Frame
from .scene import draw_sets, draw_tokens, vector
from .style import BLACK, LABELS, STAGES, STEPS, caption, fit, glyphs, look, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from PIL.Image import Image

RATE = 20  # pictures a second
HOLD = 0.9  # seconds on each moment
MOST = 240  # pictures between moments, in all
ZOOM = 30  # the window follows the tokens where they once fill less than 1/30 of the whole


@dataclass(frozen=True)
class _Picture:
    places: np.ndarray  # (T, 2)
    before: np.ndarray  # where the tokens come from
    window: np.ndarray  # (2, 2), two corners: the tokens are between them
    frame: Frame
    seconds: float


def animate(data: Dataset, film: Film, kind: str, path: Path) -> None:
    """Write the film as "gif" or "mp4"; raise InputError where ffmpeg is missing for MP4."""
    with look():
        if kind == "gif":
            _gif(data, film, path)
        else:
            _mp4(data, film, path)


def _gif(data: Dataset, film: Film, path: Path) -> None:
    from PIL.Image import Dither, Quantize

    images: list[Image] = []
    times: list[int] = []
    for picture, figure in _figures(data, film):
        image = _image(figure).convert("RGB")
        images.append(image.quantize(64, method=Quantize.MEDIANCUT, dither=Dither.NONE))
        times.append(max(round(picture.seconds * 100) * 10, 20))
    images[0].save(
        path, format="GIF", save_all=True, append_images=images[1:], duration=times, loop=0,
        optimize=True,
    )  # fmt: skip


def _image(figure: Figure) -> Image:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # type: ignore[no-untyped-call]
    return Image.fromarray(np.asarray(canvas.buffer_rgba()))  # type: ignore[no-untyped-call]


def _mp4(data: Dataset, film: Film, path: Path) -> None:
    from matplotlib.animation import FFMpegWriter
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    if not FFMpegWriter.isAvailable():
        raise InputError("an .mp4 needs the program ffmpeg, which is not installed; .gif does not")
    options = ["-f", "mp4", "-pix_fmt", "yuv420p", "-fflags", "+bitexact"]
    writer: FFMpegWriter | None = None
    for picture, figure in _figures(data, film):
        FigureCanvasAgg(figure)
        if writer is None:
            writer = FFMpegWriter(fps=RATE, extra_args=options)
            writer.setup(figure, str(path), dpi=140)
        writer.fig = figure
        for _ in range(max(round(picture.seconds * RATE), 1)):
            writer.grab_frame()
    if writer is not None:
        writer.finish()


def _figures(data: Dataset, film: Film) -> Iterator[tuple[_Picture, Figure]]:
    """Draw every picture; the window holds the whole run, or follows the tokens (`ZOOM`)."""
    shown = Dataset(
        (data.sequence(j) for j in film.sample.sequences),
        [data.names[j] for j in film.sample.sequences],
        data.sets,
        ids=[data.ids[j] for j in film.sample.sequences],
    )
    names = list(data.sets)
    colour = [LABELS[names.index(label) % len(LABELS)] for label in shown.need_labels()]
    few = film.sample.tokens <= 100
    shape = glyphs(shown, 0.95 if few else 0.5)
    ends = np.cumsum([len(positions) for positions in film.sample.positions])[:-1]
    pictures = list(_pictures(film))
    whole = _corners(np.vstack([picture.window for picture in pictures]))
    follows = min(_side(picture.window) for picture in pictures) * ZOOM < _side(whole)
    for picture in pictures:
        window = picture.window if follows else whole
        figure, (ax,) = panels(1, 1, size=4.2, gap=0.4, edge=0.08, left=0.08)
        fit([ax], window.tolist())
        if follows:
            size = f"about {float(f'{_side(window):.1g}'):g} across"
            ax.text(0.02, 0.98, size, transform=ax.transAxes, va="top", fontsize="small")
        if data.dimension == 2:
            draw_sets(ax, data.sets)
            for k, label_set in enumerate(data.sets.values()):
                if isinstance(label_set, Point):
                    place = vector(label_set.point)
                    ax.plot(*place, marker="x", color=LABELS[k % len(LABELS)], markersize=12)
        stage = STAGES.get(picture.frame.stage, BLACK)
        if few:
            for a, b in zip(picture.before, picture.places, strict=True):
                ax.plot(*zip(a, b, strict=True), color=stage, linewidth=1.0, alpha=0.5, zorder=2)
        draw_tokens(ax, np.split(picture.places, ends), colour, shape)
        caption(ax, _words(picture.frame), stage)
        yield picture, figure


def _words(frame: Frame) -> str:
    if frame.number == 0:
        return "input"
    return f"block {frame.number}: {STEPS.get(frame.stage, frame.stage)}, {frame.layer}"


def _pictures(film: Film) -> Iterator[_Picture]:
    """Each moment for a while, and in between tokens on their way."""
    places = [_flat(film, frame) for frame in film.frames]
    steps = int(np.clip(MOST // max(len(places), 1), 1, 12))
    hold = HOLD if len(places) <= 40 else 0.3
    windows = _windows(places)
    yield _Picture(places[0], places[0], windows[0], film.frames[0], 1.5 * hold)
    for k, frame in enumerate(film.frames[1:], start=1):
        for i in range(1, steps):
            # slow at both ends, as a body moves
            r = (1 - np.cos(np.pi * i / steps)) / 2
            way = places[k - 1] + r * (places[k] - places[k - 1])
            window = windows[k - 1] + r * (windows[k] - windows[k - 1])
            yield _Picture(way, places[k - 1], window, frame, 1 / RATE)
        end = 2.5 * hold if k == len(places) - 1 else hold
        yield _Picture(places[k], places[k - 1], windows[k], frame, end)


def _windows(places: list[np.ndarray]) -> list[np.ndarray]:
    """A window for each moment, no smaller than the smallest in which tokens are apart."""
    found = [_corners(each) for each in places]
    least = min((side for each in found if (side := _side(each)) > 0), default=1.0)
    room = np.array([[-least], [least]]) / 2
    return [each + room * (_side(each) == 0) for each in found]


def _corners(points: np.ndarray) -> np.ndarray:
    """Lower and upper corner of the least box that holds points (T, 2)."""
    return np.array([points.min(axis=0), points.max(axis=0)])


def _side(corners: np.ndarray) -> float:
    return float((corners[1] - corners[0]).max())


def _flat(film: Film, frame: Frame) -> np.ndarray:
    """Tokens of a frame in the plane: as they are for d = 2, else by principal components."""
    points = film.positions(frame)
    if points.shape[1] == 2:
        return points
    if points.shape[1] == 1:
        rows = [k for k, shown in enumerate(film.sample.positions) for _ in shown]
        return np.column_stack([points, -np.array(rows, dtype=float)])
    flat: np.ndarray = points @ np.array(run_basis(film)).T
    return flat
