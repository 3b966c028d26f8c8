"""Placements in dnn-partitioning's form: JSON with the operators' numbers on each of `fpgas` and `cpus`."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from hypar_exp.checks import is_whole, shortened
from hypar_exp.errors import UserError
from hypar_exp.networks.json_files import read_json
from hypar_exp.networks.operator_graph import OperatorGraph
from hypar_exp.planning.pipelines.placement import Device, Placement, load_s
from hypar_exp.planning.pipelines.placement_loads import Kind

KINDS: dict[str, Kind] = {"fpgas": "accelerator", "cpus": "cpu"}


def placement_json(graph: OperatorGraph, placement: Placement) -> str:
    """A placement as the program writes it; loads in milliseconds."""
    devices: dict[str, Any] = {"maxLoad": placement.max_load_s * 1e3}
    for key, kind in KINDS.items():
        devices[key] = [
            {"load": device.load_s * 1e3, "nodes": sorted(graph.identities[node] for node in device.nodes)}
            for device in placement.devices
            if device.kind == kind
        ]
    return json.dumps(devices, indent=1)


def read_placement(path: str, graph: OperatorGraph) -> Placement:
    """A placement of all operators of `graph`, with its loads; those in the file do not count.

    Backward operators that it leaves out are where the forward operators are that they belong to.

    Raises:
        UserError: the file cannot be read or does not have this form; an operator is unknown, appears twice, is
            missing, or is apart from those it belongs to.
    """
    file = read_json(path, "placement")
    position = {identity: node for node, identity in enumerate(graph.identities)}
    owner: dict[int, int] = {}
    kinds: list[Kind] = []
    for key, kind in KINDS.items():
        for device in file.objects(key, key.removesuffix("s")):
            for identity in device.values.get("nodes", []):
                if not is_whole(identity, 0) or identity not in position:
                    raise UserError(f"{device.place}: there is no operator {shortened(identity)} in {graph.name}")
                if position[identity] in owner:
                    raise UserError(f"{device.place}: the operator {identity} appears twice")
                owner[position[identity]] = len(kinds)
            kinds.append(kind)
    of_group = {int(graph.together[node]): number for node, number in owner.items()}
    for node, identity in enumerate(graph.identities):
        group = int(graph.together[node])
        if node not in owner and (not graph.backward[node] or group not in of_group):
            raise UserError(f"{path}: the operator {identity} is on no device")
        if owner.setdefault(node, of_group.get(group, 0)) != of_group[group]:
            raise UserError(f"{path}: the operator {identity} is apart from those it has to be with")
    owners = np.array([owner[node] for node in range(len(graph.identities))])
    members = [tuple(np.flatnonzero(owners == number).tolist()) for number in range(len(kinds))]
    devices = (
        Device(kind, nodes, load_s(graph, kind, nodes)) for kind, nodes in zip(kinds, members, strict=True) if nodes
    )
    return Placement(tuple(devices))
