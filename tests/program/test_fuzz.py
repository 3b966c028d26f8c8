"""The command line under random overrides: exit code 0, or 2 with one sentence; never a traceback."""

from __future__ import annotations

import random
from pathlib import Path

from tests.forked import Ended, forked_program

SETS, SEED = 300, 20261130
KEYS = (
    *("network", "strategy", "array", "hardware", "accounting", "tracking", "objective", "experiment", "case", "pass"),
    *("array.levels", "batch_size", "baseline", "gap", "resume", "dry_run", "hardware.utilisation", "network.input"),
    *("hardware.link_bandwidth_bits_per_s", "hardware.element_bytes", "network.layers", "network.path", "foo"),
    *("strategy.types", "strategy.name", "accounting.within_layer", "hydra.job.name", "array.foo.bar"),
    *("hydra/sweeper", "hydra/launcher", "hydra.sweeper.params"),
)
VALUES = (
    *("vgg_e", "lenet_c", "sfc", "hypar", "dp", "optimal", "file", "none", "torus", "hetero", "null", "", "1", "-1"),
    *("0", "4", "1e300", "1e-320", "nan", "inf", "-inf", "99999999999999999999", "9223372036854775808", "true", "[]"),
    *("{}", "[a,b]", "{a:1}", "1,2", "range(0,3)", "glob(*)", "choice(1,2)", "interval(0,1)", "'x y'", '"[b]"'),
    *("${now:}", "${foo}", "$x", "???", "a=b", "a#b", "é😀", "../x", "/dev/null", "x\ty", "[1,[2]]", "{a:{b:c}}"),
    *("shuffle(1)", "sort(1,2)", "tag(a,1)", "9" * 5000, "0x10", "1_000", "int(3)", "[dp,mp]", "\\", "'", '"', "("),
    *(":", "@", "hmc@x"),
)
FLAGS = ("-m", "--cfg", "job", "--resolve", "--package", "--info", "-c", "all", "--multirun", "--config-name")


def test_random_command_lines_end_with_a_result_or_a_sentence(tmp_path: Path) -> None:
    drawn = random.Random(SEED)
    faults = []
    with forked_program(counted=False) as program:
        for _ in range(SETS):
            arguments = [_argument(drawn) for _ in range(drawn.randint(1, 4))]
            ended = program(*arguments, "tracking=none", cwd=tmp_path)
            if not _ends_well(ended):
                faults.append((arguments, ended.returncode, ended.stderr[-300:]))
    assert not faults, faults


def _argument(drawn: random.Random) -> str:
    if drawn.random() < 0.12:
        return drawn.choice(FLAGS)
    prefix = drawn.choice(("", "", "", "", "", "", "+", "++", "~"))
    return prefix + drawn.choice(KEYS) + (f"={drawn.choice(VALUES)}" if drawn.random() < 0.95 else "")


def _ends_well(ended: Ended) -> bool:
    if "Traceback" in ended.stderr:
        return False
    if ended.returncode == 0:
        return True
    of_the_parser = ended.stderr.startswith("usage: ")
    # a sweep of which some runs failed has a line for each of them below its sentence
    sentence = ended.stderr.startswith("hypar_exp: ") and (
        ended.stderr.count("\n") == 1 or "runs failed" in ended.stderr
    )
    return ended.returncode == 2 and (of_the_parser or sentence)
