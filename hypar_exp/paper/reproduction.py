"""One table or figure from its recorded runs: the right ones found, missing ones made, the result kept with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import hypar_exp
from hypar_exp.errors import UserError
from hypar_exp.experiments.run_record import VERSION_TAG
from hypar_exp.paper.figures.style import rendered
from hypar_exp.paper.finding import Finding
from hypar_exp.paper.items import Item
from hypar_exp.paper.markdown_page import section
from hypar_exp.paper.table import CLASSES
from hypar_exp.sweeps.preset import Preset
from hypar_exp.tracking import Metric, RunRecord, RunStatus, Store, StoredRun
from hypar_exp.tracking.store import now_ms

INPUTS_TAG, CONFIGURATIONS = "reproduction.inputs", "configurations.txt"
"""On a sweep's parent: what its preset was made of, and a file with the configurations' hashes that it then meant."""
MOST_REASONS = 3


@dataclass
class Reproduction:
    """Reproduces tables and figures from one store.

    Attributes:
        recorder: the store.
        overrides: further overrides of every sweep.
        may_run: whether missing runs are made.
        tell: shows a sentence to the user.
        store, ui_command: what the store is and what opens it, known once something was reproduced.
    """

    recorder: Store
    overrides: Sequence[str]
    may_run: bool
    tell: Callable[[str], None]
    store: str = field(default="", init=False)
    ui_command: str | None = field(default=None, init=False)

    def of(self, item: Item) -> Finding:
        """Our values of a table or figure beside the published ones.

        Raises:
            UserError: runs are missing and may not be made, or could not be; an override of a key that is swept; or
                the store cannot be read.
        """
        preset = Preset(item.name, self.overrides)
        preset.check()
        stored = self._stored(item)
        if not stored and self.may_run:
            stored = self._made(item, preset, "its runs")
            wanted: Sequence[str] = _configurations_of(stored)
        else:
            wanted = self._configurations(preset, stored)
        found = _newest(stored, wanted)
        if len(found) < len(wanted):
            if not self.may_run:
                raise UserError(
                    f"{len(found)} of the {len(wanted)} runs of {item.name} are recorded with this version and "
                    f"configuration; 'python {' '.join(preset.command)}' makes them"
                )
            stored = self._made(item, preset, f"{len(wanted) - len(found)} of {len(wanted)} runs")
            found = _newest(stored, wanted)
        left_out = _left_out(stored, found)
        if left_out:
            self.tell(f"{item.name}: recorded runs that are of another kind are left out: {left_out}")
        return self._finding(item, preset, list(wanted), [found[config_hash] for config_hash in wanted], stored)

    def _made(self, item: Item, preset: Preset, words: str) -> list[StoredRun]:
        """All runs there are after the missing ones were made; `words` say how many that is."""
        self.tell(f"{item.name}: making {words}")
        preset.run()
        return self._stored(item)

    def _stored(self, item: Item) -> list[StoredRun]:
        return self.recorder.results().runs(experiment=item.name)

    def _configurations(self, preset: Preset, stored: Sequence[StoredRun]) -> Sequence[str]:
        """The hashes of the runs that the preset means; composing them takes seconds, so they are kept."""
        for run in reversed(stored):
            if run.tags.get(INPUTS_TAG) == preset.inputs_hash:
                return self.recorder.results().artifact(run, CONFIGURATIONS).split()
        return list(preset.configurations())

    def _finding(
        self,
        item: Item,
        preset: Preset,
        wanted: Sequence[str],
        runs: Sequence[StoredRun],
        stored: Sequence[StoredRun],
    ) -> Finding:
        evidence = item.read(runs, self.recorder.results().artifact)
        rows = item.compared(evidence)
        figure = None if item.draw is None else item.draw(rows, evidence)
        svg, png = (None, None) if figure is None else (rendered(figure, "svg"), rendered(figure, "png"))
        finding = Finding(item, rows, svg, png)
        parent = _parent(runs, stored)
        if parent is None:
            return finding
        addition = _record(parent)
        if parent.tags.get(INPUTS_TAG) != preset.inputs_hash:
            addition = _with_finding(addition, finding, preset, wanted)
        recorded = self.recorder.amend(parent.run_id, addition)
        self.store, self.ui_command = recorded.store, recorded.ui_command
        return replace(finding, sweep_url=recorded.url)


def _configurations_of(stored: Sequence[StoredRun]) -> list[str]:
    """The hashes of all configurations that were run."""
    return list(dict.fromkeys(run.tags["config_hash"] for run in stored if "config_hash" in run.tags))


def _newest(stored: Sequence[StoredRun], wanted: Sequence[str]) -> dict[str, StoredRun]:
    """The newest finished run of this version of each wanted configuration that has one."""
    return {
        run.tags["config_hash"]: run
        for run in stored
        if run.status == RunStatus.FINISHED
        and run.tags.get(VERSION_TAG) == hypar_exp.__version__
        and run.tags.get("config_hash") in wanted
    }


def _left_out(stored: Sequence[StoredRun], found: Mapping[str, StoredRun]) -> str:
    """What sets the finished runs apart that are not of the kind that is wanted, with their numbers; '' for none."""
    known: dict[str, set[str]] = {}
    for run in found.values():
        for key, value in run.params.items():
            known.setdefault(key, set()).add(value)
    reasons: Counter[str] = Counter()
    for run in stored:
        if run.status != RunStatus.FINISHED or "config_hash" not in run.tags:
            continue
        version = run.tags.get(VERSION_TAG)
        if version != hypar_exp.__version__:
            reasons[f"version {version}"] += 1
        elif run.tags["config_hash"] not in found:
            reasons[_difference(run, known)] += 1
    return ", ".join(f"{count} of {reason}" for reason, count in reasons.most_common(MOST_REASONS))


def _difference(run: StoredRun, known: Mapping[str, set[str]]) -> str:
    """The param that sets a run apart, a name before what it names."""
    others = [
        key
        for key, value in sorted(run.params.items(), key=lambda param: not param[0].endswith(".name"))
        if not key.startswith("tracking") and value not in known.get(key, ())
    ]
    return f"{others[0]}={run.params[others[0]]}" if others else "another combination of the swept values"


def _parent(runs: Sequence[StoredRun], stored: Sequence[StoredRun]) -> StoredRun | None:
    """The sweep that most of the runs are of."""
    ids = Counter(run.parent_id for run in runs if run.parent_id is not None).most_common(1)
    return next((run for run in stored if ids and run.run_id == ids[0][0]), None)


def _record(run: StoredRun) -> RunRecord:
    """The record that amends a run by nothing."""
    return RunRecord(
        name=run.name,
        status=RunStatus(run.status),
        start_time_ms=run.start_time_ms,
        end_time_ms=run.end_time_ms or now_ms(),
        params={},
        tags={},
    )


def _with_finding(record: RunRecord, finding: Finding, preset: Preset, wanted: Sequence[str]) -> RunRecord:
    """The comparison as numbers, files and words, and what it was made from."""
    metrics = [
        Metric("max_relative_difference", finding.largest_difference),
        Metric("max_unexplained_relative_difference", finding.largest_unexplained_difference),
        *(Metric(f"published/{CLASSES[verdict]}", count) for verdict, count in finding.tally.items()),
    ]
    return replace(
        record,
        tags={INPUTS_TAG: preset.inputs_hash},
        description=section(finding, picture=False),
        metrics=tuple(metrics),
        artifacts={**finding.files, CONFIGURATIONS: "\n".join(wanted) + "\n"},
    )
