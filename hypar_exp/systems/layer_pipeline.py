"""Asynchronous pipelines of layers: how stale the weights of a stage are, and how many of them it keeps.

Two laws of delay, which are never the same but at the last stage. A fine-grained pipeline (one sample a stage, Kosson
et al., MLSys 2021) does the forward pass of one sample and the backward pass of another at the same time: gradients of
stage s of S are 2(S - 1 - s) updates late. 1F1B (PipeDream, Narayanan et al., SOSP 2019) does them in turn: S - 1 - s.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hypar_exp.errors import UserError, did_you_mean

Counts = NDArray[np.int64]

GRANULARITIES = ("sample", "batch")
"""What flows from stage to stage: one sample, forward and backward at the same time, or a mini-batch in 1F1B."""


def delays(stages: int, granularity: str) -> Counts:
    """int64[stages]: updates between the forward pass of a stage's input and the update that it leads to.

    Raises:
        UserError: another granularity.
    """
    if granularity not in GRANULARITIES:
        raise UserError(
            f"workload.granularity must be {' or '.join(GRANULARITIES)} (got {granularity!r})"
            f"{did_you_mean(str(granularity), GRANULARITIES)}"
        )
    behind = np.arange(stages - 1, -1, -1, dtype=np.int64)
    return 2 * behind if granularity == "sample" else behind


@dataclass(frozen=True)
class UpdatePolicy:
    """What a stage does about the weights that change between a forward pass and its backward pass.

    Attributes:
        name: of the policy.
        flushes: whether the pipeline is drained before an update, so that no weights are stale.
        stashes: whether the weights of every forward pass are kept for its backward pass.
        copies: of the weights, besides themselves and what is stashed: the velocity, a prediction.
        most_versions: of the weights; None for as many as the delay asks for.
        words: what it does.
    """

    name: str
    words: str
    flushes: bool = False
    stashes: bool = False
    copies: int = 0
    most_versions: int | None = None

    def staleness(self, delay: Counts) -> Counts:
        """int64[stages]: updates by which gradients come too late."""
        if self.flushes:
            return np.zeros_like(delay)
        if self.most_versions is not None:
            return np.minimum(delay, self.most_versions - 1)
        return delay

    def versions(self, delay: Counts) -> Counts:
        """int64[stages]: versions of the weights that a stage keeps."""
        return self.staleness(delay) + 1 if self.stashes else np.ones_like(delay)

    def weight_copies(self, delay: Counts) -> Counts:
        """int64[stages]: the versions, the velocity and a temporary, each as large as the weights."""
        return self.versions(delay) + self.copies


POLICIES = {
    policy.name: policy
    for policy in (
        UpdatePolicy("flush", "drains the pipeline before every update", flushes=True),
        UpdatePolicy("stale", "updates at once, and goes backward with other weights than forward"),
        UpdatePolicy("stash", "keeps the weights of every forward pass for its backward pass", stashes=True),
        UpdatePolicy("two_buffers", "keeps two versions of the weights (PipeDream-2BW)", stashes=True, most_versions=2),
        UpdatePolicy("spectrain", "predicts the weights at a common time, forward and backward", copies=2),
        UpdatePolicy("lwp", "predicts the weights of the backward pass", copies=2),
        UpdatePolicy("sc", "makes up for the delay in the size of the update", copies=1),
        UpdatePolicy("lwp_sc", "predicts, and makes up for the delay", copies=2),
    )
}


def fill_and_drain_utilisation(samples: int, stages: int) -> float:
    """Share of the time that a stage works where N samples flow through S stages and back before an update.

    N / (N + 2S - 2), forward and backward at the same time.
    """
    return samples / (samples + 2 * stages - 2)


def spectrain_steps(stages: int) -> tuple[Counts, Counts, Counts]:
    """For each stage k of N the updates that SpecTrain looks ahead: forward, backward, and forward with kept weights.

    floor(k/2) + N - k - 1 and floor(k/2), so that all stages aim at the weights of one time; N - k - 1 where the
    predicted weights are kept for the backward pass (Chen et al., arXiv 1809.02839, equations 5 and 6).
    """
    stage = np.arange(stages, dtype=np.int64)
    behind = stages - stage - 1
    return stage // 2 + behind, stage // 2, behind


def spectrain_versions(stages: int, batch: int) -> tuple[Counts, Counts]:
    """The versions of the weights that the stages have when mini-batch `batch` comes by, forward and then backward.

    Time goes in slots, one a pass; all stages update once in two slots. The batch is forward at stage k in slot k, and
    backward in slot 2N - 2 - k. With the steps of `spectrain_steps` they all aim at batch + N - 1.
    """
    stage = np.arange(stages, dtype=np.int64)
    return batch + (stage + 1) // 2, batch + stages - 1 - stage // 2
