"""Doctests of modules that need an absent extra are not collected."""

from importlib.util import find_spec

collect_ignore = ["conftest.py"]
if find_spec("torch") is None:
    collect_ignore += ["torch_blocks.py", "regularizer.py", "classifier.py", "corrector.py"]
