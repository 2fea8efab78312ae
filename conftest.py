"""Modules that need an optional extra have no doctests where its library is absent."""

from importlib.util import find_spec

collect_ignore = []
if find_spec("sklearn") is None:
    collect_ignore.append("hardmax/learned/convex/estimators.py")
