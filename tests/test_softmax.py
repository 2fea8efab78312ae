"""`verify --executor softmax`: from where on softmax predicts what hardmax does.

The reference is the softmax model itself, layer by layer, in 400 bits.
"""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

import hardmax as hm
from hardmax.certify.predict import predicted
from hardmax.certify.softmax import certify_softmax
from hardmax.certify.softmax_errors import Path
from hardmax.cli.main import main
from hardmax.errors import ResourceLimitError
from hardmax.labels import Ball
from hardmax.testing import datasets, rank_one_models, sequences

VOWELS = "examples/vowels.json.gz"


def exact(x):
    return arb(fmpq(x.numerator, x.denominator))


def dot(u, z):
    return sum((exact(a) * x for a, x in zip(u, z, strict=True)), arb(0))


def softmax_output(model, sequence, beta):
    """The mean of the last tokens where softmax, at inverse temperature β, replaces hardmax."""
    tokens = softmax_tokens(model, sequence, beta)
    return [sum(column) / len(tokens) for column in zip(*tokens, strict=True)]


def softmax_tokens(model, sequence, beta):
    """The last tokens themselves."""
    tokens = [[exact(x) for x in z] for z in sequence]
    for block in model.parameters:
        moved = []
        for z in tokens:
            t = (dot(block.u, z) + exact(block.b)).max(arb(0))
            moved.append([x + exact(w) * t for x, w in zip(z, block.w, strict=True)])
        scores = [dot(block.v, z) for z in moved]
        tokens = []
        for z, p in zip(moved, scores, strict=True):
            weights = [(exact(beta) * p * q).exp() for q in scores]
            whole = sum(weights)
            mean = [sum(w * y[k] for w, y in zip(weights, moved, strict=True)) / whole
                    for k in range(len(z))]  # fmt: skip
            tokens.append([exact(block.rho) * x + exact(block.alpha) * m
                           for x, m in zip(z, mean, strict=True)])  # fmt: skip
    return tokens


def middle(x):
    """The middle of a ball, as a fraction; the ball must be tiny."""
    assert x.rad() < 2.0**-60
    number = x.mid().fmpq()
    return Fraction(int(number.p), int(number.q))


@pytest.fixture(autouse=True)
def _precise():
    before, ctx.prec = ctx.prec, 400
    yield
    ctx.prec = before


@settings(deadline=None)
@given(datasets(max_sequences=5, max_length=4, max_dimension=3), st.sampled_from([1, 3, 64]))
def test_softmax_predicts_what_is_certified(data, hotter):
    try:
        model = hm.build(data)
    except hm.ContradictionError:
        return
    found = certify_softmax(model, data)
    if not found.certified:
        assert found.reason
        return
    beta = found.beta * hotter
    for j, label in enumerate(data.names):
        output = [middle(x) for x in softmax_output(model, data.sequence(j), beta)]
        assert predicted(tuple(output), data.sets) == label
        target = data.sets[label]
        if target.kind == "point":
            far = max(abs(a - b) for a, b in zip(output, target.point, strict=True))
            assert far <= found.distance + Fraction(1, 2**50)


@st.composite
def models_and_sequences(draw):
    d = draw(st.integers(1, 3))
    return draw(rank_one_models(d)), draw(sequences(d, 4, 2))


@settings(deadline=None)
@given(models_and_sequences(), st.sampled_from(["1/8", 1, 8]), st.sampled_from([1, 4]))
def test_every_bound_holds_at_every_later_temperature(case, start, hotter):
    model, sequence = case
    path = Path(tuple(tuple(map(Fraction, z)) for z in sequence), model.dimension)
    for block in model.parameters:
        path.follow(block)
    bound = path.deviation(Fraction(start))
    if bound is None:
        return
    exact_tokens = model.trace(sequence)[-1]
    tokens = softmax_tokens(model, sequence, Fraction(start) * hotter)
    for soft, hard in zip(tokens, exact_tokens, strict=True):
        assert all(abs(x - exact(y)) < bound + 2.0**-60 for x, y in zip(soft, hard, strict=True))


def followed(sequence, *blocks):
    """A path in one dimension, and the model."""
    path = Path(tuple((Fraction(z),) for z in sequence), 1)
    for block in blocks:
        path.follow(block)
    return path, hm.Transformer(list(blocks))


def one(**parameters):
    return hm.RankOneBlock.of(1, **parameters)


