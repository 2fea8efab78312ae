"""The data sets are too small for the stated split."""

from proofs.checking import require
from proofs.sources import TRANSDUCER

SOURCE = TRANSDUCER
PLACE = "S.10.1, Training"
KIND = "Refuted"
FAILS = "the numbers"
PRINTED = (
    (
        768,
        "Furthermore, we collect for each dataset i = 100 trajectories with each "
        "different initial state s(z,0) =",
    ),
    (
        781,
        'We sample a "query" subset Q of J = 10 pairs from Eo,, to be regressed and '
        "form the input to our model by concatenating pairs of the query set Q (with "
        "output elements (u;);co set to zero), with a non-overlaping set of I € [[20, "
        "100]] example elements drawn from (v;, u;)i¢o.",
    ),
)
CLAIM = (
    "Each data set has i = 100 trajectories; J = 10 query pairs are regressed from a "
    "non-overlapping set of I in [20, 100] examples."
)
MENDED = "I is at most 90."


def witness() -> str:
    """Count the pairs."""
    require(100 + 10 > 100 and 90 + 10 == 100, "100 + 10 disjoint pairs do not fit into 100")
    return "100 examples and 10 other queries need 110 pairs; a data set has 100."
