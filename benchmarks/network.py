"""How long does a verdict on a network take, beside a forward pass of PyTorch in float64?

    python benchmarks/network.py

The network is the trained transformer of examples/digits.npz, all on one thread; CPU seconds, the
best of five. PyTorch runs the same layers in float64, in batches of 64 and one by one.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import machine
import torch
from torch import nn

import hardmax as hm
from hardmax.network.layers import Affine, Attention, Norm, Position

EXAMPLES = Path(__file__).parents[1] / "examples"


def best(work: Callable[[], object], repeats: int = 5) -> float:
    """CPU seconds of the fastest run."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def linear(layer: Affine) -> nn.Linear:
    """The same map in PyTorch."""
    made = nn.Linear(layer.W.shape[1], layer.W.shape[0])
    made.weight.data, made.bias.data = (torch.tensor(x.values) for x in (layer.W, layer.b))
    return made


def norm(layer: Norm) -> nn.LayerNorm:
    """The same norm in PyTorch."""
    made = nn.LayerNorm(len(layer.g), float(layer.eps))
    made.weight.data, made.bias.data = (torch.tensor(x.values) for x in (layer.g, layer.b))
    return made


def encoder_layer(attend: Attention, first: Norm, hidden: tuple, last: Norm) -> nn.Module:
    """The same encoder layer in PyTorch."""
    d, heads = attend.Q.shape[2], attend.heads
    made = nn.TransformerEncoderLayer(
        d, heads, hidden[0].W.shape[0], 0.0, "gelu", batch_first=True, dtype=torch.float64
    )
    flat = attend.stacked
    sa = made.self_attn
    sa.in_proj_weight.data = torch.cat([torch.tensor(flat[x].values) for x in "QKV"])
    sa.in_proj_bias.data = torch.cat([torch.tensor(flat[x].values) for x in "qkv"])
    sa.out_proj.weight.data = torch.tensor(flat["O"].values)
    sa.out_proj.bias.data = torch.tensor(attend.o.values)
    made.norm1, made.linear1 = norm(first), linear(hidden[0])
    made.linear2, made.norm2 = linear(hidden[2]), norm(last)
    return made


def module(network: hm.Network) -> Callable[[torch.Tensor], torch.Tensor]:
    """The network of examples/digits.npz as PyTorch modules."""
    embed, position, *middle, _, head = network.layers
    assert isinstance(position, Position)
    layers = nn.Sequential(
        *(
            encoder_layer(middle[k].layers[0], middle[k + 1], middle[k + 2].layers, middle[k + 3])
            for k in range(0, len(middle), 4)
        )
    ).eval()
    first, table, last = linear(embed), torch.tensor(position.table.values), linear(head)
    return lambda x: last(layers(first(x) + table).mean(1))


def main() -> None:
    torch.set_num_threads(1)
    network = hm.Network.load(EXAMPLES / "digits.npz")
    data = hm.load(EXAMPLES / "digits_train.npz")
    images = torch.tensor(data.tokens.values.reshape(len(data), 8, 8))
    run = module(network)
    with torch.no_grad():
        classes = run(images).argmax(1).tolist()
        assert network.predict(data) == [str(k) for k in classes]
        batches = best(lambda: [run(part) for part in images.split(64)]) / len(data)
        single = best(lambda: [run(part) for part in images[:100].split(1)]) / 100
    verdict = best(lambda: hm.certify(network, data), 3) / len(data)
    alone = best(lambda: [network.predict(data[[j]]) for j in range(50)]) / 50
    arb = best(lambda: network.enclosures(data[:20], 128), 2) / 20
    rows = {
        "PyTorch float64, batches of 64": batches,
        "PyTorch float64, one by one": single,
        "verdict, all sequences": verdict,
        "proved class, one by one": alone,
        "enclosures of 128 bits": arb,
    }
    for name, seconds in rows.items():
        print(f"{name:34} {1e3 * seconds:8.3f} ms a sequence")
    print(f"verdict / PyTorch: {verdict / batches:.1f} in batches, {alone / single:.1f} one by one")
    found = {"machine": machine.facts(), "torch": torch.__version__,
             "microseconds": {name: round(1e6 * x, 1) for name, x in rows.items()}}  # fmt: skip
    path = Path(__file__).parent / "results" / "network.json"
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
