"""Convex attention heads, trained with a certificate of global optimality.

Sahiner et al., *Unraveling Attention via Convex Duality* (ICML 2022): one layer of attention, or of
another token mixer, with weight decay has the same optimal value as a finite convex program.
"""
