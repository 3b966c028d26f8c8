"""Closing what dead processes left RUNNING: a process that is killed outright cannot do it itself."""

from __future__ import annotations

from collections.abc import Sequence

from hypar_exp.errors import UserError
from hypar_exp.tracking.process import PROCESS_TAG, is_dead
from hypar_exp.tracking.store import RunRecord, RunStatus, Store, StoredRun, now_ms


def repair(store: Store, run_ids: Sequence[str] = ()) -> list[StoredRun]:
    """End as KILLED every run of the store's experiment whose process is no more, and return them.

    Runs of other machines and containers, and of other programs, are left alone: nothing can be known of them. Those
    that `run_ids` names are ended whatever is known of their processes.

    Raises:
        UserError: a named run is not there, or it has ended already.
    """
    open_runs = {run.run_id: run for run in store.results().runs() if run.status == RunStatus.RUNNING}
    for run_id in run_ids:
        if run_id not in open_runs:
            raise UserError(f"there is no run {run_id} that is RUNNING")
    left = [
        run
        for run in open_runs.values()
        if (run.run_id in run_ids if run_ids else is_dead(run.tags.get(PROCESS_TAG, "")))
    ]
    for run in left:
        process = run.tags.get(PROCESS_TAG, "unknown")
        store.amend(
            run.run_id,
            RunRecord(
                name=run.name,
                status=RunStatus.KILLED,
                start_time_ms=run.start_time_ms,
                end_time_ms=now_ms(),
                params={},
                tags={"error": f"its process ({process}) ended without a word"},
            ),
        )
    return left
