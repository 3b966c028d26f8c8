"""How long an ONNX file takes to import and how much memory, against `onnx.load`, which reads the weights as well.

`python -m benchmarks.importing`. Each cell is a process of its own; its time is from the file's name to a network, and
its memory the most that it ever held, both without what the process needs to start and to import numpy.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

LAYERS, WIDTH = 124, 1024
"""124 matrices of 1024 x 1024 float32 are 520 MB."""
OURS = "from hypar_exp.networks.importers import onnx; network = onnx.load(path); found = len(network.layers)"
REFERENCE = "import onnx; found = sum(len(node.input) == 2 for node in onnx.load(path).graph.node)"
CHILD = """
import json, re, sys, time
import numpy
def most_held(): return int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) / 1024
path = sys.argv[1]
before = most_held()
started = time.perf_counter()
{work}
seconds = time.perf_counter() - started
print(json.dumps([found, seconds, most_held() - before]))
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        files = {
            "weights beside the file": _stack(Path(folder) / "outside.onnx", external=True),
            "weights in the file": _stack(Path(folder) / "inside.onnx", external=False),
        }
        print(f"{LAYERS * WIDTH * WIDTH * 4 / 1e6:.0f} MB of weights in {LAYERS} layers")
        print(f"{'':26}{'import':>10}{'onnx.load':>12}{'ratio':>8}{'import':>12}{'onnx.load':>12}{'ratio':>8}")
        for what, path in files.items():
            (layers, ours_s, ours_mib), (_, load_s, load_mib) = _measured(OURS, path), _measured(REFERENCE, path)
            assert layers == LAYERS
            print(
                f"{what:26}{ours_s:>8.2f} s{load_s:>10.2f} s{ours_s / load_s:>8.2f}"
                f"{ours_mib:>8.0f} MiB{load_mib:>8.0f} MiB{ours_mib / load_mib:>8.2f}"
            )


def _stack(file: Path, *, external: bool) -> str:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    nodes, weights, read = [], [], "x"
    for layer in range(LAYERS):
        weights.append(numpy_helper.from_array(np.ones((WIDTH, WIDTH), dtype=np.float32), f"layer{layer}.weight"))
        nodes += [
            helper.make_node("MatMul", [read, f"layer{layer}.weight"], [f"m{layer}"]),
            helper.make_node("Relu", [f"m{layer}"], [f"r{layer}"]),
        ]
        read = f"r{layer}"
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ("batch", WIDTH)) for name in ("x", read)]
    model = helper.make_model(helper.make_graph(nodes, "stack", values[:1], values[1:], weights))
    onnx.save_model(model, str(file), save_as_external_data=external, location=f"{file.stem}.bin")
    return str(file)


def _measured(work: str, path: str) -> tuple[int, float, float]:
    child = [sys.executable, "-c", CHILD.format(work=work), path]
    found, seconds, mib = json.loads(subprocess.run(child, capture_output=True, text=True, check=True).stdout)
    return found, seconds, mib


if __name__ == "__main__":
    main()
