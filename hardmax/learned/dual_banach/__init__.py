"""Dual-Banach regularisation of transformers, and norm bounds that are proved to hold.

Source: *Rethinking Transformer through Dual Banach Spaces* (anonymous, under review); equation
numbers in this package are that paper's. The mathematics and its limits: ``docs/dual_banach.md``.

Without PyTorch: `duality`, `representer`, `features`, `fock`, `attention` (the theory), `balls`,
`elementary`, `spectral` (rigorous enclosures), `layers`, `bounds`, `verify` (norm bounds of a
concrete transformer), `flops`, `proximity` (Appendix D). With the extra ``torch``: `regularizer`,
`modules`, `classifier`, `corrector`.
"""
