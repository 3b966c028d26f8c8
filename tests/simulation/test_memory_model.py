"""What training keeps: a transformer block's published bytes, optimizer states, precisions, and what is done again."""

from __future__ import annotations

import csv
import math
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hypar_exp import networks
from hypar_exp.errors import UserError
from hypar_exp.networks import Network, build, network_yaml
from hypar_exp.planning import DoesNotFitError, Fixed, HyPar, Optimal, Plan, PlanningProblem, Recompute
from hypar_exp.simulation import (
    Communication,
    CostModel,
    Energy,
    HTree,
    MemoryModel,
    Objective,
    PlanCosts,
    StepReport,
    Time,
    load_accounting,
    load_hardware,
    load_memory_model,
    memory_limit,
    step_report,
)
from hypar_exp.simulation.halving import Uniform
from hypar_exp.simulation.overlapped import overlapped_report
from hypar_exp.simulation.pipelined import pipelined_report
from hypar_exp.simulation.schedules import OneFOneB
from tests.planning.test_optimum import every_plan

HARDWARE, ACCOUNTING = load_hardware(), load_accounting()
TRAINING = load_memory_model("mixed_precision_adam")
LAYERS_OF_A_BLOCK = 4  # with weights: query, key and value together, output, up, down
PUBLISHED = Path(__file__).parents[1] / "data" / "pipelines" / "published_seqsel.csv"


def transformer(blocks: int, sequence: int, hidden: int, heads: int) -> Network:
    layers: dict[str, dict[str, Any]] = {}
    read = "input"
    for block in range(blocks):
        layers |= {
            f"{block}_qkv": {"matmul": 3 * hidden, "norm": "input"},
            f"{block}_attention": {"attention": f"{block}_qkv", "heads": heads, "dropout": True},
            f"{block}_output": {"matmul": hidden, "add": read, "dropout": True},
            f"{block}_up": {"matmul": 4 * hidden, "norm": "input", "activation": "gelu"},
            f"{block}_down": {"matmul": hidden, "add": f"{block}_output", "dropout": True},
        }
        read = f"{block}_down"
    return build("transformer", [hidden, sequence], layers)


def model_of(
    network: Network, memory_model: MemoryModel, levels: int = 0, batch: float = 8, **hardware: float
) -> CostModel:
    device = replace(HARDWARE, **hardware)  # type: ignore[arg-type]
    return CostModel(network, HTree(levels=levels), device, ACCOUNTING, batch, memory_model=memory_model)


def step(model: CostModel, strategy: str = "dp") -> StepReport:
    return step_report(model, plan_of(model, strategy))


def plan_of(model: CostModel, strategy: str) -> Plan:
    problem = PlanningProblem(model.network, model.batch_size, model.array.levels, model.charges.communication)
    return Fixed(strategy, strategy).plan(problem)


