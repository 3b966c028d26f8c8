"""A search: trials that Optuna chooses, run in this process as `batch` runs a grid's jobs, under one parent run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig, OmegaConf

from hypar_exp.errors import UserError
from hypar_exp.experiments.run_record import config_hash
from hypar_exp.reporting.console import console
from hypar_exp.reporting.search_chart import Point, search_png
from hypar_exp.reporting.sweep_table import Row
from hypar_exp.sweeps.composition import Composer
from hypar_exp.sweeps.grid.batch import Batches, Jobs
from hypar_exp.sweeps.job import outcome_of
from hypar_exp.sweeps.parent import Maker, SweepResults, View, grid_hash
from hypar_exp.sweeps.search.goals import Goals
from hypar_exp.sweeps.search.space import Space
from hypar_exp.sweeps.search.study import Study
from hypar_exp.sweeps.sweep import Sweep
from hypar_exp.tracking.locations import SQLITE_ADDRESS, local_path
from hypar_exp.tracking.secrets import take_passwords_out, without_passwords

if TYPE_CHECKING:
    from hydra.core.config_loader import ConfigLoader

DATABASE = "optuna.db"


@dataclass(frozen=True)
class Search:
    """A space, what is looked for in it, and how."""

    space: Space
    goals: Goals
    batch: int
    seed: int
    storage: str | None

    def run(self, config: DictConfig, loader: ConfigLoader) -> None:
        """Run the trials that are left of the search.

        Args:
            config: as Hydra composed it for the sweep itself.
            loader: composes a trial's configuration.

        Raises:
            HydraException: a key that is not there; nothing was run then.
            UserError: a space, an objective or a bound that makes no sense, or runs that cannot be recorded.
            SweepError: some of the runs failed.
        """
        composer = Composer(loader, config, list(self.space.distributions))
        self._check(composer)
        sweep = Sweep(self.space, config, FrontView(self.goals))
        if config.dry_run:
            console().print(f"{sweep.name}: {len(self.space)} trials of {', '.join(self.space.distributions)}")
            return
        name = f"{sweep.preset or config.tracking.get('experiment', 'search')} {grid_hash(self.space)}"
        study = Study(self._storage(config), name, self.space, self.goals, seed=self.seed, resume=config.resume)
        for at, trial in enumerate(study.told()[: len(self.space)]):
            sweep.jobs[at] = self.space.job(trial.params)
        if config.resume:
            hashes = [config_hash(composer.compose(job, 0).plain) if job else "" for job in sweep.jobs]
            sweep.adopt_finished(hashes)
        with sweep.opened():
            OmegaConf.save(config, sweep.folder / "multirun.yaml")
            take_passwords_out(sweep.folder)
            self._run_trials(sweep, composer, study)
        console().print(f"Optuna's study '{study.name}' is in {without_passwords(str(self._storage(config)))}")

    def _run_trials(self, sweep: Sweep, composer: Composer, study: Study) -> None:
        jobs = Jobs(sweep.parent_id)
        first = {outcome.config_hash: at for at, outcome in sweep.outcomes.items()}  # place of each configuration
        left = sweep.left
        for start in range(0, len(left), self.batch):
            places = left[start : start + self.batch]
            new = [at for at in places if not sweep.jobs[at]]
            trials = study.ask(len(new))
            for at, trial in zip(new, trials, strict=True):
                sweep.jobs[at] = self.space.job(trial.params)
            same: dict[int, int] = {}
            with Batches(sweep) as batches:
                for at in places:
                    composed = composer.compose(sweep.jobs[at], at)
                    same[at] = first.setdefault(config_hash(composed.plain), at)
                    if same[at] == at:
                        batches.add(at, at, *jobs.run(composed, sweep.jobs[at]))
            for at, earlier in same.items():  # a configuration that an earlier trial had was run and recorded then
                if at != earlier:
                    sweep.note(at, sweep.outcomes[earlier])
            study.tell(trials, [sweep.outcomes[at] for at in new])

    def _check(self, composer: Composer) -> None:
        """See, at the ends and in the middle of the space, that it describes runs, with all that is looked for."""
        for number, values in enumerate(self.space.samples()):
            job = self.space.job(values)
            record, error = Jobs(None).run(composer.compose(job, number), job)
            if isinstance(error, UserError):
                raise UserError(f"the space of the search holds what is no run: {error}")
            if error is not None:
                raise error
            outcome = outcome_of(record, number, None, None, record.status)
            self.goals.values(outcome)
            self.goals.excesses(outcome)

    def _storage(self, config: DictConfig) -> Path | str:
        """The file of Optuna's database, or the address of one on a server."""
        beside: Mapping[str, Any] = config.tracking
        folder = Path(str(beside.get("database", "outputs/mlflow.db")).removeprefix(SQLITE_ADDRESS)).parent
        storage = (self.storage or str(folder / DATABASE)).removeprefix(SQLITE_ADDRESS)
        if ":memory:" in storage:
            raise UserError("hydra.sweeper.storage must be a file or the address of a database server (got ':memory:')")
        return storage if "://" in storage else local_path("hydra.sweeper.storage", storage, "")


class FrontView(View):
    """Shows the runs that no other is better than, and all of them in the picture."""

    def __init__(self, goals: Goals) -> None:
        self._goals = goals

    def rows(self, results: SweepResults) -> list[Row]:
        """The rows of the front, one of those that are equally good, the first objective from best to worst."""
        simulated = [at for at, (_, outcome) in enumerate(results.jobs) if outcome.metrics]
        outcomes = [results.jobs[at][1] for at in simulated]
        front = {tuple(self._goals.costs(outcomes[at])): simulated[at] for at in self._goals.front(outcomes)}
        return [results.rows[front[costs]] for costs in sorted(front)]

    def pictures(self, results: SweepResults, title: str) -> dict[str, Maker]:
        """The Pareto front of two objectives, or the course of one."""
        return {"search.png": lambda: self._picture(results, title)}

    def _picture(self, results: SweepResults, title: str) -> bytes | None:
        outcomes = [outcome for _, outcome in results.jobs if outcome.metrics]
        front = set(self._goals.front(outcomes))
        points = [
            Point(self._goals.values(outcome), self._goals.holds(outcome), at in front)
            for at, outcome in enumerate(outcomes)
        ]
        if not points:
            return None
        objectives = [objective.text for objective in self._goals.objectives]
        bounds = self._goals.bounds
        return search_png(points, objectives, self._goals.directions, bounds, title)
