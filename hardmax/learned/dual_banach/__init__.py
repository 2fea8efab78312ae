"""Dual-Banach regularisation of transformers, and norm bounds that are proved to hold.

Source: *Rethinking Transformer through Dual Banach Spaces* (anonymous, under review); equation
numbers in this package are that paper's. The mathematics and its limits: ``docs/dual_banach.md``.

Without PyTorch: the theory (`theory`), rigorous `enclosures`, norm bounds of a concrete
transformer (`layers`, `bounds`, `verify`), operation counts (`flops`) and Appendix D
(`proximity`). With the extra ``torch``: `torch_blocks`, `regularizer`, `classifier`, `corrector`.
"""