PULL = one(rho="1/2", alpha="1/2", v=(1,))  # 1, 2 become 3/2, 2; softmax stays below
CLOSE = [  # where an error decides, or what it decides is close
    ((1, 2), one(rho=0, alpha=1, v=(1,)), one(u=(-1,), b=2, w=(10,))),  # at rest by nothing
    ((1, 2), one(rho=0, alpha=1, v=(1,)), one(u=(1,), b="-15/8", w=(-1,))),  # active by little
    (
        ("3/2", "5/4"),  # the error of the token that does not lead
        one(b=1, w=("-5/4",), rho="3/2", alpha="1/2", v=("3/4",)),
        one(b=1, w=("-15/4",), rho=0, alpha=1, v=("7/2",)),
    ),
    (
        ("1/2", "-5/4"),  # the error of the leader
        one(rho="3/2", alpha=-2, v=(2,)),
        one(b=1, w=("-1/4",), rho=0, alpha=1, v=("7/2",)),
    ),
    (
        ("1/2", "-7/4"),  # a small score of the token that chooses
        one(b=1, w=("-1/2",), rho=3, alpha=-2, v=("3/2",)),
        one(b=1, w=("7/2",), rho=0, alpha=1, v=("19/4",)),
    ),
]


@pytest.mark.parametrize("case", range(len(CLOSE)))
@pytest.mark.parametrize("beta", ["1/4", "3/4", 1, 2])
def test_bounds_hold_where_decisions_are_close(case, beta):
    sequence, *blocks = CLOSE[case]
    sequence = [*map(Fraction, sequence)]
    path, model = followed(sequence, *blocks)
    bound = path.deviation(Fraction(beta))
    if bound is None:
        return
    soft = softmax_tokens(model, [(z,) for z in sequence], Fraction(beta))
    hard = model.trace([(z,) for z in sequence])[-1]
    for x, y in zip(soft, hard, strict=True):
        assert not abs(x[0] - exact(y[0])) > bound  # for certain


def test_errors_of_tokens_that_do_not_lead_count():
    # both tokens end with y = 1000, the first with a large error; in the last block it hardly loses
    blocks = [
        hm.RankOneBlock.of(2, rho=0, alpha=1, v=(1, 0)),
        hm.RankOneBlock.of(2, u=(-1, 0), w=(0, 1000)),
        hm.RankOneBlock.of(2, b=1, w=(2, 0), rho=0, alpha=1, v=("1/10", 0)),
    ]
    sequence = [(Fraction(-1), Fraction(0)), (Fraction(2), Fraction(1000))]
    path, model = Path(tuple(sequence), 2), hm.Transformer(blocks)
    for block in blocks:
        path.follow(block)
    assert model.trace(sequence)[-1] == ((4, 1000), (4, 1000))
    far = max(abs(z[1] - 1000) for z in softmax_tokens(model, sequence, Fraction(1)))
    assert 30 < far < path.deviation(Fraction(1))


def test_no_bound_where_a_score_is_zero_by_chance():
    # the first token becomes 0, so hardmax sees all scores tie; softmax sees -1/8, say
    path, _ = followed((1, 2), PULL, one(b=1, w=("-3/2",), rho=0, alpha=1, v=(10,)))
    assert path.deviation(Fraction(1)) is None
    # without an error it stays 0, and softmax takes the mean as hardmax does
    path, _ = followed((0, 2), one(rho=0, alpha=1))
    assert path.deviation(Fraction(1)) == 0


def test_paper_models_of_plain_data_are_certified():
    for seed in range(3):
        tokens = np.random.default_rng(seed).standard_normal((12, 3, 4))
        data = hm.Dataset(tokens, [j % 3 for j in range(12)])
        found = certify_softmax(hm.build(data), data)
        assert found.certified
        assert 0 < found.beta < 10**6


def one_choice(sets, **parameters):
    """Both tokens of (1, 2) go to their leader 2."""
    block = hm.RankOneBlock.of(1, rho=0, alpha=1, v=(1,), **parameters)
    return hm.Transformer([block]), hm.Dataset([[(1,), (2,)]], ["a"], sets)


def test_the_least_inverse_temperature_is_found():
    # the error of token 1 is at most exp(-β) (2 - 1); the labels part 1/4 below the output
    model, data = one_choice({"a": (2,), "b": ("3/2",)})
    found = certify_softmax(model, data)
    assert math.log(4) < found.beta < 1.01 * math.log(4)
    assert Fraction(1, 4) * Fraction(98, 100) < found.distance < Fraction(1, 4)
    at_zero = [middle(x) for x in softmax_output(model, data.sequence(0), Fraction(0))]
    assert predicted(tuple(at_zero), data.sets) == "b"


def test_uniform_attention_and_single_tokens_need_no_temperature():
    data = hm.Dataset([[(0, 0), (1, 0)], [(0, 0), (0, 1)], [(3, 3)]], ["a", "b", "a"])
    for strategy in ("peel", "cover"):
        found = certify_softmax(hm.build(data, strategy), data)
        assert found.certified
        assert found.beta == found.distance == 0
    words = hm.Dataset([[(0,)], [(3,)]], ["a", "b"])
    assert certify_softmax(hm.build(words), words).beta == 0


