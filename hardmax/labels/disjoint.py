"""Are two label sets disjoint? A separating hyperplane, or a common point; both exact."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from ..alternatives import Solution, project, strict_system
from ..errors import InputError
from ..numbers import Vector, dot, show_vector
from .sets import Ball, LabelSet, Point, _Polyhedral


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
    if isinstance(first, Ball) and isinstance(second, _Polyhedral):
        return _ball_and_polyhedron(first, second)
    if isinstance(first, _Polyhedral) and isinstance(second, Ball):
        return _swapped(_ball_and_polyhedron(second, first))
    if isinstance(first, _Polyhedral) and isinstance(second, _Polyhedral):
        return _two_polyhedra(first, second)
    raise TypeError(f"{type(first).__name__} or {type(second).__name__} is no label set")


def check_disjoint(sets: Mapping[str, LabelSet]) -> dict[tuple[str, str], Separation]:
    """Separate every pair of label sets; raise InputError naming the first pair that meets."""
    found = {}
    for (a, first), (b, second) in combinations(sets.items(), 2):
        result = separate(first, second)
        if isinstance(result, CommonPoint):
            raise InputError(
                f"labels {a!r} and {b!r} overlap: both contain {show_vector(result.point)}; "
                f"label sets must be disjoint"
            )
        found[a, b] = result
    return found


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
        normal = _difference(second.point, p)
        return Separation(normal, (dot(normal, p) + dot(normal, second.point)) / 2)
    if isinstance(second, Ball):
        normal = _difference((*second.center, *p[len(second.center) :]), p)
        # the point is outside: ⟨normal, c⟩ − r|normal| ≥ ⟨normal, p⟩
        return Separation(normal, dot(normal, p))
    if isinstance(second, _Polyhedral):
        A, b = second.rows
        broken = next(
            i for i, (row, bound) in enumerate(zip(A, b, strict=True)) if dot(row, p) >= bound
        )
        weights = tuple(Fraction(int(i == broken)) for i in range(len(A)))
        return Separation(tuple(-x for x in A[broken]), -b[broken], None, weights)
    raise TypeError(f"{type(second).__name__} is no label set")


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


def _ball_and_polyhedron(ball: Ball, other: _Polyhedral) -> Separation | CommonPoint:
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


def _two_polyhedra(first: _Polyhedral, second: _Polyhedral) -> Separation | CommonPoint:
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
