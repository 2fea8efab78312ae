"""The robust radius: no prediction changes inside it, and what binds gives way just outside."""

import json
from fractions import Fraction
from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import hardmax as hm
from hardmax.certify import radius as module
from hardmax.certify.radius import adversary, radii
from hardmax.cli.main import exit_code
from hardmax.construct.build import STRATEGIES
from hardmax.labels import Ball, Box, Halfspace, Point, Polyhedron
from hardmax.testing import (
    KINDS,
    adversarial_datasets,
    datasets,
    disjoint_sets,
    rank_one_models,
    sequences,
)

F = Fraction
BLOCK = hm.RankOneBlock.of
POINTS = {"a": Point((0, 0)), "b": Point((8, 0))}


def inner(x, y):
    return sum((a * b for a, b in zip(x, y, strict=True)), F(0))


def run(model, tokens):
    """All decisions of a run and its output, by plain Fractions from the definition (2.2)-(2.5)."""
    tokens = [tuple(F(x) for x in token) for token in tokens]
    d, n = model.dimension, len(tokens)
    decisions = []
    for block in model.parameters:
        values = [inner(block.u, z) + block.b for z in tokens]
        if any(block.w):
            decisions.append([value > 0 for value in values])
        tokens = [
            tuple(x + y * max(value, 0) for x, y in zip(z, block.w, strict=True))
            for z, value in zip(tokens, values, strict=True)
        ]
        scores = [inner(block.v, z) for z in tokens]
        leaders = []
        for score in scores:
            top = max(score * other for other in scores)
            leaders.append([l for l, other in enumerate(scores) if score * other == top])
        if block.alpha:
            decisions.append(
                [((s > 0) - (s < 0), *l) for s, l in zip(scores, leaders, strict=True)]
            )
        tokens = [
            tuple(
                block.rho * tokens[i][c]
                + block.alpha * sum(tokens[l][c] for l in leaders[i]) / len(leaders[i])
                for c in range(d)
            )
            for i in range(n)
        ]
    return decisions, tuple(sum(z[c] for z in tokens) / n for c in range(d))


def moved(tokens, signs, size):
    return [
        tuple(F(x) + size * s for x, s in zip(z, row, strict=True))
        for z, row in zip(tokens, signs, strict=True)
    ]


def corner(rng, tokens):
    """A random corner of the cube, now and then one that moves all tokens alike."""
    if rng.random() < 0.3:
        row = [rng.choice((-1, 1)) for _ in tokens[0]]
        return [row] * len(tokens)
    return [[rng.choice((-1, 0, 1, 1, -1)) for _ in token] for token in tokens]


def inside(rng, tokens):
    return [[F(rng.randint(-64, 64), 64) for _ in token] for token in tokens]


def check(model, tokens, sets, rng, tries=4):
    """Both halves of the promise for one sequence; returns its radius."""
    data = hm.Dataset([tokens], None, sets)
    (found,) = radii(model, data).each
    decisions, output = run(model, tokens)
    name = hm.predict(output, sets)
    signs = adversary(model, tokens, sets)
    size = F(10) ** 9 if found.value is None else found.value * (1 - F(1, 2**40))
    if size:
        attempts = [corner(rng, tokens) for _ in range(tries)]
        attempts += [inside(rng, tokens) for _ in range(tries)]
        if signs is not None:
            attempts += [signs, [[-x for x in row] for row in signs]]
            attempts += [[[x or rng.choice((-1, 1)) for x in row] for row in signs]]
        for attempt in attempts:
            assert hm.predict(run(model, moved(tokens, attempt, size))[1], sets) == name
    assert (found.value is None) == (found.constraint is None)
    if signs is not None:
        assert {x for row in signs for x in row} <= {-1, 0, 1}
        beyond = found.value * (1 + F(1, 2**40)) + (F(1, 2**80) if found.value == 0 else 0)
        new, reached = run(model, moved(tokens, signs, beyond))
        if found.constraint.kind != "label":
            assert new != decisions
        elif isinstance(sets[name], Point) or not sets[name].contains(output):
            assert new != decisions or hm.predict(reached, sets) != name
        else:
            assert new != decisions or not sets[name].contains(reached)
    elif found.constraint is not None and found.constraint.kind != "label":
        # only a tie of equal tokens that would have to part can leave no direction
        assert len(set(map(tuple, tokens))) < len(tokens)
    return found.value


