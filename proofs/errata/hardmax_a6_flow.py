"""A6. The classification stage quotes a theorem on neural ODEs; a feed-forward layer with the
parameters of such an ODE is not its flow."""

from flint import arb

from proofs.checking import require
from proofs.definition import dot, rank_one, readout, token, transformer
from proofs.sources import HARDMAX
from proofs.theorem_b import peel

SOURCE = HARDMAX
PLACE = "Section 3.1, Classification, and (3.6)"
KIND = "Gap"
FAILS = (
    "a step of the construction: [15] is about neural ODEs, by its title, and a layer with the "
    "parameters of such an ODE is not its flow. No statement of the paper is refuted"
)
PRINTED = (
    (
        166,
        "We do this with a transformer T_{cla} with at most 5(N+1) in which the "
        r"self-attention layers act as the identity ($\rho = 1, V = 0, A = 0$) and the "
        "FF layers are tuned as described by [15, Theorem 4.1].",
    ),
    (
        415,
        "[15] D. Ruiz-Balet and E. Zuazua. Neural ode control for classification, approximation, "
        "and transport.",
    ),
)
CLAIM = (
    "The 5(N+1) classification blocks have identity attention and feed-forward layers tuned "
    "as described by [15, Theorem 4.1], a theorem on neural ODEs x' = W relu(U x + b)."
)
MENDED = (
    "Layer and flow agree on the active points only if <u, w> = 0. For discrete layers use "
    "radial peeling (B3): one block for each distinct point, all targets reached exactly; "
    "with d = 1 as well."
)


def witness() -> str:
    """Compare layer and flow for W = U = 1, b = 0, and run the mended classification."""
    layer = transformer([rank_one(token(1), 0, token(1))], [token(1)])[0][0]
    flow = arb(1).exp()
    require(
        layer == 2 and (flow > 2) is True,
        "the layer maps 1 to 2, the flow for time 1 maps 1 to e > 2",
    )
    merged = transformer([rank_one(token(1), 0, token(-1))], [token(1), token(2)])
    require(
        merged[0] == merged[1] == token(0), "W = -1 merges 1 and 2; the flow x -> x/e is injective"
    )
    u, w, x = token(1, 1), token(1, -1), token(3, 0)
    require(
        dot(u, w) == 0 and transformer([rank_one(u, 0, w)], [x]) == [token(6, -3)],
        "with <u, w> = 0 both are x + w relu(<u, x>)",
    )
    points, targets = (
        [token(40), token(-30), token(10), token(-60)],
        [token(1), token(-1), token(2), token("1/3")],
    )
    blocks = peel(points, targets, token(0))
    outputs = [readout(transformer(blocks, [p])) for p in points]
    require(
        len(blocks) == 4 and outputs == targets,
        "radial peeling reaches four targets on the line in four blocks",
    )
    return (
        "W = U = 1, b = 0: the layer maps 1 to 2, the flow maps 1 to e, whose ball excludes "
        "2; W = -1: the layer merges 1 and 2, no flow does. Radial peeling sends 40, -30, "
        "10, -60 to 1, -1, 2, 1/3 in 4 blocks."
    )
