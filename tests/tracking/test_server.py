"""Runs on a real MLflow server whose answers get lost or come late, that asks for a password, or that speaks TLS."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from mlflow import MlflowClient

from hypar_exp.errors import UserError
from hypar_exp.tracking import RunStatus, ServerRecorder, SqliteRecorder, Store, StoreError
from tests.conftest import Command
from tests.sweeps.server import free_port, mlflow_server
from tests.tracking.proxies import Behaviour, proxy, self_signed
from tests.tracking.records import a_run, odd_runs

VARIABLES = ("USERNAME", "PASSWORD", "TOKEN", "INSECURE_TLS", "SERVER_CERT_PATH", "URI")


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.setenv(f"MLFLOW_TRACKING_{name}", "")  # restored afterwards, also what the program sets
        monkeypatch.delenv(f"MLFLOW_TRACKING_{name}")


@pytest.fixture(scope="module")
def server(new_database: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("server")
    shutil.copy(new_database, folder / "mlflow.db")
    with mlflow_server(folder / "mlflow.db", free_port()) as address:
        yield address


def test_a_fifth_of_the_answers_are_lost_and_every_run_is_there_once(server: str) -> None:
    chance = random.Random(5)
    behaviour = Behaviour(loses=lambda number: chance.random() < 0.2)
    with proxy(server, behaviour) as address:
        recorder = ServerRecorder(experiment="lossy", uri=address, timeout_s=10)
        recorder.check()
        for number in range(4):
            recorder.record(a_run(f"run {number}"))
        opened = recorder.record(a_run("parent", status=RunStatus.RUNNING))
        recorder.amend(opened.run_id, a_run("parent", params={}, tags={"closed": "yes"}))
        runs = recorder.results().runs()
    wanted = ["parent", *(f"run {number}" for number in range(4))]
    assert sorted((run.name, run.status) for run in runs) == [(name, "FINISHED") for name in wanted]
    assert len(behaviour.requests) > 50
    client = MlflowClient(server)
    for run in runs:
        assert run.params == dict(a_run().params)
        assert run.metrics == {"step_time_s": 0.25, "level/time_s": 0.05}
        assert len(client.get_metric_history(run.run_id, "level/time_s")) == 2
        assert {file.path for file in client.list_artifacts(run.run_id)} == {"config.yaml", "plan.csv"}


def test_a_late_answer_is_waited_for_and_the_limit_is_a_key(server: str) -> None:
    behaviour = Behaviour(late_s=lambda number: 1.5 if number == 3 else 0.0)
    with proxy(server, behaviour) as address:
        ServerRecorder(experiment="late", uri=address).record(a_run("late"))
        behaviour.late_s = lambda number: 2.5
        late = ServerRecorder(experiment="late", uri=address, timeout_s=1, patience_s=1)
        with pytest.raises(UserError, match=rf"{address} does not answer within 1 s .tracking.timeout_s.; start it"):
            late.check()
        with pytest.raises(StoreError, match=r"did not answer for 1 s .tracking.patience_s.") as given_up:
            late.record(a_run("too late"))
    assert len(str(given_up.value)) < 600
    names = [run.name for run in ServerRecorder(experiment="late", uri=server).results().runs()]
    assert names.count("late") == 1


def test_a_name_and_a_password(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with proxy(server, Behaviour(user="ada:p@ss/word")) as address:
        with pytest.raises(UserError, match="set MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD"):
            ServerRecorder(uri=address).check()
        with_name = ServerRecorder(experiment="named", uri=address.replace("://", "://ada:p%40ss%2Fword@"))
        with_name.check()
        recorded = with_name.record(a_run())
        assert recorded.store == address
        assert "ada" not in recorded.url
        assert with_name.results().artifact(with_name.results().runs()[0], "plan.csv").startswith("level,")
        monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", "wrong")
        with pytest.raises(UserError, match="set MLFLOW_TRACKING_USERNAME"):
            ServerRecorder(uri=address).check()


def test_tls_is_checked_as_mlflow_is_told_to(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = self_signed(tmp_path)
    with proxy(server, Behaviour(), certificate) as address:
        recorder = ServerRecorder(experiment="tls", uri=address)
        with pytest.raises(UserError, match="MLFLOW_TRACKING_SERVER_CERT_PATH names the certificate to trust"):
            recorder.check()
        monkeypatch.setenv("MLFLOW_TRACKING_SERVER_CERT_PATH", str(certificate))
        recorder.check()
        recorder.record(a_run())


def test_tags_with_quotes_are_found(server: str) -> None:
    recorder = ServerRecorder(experiment="quotes", uri=server)
    for text in ("it's", 'say "so"', 'it\'s "so"'):
        recorder.record(a_run(text, tags={"said": text}))
        assert [run.name for run in recorder.results().runs(said=text)] == [text]


@pytest.mark.parametrize(
    ("where", "names"),
    [
        ("", None),
        ("metrics.step_time_s > 0.2 and params.batch_size = '256'", None),
        ("tags.quote LIKE '%so%'", ["texts"]),
        ("params.`network.name` ILIKE 'LENET%' AND attributes.status = 'FAILED'", ["failed"]),
        ("run_name = 'numbers'", ["numbers"]),
        ("metrics.`below zero` <= 7 and metrics.tiny < 1e-300", ["numbers"]),
        ("tags.mlflow.user = 'ada' and params.param7 != '8'", ["many"]),
    ],
)
def test_a_filter_means_the_same_in_every_store(
    server: str, tmp_path_factory: pytest.TempPathFactory, where: str, names: list[str] | None
) -> None:
    folder = tmp_path_factory.getbasetemp() / "filters"
    stores: list[Store] = [
        ServerRecorder(experiment="filters", uri=server),
        SqliteRecorder(database=str(folder / "mlflow.db"), artifacts=str(folder / "artifacts")),
    ]
    selected = []
    for store in stores:
        if not store.results().runs():
            for run in odd_runs():
                store.record(run)
        selected.append(sorted(run.name for run in store.results().search(where)))
    assert selected[0] == selected[1]
    assert names is None or selected[0] == names


@pytest.mark.parametrize(
    "where", ["step_time_s < 1", "metrics.x <", "metrics.x = 'a'", "params.a = b", "metrics.x < 1 or tags.a = 'b'"]
)
def test_a_filter_that_cannot_be_read_is_one_sentence(server: str, tmp_path: Path, where: str) -> None:
    ServerRecorder(experiment="filters", uri=server).record(a_run())
    for store in (
        ServerRecorder(experiment="filters", uri=server),
        SqliteRecorder(database=str(tmp_path / "mlflow.db"), artifacts=str(tmp_path / "artifacts")),
    ):
        with pytest.raises(UserError, match=r"the filter .* cannot be read: ") as refused:
            store.results().search(where)
        assert "\n" not in str(refused.value)


def test_no_password_is_written_or_printed(server: str, command: Command, tmp_path: Path) -> None:
    with proxy(server, Behaviour(user="ada:opensesame")) as address:
        secret = address.replace("://", "://ada:opensesame@")
        where = ("tracking=server", f"tracking.uri={secret}", "tracking.experiment=secret")
        printed = command("network=lenet_c", *where)
        swept = command("-m", "network=lenet_c", "strategy=dp,hypar", *where)
        (tmp_path / "local.yaml").write_text(
            f"# @package _global_\ndefaults:\n  - override /tracking: server\ntracking:\n  uri: {secret}\n"
        )
        (tmp_path / "mine" / "experiment").mkdir(parents=True)
        (tmp_path / "local.yaml").rename(tmp_path / "mine" / "experiment" / "there.yaml")
        from_file = command("--config-dir", "mine", "experiment=there", "network=lenet_c", "tracking.experiment=secret")
    unreachable = command("network=lenet_c", *where, expect=2)
    for done in (printed, swept, from_file, unreachable):
        assert "opensesame" not in done.stdout + done.stderr
    shutil.rmtree(tmp_path / "mine")
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or b"opensesame" not in file.read_bytes(), file
    runs = ServerRecorder(experiment="secret", uri=server).results().runs()
    assert len(runs) == 5
    assert "opensesame" not in repr(runs)
