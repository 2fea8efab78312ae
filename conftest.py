"""Modules that need an optional extra have no doctests where its library is absent."""

from importlib.util import find_spec

NEEDS = {  # modules that import the library when they are imported
    "sklearn": ["sklearn.py", "learned/convex/estimators.py"],
    "aeon": ["aeon.py"],
    "onnx": [
        f"exchange/{name}.py" for name in ("onnx_model", "vnnlib", "from_onnx", "unrolled")
    ],
    "torch": [
        "exchange/torch_module.py",
        *(f"learned/dual_banach/{name}.py"
          for name in ("torch_blocks", "regularizer", "classifier", "corrector")),
        *(f"learned/transducer/{name}.py"
          for name in ("layers", "network", "trainer", "transducer", "torch_library")),
    ],
}  # fmt: skip
collect_ignore = [
    f"hardmax/{path}"
    for library, paths in NEEDS.items()
    if find_spec(library) is None
    for path in paths
]
