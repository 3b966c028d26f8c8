"""Optuna's study of a search, in a SQLite database of its own: what was tried, and what to try next."""

from __future__ import annotations

import contextlib
import sqlite3
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypar_exp.errors import UserError
from hypar_exp.extras import install_command
from hypar_exp.sweeps.outcome import Outcome
from hypar_exp.sweeps.search.goals import Goals
from hypar_exp.sweeps.search.space import Space
from hypar_exp.tracking.locations import SQLITE_ADDRESS, shared_file_system
from hypar_exp.tracking.secrets import without_passwords
from hypar_exp.tracking.sentences import reason_of

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial, Trial

BUSY_TIMEOUT_S = 60


class Study:
    """Asks Optuna for trials of a space and tells it what came of them."""

    def __init__(self, storage: Path | str, name: str, space: Space, goals: Goals, *, seed: int, resume: bool) -> None:
        """Open the last study of a name, if `resume` and there is one, else begin another (`name 2`, ...).

        Args:
            storage: a file, or the address of a database server.
            name: the study's, without a number.
            space, goals: what is searched, and for what.
            seed: of the sampler.
            resume: see above.

        Raises:
            UserError: Optuna is not installed, or its database cannot be used.
        """
        optuna = _optuna()
        try:
            database = optuna.storages.RDBStorage(storage) if isinstance(storage, str) else _in_file(storage)
            there = {
                summary.study_name for summary in optuna.get_all_study_summaries(database, include_best_trial=False)
            }
        except Exception as error:
            raise UserError(
                f"Optuna's database {without_passwords(str(storage))} cannot be used: {reason_of(error)}"
            ) from error
        names = [name, *(f"{name} {number}" for number in range(2, len(there) + 2))]
        new = next(candidate for candidate in names if candidate not in there)
        last = names[max(names.index(new) - 1, 0)]
        chosen = last if resume else new
        # a study that goes on shall not draw the same random numbers again
        drawn = len(optuna.load_study(study_name=chosen, storage=database).trials) if chosen in there else 0
        sampler = optuna.samplers.TPESampler(seed=seed + drawn, multivariate=True)
        self._space, self._goals = space, goals
        self._study: Any = optuna.create_study(
            storage=database, study_name=chosen, sampler=sampler, directions=goals.directions, load_if_exists=True
        )
        self.name = chosen

    def told(self) -> list[FrozenTrial]:
        """The trials with a result; what a dead process left without one is closed."""
        import optuna

        for trial in self._study.get_trials(deepcopy=False, states=[optuna.trial.TrialState.RUNNING]):
            self._study.tell(trial.number, state=optuna.trial.TrialState.FAIL)
        told: list[FrozenTrial] = self._study.get_trials(deepcopy=False, states=[optuna.trial.TrialState.COMPLETE])
        return told

    def ask(self, count: int) -> list[Trial]:
        """What to try next."""
        return [self._study.ask(dict(self._space.distributions)) for _ in range(count)]

    def tell(self, trials: Sequence[Trial], outcomes: Sequence[Outcome]) -> None:
        """What came of trials; a run without the numbers that the search is for was no trial."""
        import optuna

        for trial, outcome in zip(trials, outcomes, strict=True):
            if outcome.metrics:
                for bound, excess in self._goals.excesses(outcome).items():
                    trial.set_constraint(bound, excess)
                self._study.tell(trial, self._goals.values(outcome))
            else:
                self._study.tell(trial, state=optuna.trial.TrialState.FAIL)


def _in_file(file: Path) -> Any:
    """Optuna's database in a file, whatever is in its name: an address takes `?` and `%20` for something else."""
    optuna = _optuna()
    file.parent.mkdir(parents=True, exist_ok=True)

    def connect() -> sqlite3.Connection:
        return sqlite3.connect(file, timeout=BUSY_TIMEOUT_S, check_same_thread=False)

    with contextlib.closing(connect()) as connection:
        connection.execute(f"PRAGMA journal_mode = {'WAL' if shared_file_system(file) is None else 'DELETE'}")
    return optuna.storages.RDBStorage(f"{SQLITE_ADDRESS}{file.name}", engine_kwargs={"creator": connect})


def _optuna() -> Any:
    try:
        import optuna
    except ImportError:
        raise UserError(f"hydra/sweeper=search needs Optuna: {install_command('search')}") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
    return optuna
