"""Check certificates of global optimality of convex attention heads (docs/convex.md).

    python -m hardmax.learned.convex.checker CERT ...    or    python checker.py CERT ...

One file of at most 300 lines, laid out by hand; Python >= 3.11, its standard library, nothing else.
Integers decide, without tolerance; for cross-entropy also enclosures of exp and ln from `decimal`,
which rounds both correctly. Floats only propose a Cholesky factor, which integers verify."""

# fmt: off
# mypy: ignore-errors
# ruff: noqa: B905, D204, I001, N818, RUF005, SIM905
import sys
if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]  # the files beside this one must not stand in for the standard library
import json, re  # noqa: E401
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cmp_to_key
from math import isqrt, lcm
from operator import mul

FORMAT = "hardmax-convex-certificate/1"
FIELDS = {*"format head loss beta tokens targets gates heads dual lower upper".split()}
HEAD = {"mixing": ("attention", "mixer", "fourier", "tokens"), "penalty": ("nuclear", "squared"),
        "activation": ("linear", "gated", "relu"), "grid": 0, "groups": 0, "pooled": (True, False)}
MAX_BYTES, MAX_FEATURES = 2**28, 2**25
UP, DOWN = Context(prec=40, rounding=ROUND_CEILING), Context(prec=40, rounding=ROUND_FLOOR)
ZERO, ONE = Decimal(0), Decimal(1)
class Stop(Exception):
    """The end of a check other than "certified"; its arguments: an exit code, a line of reason."""
def need(condition, reason, code=2):
    """Stop unless the condition holds (an assert would vanish under ``python -O``)."""
    if not condition:
        raise Stop(code, reason)
def dot(x, y):
    """Inner product."""
    return sum(map(mul, x, y))
def number(text, where):
    """The rational that a text "p", "p/q" or "1.25" denotes."""
    need(type(text) is str and re.fullmatch(r"(?a)-?\d{1,999}(/0*[1-9]\d{0,999}|\.\d{1,999})?",
         text), f"{where}: a text such as '3', '1/2' or '0.25' is needed")
    return Fraction(text)
def table(value, depth, where):
    """Denominator and nested lists of integers, `depth` deep."""
    need(type(value) is dict and set(value) == {"denominator", "values"}, f"{where}: fields")
    need(type(value["denominator"]) is int and value["denominator"] > 0, f"{where}: denominator")
    def good(x, level):
        return type(x) is list and all(good(y, level - 1) for y in x) if level else type(x) is int
    need(good(value["values"], depth), f"{where}: lists of integers, {depth} deep, are needed")
    return value["denominator"], value["values"]
