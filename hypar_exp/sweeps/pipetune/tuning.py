"""Three ways to tune hyper-parameters h and system parameters s, by what they cost (Rocha et al., Middleware 2020).

- V1 trains every h for all epochs with the default system parameters;
- V2 trains every h with every s, as if both were hyper-parameters;
- PipeTune profiles the first epoch of a trial with the defaults. Near a profile that it knows, with the same batch, the
  other epochs have the best system parameters known for that one; else an epoch for each value of one parameter after
  the other finds them, and they are remembered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Choice = tuple[str, ...]
"""A value of each parameter, in the order of their keys."""
Profile = NDArray[np.float64]
"""float64[metrics]: decimal logarithms of what the first epoch's run recorded."""


@dataclass(frozen=True)
class Epoch:
    """What one epoch takes with some hyper- and system parameters."""

    time_s: float
    energy_j: float
    profile: Profile
    batch: str


class Epochs(Protocol):
    """Looks up an epoch; None where that configuration has no plan."""

    def __call__(self, hyper: Choice, system: Choice, /) -> Epoch | None: ...


@dataclass
class Tuned:
    """What a way of tuning came to.

    Attributes:
        tuning_time_s, tuning_energy_j: of all trials.
        training_time_s, training_energy_j: of a training of each h with the system parameters that were found for it.
        hits: trials that a known profile served.
        chosen: h -> its system parameters.
    """

    tuning_time_s: float = 0.0
    tuning_energy_j: float = 0.0
    training_time_s: float = 0.0
    training_energy_j: float = 0.0
    hits: int = 0
    chosen: dict[Choice, Choice] = field(default_factory=dict)

    def spend(self, epoch: Epoch, epochs: float) -> None:
        """Add epochs of a trial."""
        self.tuning_time_s += epochs * epoch.time_s
        self.tuning_energy_j += epochs * epoch.energy_j

    def choose(self, hyper: Choice, system: Choice, epoch: Epoch, epochs: float) -> None:
        """Take system parameters for a training."""
        self.chosen[hyper] = system
        self.training_time_s += epochs * epoch.time_s
        self.training_energy_j += epochs * epoch.energy_j


@dataclass(frozen=True)
class Tuning:
    """The trials of a space.

    Attributes:
        hypers: every h, in the order of the trials.
        systems: values of each system parameter.
        epochs: of a trial.
        of: looks up an epoch.
        near: the farthest that a known profile may lie, as a mean difference of decimal logarithms.
        clusters: of known profiles, at most.
        seed: of k-means.
    """

    hypers: Sequence[Choice]
    systems: Sequence[Sequence[str]]
    epochs: int
    of: Epochs
    near: float
    clusters: int
    seed: int

    @property
    def probes(self) -> int:
        """Epochs that a trial without a known profile tries other system parameters in."""
        return sum(len(values) - 1 for values in self.systems)

    def v1(self, default: Choice) -> Tuned:
        """Hyper-parameters alone: E t(h, s0)."""
        tuned = Tuned()
        for hyper in self.hypers:
            epoch = self.of(hyper, default)
            if epoch is not None:
                tuned.spend(epoch, self.epochs)
                tuned.choose(hyper, default, epoch, self.epochs)
        return tuned

    def v2(self, every_system: Sequence[Choice]) -> Tuned:
        """All parameters as one space: E t(h, s) over the product."""
        tuned = Tuned()
        for hyper in self.hypers:
            there = [(system, epoch) for system in every_system if (epoch := self.of(hyper, system)) is not None]
            for _, epoch in there:
                tuned.spend(epoch, self.epochs)
            if there:
                tuned.choose(hyper, *min(there, key=lambda one: one[1].time_s), self.epochs)
        return tuned

    def pipetune(self, default: Choice) -> Tuned:
        """t(h, s0) + (E - 1) t(h, s*) with a known profile; without, t(h, s0) + probes + (E - 1 - P) t(h, s*)."""
        tuned, known = Tuned(), _Known(self.near, self.clusters, self.seed)
        for hyper in self.hypers:
            first = self.of(hyper, default)
            if first is None:
                continue
            tuned.spend(first, 1)
            left = self.epochs - 1
            system = known.best(first)
            best = None if system is None else self.of(hyper, system)
            if system is None or best is None:
                system, best, probed = self._probed(hyper, default, first, lambda epoch: tuned.spend(epoch, 1))
                left -= probed
                known.remember(first, system)
            else:
                tuned.hits += 1
            tuned.spend(best, left)
            tuned.choose(hyper, system, best, self.epochs)
        return tuned

    def _probed(
        self, hyper: Choice, default: Choice, first: Epoch, spend: Callable[[Epoch], None]
    ) -> tuple[Choice, Epoch, int]:
        """The best found by one parameter after the other, its epoch, and the epochs that it took."""
        system, best, probed = default, first, 0
        for at, values in enumerate(self.systems):
            for value in values:
                other = (*system[:at], value, *system[at + 1 :])
                epoch = None if value == default[at] else self.of(hyper, other)
                if epoch is None:
                    continue
                spend(epoch)
                probed += 1
                if epoch.time_s < best.time_s:
                    system, best = other, epoch
        return system, best, probed


class _Known:
    """Profiles of trials and the system parameters that were best for them."""

    def __init__(self, near: float, clusters: int, seed: int) -> None:
        self._near, self._clusters, self._seed = near, clusters, seed
        self._profiles: list[Profile] = []
        self._batches: list[str] = []
        self._systems: list[Choice] = []

    def remember(self, epoch: Epoch, system: Choice) -> None:
        self._profiles.append(epoch.profile)
        self._batches.append(epoch.batch)
        self._systems.append(system)

    def best(self, epoch: Epoch) -> Choice | None:
        """The system parameters of the nearest profile of the epoch's cluster with its batch, if it is near."""
        if not self._profiles:
            return None
        profiles = np.array(self._profiles)
        distances = np.abs(profiles - epoch.profile).mean(axis=1)
        of_cluster = self._cluster(profiles, epoch.profile)
        fitting = [
            at
            for at in np.argsort(distances, kind="stable")
            if of_cluster[at] and self._batches[at] == epoch.batch and distances[at] <= self._near
        ]
        return self._systems[fitting[0]] if fitting else None

    def _cluster(self, profiles: Profile, profile: Profile) -> NDArray[np.bool_]:
        """bool[profiles]: which are in the cluster of a new one, by k-means."""
        from sklearn.cluster import KMeans

        count = min(self._clusters, len(np.unique(profiles, axis=0)))
        means = KMeans(count, n_init=1, random_state=self._seed).fit(profiles)
        return np.asarray(means.labels_ == means.predict(profile[None, :])[0], dtype=np.bool_)
