"""What all pictures are made of: tokens, their paths, leaders, centres of mass, hyperplanes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import cos, dist, hypot, pi, sin
from typing import TYPE_CHECKING

import numpy as np

from ..dataset import Dataset
from ..exact.numbers import nearest_float
from ..labels import Halfspace, LabelSet
from .style import BLACK, GREY, LABELS, RED, Glyph

if TYPE_CHECKING:
    from fractions import Fraction

    from matplotlib.axes import Axes

    from .moments import Moment

Clouds = list[np.ndarray]  # one array (n_j, 2) per sequence
SHORT = 16.0  # arrows of fewer points are short


def clouds(moment: Moment) -> Clouds:
    """The tokens of every sequence as floats, for drawing."""
    return [
        np.array([[nearest_float(x) for x in z] for z in moment.tokens(j)])
        for j in range(len(moment.lengths))
    ]


def vector(exact: Iterable[Fraction]) -> np.ndarray:
    """An exact vector as floats, for drawing."""
    return np.array([nearest_float(x) for x in exact])


def colours(data: Dataset) -> list[str]:
    """Colour of every sequence: that of its label."""
    names = list(data.sets)
    return [LABELS[names.index(label) % len(LABELS)] for label in data.need_labels()]


def draw_tokens(
    ax: Axes, tokens: Clouds, colour: Sequence[str], shape: Sequence[Glyph], ghost: bool = False
) -> None:
    """One glyph per sequence; ``ghost`` draws outlines where tokens have been before."""
    for j, cloud in enumerate(tokens):
        glyph = shape[j]
        ax.plot(
            cloud[:, 0], cloud[:, 1], linestyle="none", marker=glyph.marker,
            markersize=glyph.size * (0.8 if ghost else 1.0),
            markerfacecolor="white" if ghost else colour[j],
            markeredgecolor=GREY if ghost else "white",
            markeredgewidth=0.5 if ghost else 0.7,
            zorder=glyph.order - (2.5 if ghost else 0), clip_on=False,
        )  # fmt: skip


def draw_paths(ax: Axes, before: Clouds, after: Clouds, colour: str) -> None:
    """An arrow for every token that has moved."""
    seen = set()
    for start, end in zip(before, after, strict=True):
        for a, b in zip(start.tolist(), end.tolist(), strict=True):
            if a != b and (key := (*a, *b)) not in seen:
                seen.add(key)
                # a short arrow would vanish under the glyphs at its ends
                short = hypot(b[0] - a[0], b[1] - a[1]) < SHORT * _point(ax)
                arrow(ax, a, b, colour, shrink=2 if short else 3.5, order=6.2 if short else 4.0,
                      head=5.0 if short else 7.0)  # fmt: skip


def _point(ax: Axes) -> float:
    """The length of 1/72 inch in the coordinates of a panel."""
    x0, x1 = ax.get_xlim()
    return float(x1 - x0) / (ax.bbox.width / ax.figure.dpi * 72)


def arrow(
    ax: Axes, start: Sequence[float], end: Sequence[float], colour: str,
    width: float = 0.9, shrink: float = 0.0, order: float = 4.0, head: float = 7.0,
) -> None:  # fmt: skip
    """A straight arrow in the coordinates of the panel."""
    from matplotlib.patches import FancyArrowPatch

    ax.add_patch(
        FancyArrowPatch(
            (start[0], start[1]),
            (end[0], end[1]),
            arrowstyle="-|>",
            color=colour,
            linewidth=width,
            mutation_scale=head,
            shrinkA=0,
            shrinkB=shrink,
            zorder=order,
            joinstyle="miter",
            capstyle="butt",
        )
    )


def draw_leaders(ax: Axes, leaders: Iterable[np.ndarray], v: np.ndarray) -> None:
    """A red arrow at every leader, coming from outside the hull, against the direction v."""
    unit = v / hypot(*v)
    for z in {tuple(z) for z in leaders}:
        ax.annotate(
            "", xy=z, xytext=(unit[0] * 24, unit[1] * 24), textcoords="offset points", zorder=6,
            arrowprops={"arrowstyle": "-|>", "color": RED, "linewidth": 1.4, "shrinkB": 6,
                        "shrinkA": 0, "mutation_scale": 10},
        )  # fmt: skip


def draw_means(
    ax: Axes, tokens: Clouds, colour: Sequence[str], shape: Sequence[Glyph], tilde: bool = False,
    avoid: Sequence[Sequence[float]] = (),
) -> None:  # fmt: skip
    """Centres of mass m^j: hollow glyphs with a cross; those that coincide share one name,
    which stays clear of the places to ``avoid``."""
    places: dict[tuple[float, ...], list[int]] = {}
    for j, cloud in enumerate(tokens):
        places.setdefault(tuple(np.round(cloud.mean(axis=0), 9)), []).append(j)
    taken = [z for cloud in tokens for z in cloud.tolist()] + list(places) + [*avoid]
    name = r"\tilde m" if tilde else "m"
    for place, members in places.items():
        for j in members:
            ax.plot(
                *place, marker=shape[j].marker, markersize=shape[j].size + 2,
                markerfacecolor="white", markeredgecolor=colour[j], markeredgewidth=1.1,
                zorder=5.6 + shape[j].order / 100,
            )  # fmt: skip
        ax.plot(*place, marker="+", markersize=5, color=BLACK, markeredgewidth=0.8, zorder=5.8)
        text = " = ".join(f"{name}^{j + 1}" for j in members)
        others = [other for other in places if other != place]
        taken.append(_name(ax, f"${text}$", place, taken, others, 13 + 23 * (len(members) - 1)))


def _name(
    ax: Axes, text: str, place: Sequence[float], taken: Sequence[Sequence[float]],
    others: Sequence[Sequence[float]], width: float,
) -> tuple[float, float]:  # fmt: skip
    """Write a name of so many points near a place, clear of glyphs and axes and nearer to it
    than to the places of other names; return where."""
    unit, height = _point(ax), 12.0

    def clearance(spot: tuple[float, float]) -> float:
        """Points between the name's box and what is nearest, glyphs taken as discs."""
        rooms = [
            hypot(
                max(abs(spot[0] - z[0]) / unit - width / 2, 0),
                max(abs(spot[1] - z[1]) / unit - height / 2, 0),
            ) - 5
            for z in taken
        ]  # fmt: skip
        axes = abs(spot[0]) / unit - width / 2, abs(spot[1]) / unit - height / 2
        return min(*rooms, *axes)

    spots = [
        (place[0] + far * cos(k * pi / 12) * unit, place[1] + far * sin(k * pi / 12) * unit)
        for far in (14, 18, 22, 26, 30, 36, 42)
        for k in range(24)
    ]
    spots = [
        s for s in spots if all(dist(s, z) > 1.1 * dist(s, place) for z in others)
    ] or spots  # fmt: skip
    # the nearest that is clear, or the one that is clearest
    spot = next((s for s in spots if clearance(s) >= 0.5), None) or max(spots, key=clearance)
    if dist(spot, place) > 24 * unit:  # a thin line to what the name belongs to
        ax.plot(*zip(place, spot, strict=True), color=BLACK, linewidth=0.5, zorder=4.5)
    backing = {"facecolor": "white", "edgecolor": "none", "pad": 0.5, "alpha": 0.85}
    ax.text(*spot, text, ha="center", va="center", zorder=7, bbox=backing)
    return spot