def test_what_no_temperature_settles_is_not_certified():
    # the output lies on the boundary between two sets
    model, data = one_choice({"a": (1,), "b": (3,)})
    found = certify_softmax(model, data)
    assert not found.certified
    assert "boundary" in found.reason
    # after a block of softmax the two tokens with the largest ⟨v,z⟩ tie for hardmax alone
    pull = hm.RankOneBlock.of(2, rho="1/2", alpha="1/2", v=(1, 0))
    tied = hm.RankOneBlock.of(2, rho=0, alpha=1, v=(0, 1))
    model = hm.Transformer([pull, tied])
    data = hm.Dataset([[(1, 1), (2, 1), (3, 1), (4, 0)]], ["a"], {"a": (4, 4), "b": (-9, 0)})
    found = certify_softmax(model, data)
    assert not found.certified
    assert "tie" in found.reason


def test_a_temperature_past_the_limit_is_undecided():
    tiny = Fraction(1, 2**600)
    block = hm.RankOneBlock.of(1, rho=0, alpha=1, v=(1,))
    data = hm.Dataset([[(tiny,), (2 * tiny,)]], ["a"], {"a": (2 * tiny,), "b": (tiny * 3 / 2,)})
    with pytest.raises(ResourceLimitError, match="past 2\\^1000"):
        certify_softmax(hm.Transformer([block]), data)


def command(*arguments):
    with pytest.raises(SystemExit) as stop:
        main([*map(str, arguments)])
    return stop.value.code


def test_the_command(tmp_path, capsys):
    model, data = tmp_path / "model.npz", "examples/figure2.json"
    assert command("build", data, "-o", model) == 0
    capsys.readouterr()
    assert command("verify", model, data, "--executor", "softmax", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["softmax"]["certified"] is True
    assert Fraction(found["softmax"]["beta"]) > 0
    assert found["float64"] is None
    assert command("verify", model, data, "--executor", "softmax") == 0
    assert "at every inverse temperature β ≥ " in capsys.readouterr().out


def test_uniform_models_say_so(tmp_path, capsys):
    model, data, proof = tmp_path / "model.npz", "examples/figure2.json", tmp_path / "proof.json"
    assert command("build", data, "-o", model, "--strategy", "peel", "--certificate", proof) == 0
    assert json.loads(proof.read_text())["attention"] == "uniform"
    capsys.readouterr()
    assert command("verify", model, data, "--executor", "softmax") == 0
    assert "predicts what hardmax predicts, at every temperature" in capsys.readouterr().out
    assert command("info", model) == 0
    assert "softmax gives the same outputs, at every temperature" in capsys.readouterr().out
    assert command("build", data, "-o", model, "--certificate", proof) == 0
    assert "attention" not in json.loads(proof.read_text())


@pytest.fixture(scope="module")
def vowels():
    points = hm.load(VOWELS)
    balls = {name: Ball(each.point, "1/4") for name, each in points.given_sets.items()}
    data = points.with_sets(balls)
    model = hm.build(data)
    return model, data, certify_softmax(model, data)


def test_all_vowels_are_certified(vowels):
    found = vowels[-1]
    assert found.certified
    assert found.beta < 1000


def test_torch_classifies_all_vowels_at_the_certified_temperature(vowels):
    torch = pytest.importorskip("torch")
    attention = torch.nn.functional.scaled_dot_product_attention
    model, data, found = vowels
    p = model.parameters
    u, w, v = (torch.tensor(x.values.copy()) for x in (p.u, p.w, p.v))
    for tokens, label in zip(data.arrays(), data.names, strict=True):
        z = torch.tensor(tokens.copy(), dtype=torch.float64)
        for k in range(len(model)):
            z = z + torch.relu(z @ u[k] + p.b.values[k])[:, None] * w[k]
            if p.alpha.values[k]:
                score = (z @ v[k])[None, :, None]
                mean = attention(score, score, z[None], scale=float(found.beta))[0]
                z = p.rho.values[k] * z + p.alpha.values[k] * mean
        output = tuple(Fraction(x) for x in z.mean(dim=0).tolist())
        assert data.sets[label].contains(output)


def test_the_figure_shows_softmax_approaching_hardmax():
    pytest.importorskip("matplotlib")
    from hardmax.draw import figures
    from hardmax.draw.figures import softmax

    data = figures.dataset("figure2")
    model = hm.build(data)
    last = [softmax.distances(model, data, beta)[-1] for beta in (0.4, 0.8, 1.6, 3.2)]
    assert last == sorted(last, reverse=True)
    assert last[-1] < 1e-6 < last[0]
    blocks, outputs = figures.draw("softmax").axes
    assert len(blocks.lines) == len(softmax.SHARES)
    assert len(outputs.lines) == 2
