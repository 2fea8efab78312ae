"""The mathematics of hardmax as programs: lemmas proved for symbols, printed errors refuted by
exact witnesses.

Nothing here imports the package `hardmax`; `definition.py` restates the model from the paper. Run
`python -m proofs` from the root of the checkout.
"""
