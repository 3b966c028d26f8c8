"""Sweeps: many runs as one experiment, whatever launches them."""

PARENT = "HYPAR_EXP_PARENT"
"""The key of `hydra.job.env_set` that holds the parent's run id ('': nothing is recorded), in a sweep's jobs only."""
