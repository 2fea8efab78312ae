"""The identities and inequalities behind each step, proved by sympy for symbols, and for
instances where PROVED says so.

Each module has SOURCE, STATEMENT, HYPOTHESES, PROVED (what its functions show), LEFT (what the
text must add) and functions `prove_...` that raise `Refuted` on failure and return the statement
proved.
"""
