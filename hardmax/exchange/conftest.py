"""Doctests of modules whose libraries are optional run where these are installed."""

from importlib.util import find_spec

collect_ignore = []
if find_spec("torch") is None:
    collect_ignore.append("torch_module.py")
if find_spec("onnx") is None:
    collect_ignore += ["onnx_model.py", "vnnlib.py", "from_onnx.py", "unrolled.py"]
