"""Settings and workloads for tests, the latter as conf/ describes them."""

from __future__ import annotations

from functools import cache
from typing import cast

from hydra import compose, initialize_config_dir
from omegaconf import DictConfig

from hypar_exp.experiments.job import register
from hypar_exp.experiments.objects import build_object
from hypar_exp.networks import Network, build, load
from hypar_exp.paths import CONF_DIR
from hypar_exp.simulation import HTree, SharedLink
from hypar_exp.simulation.schedules import GPipe
from hypar_exp.systems import Setting, Workload
from tests.conf import accounting, hardware


def setting(*widths: int, network: str | None = None) -> Setting:
    """A chain of fc layers of some widths, or a shipped network, on one operation a second and 4 bytes an element."""
    made: Network
    if network is None:
        layers = {f"fc{at}": {"fc": width} for at, width in enumerate(widths[1:], 1)}
        made = build("made", [widths[0]], layers)
    else:
        made = load(network)
    slow = hardware(processing_elements=1, operations_per_s_per_pe=1.0, utilisation=1.0, element_bytes=4)
    return Setting(made, HTree("htree", 4), SharedLink("shared"), slow, accounting(), 256, GPipe(), False)


@cache
def workload(name: str) -> Workload:
    """The workload of a preset."""
    register()
    with initialize_config_dir(str(CONF_DIR), version_base="1.3"):
        config = cast(DictConfig, compose("config", [f"experiment={name}"]))
    return cast(Workload, build_object(config, "workload"))
