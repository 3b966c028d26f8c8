"""What PipeDream's runtime needs of a plan: the graph with the stage of each node, and the ranks of each stage.

The first is what its optimizer writes (`gpus=N.txt`), from which its converter makes a module for each stage; the
second is the runtime's `hybrid_conf.json` (github.com/msr-fiddle/pipedream).
"""

from __future__ import annotations

import json

from hypar_exp.networks.profile import Profile
from hypar_exp.planning.stages import StagePlan


def graph_with_stages(profile: Profile, plan: StagePlan) -> str:
    """The profile, with the number of its stage behind each node."""
    stage_of = {unit: number for number, stage in enumerate(plan.stages) for unit in stage.layers}
    lines = []
    for node, name in enumerate(profile.node_names):
        fields = {
            "forward_compute_time": profile.forward_s[node] * 1e3,
            "backward_compute_time": profile.backward_s[node] * 1e3,
            "activation_size": profile.output_bytes[node],
            "parameter_size": profile.weight_bytes[node],
        }
        values = ", ".join(f"{field}={value:.3f}" for field, value in fields.items())
        lines.append(f"{name} -- {profile.descriptions[node]} -- {values} -- stage_id={stage_of[node]}")
    edges = [f"\t{profile.node_names[first]} -- {profile.node_names[second]}" for first, second in profile.edges]
    return "\n".join([*lines, *edges]) + "\n"


def hybrid_configuration(plan: StagePlan) -> str:
    """Ranks and depth of each stage as JSON; the module behind the last stage is the loss, on its ranks.

    A stage of r replicas keeps floor((R - 1 - those of the stages before) / r) mini-batches ahead, R all replicas.
    """
    ranks, depths, first = {}, {}, 0
    everyone = sum(stage.replicas for stage in plan.stages)
    for number, stage in enumerate(plan.stages):
        ranks[str(number)] = list(range(first, first + stage.replicas))
        depths[str(number)] = (everyone - 1 - first) // stage.replicas
        first += stage.replicas
    modules = [*range(len(plan.stages)), len(plan.stages) - 1]
    return json.dumps(
        {"module_to_stage_map": modules, "stage_to_rank_map": ranks, "stage_to_depth_map": depths}, indent=4
    )
