"""The smallest graph we know on which Marabou 2.0.0 is wrong: five nodes, one skip connection.

    python -m studies.verifiers.skip

z = x + (0, 1)·max(0, 2x₁ − 2), Y = (0, z₁ − z₂ + 1/2), for x₁ in [0.9, 1.1] and x₂ in [0, 0.1].
Then Y₂ − Y₁ = x₁ − x₂ − max(0, 2x₁ − 2) + 1/2 is at most 3/2, at x = (1, 0).
"""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from studies.verifiers.sequential import sequential


def graph() -> onnx.ModelProto:
    constants = {
        "u": [[2.0], [0.0]], "b": [-2.0], "w": [[0.0, 1.0]],
        "o": [[0.0, 1.0], [0.0, -1.0]], "c": [0.0, 0.5],
    }  # fmt: skip
    nodes = [
        helper.make_node("Gemm", ["X", "u", "b"], ["t"]),
        helper.make_node("Relu", ["t"], ["r"]),
        helper.make_node("MatMul", ["r", "w"], ["m"]),
        helper.make_node("Add", ["X", "m"], ["z"]),
        helper.make_node("Gemm", ["z", "o", "c"], ["Y"]),
    ]
    places = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 2]) for name in "XY"]
    arrays = [numpy_helper.from_array(np.float32(x), name) for name, x in constants.items()]
    made = helper.make_graph(nodes, "skip", places[:1], places[1:], arrays)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def main() -> None:
    warnings.simplefilter("ignore")
    from maraboupy import Marabou

    with tempfile.TemporaryDirectory() as folder:
        for name, model in (("skip connection", graph()), ("sequential", sequential(graph()))):
            path = Path(folder) / "graph.onnx"
            onnx.save(model, path)
            for bound in (2.0, 1.6, 1.4):
                network = Marabou.read_onnx(str(path))
                x, y = network.inputVars[0].flatten(), network.outputVars[0].flatten()
                for k, (low, high) in enumerate([(0.9, 1.1), (0.0, 0.1)]):
                    network.setLowerBound(x[k], low)
                    network.setUpperBound(x[k], high)
                network.addInequality([y[0], y[1]], [1.0, -1.0], -bound)
                options = Marabou.createOptions(verbosity=0)
                answer, values, _ = network.solve(options=options, verbose=False)
                there = f", with {values[y[1]] - values[y[0]]:.4f}" if answer == "sat" else ""
                print(f"{name}: is Y2 - Y1 >= {bound} possible? {answer}{there}")


if __name__ == "__main__":
    main()
