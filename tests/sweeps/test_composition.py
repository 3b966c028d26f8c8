"""Jobs composed once and set in copies, against Hydra composing each of them."""

from __future__ import annotations

import contextlib
import copy
import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.core.utils import setup_globals
from omegaconf import OmegaConf, open_dict

from hypar_exp.experiments.job import register
from hypar_exp.paths import CONF_DIR
from hypar_exp.sweeps import hydra_private
from hypar_exp.sweeps.composition import Composer
from tests.conftest import ROOT

Axes = dict[str, list[str]]
GRIDS: list[Axes] = [
    {"network": ["sfc", "vgg_a"], "strategy": ["dp", "hypar"], "array.levels": ["0", "3"], "batch_size": ["64"]},
    {"array": ["htree", "torus"], "array.levels": ["2", "5"], "array.name": ["mine"]},
    {"hardware.link_bandwidth_bits_per_s": ["1e9", "2e9"], "hardware.processing_elements": ["16", "32"]},
    {"network": ["file"], "network.path": ["a/one.yaml", "two.yaml"]},
    {"network.layers.conv1": ["{conv:3,kernel:1}", "{conv:8}"], "network": ["lenet_c", "sconv"]},
    {"+network.layers.more": ["{fc:3}", "{fc:4}"], "network": ["lenet_c"], "network.layers.more.fc": ["5", "6"]},
    {"baseline": ["null", "mp"], "tracking": ["none", "sqlite"], "~tracking.name": ["none"]},
    {"network.input": ["[3,32,32]", "[1,8,8]"], "hydra/launcher": ["basic"], "batch_size": ["16", "32"]},
    {"network.name": ["${strategy.name}_net", "${hardware.name}"], "strategy": ["dp", "mp"]},
    {"network.name": ["job${hydra:job.num}", "'a b'"], "strategy": ["dp", "mp"]},
    {"array.levels": ["1", "${batch_size}"], "batch_size": ["4", "8"]},
]


@contextlib.contextmanager
def hydra(conf: Path = CONF_DIR) -> Iterator[tuple[Any, Any]]:
    """Hydra's loader and the configuration of a sweep."""
    register()
    with initialize_config_dir(str(conf), version_base="1.3"):
        setup_globals()
        master = compose("config", return_hydra_config=True)
        with open_dict(master):
            master.hydra.sweep.dir = "swept"
        yield GlobalHydra.instance().config_loader(), master


@pytest.mark.parametrize("axes", GRIDS)
@pytest.mark.parametrize("private", [True, False], ids=["fast", "public"])
def test_each_job_is_what_hydra_composes(axes: Axes, private: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    assert hydra_private.are_known(), "try the private parts with this version of Hydra or OmegaConf, and add it"
    monkeypatch.setattr(hydra_private, "are_known", lambda: private)
    pairs = [[f"{key}={value}" if key[0] != "~" else key for value in values] for key, values in axes.items()]
    jobs = [list(job) for job in itertools.product(*pairs)]
    with hydra() as (loader, master):
        composer = Composer(loader, master, [key for key, values in axes.items() if len(values) > 1])
        for number, job in [*enumerate(jobs), *reversed(list(enumerate(jobs)))]:
            composed = composer.compose(job, number)
            expected = _composed_by_hydra(loader, master, job, number)
            assert list(composed.plain.items()) == list(expected.items())
            with composed.config() as job_config:
                assert OmegaConf.to_container(job_config, resolve=True) == expected


@pytest.mark.parametrize(
    "override", ["array.level=3", "array.levels=three", "networks=sfc", "network=alexnot", "batch_size=[1]", "+a.b=1"]
)
def test_what_hydra_refuses_is_refused_with_its_words(override: str) -> None:
    with hydra() as (loader, master):
        composer = Composer(loader, master, [override.split("=")[0]])
        refused = []
        for attempt in (
            lambda: [composer.compose(job, at) for at, job in enumerate([["strategy=dp"], ["strategy=dp", override]])],
            lambda: _composed_by_hydra(loader, master, ["strategy=dp", override], 1),
        ):
            try:
                attempt()
            except Exception as error:
                refused.append((type(error), str(error)))
    assert len(refused) in (0, 2)
    assert len(set(refused)) <= 1
    assert refused or override in ("array.levels=three", "batch_size=[1]", "+a.b=1")


def _composed_by_hydra(loader: Any, master: Any, job: list[str], number: int) -> dict[str, Any]:
    from hydra.core.hydra_config import HydraConfig

    composed = loader.load_sweep_config(master, job)
    with open_dict(composed):
        composed.hydra.job.num = number
    HydraConfig.instance().set_config(composed)
    task = copy.deepcopy(composed)
    with open_dict(task):
        del task["hydra"]
    plain: Any = OmegaConf.to_container(task, resolve=True)
    return {str(key): value for key, value in plain.items()}


def test_everything_private_is_in_one_file() -> None:
    private = re.compile(r"\b(hydra|omegaconf)\._|_apply_overrides_to_config|\"_content\"")
    files = [*(ROOT / "hypar_exp").rglob("*.py"), *(ROOT / "hydra_plugins").rglob("*.py")]
    found = [str(file.relative_to(ROOT)) for file in files if private.search(file.read_text(encoding="utf-8"))]
    assert found == ["hypar_exp/sweeps/hydra_private.py"]
