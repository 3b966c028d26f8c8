"""A recorder: a line of JSON a run, for whatever reads such files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from hypar_exp.errors import UserError
from hypar_exp.tracking import RecordedRun, RunRecord, StoreError


@dataclass(frozen=True)
class JsonLines:
    """Appends params, tags and metrics of every run to a file; artifacts are left out."""

    name: str = "json_lines"
    file: str = "runs.jsonl"

    def check(self) -> None:
        """The file's folder is there.

        Raises:
            UserError: it is not.
        """
        if not Path(self.file).absolute().parent.is_dir():
            raise UserError(f"tracking.file must be in a folder that is there (got {self.file!r})")

    def record(self, run: RunRecord) -> RecordedRun:
        """Keep a run.

        Raises:
            StoreError: the file cannot be written.
        """
        metrics = {metric.key: metric.value for metric in run.metrics if metric.step == 0}
        line = json.dumps({"name": run.name, "status": run.status, "params": run.params, "metrics": metrics})
        path = Path(self.file).absolute()
        try:
            with path.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
        except OSError as error:
            raise StoreError(f"{path} cannot be written: {error.strerror}") from None
        return RecordedRun(run.name, "", store=str(path), ui_command=None, url=str(path))
