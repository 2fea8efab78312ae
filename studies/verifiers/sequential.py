"""The same function without skip connections: x = max(0, x) − max(0, −x) runs beside each neuron.

Verifiers that mistake skip connections may still read this form: Gemm and Relu, one after another.
It is the same function, exactly: the constants are the old ones, 1 and −1.
"""

from __future__ import annotations

import numpy as np
import onnx
from onnx import helper, numpy_helper


def sequential(model: onnx.ModelProto) -> onnx.ModelProto:
    """Write each Add(x, MatMul(Relu(Gemm(x)))) as Gemm, Relu, MatMul of a wider layer."""
    arrays = {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}
    nodes, constants = [], {}
    current, place, old = "X", 0, list(model.graph.node)

    def add(operator: str, output: str, *matrices: np.ndarray) -> None:
        nonlocal current
        names = [f"{output}_{k}" for k in range(len(matrices))]
        constants.update(zip(names, matrices, strict=True))
        nodes.append(helper.make_node(operator, [current, *names], [output]))
        current = output

    while place < len(old):
        four = old[place : place + 4]
        if [node.op_type for node in four] == ["Gemm", "Relu", "MatMul", "Add"]:
            weight, bias = (arrays[name] for name in four[0].input[1:])
            step = arrays[four[2].input[1]]
            eye = np.eye(len(weight), dtype=weight.dtype)
            wide = np.concatenate([0 * bias[:1].repeat(2 * len(eye)), bias])
            add("Gemm", f"g{place}", np.hstack([eye, -eye, weight]), wide)
            add("Relu", f"r{place}")
            add("MatMul", f"x{place}", np.vstack([eye, -eye, step]))
            place += 4
        else:
            node = old[place]
            output = "Y" if node.output[0] == "Y" else f"x{place}"
            add(node.op_type, output, *(arrays[name] for name in node.input[1:]))
            place += 1
    graph = helper.make_graph(
        nodes, "sequential", list(model.graph.input), list(model.graph.output),
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )  # fmt: skip
    found = helper.make_model(
        graph, opset_imports=list(model.opset_import), ir_version=model.ir_version
    )
    onnx.checker.check_model(found, full_check=True)
    return found
