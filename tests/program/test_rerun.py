"""A recorded run made again, as it was or changed, and recorded runs as a DataFrame."""

import pandas
import pytest

import hypar_exp
from tests.conftest import Command


def test_a_recorded_run_is_made_again(command: Command, tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    command("-m", "network=lenet_c", "strategy=dp,mp", "hydra/sweeper=batch", "resume=true")
    monkeypatch.chdir(str(tmp_path))
    runs = hypar_exp.results()
    assert list(runs["tags.strategy"].dropna()) == ["dp", "mp"]
    first = runs[runs["tags.strategy"] == "mp"].iloc[0]

    command("rerun", first["run_id"])
    again = hypar_exp.results().iloc[-1]
    assert again["metrics.step_time_s"] == first["metrics.step_time_s"]
    assert again["tags.config_hash"] == first["tags.config_hash"]

    command("rerun", first["run_id"], "strategy=hypar", "batch_size=512")
    changed = hypar_exp.results().iloc[-1]
    assert (changed["tags.strategy"], changed["params.batch_size"]) == ("hypar", 512)

    table = hypar_exp.results(where="metrics.step_time_s > 0")
    assert len(table) == 4
    assert isinstance(table["start_time"].dtype, pandas.DatetimeTZDtype)


def test_a_run_that_is_not_there(command: Command) -> None:
    assert "there is no run 123 in this store" in command("rerun", "123", expect=2).stderr
    assert "rerun needs the id of a recorded run" in command("rerun", expect=2).stderr
