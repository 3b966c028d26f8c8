"""A grid of runs: the product of its axes, by one of Hydra's launchers or as a batch in one process."""