class TestATransformerBlock:
    """s b h (34 + 5 a s / h) bytes at 16 bits (Korthikanti et al., 2022, equation 1)."""

    @given(
        blocks=st.integers(1, 3),
        sequence=st.sampled_from([16, 96, 512]),
        batch=st.integers(1, 5),
        heads=st.integers(1, 12),
        head_size=st.sampled_from([8, 64, 100]),
    )
    def test_to_the_byte(self, blocks: int, sequence: int, batch: int, heads: int, head_size: int) -> None:
        hidden = heads * head_size
        network = transformer(blocks, sequence, hidden, heads)
        whole = sequence * batch * hidden
        probabilities = 5 * heads * sequence**2 * batch
        written = 2 * whole  # by the last layer, which the paper counts for whoever reads it

        def kept(recompute: Recompute, layers: int | None = None) -> float:
            memory_model = replace(TRAINING, recompute=recompute, recomputed_layers=layers)
            return step(model_of(network, memory_model, batch=batch)).memory.activations_bytes - written

        assert kept("none") == blocks * (34 * whole + probabilities)
        assert kept("selective") == blocks * 34 * whole + probabilities  # of the block at work
        assert kept("full", LAYERS_OF_A_BLOCK) == blocks * 2 * whole + (32 * whole + probabilities)
        assert kept("full") == 2 * whole + (blocks * (34 * whole + probabilities) - 2 * whole)

    def test_without_the_switches_it_is_what_is_counted_today(self) -> None:
        network = transformer(2, 64, 48, 4)
        today, sized = step(model_of(network, MemoryModel())), step(model_of(network, replace(TRAINING, name="paper")))
        whole, probabilities = 64 * 8 * 48, 4 * 64**2 * 8
        assert today.memory.activations_bytes == 4 * (2 * (10 * whole + probabilities) + whole)
        assert sized.memory.activations_bytes > today.memory.activations_bytes / 2

    @pytest.mark.parametrize(
        ("switch", "of_a_block"),
        [("normalisation", 4), ("activation_functions", 8), ("dropout", 2)],
    )
    def test_each_switch_adds_its_own(self, switch: str, of_a_block: int) -> None:
        network, whole = transformer(1, 64, 48, 4), 64 * 8 * 48
        without = replace(TRAINING, **{switch: False})  # type: ignore[arg-type]
        added = (
            step(model_of(network, TRAINING)).memory.activations_bytes
            - step(model_of(network, without)).memory.activations_bytes
        )
        of_probabilities = 3 * 4 * 64**2 * 8 if switch == "dropout" else 0
        assert added == of_a_block * whole + of_probabilities

    def test_a_pipeline_keeps_so_much_of_a_micro_batch(self) -> None:
        """Two stages of a block each, 1F1B: the first keeps two micro-batches of 1 sample."""
        sequence, hidden, heads = 64, 48, 4
        network = transformer(2, sequence, hidden, heads)
        whole, probabilities = sequence * hidden, 5 * heads * sequence**2
        kept = {"none": 34 * whole + probabilities, "selective": 34 * whole, "full": 2 * whole}
        again = {"none": 0, "selective": probabilities, "full": 32 * whole + probabilities}
        for recompute in ("none", "selective", "full"):
            model = model_of(network, replace(TRAINING, recompute=recompute), levels=1, batch=8)
            plan = Uniform(stages=2, micro_batches=8).plan(model, lambda stage: plan_of(stage, "dp"), lambda plan: 0.0)
            assert plan.recompute == recompute, "the memory model says it where the pipeline does not"
            report = pipelined_report(model, plan, OneFOneB())
            written = 2 * whole
            assert report.memory.activations_bytes == 2 * kept[recompute] + again[recompute] + written


SIZES = {"megatron-22B": (6144, 64, 48), "turing-530B": (20480, 128, 105), "megatron-1T": (25600, 160, 128)}
"""Hidden size, heads, blocks; sequences of 2048 (table 3)."""
ACROSS = {"megatron-22B": (8, 1, 1, 4), "turing-530B": (8, 35, 3, 1), "megatron-1T": (8, 64, 1, 1)}
"""Tensor-parallel GPUs, stages, chunks a stage, samples a micro-batch."""


def published(item: str, mode: str = "") -> dict[str, float]:
    with PUBLISHED.open(newline="") as file:
        return {
            row["model"]: float(row["value"])
            for row in csv.DictReader(file)
            if row["item"].startswith(item) and row["mode"] == mode
        }


@cache
def published_step(name: str, recompute: Recompute) -> StepReport:
    """One block on one accelerator, for a micro-batch."""
    hidden, heads, _ = SIZES[name]
    network = transformer(1, 2048, hidden, heads)
    return step(model_of(network, replace(TRAINING, recompute=recompute), batch=ACROSS[name][3]))


def kept_of_a_block(name: str, recompute: Recompute) -> float:
    hidden, heads, _ = SIZES[name]
    model = model_of(transformer(1, 2048, hidden, heads), replace(TRAINING, recompute=recompute), batch=ACROSS[name][3])
    costs = model.kinds[0]
    leaf = costs.leaf(np.zeros((LAYERS_OF_A_BLOCK, 3), dtype=np.int64))
    return float(model.memory_model.training(model.network, leaf, HARDWARE.element_bytes).kept.sum())


