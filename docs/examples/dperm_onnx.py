"""A dperm model as an ONNX file: python3 dperm_onnx.py MODEL.json MODEL.onnx

The JSON is SELECT model::text FROM ... The inputs are the columns: tensor(string) [rows, 1] for categories, else
tensor(double), [rows, dimension] for vectors and [rows, 1] for numbers, for booleans (0 or 1) and for times (in days
since 2000-01-01, or since midnight). A missing value is NaN, or a text that is no category. char(n) has no blanks.
The outputs, for each row, are decision, with a column for each of several classes, and probability, class or value, if the
model has them; with _ behind it if that is the name of a column.
"""
import json, sys

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, save


def to_onnx(text):
    model = json.loads(text)
    assert "kernel" not in model, "a model with a kernel cannot be converted"
    columns = sum(f.get("dimension", 1) if "knots" in f else 1 for f in model["features"])  # curves count one by one
    share = 1 / np.sqrt(columns + model["intercept"])
    weights, first, offset = share * np.atleast_2d(model["weights"]).T, 0, 0.0  # a column for each class
    nodes, constants, inputs, terms = [], [], [], []
    taken = [feature.get("column", "x") for feature in model["features"]]
    def constant(values, kind=np.float64):
        constants.append(numpy_helper.from_array(np.array(values, kind), f"constant:{len(constants)}"))
        return constants[-1].name
    def node(operator, *arguments, **options):
        output = options.pop("output", f"{operator}:{len(nodes)}")
        while output in taken:
            output += "_"
        nodes.append(helper.make_node(operator, arguments, [output], **options))
        return output
    def logarithm(name):  # sign(x) log(1 + |x|)
        return node("Mul", node("Sign", name), node("Log", node("Add", node("Abs", name), constant(1))))
    for feature in model["features"]:
        knots, width = feature.get("knots", 1), feature.get("dimension", 1)
        name, size = feature.get("column", "x"), len(feature.get("values", "")) or width * (knots if isinstance(knots, int) else len(knots))
        low, high = np.broadcast_to(feature.get("range", [feature.get("low", 0), feature.get("high", 1)]), (width, 2)).T
        w, first = weights[first:first + size], first + size
        if feature.get("scale") == "log":
            low, high = np.sign(low) * np.log1p(np.abs(low)), np.sign(high) * np.log1p(np.abs(high))
        kind = TensorProto.STRING if feature["type"] == "category" else TensorProto.DOUBLE
        inputs.append(helper.make_tensor_value_info(name, kind, ["rows", width]))
        name = logarithm(name) if feature.get("scale") == "log" else name
        if kind == TensorProto.STRING:
            code = node("LabelEncoder", name, domain="ai.onnx.ml", keys_strings=feature["values"], values_int64s=range(size), default_int64=size)
            terms.append(node("Gather", constant([*w, 0 * w[0]]), node("Squeeze", code, constant([1], np.int64))))
        elif "knots" in feature:  # how far each piece of a curve has been passed
            for i, points in enumerate(w.reshape(width, -1, w.shape[1])):
                value = node("Gather", name, constant([i], np.int64), axis=1)
                at = np.linspace(low[i], high[i], knots) if isinstance(knots, int) else np.array(knots)
                passed = node("Div", node("Sub", value, constant(at[:-1])), constant(np.diff(at)))
                passed = node("Max", node("Min", passed, constant(1)), constant(0))
                curve = node("Add", node("MatMul", passed, constant(np.diff(points, axis=0))), constant(points[0]))
                terms.append(node("Where", node("IsNaN", value), constant(0), curve))
        elif "norm" in feature:  # NaN times 0, and infinity times 0, are NaN
            odd = node("IsNaN", node("ReduceSum", node("Mul", name, constant(0)), constant([1], np.int64)))
            vector = node("Where", odd, constant(0), name)
            norm = node("Max", node("Sqrt", node("ReduceSum", node("Mul", vector, vector), constant([1], np.int64))), constant([feature["norm"]]))
            terms.append(node("Div", node("MatMul", vector, constant(w)), norm))
        else:
            value = node("Where", node("IsNaN", name), constant((low + high) / 2), name)
            value = node("Sub", node("Max", node("Min", value, constant(high)), constant(low)), constant(low))
            terms.append(node("MatMul", value, constant(2 * w / (high - low).reshape(-1, 1) / np.sqrt(size))))
            offset -= w.sum(axis=0) / np.sqrt(size)
    decision = node("Sum", *terms, constant(offset + weights[-1] * model["intercept"]), output="decision")
    outputs = {decision: TensorProto.DOUBLE}
    if "bounds" in model:  # of a number
        low, high = model["bounds"]
        value = node("Add", node("Mul", decision, constant((high - low) / 2)), constant((low + high) / 2))
        outputs[node("Min", node("Max", value, constant(low)), constant(high), output="value")] = TensorProto.DOUBLE
    if model["loss"] in ("logistic", "softmax"):
        several = {"axis": 1} if model["loss"] == "softmax" else {}
        outputs[node("Softmax" if several else "Sigmoid", decision, **several, output="probability")] = TensorProto.DOUBLE
    if model["loss"] == "softmax":
        best = node("ArgMax", decision, axis=1)
        outputs[node("Gather", constant(model["classes"], object), best, output="class")] = TensorProto.STRING
    outputs = [helper.make_tensor_value_info(output, kind, ["rows", weights.shape[1] if output.startswith(("decision", "probability")) else 1])
               for output, kind in outputs.items()]
    result = helper.make_model(helper.make_graph(nodes, "dperm", inputs, outputs, constants), ir_version=7,
                               opset_imports=[helper.make_opsetid("", 13), helper.make_opsetid("ai.onnx.ml", 2)])
    checker.check_model(result, full_check=True)
    return result


if __name__ == "__main__":
    save(to_onnx(open(sys.argv[1]).read()), sys.argv[2])
