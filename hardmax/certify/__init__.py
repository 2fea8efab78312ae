"""Verdicts: exact statements about a model and data. How the model was built is unknown here."""

from .bounds import Bounds, bounds_of
from .predict import predict
from .verify import Certificate, Witness, certify

__all__ = ["Bounds", "Certificate", "Witness", "bounds_of", "certify", "predict"]
