"""The network does what (4), (5) and (6) say; t1 to t11, of which t10 is in the codings' tests."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from hardmax.errors import InputError  # noqa: E402
from hardmax.learned.transducer import Configuration, Network  # noqa: E402

KERNELS = ("exp-dot", "rbf", "l2")
VARIANTS = [
    {"kernel": kernel, "tied": tied, "readout": readout, "width": width, "mlp": mlp}
    for kernel, tied, readout, width, mlp in [
        ("exp-dot", False, "state", None, 7),
        ("rbf", True, "state", None, 7),
        ("l2", False, "sum", None, 7),
        ("exp-dot", True, "sum", 5, 0),
        ("exp-dot", False, "state", 5, 7),
    ]
] + [{"trunk": 6}]


def network(a=3, b=2, **variant):
    torch.manual_seed(1)
    options = {"depth": 3, "heads": 2, "head_size": 4, "mlp": 7} | variant
    return Network(Configuration(a, b, **options)).double()


def batch(n, q, a=3, b=2, size=2):
    torch.manual_seed(2)
    draw = (torch.randn(size, k, c, dtype=torch.float64) for k, c in ((n, a), (n, b), (q, a)))
    return tuple(draw)


def close(left, right):
    assert left.shape == right.shape
    assert torch.allclose(left, right, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("variant", VARIANTS)
class TestEveryVariant:
    def test_t1_the_order_of_the_examples_does_not_matter(self, variant):
        net, (v, u, q) = network(**variant), batch(6, 3)
        order = torch.tensor([3, 0, 5, 1, 4, 2])
        close(net(v[:, order], u[:, order], q), net(v, u, q))
        assert not torch.allclose(net(v[:, order], u, q), net(v, u, q))

    def test_t2_queries_do_not_see_one_another(self, variant):
        net, (v, u, q) = network(**variant), batch(6, 5)
        together = net(v, u, q)
        for k in range(5):
            close(together[:, k : k + 1], net(v, u, q[:, k : k + 1]))

    def test_t3_a_batch_is_a_loop_and_a_mask_is_a_shorter_set(self, variant):
        net, (v, u, q) = network(**variant), batch(6, 3, size=3)
        close(net(v, u, q), torch.cat([net(v[k : k + 1], u[k : k + 1], q[k : k + 1])
                                       for k in range(3)]))  # fmt: skip
        sizes = (6, 2, 4)
        mask = torch.arange(6) < torch.tensor(sizes)[:, None]
        v[~mask], u[~mask] = 1e3, -1e3
        masked = net(v, u, q, mask)
        for k, n in enumerate(sizes):
            close(masked[k : k + 1], net(v[k : k + 1, :n], u[k : k + 1, :n], q[k : k + 1]))

    def test_t7_gradients_are_those_of_finite_differences(self, variant):
        net, (v, u, q) = network(**variant), batch(3, 2, size=1)
        inputs = [x.requires_grad_() for x in (v, u, q)]
        assert torch.autograd.gradcheck(lambda *x: net(*x), inputs)
        net.zero_grad()
        net(v, u, q).square().sum().backward()
        h = 1e-6
        for parameter in net.parameters():
            flat, at = parameter.data.view(-1), parameter.numel() // 2
            if parameter.grad is None:
                continue
            value, found = flat[at].item(), []
            for side in (h, -h):
                flat[at] = value + side
                found.append(net(v, u, q).square().sum().item())
            flat[at] = value
            exact = parameter.grad.view(-1)[at].item()
            assert abs((found[0] - found[1]) / (2 * h) - exact) <= 1e-5 * max(1, abs(exact))

    def test_t11_operations_are_those_of_the_formula(self, variant):
        from torch.utils.flop_counter import FlopCounterMode

        net, (v, u, q) = network(**variant), batch(6, 3, size=1)
        with FlopCounterMode(display=False) as counter:
            net(v, u, q)
        assert counter.get_total_flops() == net.sizes.flops(6, 3)

    def test_the_parameters_are_counted(self, variant):
        net = network(**variant)
        assert net.sizes.parameters == sum(p.numel() for p in net.parameters())


@pytest.mark.parametrize("kind", KERNELS)
def test_t4_rows_sum_to_one_over_examples_only(kind):
    net, (v, _, q) = network(kernel=kind), batch(6, 4)
    mask = torch.arange(6) < torch.tensor([6, 2])[:, None]
    weights = net.layers[0].kernel.weights(v, torch.cat([v, q], 1), mask)
    assert weights.shape == (2, 2, 10, 6)
    close(weights.sum(-1), torch.ones(2, 2, 10, dtype=torch.float64))
    assert (weights >= 0).all()
    assert (weights[1, :, :, 2:] == 0).all()


def test_t5_the_sum_is_the_last_state_where_G_is_the_identity_and_only_there():
    v, u, q = batch(6, 4)
    for mapped, same in ((False, True), (True, False)):
        by_state = network(readout="state", map_outputs=mapped)
        by_sum = network(readout="sum", map_outputs=mapped)
        by_sum.load_state_dict(by_state.state_dict())
        assert torch.equal(by_state(v, u, q), by_sum(v, u, q)) is same
        assert torch.allclose(by_state(v, u, q), by_sum(v, u, q)) is same


def test_t6_exp_dot_is_multi_head_attention():
    size, heads = 8, 2
    net = network(size, size, depth=1, heads=heads, head_size=size // heads, mlp=0)
    v, u, q = batch(6, 4, size, size)
    kernel = net.layers[0].kernel
    other = torch.nn.MultiheadAttention(size, heads, bias=False, batch_first=True).double()
    with torch.no_grad():
        other.in_proj_weight.copy_(
            torch.cat([kernel.query.weight, kernel.key.weight, kernel.value.weight])
        )
        other.out_proj.weight.copy_(kernel.out.weight)
    close(net(v, u, q), other(q, v, u, need_weights=False)[0])


def test_t8_one_rbf_layer_is_nadaraya_watson():
    size = 3
    net = network(size, size, depth=1, heads=1, head_size=size, mlp=0, kernel="rbf",
                  temperature=0.5)  # fmt: skip
    kernel = net.layers[0].kernel
    with torch.no_grad():
        for part in (kernel.key, kernel.query, kernel.value, kernel.out):
            part.weight.copy_(torch.eye(size))
    v, u, q = batch(6, 4, size, size)
    weights = torch.exp(-((q[:, :, None] - v[:, None]) ** 2).sum(-1) / 0.5)
    close(net(v, u, q), weights @ u / weights.sum(-1, keepdim=True))


def test_t9_the_estimate_is_a_sum_of_W_V_u_where_G_is_the_identity():
    """One layer: the estimate lies in the span of W_j V_j u_i, here of one u in R^7."""
    net = network(3, 7, depth=1, map_outputs=False)
    v, _, q = batch(5, 4, size=1)
    one = torch.randn(1, 1, 7, dtype=torch.float64)
    u = torch.randn(1, 5, 1, dtype=torch.float64) * one
    kernel = net.layers[0].kernel
    parts = kernel.value(one[0, 0]).view(2, 4)
    spread = torch.zeros(2, 8, dtype=torch.float64)
    spread[0, :4], spread[1, 4:] = parts[0], parts[1]
    span = kernel.out(spread)  # (heads, 7)
    found = net(v, u, q)[0]
    coefficients = torch.linalg.lstsq(span.T, found.T).solution
    close(span.T @ coefficients, found.T)
    assert torch.linalg.matrix_rank(found) == 2


def test_estimates_are_linear_in_u_where_G_is_the_identity():
    net, (v, u, q) = network(map_outputs=False), batch(6, 4)
    close(net(v, 2 * u + u.flip(-1), q), 2 * net(v, u, q) + net(v, u.flip(-1), q))


def test_states_end_with_the_estimate():
    net, (v, u, q) = network(depth=4, width=5), batch(6, 4)
    states = net.states(v, u, q)
    assert len(states) == 4
    assert torch.equal(states[-1], net(v, u, q))


def test_the_l2_kernel_with_one_point_has_no_nan():
    net = network(kernel="l2", depth=1, mlp=0)
    with torch.no_grad():
        net.layers[0].kernel.query.weight.copy_(net.layers[0].kernel.key.weight)
    v = torch.ones(1, 1, 3, dtype=torch.float64)
    assert torch.isfinite(net(v, torch.ones(1, 1, 2, dtype=torch.float64), v)).all()


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (((1, 4, 3), (1, 4, 2), (1, 2, 2)), "queries has the shape"),
        (((1, 4, 3), (1, 5, 2), (1, 2, 3)), "must agree"),
        (((1, 0, 3), (1, 0, 2), (1, 2, 3)), "no example"),
        (((4, 3), (1, 4, 2), (1, 2, 3)), "v has the shape"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(shapes, message):
    with pytest.raises(InputError, match=message):
        network()(*(torch.zeros(*s, dtype=torch.float64) for s in shapes))


@pytest.mark.parametrize(
    "change",
    [{"depth": 0}, {"heads": True}, {"mlp": -1}, {"kernel": "cosine"}, {"readout": "mean"},
     {"temperature": 0.0}, {"width": 0}],
)  # fmt: skip
def test_sizes_that_make_no_sense_are_refused(change):
    with pytest.raises(InputError):
        Configuration(3, 2, **change)
