"""What robust radii promise, for models of sequences of one-dimensional tokens."""

from fractions import Fraction

from hypothesis import strategies as st

import hardmax as hm
from hardmax.certify.radius import radii


def no_prediction_changes_within_the_radius(model, Z, draw):
    """Tokens of Z that move by less than the radius leave the prediction as it is."""
    data = hm.Dataset([Z], ["a"], {"a": hm.Point((0,)), "b": hm.Point((3,))})
    radius = radii(model, data).least
    size = Fraction(1000) if radius is None else radius * Fraction(999, 1000)
    share = st.sampled_from([Fraction(-1), Fraction(0), Fraction(1, 2), Fraction(1)])
    for _ in range(5):
        moved = [(z[0] + size * draw.draw(share),) for z in Z]
        if radius != 0:
            assert model.predict([moved], data) == model.predict([Z], data)
