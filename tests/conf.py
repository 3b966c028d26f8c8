"""The shipped configuration as objects, for tests of the library: composed from conf/, never typed again."""

from __future__ import annotations

from functools import cache
from typing import Any

from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from hypar_exp import networks, simulation
from hypar_exp.networks import Network
from hypar_exp.paths import CONF_DIR
from hypar_exp.simulation import Accounting, Hardware

PAPER_NETWORKS = ["sfc", "sconv", "lenet_c", "cifar_c", "alexnet", "vgg_a", "vgg_b", "vgg_c", "vgg_d", "vgg_e"]


def hardware(option: str = "hmc", /, **changes: Any) -> Hardware:
    return simulation.Hardware(**_fields(f"hardware/{option}") | changes)


def accounting(name: str = "as_evaluated", **changes: Any) -> Accounting:
    return simulation.Accounting(**_fields(f"accounting/{name}") | changes)


def network(name: str) -> Network:
    return networks.load(name)


@cache
def _fields(option: str) -> dict[str, Any]:
    with initialize_config_dir(str(CONF_DIR), version_base="1.3"):
        fields: Any = OmegaConf.to_container(compose(option)[option.split("/")[0]])
    return {key: value for key, value in fields.items() if key != "_target_"}
