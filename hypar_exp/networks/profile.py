"""Measured profiles: graphs whose nodes carry seconds and bytes instead of the sizes of layers.

    node2 -- Conv2d(3, 64, ...) -- forward_compute_time=22.3, backward_compute_time=24.6, activation_size=1644167, ...
        node1 -- node2

This is the form of PipeDream's profiler (github.com/msr-fiddle/pipedream, `graph.txt`; SOSP 2019), in which DAPPLE's
and HPGO's profiles are written too: a node a line with milliseconds and bytes of the whole profiled batch, then the
edges, indented. A node that writes several tensors has `activation_size=[BYTES; BYTES]`; its output is all of them.
"""

from __future__ import annotations

import heapq
import math
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hypar_exp.checks import require_whole
from hypar_exp.errors import UserError
from hypar_exp.text_files import Line, read_lines

FLOAT_BYTES = 4
PROFILES = Path(__file__).parent / "profiles"
SHIPPED = {"vgg19": 32, "bert_large": 2, "amoebanet_18": 8, "amoebanet_36": 1}
"""Profiles that come with the package: name -> samples that were profiled at once."""
_NODE = re.compile(r"(\S+) -- (.*?) -- (\S+=.*?)(?: -- stage_id=\d+)?")
_EDGE = re.compile(r"(\S+) -- (\S+)")
_FIELD = re.compile(r"(\w+)=(\[[^\]]*\]|[^,]*)")
_FIELDS = ("forward_compute_time", "backward_compute_time", "activation_size", "parameter_size")
_FEATURES = re.compile(r"Linear\(.*out_features=(\d{1,9})")


@dataclass(frozen=True, eq=False)
class Profile:
    """Nodes in topological order, measured together on one accelerator.

    Attributes:
        name: of the profiled network.
        node_names: as the file has them.
        descriptions: what each node is, as the file says it.
        batch_size: samples that were profiled at once; times and outputs are linear in them.
        forward_s, backward_s: float64[nodes], seconds of the profiled batch.
        output_bytes: float64[nodes], what a node writes for the profiled batch.
        weight_bytes: float64[nodes].
        edges: (producer, consumer), each once.
    """

    name: str
    node_names: tuple[str, ...]
    descriptions: tuple[str, ...]
    batch_size: int
    forward_s: NDArray[np.float64]
    backward_s: NDArray[np.float64]
    output_bytes: NDArray[np.float64]
    weight_bytes: NDArray[np.float64]
    edges: tuple[tuple[int, int], ...]

    @cached_property
    def is_chain(self) -> bool:
        """Whether every node reads the one before it and no other."""
        return set(self.edges) == {(node, node + 1) for node in range(len(self.node_names) - 1)}


@dataclass(frozen=True)
class _Node:
    line: Line
    description: str
    values: tuple[float, ...]
    """In the order of `_FIELDS`, milliseconds and bytes."""


def load_profile(path: str, name: str | None = None, batch_size: int | None = None) -> Profile:
    """A profile in PipeDream's form.

    Args:
        path: the file, or the name of one of `SHIPPED`.
        name: of the network; the file's where it is None.
        batch_size: samples that were profiled at once; where it is None, what the first fully connected node says.

    Raises:
        UserError: the file cannot be read or does not have this form, a node lacks a time or a size, an edge names a
            node that does not exist, or the nodes read each other in a circle; the sentence names file and line.
    """
    if path in SHIPPED and not Path(path).exists():
        path, batch_size = str(PROFILES / f"{path}.graph.txt"), batch_size or SHIPPED[path]
    if batch_size is not None:
        require_whole("network", "batch", batch_size, least=1)
    nodes: dict[str, _Node] = {}
    edges: list[tuple[str, str]] = []
    for line in read_lines(path, "profile"):
        if match := _NODE.fullmatch(line.text):
            if line.name(match[1]) in nodes:
                raise line.error(f"'{match[1]}' appears twice")
            nodes[match[1]] = _Node(line, match[2], _values(line, match[3]))
        elif match := _EDGE.fullmatch(line.text):
            for end in match.groups():
                if end not in nodes:
                    raise line.error(f"there is no node '{end[:60]}'")
            edges.append((match[1], match[2]))
        else:
            raise line.error(f"a line is 'NODE -- WHAT -- TIMES AND SIZES' or 'NODE -- NODE' (got {line.text[:60]!r})")
    if not nodes:
        raise UserError(f"{path} has no nodes; it should be a profile")
    order = topological_order(path, list(nodes), edges)
    position = {node: index for index, node in enumerate(order)}
    ends = sorted({(position[producer], position[consumer]) for producer, consumer in edges})
    forward, backward, outputs, weights = np.array([nodes[node].values for node in order]).T
    return Profile(
        name or Path(path).name.split(".")[0],
        tuple(order),
        tuple(nodes[node].description for node in order),
        batch_size or _batch_size(path, nodes),
        forward / 1e3,
        backward / 1e3,
        outputs,
        weights,
        tuple(ends),
    )


def topological_order(path: str, nodes: list[str], edges: list[tuple[str, str]]) -> list[str]:
    """The nodes, producers before consumers, otherwise as the file lists them.

    Raises:
        UserError: they read each other in a circle.
    """
    rank = {node: index for index, node in enumerate(nodes)}
    readers: dict[str, list[str]] = {node: [] for node in nodes}
    waiting = dict.fromkeys(nodes, 0)
    for producer, consumer in edges:
        readers[producer].append(consumer)
        waiting[consumer] += 1
    ready = [rank[node] for node in nodes if not waiting[node]]
    order: list[str] = []
    while ready:
        node = nodes[heapq.heappop(ready)]
        order.append(node)
        for reader in readers[node]:
            waiting[reader] -= 1
            if not waiting[reader]:
                heapq.heappush(ready, rank[reader])
    if len(order) < len(nodes):
        raise UserError(f"{path}: its nodes read each other in a circle")
    return order


def _values(line: Line, text: str) -> tuple[float, ...]:
    fields = {match[1]: match[2] for match in _FIELD.finditer(text)}
    for field in _FIELDS:
        if field not in fields:
            raise line.error(f"the node has no {field}")
    return tuple(_number(line, field, fields[field]) for field in _FIELDS)


def _number(line: Line, field: str, text: str) -> float:
    try:
        value = math.fsum(float(part) for part in text.strip("[] ").split(";"))
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise line.error(f"{field} must be a number of at least 0 (got {text[:40]!r})")
    return value


def _batch_size(path: str, nodes: dict[str, _Node]) -> int:
    """The samples profiled at once: a fully connected node writes so many features for each."""
    for node in nodes.values():
        features = _FEATURES.match(node.description)
        if features and int(features[1]):
            return max(1, int(node.values[2]) // (FLOAT_BYTES * int(features[1])))
    raise UserError(f"{path} does not tell how many samples were profiled; give them as workload.profile_batch=N")