@pytest.mark.parametrize("name", SIZES)
class TestPublishedSizes:
    def test_weights_gradients_and_optimizer_states(self, name: str) -> None:
        memory = published_step(name, "none").memory
        tensor, stages, _, _ = ACROSS[name]
        held = (memory.weights_bytes + memory.gradients_bytes + memory.optimizer_bytes) * SIZES[name][2]
        assert held / tensor / stages / 2**30 == pytest.approx(published("figure 1: parameters")[name], rel=1e-12)

    def test_activations_of_the_first_stage(self, name: str) -> None:
        """With sequence parallelism every tensor is a t-th on each accelerator, as under our dp of the whole block."""
        tensor, stages, chunks, _ = ACROSS[name]
        in_flight = SIZES[name][2] * (1 + (stages - 1) / (stages * chunks) * (chunks > 1))
        held = kept_of_a_block(name, "selective") / tensor * in_flight / 2**30
        mode = "sequence parallel + selective recompute"
        assert held == pytest.approx(published("figure 1: activations", mode)[name], rel=1e-9)

    def test_shares_of_figure_7(self, name: str) -> None:
        tensor, (hidden, heads, _) = ACROSS[name][0], SIZES[name]
        none = 2048 * ACROSS[name][3] * hidden * (10 + 24 / tensor + 5 * heads * 2048 / hidden / tensor)
        for mode, recompute, apart in (("seq", "none", tensor), ("seqsel", "selective", tensor), ("full", "full", 1)):
            share = 100 * kept_of_a_block(name, recompute) / apart / none  # type: ignore[arg-type]
            # the published bars are read off a picture, to about a tenth of a percent
            assert share == pytest.approx(published("figure 7", mode)[name], abs=0.11)


class TestOptimizerStates:
    @pytest.mark.parametrize(
        ("states", "bytes_of_a_weight"), [([], 8), ([4], 12), ([4, 4], 16), ([2, 4, 4], 18)], ids=str
    )
    def test_are_held_for_every_weight(self, states: list[int], bytes_of_a_weight: int) -> None:
        network = networks.load("lenet_c")
        report = step(model_of(network, MemoryModel(optimizer_state_bytes=states), levels=2), "mp")
        held = report.memory.weights_bytes + report.memory.gradients_bytes + report.memory.optimizer_bytes
        assert held == bytes_of_a_weight * network.weights.sum() / 4
        without = step(model_of(network, MemoryModel(), levels=2), "mp")
        assert (
            report.memory_per_accelerator_bytes - without.memory_per_accelerator_bytes
            == held - 2 * without.memory.weights_bytes
        )

    def test_inference_has_none(self) -> None:
        model = replace(model_of(networks.load("lenet_c"), TRAINING), accounting=ACCOUNTING.inference())
        report = step(model)
        assert report.memory.optimizer_bytes == report.memory.gradients_bytes == 0
        assert report.memory.weights_bytes == 2 * model.network.weights.sum()


