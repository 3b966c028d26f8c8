"""What a user gets wrong on the command line: one sentence, exit code 2, no traceback, nothing recorded."""

from __future__ import annotations

import re
import shlex
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest
from hydra.errors import MissingConfigException
from packaging.requirements import Requirement

from hypar_exp.experiments.user_errors import hydra_sentence
from tests.conftest import ROOT, Command
from tests.forked import Program, forked_program

SENTENCES = {  # override -> how its sentence begins
    "network=vgg_f": "there is no network 'vgg_f'; did you mean vgg_e or vgg_d or vgg_c?",
    "strategy=hypr": "there is no strategy 'hypr'; did you mean hypar?",
    "tracking=nne": "there is no tracking 'nne'; did you mean none?",
    "baseline=hypr": "there is no strategy 'hypr' to be the baseline; did you mean hypar?",
    "netwrk=vgg_a": "there is no key 'netwrk'; did you mean network ",
    "array.level=3": "there is no key 'array.level'; did you mean array.levels ",
    "+foo=1": "there is no key 'foo'",
    "+hardware.foo=1": "hardware has no key 'foo'",
    "array.levels=17": "array.levels must be a whole number from 0 to 16 (got 17)",
    "array.levels=-1": "array.levels must be a whole number from 0 to 16 (got -1)",
    "array.levels=four": "array.levels must be a whole number (got 'four')",
    "array.levels=1,2": "array.levels=1,2 is several values; add -m to run each of them, ",
    "batch_size=0": "batch_size must be a whole number of at least 1 (got 0)",
    "batch_size=many": "batch_size: Value 'many' of type 'str' could not be converted to Intege",
    "network.input=[3,0,224]": "network.input must be [channels, height, width]",
    "network.layers.conv1_1.kernel=500": "network.layers.conv1_1: its kernel of 500 does not fit the 3x224x224 ",
    "network.layers.fc1.fc=0": "network.layers.fc1: fc must be a whole number of at least 1",
    "hardware.link_bandwidth_bits_per_s=inf": "hardware.link_bandwidth_bits_per_s must be a finite number above 0 ",
    "hardware.link_bandwidth_bits_per_s=nan": "hardware.link_bandwidth_bits_per_s must be a finite number above 0 ",
    "hardware.link_bandwidth_bits_per_s=0": "hardware.link_bandwidth_bits_per_s must be a finite number above 0 ",
    "hardware.link_bandwidth_bits_per_s=1e-320": "hardware.link_bandwidth_bits_per_s must be at least 1e-30 (got 1e-32",
    "hardware.operations_per_s_per_pe=1e300": "hardware.operations_per_s_per_pe must be a finite number above 0 and at",
    "hardware.dram_energy_j_per_element=1e-200": "hardware.dram_energy_j_per_element must be at least 1e-30 (got 1e-2",
    "hardware.utilisation=1.5": "hardware.utilisation must be a finite number above 0 and at most 1 ",
    "hardware.processing_elements=1.5": "hardware.processing_elements must be a whole number ",
    "accounting.macs_resolution=inptu": "accounting.macs_resolution must be input or output (got 'inptu')",
    "hardware=null": "a configuration group cannot be null; choose one of its options",
    "~network": "network is not set; choose it as network=OPTION",
    "a=b=c": "the override 'a=b=c' cannot be read; a value with = # ( ) [ ] { } or a comma is quoted twice: ",
    "network.path=a#b.onnx": "the override 'network.path=a#b.onnx' cannot be read; a value with = # ( ) [ ] { } or ",
    "vgg_e": "'vgg_e' does not say what it is; did you mean network=vgg_e?",
    "network=VGG_E": "there is no network 'VGG_E'; did you mean vgg_e ",
    "network={a:1}": "network must be one of its options; known: ",
    "--resolve": "--resolve goes with --cfg job",
    "~network=1": "a group is deleted as ~GROUP, or as ~GROUP=OPTION",
    "hydra/launcher=[1,[2]]": "the overrides hydra/launcher=[1,[2]] cannot be put together: ",
    "accounting.within_layer=4": "accounting.within_layer must be a mapping, as in {key: value} (got 4)",
    "batch_size=9007199254740993": "batch_size must be a whole number from 1 to 9007199254740992 (got 9007199254740",
    f"hardware.utilisation={'9' * 400}": "hardware.utilisation must be a finite number above 0 and at most 1 (got a nu",
    f"hardware.utilisation={'9' * 5000}": "a number on the command line has thousands of digits; no value here can be ",
    "tracking.database=/dev/null/runs.db": "runs cannot be recorded in /dev/null: ",
    "strategy.default=dq": "'default' of strategy ",
}


