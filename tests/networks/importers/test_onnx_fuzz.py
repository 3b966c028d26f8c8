"""Damaged ONNX files: each imports or is refused in one sentence, in little memory."""

from __future__ import annotations

import random
import time
import tracemalloc
from pathlib import Path
from typing import Any

import onnx as onnx_package
import pytest

from hypar_exp.errors import UserError
from hypar_exp.networks.importers import onnx
from tests.networks.importers.onnx_models import LIGHT, transformer_block

OPERATORS = ["Conv", "Gemm", "MatMul", "LSTM", "Gather", "Einsum", "Attention", "Concat", "Split", "Foo", "If", ""]
ODD = [0, -1, 1, 7, 2**31, 2**40, 2**62]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    made = transformer_block(tmp_path_factory.mktemp("made") / "block.onnx", [2, 7, 24], width=24, heads=3)
    light = [LIGHT / f"light_{name}.onnx" for name in ("bvlc_alexnet", "squeezenet", "vgg19", "shufflenet", "resnet50")]
    return [file.read_bytes() for file in [*light, Path(made)]]


@pytest.mark.parametrize("seed", range(8))
def test_a_damaged_file_is_refused_in_one_sentence(seed: int, models: list[bytes], tmp_path: Path) -> None:
    random_ = random.Random(seed)
    file = tmp_path / "damaged.onnx"
    tracemalloc.start()
    for _ in range(125):
        damage = random_.choice([truncated, scribbled, with_a_hole, restructured, restructured])
        file.write_bytes(damage(random_.choice(models), random_))
        started = time.process_time()
        assert "\n" not in refusal(str(file))
        assert time.process_time() - started < 5
    assert tracemalloc.get_traced_memory()[1] < 50e6
    tracemalloc.stop()


def refusal(path: str) -> str:
    """What is wrong with a file, '' where it imports."""
    try:
        onnx.load(path)
    except UserError as error:
        return str(error)
    return ""


def truncated(model: bytes, random_: random.Random) -> bytes:
    return model[: random_.randrange(len(model))]


def scribbled(model: bytes, random_: random.Random) -> bytes:
    damaged = bytearray(model)
    for _ in range(random_.choice([1, 3, 10, 50])):
        damaged[random_.randrange(len(damaged))] = random_.randrange(256)
    return bytes(damaged)


def with_a_hole(model: bytes, random_: random.Random) -> bytes:
    at = random_.randrange(len(model))
    return model[:at] + model[at + random_.randrange(1, 50) :]


def restructured(model: bytes, random_: random.Random) -> bytes:
    """A file that is whole as protobuf, whose graph makes no sense."""
    proto = onnx_package.load_model_from_string(model)
    for _ in range(random_.choice([1, 1, 2, 5])):
        random_.choice(CHANGES)(proto.graph, random_.choice(proto.graph.node), random_)
    return bytes(proto.SerializeToString())


def _operator(graph: Any, node: Any, random_: random.Random) -> None:
    node.op_type = random_.choice(OPERATORS)


def _fewer(graph: Any, node: Any, random_: random.Random) -> None:
    field = random_.choice([node.input, node.output, node.attribute])
    if field:
        del field[random_.randrange(len(field))]


def _more(graph: Any, node: Any, random_: random.Random) -> None:
    node.input.append(random_.choice(random_.choice(graph.node).output))


def _attribute(graph: Any, node: Any, random_: random.Random) -> None:
    for attribute in node.attribute:
        if attribute.ints:
            attribute.ints[random_.randrange(len(attribute.ints))] = random_.choice(ODD)
        else:
            attribute.i = random_.choice(ODD)


def _constant(graph: Any, node: Any, random_: random.Random) -> None:
    if graph.initializer:
        tensor = random_.choice(graph.initializer)
        if tensor.dims:
            tensor.dims[random_.randrange(len(tensor.dims))] = random_.choice(ODD)
        if tensor.int64_data:
            tensor.int64_data[0] = random_.choice(ODD)


def _input(graph: Any, node: Any, random_: random.Random) -> None:
    for axis in random_.choice(graph.input).type.tensor_type.shape.dim:
        axis.dim_value = random_.choice([axis.dim_value, *ODD])


CHANGES = [_operator, _fewer, _more, _attribute, _constant, _input]