class TestPrecision:
    """By hand: dp on two accelerators exchanges 2 A(dW), mp A(F) and A(E) of the output."""

    NETWORK = build("n", [8], {"a": {"fc": 16}, "b": {"fc": 4}})

    @pytest.mark.parametrize(
        ("sizes", "strategy", "expected"),
        [
            ({}, "dp", 4 * 2 * (8 * 16 + 16 * 4)),
            ({"gradient_bytes": 2}, "dp", 2 * 2 * (8 * 16 + 16 * 4)),
            ({"activation_bytes": 1, "weight_bytes": 1}, "dp", 4 * 2 * (8 * 16 + 16 * 4)),
            ({"activation_bytes": 2}, "mp", 2 * 2 * 8 * (16 + 4)),
            ({"gradient_bytes": 8, "weight_bytes": 1}, "mp", 4 * 2 * 8 * (16 + 4)),
        ],
    )
    def test_exchanged_bytes_and_their_energy(self, sizes: dict[str, int], strategy: str, expected: int) -> None:
        report = step(model_of(self.NETWORK, MemoryModel(**sizes), levels=1), strategy)  # type: ignore[arg-type]
        assert report.communication_bytes == expected
        joules = expected / 4 * 3 * HARDWARE.dram_energy_j_per_element
        assert report.energy.communication_j.sum() == pytest.approx(joules, rel=1e-12)
        rate = HARDWARE.link_bandwidth_bits_per_s / 8
        assert report.communication_time_s == pytest.approx(expected / rate, rel=1e-12)

    def test_dram_traffic_and_energy(self) -> None:
        """Forward and backward touch W, the gradient phase dW; each phase an input and an output."""
        weights, moved = 8 * 16 + 16 * 4, 8 * ((8 + 16) + (16 + 4))
        memory_model = MemoryModel(weight_bytes=1, gradient_bytes=8, activation_bytes=2)
        report = step(model_of(self.NETWORK, memory_model))
        touched = (1 + 1 + 8) * weights + 3 * 2 * moved
        assert report.energy.dram_j.sum() == pytest.approx(touched / 4 * HARDWARE.dram_energy_j_per_element, rel=1e-12)
        assert report.dram_time_s.sum() == pytest.approx(touched / HARDWARE.dram_bandwidth_bytes_per_s, rel=1e-12)

    def test_half_of_everything_is_hardware_of_half_the_size(self) -> None:
        halves = MemoryModel(weight_bytes=2, gradient_bytes=2, activation_bytes=2)
        half = {"element_bytes": 2, "dram_energy_j_per_element": HARDWARE.dram_energy_j_per_element / 2}
        network = networks.load("vgg_a")
        ours, theirs = model_of(network, halves, levels=4), model_of(network, MemoryModel(), levels=4, **half)
        plan = HyPar().plan(PlanningProblem(network, 8, 4, ACCOUNTING.communication))
        one, other = step_report(ours, plan), step_report(theirs, plan)
        assert one.step_time_s == pytest.approx(other.step_time_s, rel=1e-12)
        assert one.step_energy_j == pytest.approx(other.step_energy_j, rel=1e-12)
        assert one.memory == other.memory

    def test_plans_follow_the_bytes(self) -> None:
        network = networks.load("vgg_a")

        def chosen(memory_model: MemoryModel) -> int:
            model = model_of(network, memory_model, levels=4, batch=64)
            return int(HyPar().plan(PlanningProblem(network, 64, 4, model.charges.communication)).choices.sum())

        dear_weights, dear_activations = MemoryModel(gradient_bytes=32), MemoryModel(activation_bytes=32)
        assert chosen(dear_weights) > chosen(MemoryModel()) > chosen(dear_activations)

    def test_boundaries_of_stages_too(self) -> None:
        network = networks.load("vgg_a")
        exchanged = []
        for memory_model in (MemoryModel(), MemoryModel(activation_bytes=2, gradient_bytes=2)):
            model = model_of(network, memory_model, levels=2, batch=64)
            plan = Uniform(stages=4, micro_batches=4).plan(model, lambda stage: plan_of(stage, "dp"), lambda plan: 0.0)
            exchanged.append(pipelined_report(model, plan, OneFOneB()))
        whole, half = exchanged
        assert half.communication_bytes == whole.communication_bytes / 2
        assert half.energy.communication_j.sum() == pytest.approx(whole.energy.communication_j.sum() / 2, rel=1e-12)


class TestPooling:
    def test_keeps_what_is_pooled(self) -> None:
        network = build("n", [3, 8, 8], {"a": {"conv": 4, "kernel": 3, "padding": 1, "pool": 2}, "b": {"fc": 10}})
        with_it, without = (
            step(model_of(network, MemoryModel(pooling=pooling), batch=5)).memory.activations_bytes
            for pooling in (True, False)
        )
        assert with_it - without == 4 * 5 * 4 * 8 * 8

    def test_only_where_there_is_pooling(self) -> None:
        network = build(
            "n", [3, 8, 8], {"a": {"conv": 4, "kernel": 3}, "t": {"conv_transpose": 2, "kernel": 2}, "b": {"fc": 4}}
        )
        assert [layer.before_pooling for layer in network.layers] == [0, 0, 0]

    def test_a_share_of_it_where_the_output_is_split(self) -> None:
        network = networks.load("vgg_a")
        reports = [
            step(model_of(network, MemoryModel(pooling=pooling), levels=2, batch=8), "dp").memory.activations_bytes
            for pooling in (True, False)
        ]
        pooled = sum(layer.before_pooling for layer in network.layers)
        assert reports[0] - reports[1] == 4 * 8 / 4 * pooled
        assert pooled == 64 * 224**2 + 128 * 112**2 + 256 * 56**2 + 512 * 28**2 + 512 * 14**2