@pytest.fixture(scope="module")
def program() -> Iterator[Program]:
    with forked_program() as program:
        yield program


@pytest.mark.parametrize("override", SENTENCES)
def test_one_sentence(override: str, program: Program, tmp_path: Path) -> None:
    chosen = ("strategy=dp",) if override.startswith("strategy.") else ()
    done = program(*chosen, override, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"hypar_exp: {SENTENCES[override]}")
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert not list(tmp_path.rglob("*.db"))


def test_a_step_that_costs_no_energy(program: Program, tmp_path: Path) -> None:
    energies = ("addition_energy_j", "multiplication_energy_j", "sram_energy_j_per_access", "dram_energy_j_per_element")
    done = program("network=sfc", *(f"hardware.{energy}=0" for energy in energies), cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("hypar_exp: a step costs no energy at all; one of hardware.addition_energy_j, ")
    assert done.stderr.count("\n") == 1
    one_part = program("network=sfc", "tracking=none", f"hardware.{energies[-1]}=0", cwd=tmp_path)
    assert one_part.returncode == 0, "a part of the energy may be nothing"


def test_a_network_file_that_does_not_parse_names_the_line(command: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("input: [3, 8, 8]\nlayers:\n  c: {conv: 4, kernel: 3\n")
    done = command("network=file", "network.path=mine.yaml", expect=2)
    assert re.match(r"hypar_exp: mine.yaml, line \d: this is not YAML: ", done.stderr)


def test_a_configuration_file_that_does_not_parse_names_the_line(command: Command, tmp_path: Path) -> None:
    group = tmp_path / "own" / "hardware"
    group.mkdir(parents=True)
    (group / "mine.yaml").write_text("name: mine\nprocessing_elements: [1\n")
    done = command("--config-dir", "own", "hardware=mine", expect=2)
    assert re.match(r"hypar_exp: .*hardware/mine.yaml, line \d: this is not YAML: ", done.stderr)


def test_a_network_without_layers(command: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("input: [3, 8, 8]\nlayers: {}\n")
    done = command("network=file", "network.path=mine.yaml", expect=2)
    assert "network mine has no layers" in done.stderr


def test_the_traceback_is_there_for_those_who_ask(command: Command) -> None:
    done = command("network=vgg_f", expect=1, HYDRA_FULL_ERROR="1")
    assert "Traceback" in done.stderr
    assert "MissingConfigException" in done.stderr


def test_a_package_that_is_not_installed_is_told_with_the_command_that_brings_it(
    command: Command, tmp_path: Path
) -> None:
    (tmp_path / "optuna.py").write_text("raise ModuleNotFoundError(\"No module named 'optuna'\", name='optuna')\n")
    path = {"PYTHONPATH": f"{ROOT}:{tmp_path}"}
    done = command("experiment=design_space", "tracking=none", expect=2, **path)
    told = re.fullmatch(r"hypar_exp: this needs optuna: (.*)\n", done.stderr)
    assert told is not None
    python, *rest = shlex.split(told[1])
    assert python == sys.executable
    assert rest[:3] == ["-m", "pip", "install"]
    requirement = Requirement(rest[3])
    assert requirement.name == "optuna"
    assert requirement.specifier.contains(version("optuna")), "what is told is what we are tested with"


def test_a_launcher_that_is_not_installed_is_told_with_the_command_that_brings_it() -> None:
    missing = MissingConfigException("In 'hydra/config': Could not find ...", "hydra/launcher/ray", ["basic"])
    sentence = hydra_sentence(missing)
    assert sentence is not None
    assert sentence.startswith(f"hydra/launcher=ray needs its plugin: {sys.executable} -m pip install ")
    assert "hydra-ray-launcher" in sentence


OWN_FILES = {  # a file of a user's own -> what it holds, the override that chooses it, and how the sentence begins
    "experiment/mine.yaml": (
        "batch_size: 3",
        "the file experiment/mine.yaml sets keys of the whole configuration; begin it with the line '# @packa",
    ),
    "strategy/mine.yaml": (
        "_target_: own.NoPlan",
        "strategy: what own.NoPlan makes has no 'plan'; the group strategy ",
    ),
    "array/mine.yaml": ("name: mine", "array has no _target_, the class or function that makes it, as _target_: my_pa"),
}


@pytest.mark.parametrize("file", OWN_FILES)
def test_a_file_of_ones_own_that_lacks_something(file: str, command: Command, tmp_path: Path) -> None:
    content, sentence = OWN_FILES[file]
    written = tmp_path / "own" / file
    written.parent.mkdir(parents=True)
    written.write_text(f"{content}\n")
    (tmp_path / "own.py").write_text("class NoPlan:\n    name = 'x'\n")
    group, option = file.removesuffix(".yaml").split("/")
    done = command("--config-dir", "own", f"{group}={option}", "tracking=none", expect=2)
    assert done.stderr.startswith(f"hypar_exp: {sentence}")
    assert done.stderr.count("\n") == 1


def test_a_network_of_ones_own_needs_no_target(command: Command, tmp_path: Path) -> None:
    (tmp_path / "own" / "network").mkdir(parents=True)
    (tmp_path / "own" / "network" / "mine.yaml").write_text(
        "name: mine\ninput: [3, 8, 8]\nlayers:\n  c: {conv: 4, kernel: 3}\n"
    )
    assert "mine by hypar: 1 layers" in command("--config-dir", "own", "network=mine", "tracking=none").stdout


def test_a_file_that_is_no_database(command: Command, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a database\n" * 100)
    done = command("network=lenet_c", "tracking.database=notes.txt", expect=2)
    assert "notes.txt cannot be written: file is not a database" in done.stderr
    assert (tmp_path / "notes.txt").read_text() == "not a database\n" * 100


def test_a_database_of_a_newer_schema_is_left_alone(command: Command, database: Path) -> None:
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE alembic_version SET version_num = 'f00dfeed0042'")
    connection.close()
    done = command("network=lenet_c", expect=2)
    assert "has schema f00dfeed0042, which the installed MLflow does not know: it was written by a newer MLflow" in (
        done.stderr
    )
    with sqlite3.connect(database) as connection:
        assert connection.execute("SELECT count(*) FROM runs").fetchone() == (0,)
    connection.close()


def test_a_server_that_is_not_there(command: Command) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    done = command("network=lenet_c", "tracking=server", f"tracking.uri=http://127.0.0.1:{port}", expect=2)
    assert f"the tracking server http://127.0.0.1:{port} does not answer" in done.stderr
    assert done.stdout == ""


def test_a_server_that_accepts_and_never_answers_is_given_up_within_seconds(command: Command) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        uri = f"http://127.0.0.1:{silent.getsockname()[1]}"
        started = time.monotonic()
        done = command("network=lenet_c", "tracking=server", f"tracking.uri={uri}", "tracking.timeout_s=2", expect=2)
    assert "does not answer within 2 s" in done.stderr
    # the limit is 5 s; the rest is start-up on a busy machine, far below the minutes that MLflow retries for
    assert time.monotonic() - started < 30


def test_a_server_that_drips_is_given_up_as_well(command: Command) -> None:
    """A byte now and then keeps a socket's own timeout from ever running out."""
    with socket.socket() as dripping:
        dripping.bind(("127.0.0.1", 0))
        dripping.listen()
        uri = f"http://127.0.0.1:{dripping.getsockname()[1]}"
        threading.Thread(target=_drip, args=(dripping,), daemon=True).start()
        started = time.monotonic()
        done = command("network=lenet_c", "tracking=server", f"tracking.uri={uri}", "tracking.timeout_s=2", expect=2)
    assert "does not answer" in done.stderr
    assert time.monotonic() - started < 30


def test_an_address_that_is_no_web_address(command: Command) -> None:
    done = command("network=lenet_c", "tracking=server", "tracking.uri=ftp://example", expect=2)
    assert "tracking.uri must be an http or https address (got 'ftp://example')" in done.stderr


def test_a_web_server_that_is_no_mlflow(command: Command, tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdout is not None
        uri = server.stdout.readline().split("(")[1].split("/)")[0]
        done = command("network=lenet_c", "tracking=server", f"tracking.uri={uri}", expect=2)
        server.terminate()
    assert f"the tracking server {uri} is not an MLflow tracking server" in done.stderr


def _drip(server: socket.socket) -> None:
    connection, _ = server.accept()
    with connection:
        for _ in range(60):
            try:
                connection.sendall(b"H")
            except OSError:
                return
            time.sleep(1)