class Instance:
    """Section 1 of docs/convex.md: head, data, loss; rows of features as integers over `unit`."""
    def __init__(self, cert):
        need(type(cert) is dict and cert.get("format") == FORMAT, f"the format is not {FORMAT}")
        need(set(cert) - {"descent", "note"} == FIELDS, "missing or unknown fields")
        head = cert["head"]
        need(type(head) is dict and set(head) == set(HEAD) and all(not values or (
            type(head[x]) is type(values[0]) and head[x] in values) for x, values in HEAD.items()),
            "head: missing or unknown fields or values")
        self.mixing, self.penalty, self.activation, self.grid, B, pooled = map(head.get, HEAD)
        self.squared, self.beta = cert["loss"] == "squared", number(cert["beta"], "beta")
        need(cert["loss"] in ("squared", "cross-entropy") and self.beta > 0, "loss or beta")
        scale_x, tokens = table(cert["tokens"], 3, "tokens")
        self.scale_y, self.targets = table(cert["targets"], 3, "targets")
        need(len(tokens) == len(self.targets) > 0, "tokens and targets differ in number")
        d, c, lengths = len((tokens[0] or [[]])[0]), len((self.targets[0] or [[]])[0]), []
        for X, Y in zip(tokens, self.targets):
            need(d > 0 < len(X) and all(len(x) == d for x in X) and c > 0 and len(Y) == (
                1 if pooled else len(X)) and all(len(y) == c for y in Y), "tokens, targets: shape")
            need(self.squared or all(min(y) >= 0 and sum(y) == self.scale_y for y in Y), "simplex")
            lengths.append(len(X))
        need(type(B) is int and B > 0 and d % B == c % B == 0, "head: groups")
        s, common, D = lengths[0], lcm(*lengths) if pooled else 1, d // B
        need(self.mixing in ("attention", "tokens") or len(set(lengths)) == 1, "unequal lengths")
        need(self.mixing != "fourier" or (
            type(self.grid) is list and [type(x) for x in self.grid] == [int, int]
            and min(self.grid) > 0 and self.grid[0] * self.grid[1] == s), "head: grid")
        self.c, self.C, (self.a, self.b) = c, c // B, {  # outputs in all, of a group; sizes of Φ
            "attention": (D * D, D), "mixer": (s * s, D), "fourier": (s * D, 1),
            "tokens": (D, 1)}[self.mixing]
        gates = [[None]] * B
        if self.activation == "gated":
            _, gates = table(cert["gates"], 3, "gates")
            need(len(gates) == B and all(gates) and all(len(h) == self.a for g in gates for h in g),
                 "gates: for each group, gates as long as u are needed")
        need(self.activation == "gated" or cert["gates"] is None, "gates: only for gated heads")
        need(self.activation != "relu" or (self.a, self.b, self.penalty) == (2, 1, "nuclear"),
             "ReLU: only for u in two dimensions, with the nuclear penalty")
        self.unit = common * scale_x ** (3 if self.mixing == "attention" else 1)
        size = sum(map(len, self.targets)) * sum(map(len, gates)) * self.a * self.b
        need(size <= MAX_FEATURES, "more features than this checker takes")
        self.blocks = []  # of each block Z: its outputs, and for each row of predictions features
        for group, hs in enumerate(gates):
            at = range(group * self.C, (group + 1) * self.C)
            parts = [[x[group * D:(group + 1) * D] for x in X] for X in tokens]
            self.blocks += [(at, [self.features(X, seen, h, common // len(X) if pooled else 1)
                for X in parts for seen in ([range(len(X))] if pooled else zip(range(len(X))))])
                for h in hs]
    def features(self, X, queries, h, factor):
        """factor·Σ_o Φ_o as a list of a·b integers; for ReLU, factor·q_o for each query o."""
        s, d, columns = len(X), len(X[0]), list(zip(*X))
        if self.mixing == "attention":
            if h is None:
                mean = [factor * sum(x[o] for o in queries) for x in columns]
                gram = [[dot(x, y) for y in columns] for x in columns]
                return [x * g for row in gram for x in mean for g in row]
            H, seen = [h[a::d] for a in range(d)], [[0] * d for _ in X]
            for o in queries:
                form = [dot(X[o], column) for column in zip(*H)]
                for t in range(s):
                    if dot(form, X[t]) >= 0:
                        seen[t] = [p + x for p, x in zip(seen[t], X[o])]
            pairs = list(zip(*([factor * z * y for z in seen[t] for y in X[t]] for t in range(s))))
            return [dot(x, z) for x in columns for z in pairs]  # pairs (a, l), each over t
        if self.mixing == "mixer":
            mask = [[o in queries and (h is None or dot(h[o::s], x) >= 0) for x in columns]
                    for o in range(s)]
            return [factor * x * m for x_t in X for m_o in mask for x, m in zip(x_t, m_o)]
        forms = [X[o] for o in queries]
        if self.mixing == "fourier":
            n, m = self.grid
            forms = [[x for t in range(s) for x in X[(o // m - t // m) % n * m + (o - t) % m]]
                     for o in queries]
        if self.activation == "relu":
            return [[factor * x for x in q] for q in forms]
        kept = [q for q in forms if h is None or dot(q, h) >= 0]
        return [factor * sum(x) for x in zip(*kept)] if kept else [0] * self.a
    def heads(self, value, where):
        """Denominator, and the pairs (u, v) of each block."""
        scale, found = table(value, 4, where)
        need(len(found) == len(self.blocks) and all([len(x) for x in pair] == [
            self.a, self.b * self.C] for pairs in found for pair in pairs), f"{where}: sizes")
        return scale, found
    def value(self, scale, heads):
        """Section 2: the training objective of these heads, as an interval (lower, upper)."""
        rows, weights = [y for Y in self.targets for y in Y], 0
        R = [[0] * self.c for _ in rows]  # predictions, times unit · scale²
        for (at, features), pairs in zip(self.blocks, heads):
            if self.penalty == "nuclear":
                weights += scale**2 * sum(dot(x, x) for pair in pairs for x in pair)
            if self.activation == "relu":
                for u, v in pairs:
                    for row, forms in zip(R, features):
                        hidden = sum(max(0, dot(q, u)) for q in forms)
                        for p, weight in zip(at, v):
                            row[p] += hidden * weight
                continue
            us, vs = zip(*pairs) if pairs else ([[0] * self.a], [[0] * self.b * self.C])
            Z = [dot(u, v) for u in zip(*us) for v in zip(*vs)]  # Σ u vᵀ, row after row
            weights += dot(Z, Z) if self.penalty == "squared" else 0
            for p in at:
                column = Z[p - at.start::self.C]
                for row, phi in zip(R, features):
                    row[p] += dot(phi, column)
        penalty, unit = self.beta * Fraction(weights, 2 * scale**4), self.unit * scale**2
        if self.squared:
            errors = [self.scale_y * r - unit * y for f, t in zip(R, rows) for r, y in zip(f, t)]
            exact = penalty + Fraction(dot(errors, errors), 2 * (unit * self.scale_y)**2)
            return exact, exact
        low, high, linear, q = ZERO, ZERO, 0, Decimal(unit)
        for R_i, Y_i in zip(R, rows):  # ln Σ exp r = top + ln Σ exp(r − top)
            top, least, most = max(R_i), ZERO, ZERO
            linear += top * self.scale_y - dot(Y_i, R_i)
            for x in (Decimal(r - top) for r in R_i):
                most = UP.add(most, UP.next_plus(UP.exp(UP.divide(x, q))))
                least = DOWN.add(least, max(DOWN.next_minus(DOWN.exp(DOWN.divide(x, q))), ZERO))
            high = UP.add(high, UP.next_plus(UP.ln(most)))
            low = DOWN.add(low, DOWN.next_minus(DOWN.ln(max(least, ONE))))  # exp 0 = 1 is a term
        exact = penalty + Fraction(linear, unit * self.scale_y)
        return exact + Fraction(low), exact + Fraction(high)
    def dual_value(self, value):
        """Section 3: a lower bound on D(V), after checking that V is feasible."""
        scale, V = table(value, 3, "dual")
        need([[len(v) for v in rows] for rows in V] == [[len(y) for y in Y] for Y in self.targets],
             "dual: shape")
        flat, rows = [v for part in V for v in part], [y for Y in self.targets for y in Y]
        bound, slack = self.beta * self.unit * scale, Fraction(0)
        for place, (at, features) in enumerate(self.blocks):
            columns = [[v[p] for v in flat] for p in at]
            if self.activation == "relu":
                need(sectors_bounded(features, list(zip(*columns)), bound), "refuted: V", 1)
                continue
            N = [dot(phi, column) for phi in zip(*features) for column in columns]
            N = [N[r:r + self.b * self.C] for r in range(0, len(N), self.b * self.C)]
            if self.penalty == "nuclear":
                need(norm_bounded(N, bound), f"refuted: ‖N‖ exceeds β in block {place + 1}", 1)
            else:
                slack += sum(dot(x, x) for x in N) / (2 * self.beta * (self.unit * scale)**2)
        if self.squared:
            inner = Fraction(sum(map(dot, flat, rows)), scale * self.scale_y)
            return inner - Fraction(sum(dot(v, v) for v in flat), 2 * scale**2) - slack
        total, unit = ZERO, Decimal(scale * self.scale_y)
        for v, y in zip(flat, rows):  # the entropy of Y − V
            q = [scale * y_p - self.scale_y * v_p for y_p, v_p in zip(y, v)]
            need(min(q) >= 0 and sum(q) == unit, "refuted: Y − V leaves the simplex", 1)
            for x in map(Decimal, filter(None, q)):
                log = UP.next_plus(UP.ln(UP.divide(x, unit)))
                total = DOWN.add(total, max(DOWN.multiply(DOWN.divide(x, unit), -log), ZERO))
        return Fraction(total) - slack
def norm_bounded(N, bound):
    """Whether ‖N‖ ≤ bound: bound²·I − NNᵀ, or with NᵀN if smaller, is positive semidefinite."""
    N, p, q = N if len(N) <= len(N[0]) else list(zip(*N)), bound.numerator, bound.denominator
    return positive([[(p * p if i == j else 0) - q * q * dot(x, N[j]) for j in range(i + 1)]
                     for i, x in enumerate(N)])
def positive(S):
    """Whether a symmetric integer matrix, given by its lower triangle, is positive semidefinite.
    A rounded Cholesky factor C of S − δI proposes; that S − CCᵀ is diagonally dominant proves, in
    integers. Where this fails, `eliminate` decides."""
    n, top = len(S), max(S[i][i] for i in range(len(S)))
    if top <= 0 or any(row[-1] < 0 or max(map(abs, row)) > top for row in S):
        return not any(x for row in S for x in row)  # else a minor of size 1 or 2 is negative
    factor, slack = [], [0] * n
    for i in range(n):
        row = []
        for j, other in enumerate(factor):
            row.append((S[i][j] / top - dot(row, other)) / other[j])
        rest = S[i][i] / top - dot(row, row) - 1e-11 * n**0.5
        if rest <= 0:
            return eliminate(S)
        factor.append(row + [rest**0.5])
    k = (100 - top.bit_length()) // 2 * 2  # C·Cᵀ ≈ top · 2^(k + 40)
    root, left, right = isqrt(top << k if k >= 0 else top >> -k) << 20, max(k, 0) + 40, max(-k, 0)
    C = [[round(x * 2**60) * root >> 60 for x in row] for row in factor]
    for i in range(n):
        for j in range(i + 1):
            rest = (S[i][j] << left) - (dot(C[i], C[j]) << right)  # C[j] is the shorter
            slack[i] += rest if i == j else -abs(rest)
            slack[j] -= 0 if i == j else abs(rest)
    return min(slack) >= 0 or eliminate(S)
def eliminate(S):
    """Positive semidefinite, exactly: LDLᵀ in integers without fractions (Bareiss)."""
    M, before = [row + [S[j][i] for j in range(i + 1, len(S))] for i, row in enumerate(S)], 1
    while M:
        first, pivot = M[0], M[0][0]
        if pivot < 0 or (pivot == 0 and any(first)):
            return False
        M = [[(pivot * x - row[0] * y) // before for x, y in zip(row[1:], first[1:])]
             if pivot else row[1:] for row in M[1:]]
        before = pivot or before
    return True
def sectors_bounded(features, V, bound):
    """Whether |Σ max(0, ⟨q, u⟩) V| ≤ bound·|u| for all u in the plane: on each sector between
    neighbouring kinks (g, h), bound²|u|² − |Σ…|² must be copositive in u = αg + γh, α, γ ≥ 0."""
    forms = [(q, v) for qs, v in zip(features, V) for q in qs if any(q)]
    rays = {(x, y) for (a, b), _ in forms for x, y in ((-b, a), (b, -a))}
    def order(g, h):  # counterclockwise
        return ((g[1], g[0]) < (0, 0)) - ((h[1], h[0]) < (0, 0)) or g[1] * h[0] - g[0] * h[1]
    turn = sorted(rays | {(1, 0), (0, 1), (-1, 0), (0, -1)}, key=cmp_to_key(order))
    for g, h in zip(turn, turn[1:] + turn[:1]):
        on = [(q, v) for q, v in forms if dot(q, (g[0] + h[0], g[1] + h[1])) > 0]
        at_g, at_h = ([sum(dot(q, ray) * v[p] for q, v in on) for p in range(len(V[0]))]
                      for ray in (g, h))
        gg, hh, gh = (bound**2 * dot(r, t) - dot(x, y) for r, t, x, y in (
            (g, g, at_g, at_g), (h, h, at_h, at_h), (g, h, at_g, at_h)))
        if gg < 0 or hh < 0 or (gh < 0 and gh * gh > gg * hh):
            return False
    return True
def bounds(cert):
    """The proved lower and upper bound, and the proved drop by more heads (None without them)."""
    instance = Instance(cert)
    scale, heads = instance.heads(cert["heads"], "heads")
    lower, (least, upper) = instance.dual_value(cert["dual"]), instance.value(scale, heads)
    if "descent" not in cert:
        return lower, upper, None
    need({*cert["descent"]} == {"heads", "drop"}, "descent: missing or unknown fields")
    other, more = instance.heads(cert["descent"]["heads"], "descent")
    both = [[[[x * by for x in w] for w in pair] for pairs, by in ((old, other), (new, scale))
             for pair in pairs] for old, new in zip(heads, more)]
    return lower, upper, least - instance.value(scale * other, both)[1]
def check(cert):
    """Section 4: one line on a certificate that holds; raise Stop where it does not."""
    lower, upper, drop = bounds(cert)
    low, high = number(cert["lower"], "lower"), number(cert["upper"], "upper")
    need(low <= lower and high >= upper, "refuted: the stated interval is not what is proved", 1)
    gap = (high - low) / high if high > 0 else high - low
    line = f"certified: {cert['lower']} <= optimum <= {cert['upper']}, relative gap at most " + str(
        Context(2, ROUND_CEILING).divide(gap.numerator, gap.denominator))
    if drop is not None:
        need(0 < number(cert["descent"]["drop"], "drop") <= drop, "refuted: less drop", 1)
        line += f"; not optimal: more heads lower it by {cert['descent']['drop']}"
    return line
def main(paths):
    """Check files; exit code 0: all certified, 1: one is refuted, 2: one is unusable."""
    worst = 0 if paths else (2, print("give one or more certificates"))[0]
    for path in paths:
        try:
            with open(path, "rb") as file:
                raw = file.read(MAX_BYTES + 1)
            need(len(raw) <= MAX_BYTES, "the file is too large")
            code, line = 0, check(json.loads(raw))
        except Stop as stop:
            code, line = stop.args
        except Exception as problem:  # of the many errors that broken input raises, one line
            code, line = 2, f"cannot be read: {ascii(problem)[:200]}"
        worst = max(worst, code)
        print(f"{path}: {line}")
    return worst

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
