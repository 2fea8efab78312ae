"""The definition of docs/certificate.md, section 1, written out in plain Fractions.

Slow on purpose: no shortcut of the checker (signs, collapsed sequences, common denominators) is
used, so that an error in one of them shows as a disagreement.
"""

from fractions import Fraction


def dot(x, y):
    return sum((a * b for a, b in zip(x, y, strict=True)), Fraction(0))


def feed_forward(Z, u, b, w):
    moved = []
    for z in Z:
        t = max(Fraction(0), dot(u, z) + b)
        moved.append([a + c * t for a, c in zip(z, w, strict=True)])
    return moved


def attention(Z, rho, alpha, v, masked=False):
    n, moved = len(Z), []
    for i in range(n):
        seen = i + 1 if masked else n
        scores = [dot(v, Z[i]) * dot(v, Z[l]) for l in range(seen)]
        leaders = [l for l in range(seen) if scores[l] == max(scores)]
        mean = [sum(Z[l][k] for l in leaders) / Fraction(len(leaders)) for k in range(len(Z[i]))]
        moved.append([rho * a + alpha * m for a, m in zip(Z[i], mean, strict=True)])
    return moved


def output(blocks, Z, masked=False):
    """Mean of the last tokens; blocks are (u, b, w, rho, alpha, v) of Fractions.

    With several heads alpha and v are lists of what belongs to each.
    """
    Z = [[Fraction(a) for a in z] for z in Z]
    for u, b, w, rho, alpha, v in blocks:
        Y = feed_forward(Z, u, b, w)
        heads = zip(alpha, v, strict=True) if isinstance(alpha, list) else [(alpha, v)]
        Z = [[rho * a for a in y] for y in Y]
        for one, direction in heads:
            part = attention(Y, Fraction(0), one, direction, masked)
            Z = [[a + c for a, c in zip(*two, strict=True)] for two in zip(Z, part, strict=True)]
    return [sum(column) / Fraction(len(Z)) for column in zip(*Z, strict=True)]


def contains(label_set, x):
    """Membership; numbers are Fractions or what Fraction() reads."""
    kind = label_set["kind"]
    F = Fraction
    if kind == "point":
        return all(F(p) == a for p, a in zip(label_set["point"], x, strict=True))
    if kind == "ball":
        gaps = [a - F(c) for a, c in zip(x, label_set["center"], strict=True)]
        return dot(gaps, gaps) < F(label_set["radius"]) ** 2
    if kind == "box":
        bounds = zip(label_set["lower"], x, label_set["upper"], strict=True)
        return all(F(low) < a < F(high) for low, a, high in bounds)
    if kind == "halfspace":
        return dot([F(a) for a in label_set["normal"]], x) > F(label_set["offset"])
    rows = zip(label_set["A"], label_set["b"], strict=True)
    return all(dot([F(a) for a in row], x) < F(bound) for row, bound in rows)


def classified(blocks, sequences, labels, sets):
    """CLASSIFIED(T, D): there is a sequence, and every output lies in its label's set."""
    return len(sequences) > 0 and all(
        contains(sets[label], output(blocks, Z)) for Z, label in zip(sequences, labels, strict=True)
    )