class TestRecomputation:
    @pytest.mark.parametrize("name", ["vgg_a", "gpt2_small"])
    def test_full_is_a_forward_phase_more(self, name: str) -> None:
        network = networks.load(name)
        none, full = (
            step(model_of(network, MemoryModel(recompute=recompute), levels=3, batch=64), "mp")
            for recompute in ("none", "full")
        )
        assert full.energy.mac_j.sum() == pytest.approx(none.energy.mac_j.sum() * 4 / 3, rel=1e-12)
        assert full.mac_time_s.sum() == pytest.approx(none.mac_time_s.sum() * 4 / 3, rel=1e-12)
        assert full.dram_time_s.sum() == pytest.approx(none.dram_time_s.sum() * 4 / 3, rel=1e-12)
        # mp adds up partial sums forward and gathers errors backward, equally many: the first twice
        assert full.communication_bytes == pytest.approx(none.communication_bytes * 3 / 2, rel=1e-12)

    def test_selective_is_attention_s_products_once_more(self) -> None:
        network = networks.load("gpt2_small")
        none, selective = (
            step(model_of(network, MemoryModel(recompute=recompute), levels=3, batch=64))
            for recompute in ("none", "selective")
        )
        products = 64 * sum(layer.extra_macs for layer in network.layers)
        more_j = selective.energy.mac_j.sum() - none.energy.mac_j.sum()
        assert more_j == pytest.approx(products * HARDWARE.mac_energy_j, rel=1e-9)
        assert selective.communication_bytes == none.communication_bytes
        saved = none.memory.activations_bytes - selective.memory.activations_bytes
        assert saved == 11 * 4 * 8 * 12 * 1024**2, "the probabilities of all blocks but the one at work"

    def test_inference_computes_nothing_again(self) -> None:
        network = networks.load("gpt2_small")
        reports = [
            step(replace(model_of(network, MemoryModel(recompute=recompute)), accounting=ACCOUNTING.inference()))
            for recompute in ("none", "full")
        ]
        assert reports[0].step_time_s == reports[1].step_time_s
        assert reports[0].memory == reports[1].memory

    @pytest.mark.parametrize("recompute", ["none", "selective", "full"])
    def test_overlap_hides_gradients_alone(self, recompute: Recompute) -> None:
        model = model_of(networks.load("gpt2_small"), MemoryModel(recompute=recompute), levels=3, batch=64)
        plan = plan_of(model, "mp")  # exchanges no gradients
        assert overlapped_report(model, plan).step_time_s == pytest.approx(
            step_report(model, plan).step_time_s, rel=1e-9
        )


MODELS = st.builds(
    MemoryModel,
    weight_bytes=st.sampled_from([None, 1, 2]),
    gradient_bytes=st.sampled_from([None, 2, 8]),
    activation_bytes=st.sampled_from([None, 1, 2]),
    optimizer_state_bytes=st.lists(st.sampled_from([2, 4]), max_size=3),
    pooling=st.booleans(),
    normalisation=st.booleans(),
    activation_functions=st.booleans(),
    dropout=st.booleans(),
    recompute=st.sampled_from(["none", "selective", "full"]),
)


class TestPlanning:
    @settings(max_examples=40)
    @given(
        memory_model=MODELS, objective=st.sampled_from([Communication(), Time(), Energy()]), quantile=st.floats(0, 1)
    )
    def test_the_best_plan_that_fits_is_that_of_brute_force(
        self, memory_model: MemoryModel, objective: Objective, quantile: float
    ) -> None:
        network = build(
            "n",
            [8, 4],
            {
                "qkv": {"matmul": 24, "norm": "input"},
                "attention": {"attention": "qkv", "heads": 2, "dropout": True},
                "out": {"matmul": 8, "dropout": True, "norm": "output"},
                "up": {"matmul": 16, "activation": "gelu"},
            },
        )
        model = model_of(network, memory_model, levels=2, batch=4)
        plans = every_plan(2, len(network.layers), ("dp", "mp"))
        reports = [step_report(model, plan) for plan in plans]
        needs = np.array([report.memory_per_accelerator_bytes for report in reports])
        capacity = float(np.quantile(needs, quantile, method="nearest"))
        model = replace(model, hardware=replace(HARDWARE, dram_capacity_bytes=capacity))
        problem = PlanningProblem(
            network, 4, 2, model.charges.communication, costs=objective.costs(model), memory=memory_limit(model)
        )
        found = step_report(model, Optimal().plan(problem))
        assert found.fits_in_memory

        def cost(report: StepReport) -> float:
            of = {
                "communication": report.communication_bytes,
                "time": report.step_time_s,
                "energy": report.step_energy_j,
            }
            return of[objective.name]

        best = min(cost(report) for report, need in zip(reports, needs, strict=True) if need <= capacity)
        assert cost(found) == pytest.approx(best, rel=1e-12)
        costed = PlanCosts(model).of(plans)
        assert costed.step_time_s == pytest.approx([report.step_time_s for report in reports], rel=1e-12)
        assert costed.communication_bytes == pytest.approx(
            [report.communication_bytes for report in reports], rel=1e-12
        )

    def test_a_network_that_fits_without_states_may_not_fit_with_them(self) -> None:
        """vgg_e on two accelerators: 144 M weights, 8 B each; Adam's two states are 8 B more."""
        network = networks.load("vgg_e")
        for memory_model, fits in ((MemoryModel(), True), (MemoryModel(optimizer_state_bytes=[4, 4]), False)):
            model = model_of(network, memory_model, levels=1, batch=256, dram_capacity_bytes=8e9)
            problem = PlanningProblem(network, 256, 1, model.charges.communication, memory=memory_limit(model))
            if fits:
                assert step_report(model, Optimal().plan(problem)).fits_in_memory
            else:
                with pytest.raises(DoesNotFitError):
                    Optimal().plan(problem)

    def test_groups_of_layers_are_no_sum(self) -> None:
        model = model_of(networks.load("gpt2_small"), MemoryModel(recompute="full", recomputed_layers=4))
        with pytest.raises(UserError, match=r"memory=enforce cannot plan with memory_model\.recomputed_layers=4"):
            memory_limit(model)


