"""Asynchronous pipelines against the papers' values, and against sequences of updates that are carried out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hypar_exp.systems import Findings, Setting
from hypar_exp.systems.asynchronous import PipelinedBackpropagation, SpecTrain
from hypar_exp.systems.delayed_momentum import METHODS, best_half_lives, half_life, shrinking
from hypar_exp.systems.layer_pipeline import (
    POLICIES,
    delays,
    fill_and_drain_utilisation,
    spectrain_steps,
    spectrain_versions,
)
from hypar_exp.systems.published_values import published_rows
from hypar_exp.systems.quadratic import REFERENCE_COLUMNS, DelayedMomentumOnQuadratics
from tests.systems.settings import setting, workload


@pytest.mark.parametrize("row", published_rows("pb_quadratic_half_lives"), ids=lambda row: row["method"] + row["delay"])
def test_best_half_lives_are_the_published_ones_within_ten_percent(row: dict[str, str]) -> None:
    numbers = list(REFERENCE_COLUMNS)
    best = best_half_lives(METHODS[row["method"]], int(row["delay"]), numbers, momenta=41, rates=241)
    for number, found in zip(numbers, best, strict=True):
        assert found.half_life_steps == pytest.approx(float(row[REFERENCE_COLUMNS[number]]), rel=0.10)


@pytest.mark.parametrize("number", [10.0, 100.0, 1000.0])
def test_undelayed_momentum_comes_near_polyak_s_optimum_from_above(number: float) -> None:
    """The best factor is (sqrt k - 1) / (sqrt k + 1), Polyak 1964."""
    optimum = half_life((math.sqrt(number) - 1) / (math.sqrt(number) + 1))
    (best,) = best_half_lives(METHODS["sgdm"], 1, [number], momenta=300, rates=900)
    assert optimum <= best.half_life_steps <= 1.1 * optimum


@settings(max_examples=40)
@given(
    name=st.sampled_from(sorted(METHODS)),
    delay=st.integers(1, 4),
    momentum=st.floats(0.0, 0.9),
    x=st.floats(0.01, 0.3),
)
def test_the_recurrence_shrinks_as_the_largest_root_says(name: str, delay: int, momentum: float, x: float) -> None:
    """The update rules carried out on one eigenvalue: v' = m v + g, w' = w - eta (a v' + b g), g late by the delay."""
    method = METHODS[name]
    late = delay if method.delayed else 0
    factor = float(shrinking(method.polynomials(delay, momentum, np.array([x])))[0])
    a, b = method.coefficients(late, momentum)
    weights, velocity, steps = [1.0] * (late + 2), 0.0, 400
    for _ in range(steps):
        old, before = weights[-1 - late], weights[-2 - late]
        gradient = x * (old + method.horizon * late * (old - before))
        velocity = momentum * velocity + gradient
        weights.append(weights[-1] - (a * velocity + b * gradient))
    size = math.log(max(max(map(abs, weights[-60:])), 1e-300)) / steps
    assert abs(size - math.log(max(factor, 1e-3))) < 0.12 or size < math.log(max(factor, 1e-3))


def test_a_finer_grid_never_finds_a_longer_half_life() -> None:
    coarse = best_half_lives(METHODS["lwp+sc"], 1, [10.0, 100.0], momenta=21, rates=91)
    fine = best_half_lives(METHODS["lwp+sc"], 1, [10.0, 100.0], momenta=41, rates=181)
    for rough, exact in zip(coarse, fine, strict=True):
        assert exact.half_life_steps <= rough.half_life_steps + 1e-9


@pytest.mark.parametrize(
    "row", published_rows("staleness_by_stage"), ids=lambda row: f"{row['stages']}-{row['stage_from_0']}"
)
def test_delays_and_steps_ahead_by_stage(row: dict[str, str]) -> None:
    stages, stage = int(row["stages"]), int(row["stage_from_0"])
    forward, backward, kept = spectrain_steps(stages)
    assert delays(stages, "sample")[stage] == int(row["fine_grained_pb_delay"])
    assert delays(stages, "batch")[stage] == int(row["one_f_one_b_delay"])
    assert forward[stage] == int(row["spectrain_v1_forward_s"])
    assert backward[stage] == int(row["spectrain_v1_backward_s"])
    assert kept[stage] == int(row["spectrain_v2_s"])


def test_spectrain_s_worked_example() -> None:
    """Mini-batch 4 in three stages: all aim at W_6."""
    forward, backward, _ = spectrain_steps(3)
    forward_version, backward_version = spectrain_versions(3, 4)
    assert (forward_version + forward).tolist() == [6, 6, 6]
    assert (backward_version + backward).tolist() == [6, 6, 6]
    assert forward_version.tolist() == [4, 5, 5]


@given(stages=st.integers(2, 60), batch=st.integers(1, 100))
def test_all_stages_aim_at_one_version(stages: int, batch: int) -> None:
    forward, backward, _ = spectrain_steps(stages)
    forward_version, backward_version = spectrain_versions(stages, batch)
    assert {*(forward_version + forward).tolist(), *(backward_version + backward).tolist()} == {batch + stages - 1}


@pytest.mark.parametrize("row", published_rows("pb_fill_and_drain_utilisation"), ids=lambda row: row["network"])
def test_fill_and_drain_utilisation(row: dict[str, str]) -> None:
    stages = int(row["stages (recalled)"])
    for count in (32, 128, 256):
        assert fill_and_drain_utilisation(count, stages) == pytest.approx(float(row[f"N{count}"]), abs=0.0006)
    assert 1 / fill_and_drain_utilisation(128, stages) == pytest.approx(float(row["gain_of_pb_at_128"]), abs=0.006)
    assert delays(stages, "sample")[0] == int(row["largest_delay"])


@given(samples=st.integers(1, 30), stages=st.integers(1, 30))
def test_fill_and_drain_by_counting_slots(samples: int, stages: int) -> None:
    """Slots of one forward and one backward until the last sample is back at the first stage."""
    slots = max(sample + 2 * (stages - 1) - stage for sample in range(samples) for stage in range(stages)) + 1
    assert fill_and_drain_utilisation(samples, stages) == pytest.approx(samples / slots)


def test_versions_by_policy_in_four_stages() -> None:
    """PipeDream keeps as many versions as mini-batches are under way (SOSP 2019, section 3.3); 2BW keeps two."""
    delay = delays(4, "batch")
    assert POLICIES["stash"].versions(delay).tolist() == [4, 3, 2, 1]
    assert POLICIES["two_buffers"].versions(delay).tolist() == [2, 2, 2, 1]
    assert POLICIES["stale"].versions(delay).tolist() == [1, 1, 1, 1]
    assert POLICIES["flush"].staleness(delay).tolist() == [0, 0, 0, 0]
    assert POLICIES["spectrain"].weight_copies(delay).tolist() == [3, 3, 3, 3]


def test_rates_and_memory_of_a_network_by_hand() -> None:
    """Two fc layers, 8 -> 6 -> 4 of 4 bytes, on one operation a second: the first is the slower, 3 x 2 x 48 s."""
    found = PipelinedBackpropagation("sample", ["flush", "stash", "lwp", "sc"], [1, 3]).run(setting(8, 6, 4))
    assert found.metrics["samples_per_s"] == pytest.approx(1 / 288)
    assert found.metrics["balance"] == pytest.approx((48 + 24) / 2 / 48)
    assert found.metrics["flush_utilisation_3_samples"] == pytest.approx(3 / 5)
    assert found.metrics["flush_weights_bytes"] == 4 * (48 + 24)
    assert found.metrics["stash_weights_bytes"] == 4 * (3 * 48 + 24)
    assert found.metrics["lwp_weights_bytes"] == 3 * 4 * (48 + 24)
    assert found.metrics["sc_weights_bytes"] == 2 * 4 * (48 + 24)
    assert found.metrics["activations_bytes"] == 4 * (3 * 8 + 6)
    assert found.series["stage/delay"] == [2, 0]


def test_the_presets_say_how_far_they_agree() -> None:
    quadratic = ran("pipelined_backprop_quadratic")
    assert quadratic.metrics["half_lives_compared"] == quadratic.metrics["half_lives_within_10_percent"] == 28
    assert any("28 of 28 are within 10 %" in words for words in quadratic.words)
    spectrain = ran("spectrain")
    assert spectrain.metrics["published_values_equal"] == spectrain.metrics["published_values_compared"] == 20
    assert any("published, other hardware" in words for words in spectrain.words)


def ran(name: str) -> Findings:
    made = workload(name)
    assert isinstance(made, DelayedMomentumOnQuadratics | SpecTrain)
    return made.run(setting(8, 6, 4))


def test_setting_is_what_a_job_has() -> None:
    assert isinstance(setting(8, 6), Setting)
