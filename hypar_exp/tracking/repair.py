"""Closing what dead processes left RUNNING: a process that is killed outright cannot do it itself."""

from __future__ import annotations

from hypar_exp.tracking.process import PROCESS_TAG, is_dead
from hypar_exp.tracking.recorder import Recorder, RunRecord, RunStatus, now_ms
from hypar_exp.tracking.results import StoredRun


def repair(recorder: Recorder) -> list[StoredRun]:
    """End as KILLED every run of the recorder's experiment whose process is no more, and return them.

    Runs of other machines, and of other programs, are left alone: nothing can be known of them.
    """
    left = [
        run
        for run in recorder.results().runs()
        if run.status == RunStatus.RUNNING and is_dead(run.tags.get(PROCESS_TAG, ""))
    ]
    for run in left:
        process = run.tags[PROCESS_TAG]
        recorder.amend(
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
