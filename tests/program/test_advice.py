"""What a sentence advises works when it is followed: each is provoked, its advice is read from it and followed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.forked import Program, forked_program


@pytest.fixture(scope="module")
def program() -> Iterator[Program]:
    with forked_program() as program:
        yield program


Follow = Callable[[list[str], re.Match[str]], list[str]]
"""The wrong arguments and the advice -> the right ones."""


def add(template: str) -> Follow:
    """Give what is advised besides, in place of what sets the same key."""

    def follow(wrong: list[str], advice: re.Match[str]) -> list[str]:
        given = advice.expand(template)
        key = given.partition("=")[0]
        return [*(word for word in wrong if word.partition("=")[0] != key), given]

    return follow


def instead(template: str) -> Follow:
    """Give what is advised in place of the last argument."""
    return lambda wrong, advice: [*wrong[:-1], advice.expand(template)]


def without(place: int) -> Follow:
    """Leave out an argument."""
    return lambda wrong, advice: wrong[:place] + wrong[place:][1:]


@dataclass(frozen=True)
class Case:
    wrong: str
    advice: str
    """A regular expression for the sentence; its groups are what is taken from it."""
    follow: Follow


WHOLE = "network=lenet_c tracking=none"
CASES = [
    Case(f"{WHOLE} network.name=a=b", r"quoted twice: '(\S+)'$", lambda wrong, advice: [*wrong[:-1], advice[1]]),
    Case(f"{WHOLE} network.name=a(b", r"quoted twice: '(\S+)'$", lambda wrong, advice: [*wrong[:-1], advice[1]]),
    Case(f"{WHOLE} network.name=a#b", r"quoted twice: '(\S+)'$", lambda wrong, advice: [*wrong[:-1], advice[1]]),
    Case(f"{WHOLE} dry_run=true", r"is for sweeps; add (-m)$", lambda wrong, advice: [advice[1], *wrong]),
    Case(f"{WHOLE} batch_size=1,2", r"several values; add (-m) to run", lambda wrong, advice: [advice[1], *wrong]),
    Case("tracking=none network=vgg_f", r"did you mean (\w+)", instead(r"network=\1")),
    Case("tracking=none network=VGG_A", r"did you mean (\w+)", instead(r"network=\1")),
    Case("tracking=none lenet_c", r"did you mean (network=\w+)\?", instead(r"\1")),
    Case(f"{WHOLE} array.level=3", r"did you mean (array.levels)", instead(r"\1=3")),
    Case("tracking=none network=file", r"give it as (network.path)=VALUE", add(r"\1=mine.yaml")),
    Case(
        "tracking=none network=wrong --config-dir own",
        r"did you mean (\w+)",
        lambda wrong, advice: [wrong[0], f"network={advice[1]}", *wrong[2:]],
    ),
    Case(
        f"{WHOLE} experiment=bare --config-dir own",
        r"begin it with the line '(# @package _global_)'",
        lambda wrong, advice: ["experiment=right", *wrong[:2], *wrong[3:]],
    ),
    Case(f"{WHOLE} strategy=dp strategy.default=op", r"(accounting=accpar) prices dp, mp and op", add(r"\1")),
    Case(f"{WHOLE} accounting=as_printed gap=true", r"choose (accounting=as_evaluated)$", add(r"\1")),
    Case(f"{WHOLE} accounting=as_printed page=true", r"page=true does not know; leave it out or", without(3)),
    Case(
        f"{WHOLE} accounting=as_printed pipeline=balanced", r"pipeline=\w+ does not know; leave it out or", without(3)
    ),
    Case(f"{WHOLE} accounting=as_printed overlap=gradients", r"choose (accounting=as_evaluated)$", add(r"\1")),
    Case(f"{WHOLE} array=hetero interconnect=ring", r"(interconnect=shared) without latency is there", add(r"\1")),
    Case(f"{WHOLE} array=hetero strategy=optimal objective=time", r"(objective=communication) is there", add(r"\1")),
    Case(f"{WHOLE} hydra.job.chdir=true", r"hydra.job.chdir must be (false)", add(r"hydra.job.chdir=\1")),
    Case(f"{WHOLE} trust=nobody", r"trust must be (any), package", add(r"trust=\1")),
    Case(f"{WHOLE} strategy._target_=mine.Mine strategy=dp trust=package", r"set (trust=\[\w+\])$", add(r"\1")),
    Case(
        f"-m {WHOLE} hydra/sweeper=batch hydra/launcher=joblib dry_run=true batch_size=1,2",
        r"needs (hydra/sweeper=grid)$",
        add(r"\1"),
    ),
    Case(
        "-m",
        r"give a key several values, as (-m network=sfc,vgg_a)$",
        lambda wrong, advice: [*shlex.split(advice[1]), "tracking=none", "dry_run=true"],
    ),
    Case(
        f"-m {WHOLE} batch_size=interval(1,2) dry_run=true",
        r"name its values, or use (range)\(\)",
        lambda wrong, advice: [*wrong[:3], f"batch_size={advice[1]}(1,3)", wrong[-1]],
    ),
    Case(
        f"-m {WHOLE} batch_size=range(1,4) hydra.sweeper.most_jobs=2 dry_run=true",
        r"if you mean it, set (hydra.sweeper.most_jobs=3)$",
        add(r"\1"),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.wrong)
def test_followed(case: Case, program: Program, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("input: [1, 8, 8]\nlayers:\n  fc1: {fc: 10}\n")
    (tmp_path / "mine.py").write_text("from hypar_exp.planning import Fixed as Mine\n")
    for group, name, text in (
        (
            "network",
            "wrong_one",
            "_target_: hypar_exp.networks.build\nname: one\ninput: [4]\nlayers: {fc1: {fc: 10}}\n",
        ),
        ("experiment", "bare", "batch_size: 32\n"),
        ("experiment", "right", "# @package _global_\nbatch_size: 32\n"),
    ):
        (tmp_path / "own" / group).mkdir(parents=True, exist_ok=True)
        (tmp_path / "own" / group / f"{name}.yaml").write_text(text)
    wrong = shlex.split(case.wrong)
    refused = program(*wrong, cwd=tmp_path)
    assert refused.returncode == 2, refused.stdout + refused.stderr
    advice = re.search(case.advice, refused.stderr.rstrip())
    assert advice is not None, refused.stderr
    followed = program(*case.follow(wrong, advice), cwd=tmp_path)
    assert followed.returncode == 0, followed.stderr