@st.composite
def cases(draw, kinds=KINDS):
    d = draw(st.integers(1, 3))
    model = draw(rank_one_models(d))
    assume(len(model) > 0)
    tokens = draw(sequences(d, 5))
    if draw(st.booleans()):  # off the grid, so that fewer decisions stand on their boundaries
        rng = Random(draw(st.integers(0, 2**32)))
        places = {z: tuple(x + F(rng.randint(-99, 99), 1000) for x in z) for z in tokens}
        tokens = [places[z] for z in tokens]  # equal tokens stay equal
    names = ["a", "b", "c"][: draw(st.integers(1, 3))]
    sets = disjoint_sets(names, d, Random(draw(st.integers(0, 2**32))), kinds)
    return model, tokens, sets


@settings(max_examples=5 * settings.default.max_examples // 2, deadline=None)
@given(cases(), st.integers(0, 2**32))
def test_random_models_keep_predictions_inside_and_change_a_decision_outside(case, seed):
    check(*case, Random(seed))


@settings(max_examples=5 * settings.default.max_examples // 3, deadline=None)
@given(cases(("point",)), st.integers(0, 2**32))
def test_random_models_with_point_labels(case, seed):
    check(*case, Random(seed))


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(
    datasets(max_dimension=3, max_sequences=6) | adversarial_datasets(max_sequences=4), st.data()
)
def test_built_models(strategy, data, draw):
    try:
        model = hm.build(data, strategy=strategy)
    except hm.ContradictionError:
        assume(False)
    data = model.read(data)
    rng = Random(draw.draw(st.integers(0, 2**32)))
    for j in range(min(len(data), 3)):
        check(model, data.sequence(j), data.sets, rng, tries=2)


@given(datasets(max_dimension=3, max_sequences=6, max_length=4), st.data())
def test_keeping_the_sources_apart_changes_no_radius(data, draw):
    model = draw.draw(rank_one_models(data.dimension))
    assume(len(model) > 0)
    merged, _ = module.limits_of(model, data.sequences, data.sets, False)
    apart, _ = module.limits_of(model, data.sequences, data.sets, True)
    assert merged.radii == apart.radii
    assert merged.constraints == apart.constraints


def plain_radius(model, tokens, sets):
    """The least |f(0)| / ‖∇f‖₁ with dense Jacobians, point labels; None for infinite.

    Raises where equal tokens lead together: there the radius is defined otherwise.
    """
    n, d = len(tokens), model.dimension
    states = []  # (value, gradient) for each coordinate of each token
    for i, z in enumerate(tokens):
        units = [[F(int(c == i * d + k)) for c in range(n * d)] for k in range(d)]
        states.append([(F(x), unit) for x, unit in zip(z, units, strict=True)])
    quotients = []

    def combine(pairs, constant=F(0)):
        value = constant + sum((a * x for a, (x, _) in pairs), F(0))
        return value, [sum((a * g[c] for a, (_, g) in pairs), F(0)) for c in range(n * d)]

    def decide(f):
        size = sum(map(abs, f[1]))
        if size:
            quotients.append(abs(f[0]) / size)

    for block in model.parameters:
        values = [combine(list(zip(block.u, z, strict=True)), block.b) for z in states]
        for i, value in enumerate(values):
            if any(block.w):
                decide(value)
            if value[0] > 0:
                states[i] = [
                    combine([(F(1), x), (w, value)])
                    for x, w in zip(states[i], block.w, strict=True)
                ]
        scores = [combine(list(zip(block.v, z, strict=True))) for z in states]
        alike = all(z == states[0] for z in states)
        new = []
        for i in range(n):
            sign = (scores[i][0] > 0) - (scores[i][0] < 0)
            best = max(sign * s[0] for s in scores)
            top = [l for l in range(n) if sign * scores[l][0] == best]
            if block.alpha and not alike:
                decide(scores[i])
                for l in range(n if sign else 0):
                    lead = combine([(F(1), scores[top[0]]), (F(-1), scores[l])])
                    if l in top and any(lead[1]):
                        first, other = states[top[0]], states[l]
                        if [x for x, _ in first] == [x for x, _ in other]:
                            raise NotImplementedError
                    decide(lead)
            share = block.alpha / len(top)
            new.append(
                [
                    combine([(block.rho, states[i][k]), *((share, states[l][k]) for l in top)])
                    for k in range(d)
                ]
            )
        states = new
    output = [combine([(F(1, n), z[k]) for z in states]) for k in range(d)]
    y = tuple(x for x, _ in output)
    p = sets[hm.predict(y, sets)].point
    for other in sets.values():
        if other.point != p:
            q = other.point
            normal = [2 * (b - a) for a, b in zip(p, q, strict=True)]
            decide(combine(list(zip(normal, output, strict=True)), inner(p, p) - inner(q, q)))
    return min(quotients, default=None)


@settings(max_examples=5 * settings.default.max_examples // 2, deadline=None)
@given(cases(("point",)))
def test_radius_equals_that_of_a_plain_computation(case):
    model, tokens, sets = case
    try:
        expected = plain_radius(model, tokens, sets)
    except NotImplementedError:
        assume(False)
    # a second sequence must not disturb the first
    data = hm.Dataset([tokens, tokens[::-1] + tokens], None, sets)
    assert radii(model, data).each[0].value == expected


@pytest.mark.parametrize("strategy", [name for name in STRATEGIES if name != "learn"])  # points
@pytest.mark.parametrize("seed", range(3))
def test_radii_of_built_models_equal_those_of_a_plain_computation(strategy, seed):
    rng = Random(seed)
    tokens = [
        [tuple(rng.gauss(0, 1) for _ in range(3)) for _ in range(rng.randint(1, 4))]
        for _ in range(14)
    ]
    data = hm.Dataset(tokens, [rng.choice("abc") for _ in tokens])
    model = hm.build(data, strategy=strategy, seed=seed)
    for j, found in enumerate(radii(model, data).each):
        assert found.value == plain_radius(model, data.sequence(j), data.sets)


def single(model, tokens, sets):
    return radii(model, hm.Dataset([tokens], None, sets)).each[0]


def identity(**parts):
    return hm.Transformer([BLOCK(2, **parts)])


COLLAPSE = {"rho": 0, "alpha": 1}


@pytest.mark.parametrize(
    ("model", "tokens", "value", "kind"),
    [
        # the bisector x = 4 of the two points
        (identity(), [(1, 0)], F(3), "label"),
        (identity(), [(0, 0), (2, 0)], F(3), "label"),
        # x − 1 at z = (3, 0): a kink 2 away
        (identity(u=(1, 0), b=-1, w=(0, 1)), [(3, 0)], F(1), "label"),
        (identity(u=(1, 1), b=-4, w=(0, 1)), [(3, 0)], F(1, 2), "kink"),
        # on the kink, unless w = 0 or nothing moves
        (identity(u=(1, 0), b=-3, w=(0, 1)), [(3, 0)], F(0), "kink"),
        (identity(u=(1, 0), b=-3), [(3, 0)], F(1), "label"),
        (identity(b=0, w=(0, 1)), [(3, 0)], F(1), "label"),
        # leaders: 3 leads 1 by 2 and both move
        (identity(v=(1, 0), **COLLAPSE), [(3, 0), (1, 0)], F(1), "sign"),
        (identity(v=(1, 0), **COLLAPSE), [(3, 0), (2, 0)], F(1, 2), "leader"),
        (identity(v=(-1, 0), **COLLAPSE), [(3, 0), (2, 0)], F(1, 2), "leader"),
        # a score that may move off zero; none where a sequence has one token
        (identity(v=(0, 1), **COLLAPSE), [(3, 0), (2, 0)], F(0), "sign"),
        (identity(v=(0, 1), **COLLAPSE), [(3, 0)], F(1), "label"),
        # equal tokens lead: whichever stays ahead moves like them
        (identity(v=(1, 0), **COLLAPSE), [(3, 0), (3, 0)], F(1), "label"),
        (identity(v=(1, 0), **COLLAPSE), [(2, 0), (2, 0), (1, 0)], F(1, 2), "leader"),
        # different tokens lead together
        (identity(v=(1, 0), **COLLAPSE), [(2, 0), (2, 1), (1, 0)], F(0), "leader"),
        # attention that adds nothing decides nothing
        (identity(v=(1, 0), rho=1), [(2, 0), (2, 1)], F(2), "label"),
        # a translation after a kink leaves the kink where it was
        (hm.Transformer([BLOCK(2, u=(1, 0), w=(0, 1)), BLOCK(2, b=1, w=(5, 0), rho=0)]),
         [(0, 0)], F(0), "kink"),
        # a clamp makes the output constant: its own kink is all that limits
        (hm.Transformer([BLOCK(2, u=(1, 0), w=(-1, 0)), BLOCK(2, u=(0, 1), b=5, w=(0, -1))]),
         [(1, 0)], F(1), "kink"),
    ],
)  # fmt: skip
def test_by_hand(model, tokens, value, kind):
    found = single(model, tokens, POINTS)
    assert (found.value, found.constraint.kind) == (value, kind)
    check(model, tokens, POINTS, Random(0))


@pytest.mark.parametrize(
    ("label_set", "value"),
    [
        (Halfspace((1, 1), -3), F(2)),
        (Box((-1, -5), (9, 9)), F(2)),
        (Polyhedron([(2, 2), (-1, 0)], (8, 9)), F(3, 2)),
    ],
)
def test_open_sets_keep_the_output_inside(label_set, value):
    assert single(identity(), [(1, 0)], {"in": label_set}).value == value


def test_a_ball_gives_a_safe_bound_near_the_best():
    sets = {"in": Ball((0, 0), 5)}
    found = single(identity(), [(1, 2)], sets)
    assert found.constraint.sharp is False
    assert F(0) < found.value
    assert (1 + found.value) ** 2 + (2 + found.value) ** 2 < 25
    assert adversary(identity(), [(1, 2)], sets) is None
    assert single(identity(), [(0, 0)], sets).value > F(35, 10)  # 5/√2


def test_radius_on_the_boundary_of_a_set_is_zero():
    sets = {"up": Halfspace((0, 1), 0), "down": Halfspace((0, -1), 0)}
    assert single(identity(), [(1, 0)], sets).value == 0


def test_nothing_limits_a_constant_model():
    model = identity(b=1, w=(1, 1), rho=0, alpha=0)
    found = radii(model, hm.Dataset([[(1, 2), (3, 4)]], None, POINTS))
    assert found.least is None
    assert found.median is None
    assert adversary(model, [(1, 2), (3, 4)], POINTS) is None


def test_least_and_median_of_an_even_count():
    data = hm.Dataset([[(k, 0)] for k in (3, 0, 1, 2)], None, POINTS)
    found = radii(identity(), data)
    assert (found.least, found.median, found.binding) == (F(1), F(2), 0)
    assert [x.value for x in found.each] == [1, 4, 3, 2]


def test_infinite_radii_come_last():
    model = hm.Transformer([BLOCK(2, u=(1, 0), b=-1, w=(-1, 0)), BLOCK(2, rho=0)])
    data = hm.Dataset([[(5, 0)], [(0, 0)], [(1, 0)]], None, POINTS)
    found = radii(model, data)
    assert [x.value for x in found.each] == [4, 1, 0]
    assert found.median == 1


def test_general_layers_are_refused():
    model = hm.Transformer([BLOCK(2).general()])
    with pytest.raises(hm.InputError, match="rank-1"):
        radii(model, hm.Dataset([[(1, 2)]], None, POINTS))


def test_other_dimensions_are_refused():
    with pytest.raises(hm.InputError, match="dimension 2, the data set 1"):
        radii(identity(), hm.Dataset([[(1,)]], None, {"a": Point((0,))}))


def test_what_binds_is_said_in_words():
    found = single(identity(v=(1, 0), **COLLAPSE), [(3, 0), (2, 0)], POINTS)
    assert found.constraint.sentence() == "block 1: the leader at token 1, against token 2"


def test_long_radii_are_stated_shorter_and_never_larger():
    tiny = F(1, 3**7000)
    model = identity(u=(1, 0), b=-tiny, w=(0, 1))
    found = radii(model, hm.Dataset([[(0, 0)]], None, POINTS))
    assert found.least == tiny
    assert found.to_json() == {"least": "0", "median": "0"}
    close = F(3**7000 + 1, 3**7001)
    found = radii(identity(u=(1, 0), b=-close, w=(0, 1)), hm.Dataset([[(0, 0)]], None, POINTS))
    stated = F(found.to_json()["least"])
    assert close * (1 - F(1, 2**60)) < stated < close == found.least


@pytest.fixture
def files(tmp_path):
    data = tmp_path / "data.json"
    data.write_text(
        '{"dimension": 2, "sequences": [{"tokens": [[0, 0], [1, 2]], "label": "a"},'
        ' {"tokens": [[0.1, "1/3"]], "label": "b"}]}'
    )
    model = tmp_path / "model.npz"
    assert exit_code(["build", str(data), "-o", str(model), "--strategy", "cover"]) == 0
    return str(model), str(data), tmp_path / "certificate.json"


def test_command_prints_the_radius(files, capsys):
    model, data, _ = files
    capsys.readouterr()
    assert exit_code(["verify", model, data, "--radius"]) == 0
    text = capsys.readouterr().out
    assert "least " in text
    assert "median " in text
    assert "sequence " in text
    assert "block" in text


def test_radius_in_json_and_certificate(files, capsys):
    model, data, certificate = files
    capsys.readouterr()
    arguments = ["verify", model, data, "--json", "--certificate", str(certificate)]
    assert exit_code([*arguments, "--radius"]) == 0
    printed = json.loads(capsys.readouterr().out)
    found = radii(hm.Transformer.load(model), hm.load(data))
    expected = {"least": str(found.least), "median": str(found.median)}
    assert printed["radius"] == json.loads(certificate.read_text())["radius"] == expected
    assert exit_code(arguments) == 0
    assert json.loads(capsys.readouterr().out)["radius"] is None


def test_a_model_that_nothing_can_move(files, capsys, tmp_path):
    model = tmp_path / "constant.npz"
    identity(rho=0).save(model)
    capsys.readouterr()
    assert exit_code(["verify", str(model), files[1], "--radius"]) == 1
    assert "no perturbation changes a prediction" in capsys.readouterr().out
