"""A run's page: its plan to look at and to change, with the totals recomputed in the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hypar_exp.planning import DOTS, Plan, Split, level_names
from hypar_exp.reporting.page.template import filled

INK = "#222222"
QUANTITIES = {
    "step_time_s": ("step time", "s"),
    "compute_time_s": ("compute", "s"),
    "communication_time_s": ("communication time", "s"),
    "step_energy_j": ("step energy", "J"),
    "communication_bytes": ("communication", "B"),
    "memory_per_accelerator_bytes": ("memory per accelerator", "B"),
}
"""What the page recomputes: the report's own name -> title, unit."""


def run_page(
    title: str,
    words: Sequence[str],
    strategy: str,
    layer_names: Sequence[str],
    splits: Sequence[Split],
    plan: Plan,
    references: Mapping[str, Plan],
    costs: Mapping[str, Any],
) -> str:
    """One self-contained HTML document.

    Args:
        title: what was planned.
        words: sentences under it.
        strategy: the name of what made the plan.
        layer_names: of the network.
        splits: those that are priced, in the order of the costs' tables.
        plan: what is shown.
        references: name -> another plan of that shape, to compare with.
        costs: see `page_costs`.
    """

    def positions(shown: Plan) -> list[list[int]]:
        by_layer: list[list[int]] = np.searchsorted(splits, shown.choices).tolist()
        return by_layer

    data = {
        "strategy": strategy,
        "layers": list(layer_names),
        "levels": level_names(plan.levels),
        "splits": [
            {"words": split.words, "symbol": DOTS[split], "colour": INK if split is Split.DP else split.colour}
            for split in splits
        ],
        "plan": positions(plan),
        "references": {name: positions(reference) for name, reference in references.items()},
        "quantities": QUANTITIES,
        "costs": costs,
    }
    return filled("run", title=title, words=words, data=data)
