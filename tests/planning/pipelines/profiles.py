"""Profiles for the tests of planners."""

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from hypar_exp.networks.profile import Profile, load_profile


def without_inputs(path: Path, batch_size: int | None = None) -> Profile:
    """A profile as the programs read it: sources that are called Input, and what leads from them, are left out."""
    lines = path.read_text().splitlines()
    readers = {line.split(" -- ")[1] for line in lines if line.startswith("\t")}
    inputs = {
        line.split(" -- ")[0]
        for line in lines
        if not line.startswith("\t") and line.split(" -- ")[1].startswith("Input")
    } - readers
    kept = [line for line in lines if line.strip().split(" -- ")[0] not in inputs]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / path.name
        file.write_text("\n".join(kept))
        return load_profile(str(file), batch_size=batch_size)


def random_profile(draw: st.DrawFn, *, chain: bool, most: int = 6) -> Profile:
    """A chain, or a graph in which each node reads at least one before it."""
    units = draw(st.integers(1, most))
    numbers = st.lists(st.integers(0, 9), min_size=units, max_size=units)
    edges = {(unit - 1, unit) for unit in range(1, units)}
    if not chain:
        edges = {(draw(st.integers(0, unit - 1)), unit) for unit in range(1, units)}
        edges |= draw(
            st.sets(st.sampled_from([(a, b) for b in range(units) for a in range(b)] or [(0, 0)]), max_size=4)
        )
        edges -= {(0, 0)}
    forward, backward, outputs, weights = (np.array(draw(numbers), dtype=np.float64) for _ in range(4))
    names = tuple(f"node{unit}" for unit in range(units))
    return Profile("random", names, names, 4, forward, backward, outputs, weights, tuple(sorted(edges)))
