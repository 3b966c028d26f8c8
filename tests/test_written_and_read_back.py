"""Every text format that is written is read back, whatever the names in it."""

from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from hypar_exp.networks import Network, build, load, network_yaml
from hypar_exp.planning import Plan, read_plan
from hypar_exp.reporting.layer_table import layer_csv
from hypar_exp.reporting.yaml_text import to_yaml
from hypar_exp.simulation import HTree, load_accounting, load_hardware, simulate

ODD = [
    *(
        "a,b",
        'say "hi"',
        "ä b/c=d",
        "level",
        "1",
        "H1",
        "x\ty",
        "😀 #",
        "[x]",
        "[/red]",
        "=1+1",
        "-",
        "'",
        "two\nlines",
    ),
    *(
        " space ",
        "null",
        "1e3",
        "a: b",
        "{x}",
        "$x",
        "${x}",
        "%20",
        "\\",
        "\x7f",
        "\x85",
        "\u2028",
        "\ufeffx",
        "@",
        "|",
    ),
]
names = st.lists(
    st.one_of(
        st.sampled_from(ODD), st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0"), min_size=1)
    ),
    min_size=1,
    max_size=4,
    unique_by=str.strip,
).filter(lambda chosen: all(name.strip() and name != "input" for name in chosen))


def named(layer_names: list[str]) -> Network:
    return build("odd, 😀 net", [3, 8, 8], {name: {"conv": 4, "kernel": 1} for name in layer_names})


@given(names)
def test_networks(layer_names: list[str]) -> None:
    network = named(layer_names)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "network.yaml"
        file.write_text(network_yaml(network), encoding="utf-8", newline="")
        assert load(str(file)) == network


@given(names, st.integers(0, 2**32 - 1))
def test_plans(layer_names: list[str], seed: int) -> None:
    plan = np.random.default_rng(seed).integers(0, 3, (3, len(layer_names)), dtype=np.uint8)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "plan.csv"
        file.write_text(Plan(plan).csv(layer_names), encoding="utf-8", newline="")
        assert read_plan(str(file), layer_names, 3).tolist() == plan.tolist()


@given(names)
def test_configurations(texts: list[str]) -> None:
    values = dict.fromkeys(texts, texts)
    written = "".join(to_yaml(key, value) for key, value in values.items())
    assert yaml.safe_load(written) == values


@pytest.mark.parametrize("name", [name for name in ODD if "\n" not in name and name[0] not in "=-@'"])
def test_tables_of_layers(name: str) -> None:
    network = named([name])
    report = simulate(network, np.zeros((1, 1), np.uint8), HTree(levels=1), load_hardware(), load_accounting(), 8)
    (row,) = csv.DictReader(io.StringIO(layer_csv(network, report), newline=""))
    assert row["layer"] == name
