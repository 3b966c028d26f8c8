"""Cuts of a graph: its downsets, counted on our networks, and what crosses them."""

import csv
import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypar_exp import networks
from hypar_exp.errors import UserError
from hypar_exp.networks.profile import Profile
from hypar_exp.planning.pipelines.cuts import cuts_in_order, cuts_of_graph
from hypar_exp.planning.pipelines.stage_costs import ProfileCosts
from tests.planning.pipelines.profiles import random_profile

FILE = Path(__file__).parents[2] / "data/pipelines/ideals_of_zoo.csv"
ROWS = list(csv.DictReader(FILE.read_text().splitlines()))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["network"])
def test_as_many_cuts_as_were_counted(row: dict[str, str]) -> None:
    network = networks.load(row["network"])
    ends = [(edge.producer, edge.consumer) for edge in network.edges]
    assert len(cuts_of_graph(len(network.layers), ends, network.name)) == int(row["ideals (downsets)"])


@given(st.composite(lambda draw: random_profile(draw, chain=False))())
def test_cuts_are_all_downsets_and_each_tensor_crosses_once(profile: Profile) -> None:
    costs = ProfileCosts.of(profile)
    units = range(len(profile.node_names))
    subsets = [set(chosen) for size in range(len(units) + 1) for chosen in itertools.combinations(units, size)]
    downsets = [s for s in subsets if all(producer in s for producer, consumer in profile.edges if consumer in s)]
    found = [set(row.nonzero()[0].tolist()) for row in costs.cuts.inside]
    assert sorted(map(sorted, found)) == sorted(map(sorted, downsets))
    for at, before in enumerate(found):
        crossing = {a for a, b in profile.edges if a in before and b not in before}
        assert costs.cut_bytes(profile.batch_size)[at] == sum(profile.output_bytes[unit] for unit in crossing)
        for end, more in enumerate(found):
            assert costs.cuts.below[at, end] == (before < more)
            if before < more:
                assert costs.cuts.units_between(at, end) == tuple(sorted(more - before))


def test_too_many_cuts_are_one_sentence() -> None:
    with pytest.raises(
        UserError,
        match=r"^wide can be cut in more than 100 places, .* in the order of its layers alone$",
    ):
        cuts_of_graph(12, [], "wide", most=100)
    assert len(cuts_in_order(12)) == 13
