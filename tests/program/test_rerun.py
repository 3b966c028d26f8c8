"""A recorded run made again, as it was or changed, and recorded runs as a DataFrame."""

from pathlib import Path

import pandas
import pytest
import yaml

import hypar_exp
from hypar_exp.tracking import SqliteRecorder
from tests.conftest import Command


def test_a_recorded_run_is_made_again(command: Command, tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    command("-m", "network=lenet_c", "strategy=dp,mp", "hydra/sweeper=batch", "resume=true")
    monkeypatch.chdir(str(tmp_path))
    runs = hypar_exp.runs()
    assert list(runs["tags.strategy"].dropna()) == ["dp", "mp"]
    first = runs[runs["tags.strategy"] == "mp"].iloc[0]

    command("rerun", first["run_id"])
    again = hypar_exp.runs().iloc[-1]
    assert again["metrics.step_time_s"] == first["metrics.step_time_s"]
    assert again["tags.config_hash"] == first["tags.config_hash"]

    command("rerun", first["run_id"], "strategy=hypar", "batch_size=512")
    changed = hypar_exp.runs().iloc[-1]
    assert (changed["tags.strategy"], changed["params.batch_size"]) == ("hypar", 512)

    table = hypar_exp.runs(where="metrics.step_time_s > 0")
    assert len(table) == 4
    assert isinstance(table["start_time"].dtype, pandas.DatetimeTZDtype)


def test_a_run_that_is_not_there(command: Command) -> None:
    assert "there is no run 123 in this store" in command("rerun", "123", expect=2).stderr
    assert "rerun needs the id of a recorded run" in command("rerun", expect=2).stderr
    assert "experiment=fig06 sets keys of a whole" in command("rerun", "123", "experiment=fig06", expect=2).stderr


def test_a_rerun_calls_no_class_of_another_package_until_it_is_trusted(command: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from pathlib import Path\nfrom hypar_exp.planning import Fixed\nPath('imported').touch()\n"
        "class Mine(Fixed):\n    pass\n"
    )
    command("network=lenet_c", "strategy=dp", "strategy._target_=mine.Mine")
    (run,) = SqliteRecorder(database=str(tmp_path / "outputs" / "mlflow.db")).results().runs()
    (tmp_path / "imported").unlink()
    refused = command("rerun", run.run_id, expect=2)
    assert "strategy calls mine.Mine, which is of none of the packages hypar_exp; read it" in refused.stderr
    assert "set trust=[mine]" in refused.stderr
    assert not (tmp_path / "imported").exists()
    command("rerun", run.run_id, "trust=[mine]")
    assert (tmp_path / "imported").exists()


def test_a_rerun_is_swept_and_a_sweep_is_not_rerun(command: Command, tmp_path: Path) -> None:
    command("network=lenet_c", "strategy=mp")
    store = SqliteRecorder(database=str(tmp_path / "outputs" / "mlflow.db"))
    (run,) = store.results().runs()
    command("rerun", "-m", run.run_id, "batch_size=64,128")
    parent, *swept = store.results().runs()[1:]
    assert [(one.tags["strategy"], one.params["batch_size"]) for one in swept] == [("mp", "64"), ("mp", "128")]
    assert {one.parent_id for one in swept} == {parent.run_id}
    refused = command("rerun", parent.run_id, expect=2).stderr
    assert refused.startswith(f"hypar_exp: run {parent.run_id} is a sweep (batch_size), not one configuration; ")
    assert refused.count("\n") == 1


def test_a_group_that_is_younger_than_the_record_is_what_it_is_by_default(command: Command, tmp_path: Path) -> None:
    command("network=lenet_c")
    (file,) = (tmp_path / "outputs" / "artifacts").rglob("config.yaml")
    config = yaml.safe_load(file.read_text())
    file.write_text(yaml.safe_dump({key: value for key, value in config.items() if key not in ("pipeline", "overlap")}))
    store = SqliteRecorder(database=str(tmp_path / "outputs" / "mlflow.db"))
    command("rerun", store.results().runs()[0].run_id)
    first, again = store.results().runs()
    assert again.tags["config_hash"] == first.tags["config_hash"]