def draw_halfspace(ax: Axes, u: np.ndarray, b: float, colour: str, alpha: float = 0.12) -> None:
    """Shade {⟨u,x⟩ + b > 0} inside the window of the panel."""
    polygon = clipped(window(ax), u, b)
    if len(polygon) > 2:
        ax.fill(*zip(*polygon, strict=True), color=colour, alpha=alpha, linewidth=0, zorder=0.5)


def draw_hyperplane(ax: Axes, u: np.ndarray, b: float, colour: str) -> None:
    """The line ⟨u,x⟩ + b = 0 and its active side."""
    draw_halfspace(ax, u, b, colour)
    foot = -b * u / (u @ u)
    along = np.array([-u[1], u[0]])
    ax.axline(foot, foot + along, color=colour, linewidth=1.0, dashes=(4, 2), zorder=2)


def draw_sets(ax: Axes, sets: Mapping[str, LabelSet], alpha: float = 0.16) -> None:
    """Half-planes among the label sets, tinted in the colours of the labels."""
    for k, label_set in enumerate(sets.values()):
        if isinstance(label_set, Halfspace):
            u, b = vector(label_set.normal), -nearest_float(label_set.offset)
            draw_halfspace(ax, u, b, LABELS[k % len(LABELS)], alpha)


def window(ax: Axes) -> list[tuple[float, float]]:
    """Corners of the panel's window."""
    (x0, x1), (y0, y1) = ax.get_xlim(), ax.get_ylim()
    return [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]


def clipped(
    polygon: Sequence[tuple[float, float]], u: np.ndarray, b: float
) -> list[tuple[float, float]]:
    """The part of a convex polygon where ⟨u,x⟩ + b ≥ 0 (Sutherland–Hodgman).

    >>> clipped([(0, 0), (2, 0), (2, 2), (0, 2)], np.array([1.0, 0.0]), -1.0)
    [(1.0, 0.0), (2, 0), (2, 2), (1.0, 2.0)]
    """
    kept: list[tuple[float, float]] = []
    for p, q in zip(polygon, [*polygon[1:], *polygon[:1]], strict=True):
        s, t = float(u @ p + b), float(u @ q + b)
        if s >= 0:
            kept.append(p)
        if s * t < 0:
            r = s / (s - t)
            kept.append((p[0] + r * (q[0] - p[0]), p[1] + r * (q[1] - p[1])))
    return kept
