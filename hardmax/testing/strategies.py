"""Hypothesis strategies for data sets, label sets and models.

Numbers are small and often equal on purpose: ties, shared tokens and zero scores are where
programs about hardmax go wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..dataset import Dataset
from ..errors import MissingExtraError
from ..exact.matrix import Matrix
from ..exact.numbers import Vector
from ..labels import LabelSet
from ..model.heads import MultiHeadBlock
from ..model.layers import Block, FeedForward, RankOneBlock, SelfAttention
from ..model.transformer import Transformer
from .families import FAMILIES, adversarial
from .label_sets import KINDS, disjoint_sets

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


def _st() -> Any:
    """hypothesis.strategies, imported when first used."""
    try:
        from hypothesis import strategies
    except ImportError:
        raise MissingExtraError(
            "the strategies of hardmax.testing need hypothesis: pip install 'hardmax[test]'"
        ) from None
    return strategies


def rationals(size: int = 3) -> SearchStrategy[Fraction]:
    """Rational numbers p/q with |p| ≤ size and q ∈ {1, 2, 3}, zero and integers most often."""
    st = _st()
    whole = st.integers(-size, size).map(Fraction)
    parts = st.builds(Fraction, st.integers(-size, size), st.sampled_from((1, 2, 3)))
    found: SearchStrategy[Fraction] = whole | parts
    return found


def _vectors(dimension: int, size: int = 3) -> Any:
    return _st().tuples(*[rationals(size)] * dimension)


def sequences(
    dimension: int, max_length: int = 6, size: int = 2
) -> SearchStrategy[list[tuple[Fraction, ...]]]:
    """One sequence of 1 to ``max_length`` tokens on a small grid; tokens repeat often."""
    st = _st()
    token = st.tuples(*[st.integers(-size, size).map(Fraction)] * dimension)
    found: SearchStrategy[list[tuple[Fraction, ...]]] = st.lists(
        token, min_size=1, max_size=max_length
    )
    return found


def label_sets(
    names: Sequence[str], dimension: int, kinds: Sequence[str] = KINDS
) -> SearchStrategy[dict[str, LabelSet]]:
    """Pairwise disjoint label sets, one for each name."""
    st = _st()
    found: SearchStrategy[dict[str, LabelSet]] = st.builds(
        lambda rng: disjoint_sets(names, dimension, rng, kinds),
        st.randoms(use_true_random=False),
    )
    return found


def datasets(
    *,
    min_dimension: int = 1,
    max_dimension: int = 5,
    max_sequences: int = 12,
    max_length: int = 6,
    max_labels: int = 3,
    kinds: Sequence[str] | None = None,
) -> SearchStrategy[Dataset]:
    """Labelled data sets on tiny integer grids: repeated and shared tokens, ties, and now
    and then a contradiction. With ``kinds`` the labels get sets of these kinds."""
    st = _st()

    @st.composite  # type: ignore[untyped-decorator]
    def dataset(draw: Any) -> Dataset:
        dimension = draw(st.integers(min_dimension, max_dimension))
        size = draw(st.integers(1, 2))
        found = draw(
            st.lists(sequences(dimension, max_length, size), min_size=1, max_size=max_sequences)
        )
        names = [f"label {k}" for k in range(draw(st.integers(1, max_labels)))]
        labels = draw(st.lists(st.sampled_from(names), min_size=len(found), max_size=len(found)))
        sets = draw(label_sets(names, dimension, kinds)) if kinds is not None else None
        return Dataset(found, labels, sets)

    made: SearchStrategy[Dataset] = dataset()
    return made


def adversarial_datasets(
    names: Sequence[str] = FAMILIES, max_sequences: int = 12
) -> SearchStrategy[Dataset]:
    """Data sets of the adversarial families."""
    st = _st()
    found: SearchStrategy[Dataset] = st.builds(
        adversarial,
        st.sampled_from(names),
        st.integers(1, max_sequences),
        st.integers(0, 2**16),
    )
    return found


def rank_one_models(
    dimension: int, max_blocks: int = 4, max_heads: int = 1
) -> SearchStrategy[Transformer]:
    """Models of rank-1 blocks; zero vectors, ρ = 0 and identity layers are frequent.

    With ``max_heads`` above 1 blocks have 1 to so many heads (4.1).
    """
    st = _st()
    zero: Vector = (Fraction(0),) * dimension
    vector = st.just(zero) | _vectors(dimension)
    parts = {
        "u": vector,
        "b": rationals(),
        "w": vector,
        "rho": st.sampled_from((Fraction(0), Fraction(1), Fraction(1, 2), Fraction(-1))),
    }
    block: Any = st.builds(RankOneBlock, **parts, alpha=rationals(), v=vector)
    if max_heads > 1:
        head = st.tuples(rationals(), vector)
        heads = st.lists(head, min_size=1, max_size=max_heads).map(tuple)
        block = block | st.builds(MultiHeadBlock, **parts, heads=heads)
    found: SearchStrategy[Transformer] = st.builds(
        lambda blocks: Transformer(blocks, dimension=dimension),
        st.lists(block, min_size=1, max_size=max_blocks),
    )
    return found


def general_models(
    dimension: int, max_blocks: int = 3, max_width: int = 3
) -> SearchStrategy[Transformer]:
    """Models of general layers: any hidden width up to ``max_width``, any W, U, b, ρ, V, A."""
    st = _st()

    def matrix(rows: int, columns: int) -> Any:
        table = st.lists(_vectors(columns, 2), min_size=rows, max_size=rows)
        return table.map(lambda entries: Matrix(entries, columns))

    @st.composite  # type: ignore[untyped-decorator]
    def block(draw: Any) -> Block:
        width = draw(st.integers(1, max_width))
        layer = FeedForward(
            draw(matrix(width, dimension)), draw(_vectors(width)), draw(matrix(dimension, width))
        )
        square = matrix(dimension, dimension)
        return Block(layer, SelfAttention(draw(rationals()), draw(square), draw(square)))

    found: SearchStrategy[Transformer] = st.lists(block(), min_size=1, max_size=max_blocks).map(
        lambda blocks: Transformer(blocks, dimension=dimension)
    )
    return found