class TestWhatCannotBe:
    @pytest.mark.parametrize(
        ("fields", "message"),
        [
            ({"weight_bytes": 0}, r"memory_model\.weight_bytes must be a whole number from 1 to 64 \(got 0\)"),
            ({"activation_bytes": 2.5}, r"memory_model\.activation_bytes must be a whole number from 1 to 64"),
            ({"optimizer_state_bytes": [4, -1]}, r"memory_model\.optimizer_state_bytes\[1\] must be a whole number"),
            ({"optimizer_state_bytes": "adam"}, r"must be a list of at most 64 whole numbers, as in \[4, 4, 4\]"),
            ({"recompute": "ful"}, r"recompute must be none, selective or full \(got 'ful'\); did you mean full\?"),
            ({"recomputed_layers": 4}, r"recomputed_layers is for memory_model\.recompute=full \(got none\)"),
        ],
    )
    def test_models(self, fields: dict[str, Any], message: str) -> None:
        with pytest.raises(UserError, match=message):
            MemoryModel(**fields)

    @pytest.mark.parametrize(
        ("layer", "message"),
        [
            ({"fc": 4, "norm": "both"}, r"norm must be input or output \(got 'both'\)"),
            ({"fc": 4, "activation": "geluu"}, r"activation must be gelu, .* or tanh \(got 'geluu'\)"),
            ({"fc": 4, "dropout": 0.5}, r"dropout must be true or false \(got 0\.5\)"),
            (
                {"layer": "x", "input": [4], "output": [4], "weights": 1, "around": {"normed": 1}},
                r"around has no key 'normed'",
            ),
            (
                {"layer": "x", "input": [4], "output": [4], "weights": 1, "around": {"dropout_outputs": -1}},
                r"around\.dropout_outputs must be a whole number of at least 0",
            ),
        ],
    )
    def test_layers(self, layer: dict[str, Any], message: str) -> None:
        with pytest.raises(UserError, match=message):
            build("n", [4], {"a": layer})


def test_a_network_s_file_says_what_stands_around(tmp_path: Path) -> None:
    network = transformer(2, 16, 8, 2)
    path = tmp_path / "transformer.yaml"
    path.write_text(network_yaml(network))
    assert networks.load(str(path)).layers == network.layers


@pytest.mark.parametrize(
    ("name", "normalised"),
    [  # elements of a sample that batch normalisations read: all outputs of convolutions, before pooling
        ("resnet18", 64 * 112**2 + 4 * 64 * 56**2 + 5 * 128 * 28**2 + 5 * 256 * 14**2 + 5 * 512 * 7**2),
        ("vgg_a", 0),
    ],
)
def test_networks_of_the_literature_say_what_they_normalise(name: str, normalised: int) -> None:
    network = networks.load(name)
    kept = [
        step(model_of(network, MemoryModel(normalisation=normalisation), levels=3, batch=16)).memory.activations_bytes
        for normalisation in (True, False)
    ]
    assert kept[0] - kept[1] == 4 * 16 / 8 * normalised


def test_every_preset_can_be_loaded() -> None:
    for name, of_a_weight in (("paper", 8), ("momentum", 12), ("adam", 16), ("mixed_precision_adam", 18)):
        memory = step(model_of(networks.load("sfc"), load_memory_model(name))).memory
        held = memory.weights_bytes + memory.gradients_bytes + memory.optimizer_bytes
        assert math.isclose(held, of_a_weight * networks.load("sfc").weights.sum())
