"""Are two label sets disjoint? A separating hyperplane, or a common point; both exact."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from ..errors import InputError
from ..exact.alternatives import Solution, project, strict_system
from ..exact.numbers import Vector, dot, show_vector
from .polyhedral import Polyhedral
from .sets import Ball, LabelSet, Point

_Named = tuple[str, LabelSet]


@dataclass(frozen=True)
class CommonPoint:
    """A point of both sets."""

    point: Vector


@dataclass(frozen=True)
class Separation:
    """A hyperplane between two disjoint sets: ⟨normal,x⟩ ≤ offset on the first, ≥ on the second.

    For a polyhedral set the multipliers y ≥ 0 prove its side: normal = ± Σ y_i A_i and
    offset ≥ ⟨y, b⟩ (with −normal, −offset for the second set). They are None for points
    and balls, where the side is seen directly.
    """

    normal: Vector
    offset: Fraction
    first: Vector | None = None
    second: Vector | None = None

    def swapped(self) -> Separation:
        """The same hyperplane with the two sets exchanged."""
        return Separation(tuple(-x for x in self.normal), -self.offset, self.second, self.first)


def separate(first: LabelSet, second: LabelSet) -> Separation | CommonPoint:
    """Separate two label sets, or find a point that lies in both.

    Both are single points or open convex sets, so one of the two always exists
    (Hahn and Banach): Farkas' lemma for polyhedra, projection for balls.

    >>> from hardmax.labels import Halfspace
    >>> separate(Point((1,)), Halfspace((1,), 2)).offset
    Fraction(2, 1)
    """
    if isinstance(first, Point):
        return _point_and(first, second)
    if isinstance(second, Point):
        return _swapped(_point_and(second, first))
    if isinstance(first, Ball) and isinstance(second, Ball):
        return _two_balls(first, second)
    if isinstance(first, Ball) and isinstance(second, Polyhedral):
        return _ball_and_polyhedron(first, second)
    if isinstance(first, Polyhedral) and isinstance(second, Ball):
        return _swapped(_ball_and_polyhedron(second, first))
    if isinstance(first, Polyhedral) and isinstance(second, Polyhedral):
        return _two_polyhedra(first, second)
    raise TypeError(f"{type(first).__name__} or {type(second).__name__} is no label set")


class Separations(Mapping[tuple[str, str], Separation]):
    """A hyperplane between every pair of disjoint label sets, in the order of the sets.

    Two different points are disjoint at sight; their hyperplane is worked out when asked for.
    """

    def __init__(
        self, sets: Mapping[str, LabelSet], found: Mapping[tuple[str, str], Separation]
    ) -> None:
        self._place = {name: k for k, name in enumerate(sets)}
        self._points = {name: each for name, each in sets.items() if isinstance(each, Point)}
        self._found = found

    def without_points(self) -> Iterable[tuple[str, str]]:
        """The pairs that are not two points."""
        return self._found.keys()

    def __getitem__(self, pair: tuple[str, str]) -> Separation:
        if pair in self._found:
            return self._found[pair]
        a, b = pair
        if self._place[a] >= self._place[b]:
            raise KeyError(pair)
        return _points_apart(self._points[a], self._points[b])

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return combinations(self._place, 2)

    def __len__(self) -> int:
        return len(self._place) * (len(self._place) - 1) // 2


def check_disjoint(sets: Mapping[str, LabelSet]) -> Separations:
    """Separate every pair of label sets; raise InputError naming the first pair that meets."""
    found = {}
    for (a, first), (b, second) in _pairs(sets):
        result = separate(first, second)
        if isinstance(result, CommonPoint):
            raise InputError(
                f"labels {a!r} and {b!r} overlap: both contain {show_vector(result.point)}; "
                f"label sets must be disjoint"
            )
        found[a, b] = result
    return Separations(sets, found)


def _pairs(sets: Mapping[str, LabelSet]) -> Iterator[tuple[_Named, _Named]]:
    """The pairs of sets to separate, in order. Different points are disjoint: where no two points
    are equal, the pairs of points are left out."""
    named = list(sets.items())
    points = [each.point for _, each in named if isinstance(each, Point)]
    if len(set(points)) < len(points):
        yield from combinations(named, 2)
        return
    others = [(b, second) for b, second in named if not isinstance(second, Point)]
    for place, (a, first) in enumerate(named, start=1):
        if not isinstance(first, Point):
            del others[0]  # it was this one
            yield from (((a, first), second) for second in named[place:])
        else:
            yield from (((a, first), second) for second in others)


def _swapped(result: Separation | CommonPoint) -> Separation | CommonPoint:
    return result.swapped() if isinstance(result, Separation) else result


def _difference(x: Vector, y: Vector) -> Vector:
    return tuple(a - b for a, b in zip(x, y, strict=True))


def _along(x: Vector, direction: Vector, t: Fraction) -> Vector:
    return tuple(a + t * b for a, b in zip(x, direction, strict=True))


def _point_and(first: Point, second: LabelSet) -> Separation | CommonPoint:
    p = first.point
    if second.contains(p):
        return CommonPoint(p)
    if isinstance(second, Point):
        return _points_apart(first, second)
    if isinstance(second, Ball):
        normal = _difference((*second.center, *p[len(second.center) :]), p)
        # the point is outside: ⟨normal, c⟩ − r|normal| ≥ ⟨normal, p⟩
        return Separation(normal, dot(normal, p))
    if isinstance(second, Polyhedral):
        A, b = second.rows
        broken = next(
            i for i, (row, bound) in enumerate(zip(A, b, strict=True)) if dot(row, p) >= bound
        )
        weights = tuple(Fraction(int(i == broken)) for i in range(len(A)))
        return Separation(tuple(-x for x in A[broken]), -b[broken], None, weights)
    raise TypeError(f"{type(second).__name__} is no label set")


def _points_apart(first: Point, second: Point) -> Separation:
    p, q = first.point, second.point
    normal = _difference(q, p)
    return Separation(normal, (dot(normal, p) + dot(normal, q)) / 2)


def _two_balls(first: Ball, second: Ball) -> Separation | CommonPoint:
    reach = first.radius + second.radius
    direction = _difference(second.center, first.center)
    t = first.radius / reach
    padding = (Fraction(0),) * first.free
    meeting = (*_along(first.center, direction, t), *padding)
    if dot(direction, direction) < reach**2:
        return CommonPoint(meeting)
    normal = (*direction, *padding)
    return Separation(normal, dot(normal, meeting))


def _ball_and_polyhedron(ball: Ball, other: Polyhedral) -> Separation | CommonPoint:
    A, b = other.rows
    bound = len(ball.center)
    if any(any(row[bound:]) for row in A):
        raise TypeError("a ball with free coordinates meets a polyhedron that bounds them")
    padding = (Fraction(0),) * ball.free
    point, multipliers = project(ball.center, [row[:bound] for row in A], b)
    gap = _difference(ball.center, point)
    if dot(gap, gap) >= ball.radius**2:
        normal = tuple(-x for x in gap)
        return Separation((*normal, *padding), dot(normal, point), None, multipliers)
    point = (*point, *padding)
    inwards = _difference(other.witness(), point)
    step = Fraction(1)
    while True:  # the nearest point lies inside the ball, so a small step inwards does, too
        candidate = _along(point, inwards, step)
        if other.contains(candidate) and ball.contains(candidate):
            return CommonPoint(candidate)
        step /= 2


def _two_polyhedra(first: Polyhedral, second: Polyhedral) -> Separation | CommonPoint:
    A, b = first.rows
    C, d = second.rows
    result = strict_system([*A, *C], [*b, *d])
    if isinstance(result, Solution):
        return CommonPoint(result.x)
    y, z = result.y[: len(A)], result.y[len(A) :]
    normal = tuple(
        sum((weight * row[j] for weight, row in zip(y, A, strict=True)), Fraction(0))
        for j in range(first.dimension)
    )
    return Separation(normal, dot(y, b), y, z)
