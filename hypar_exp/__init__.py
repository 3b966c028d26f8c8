"""hypar_exp: plan and simulate the training of deep networks on accelerator arrays, as recorded experiments.

In a notebook, `import hypar_exp as hx`: `hx.run("network=vgg_e strategy=hypar")` is a run, `hx.runs()` all recorded
ones as a DataFrame, `hx.load_hardware("mine.yaml")` hardware of your own for the library in `hx.networks`,
`hx.planning` and `hx.simulation`.
"""

import importlib
from typing import Any

__version__ = "0.1.0"

_PLACES = {
    "run": "experiments.notebook",
    "runs": "experiments.frame",
    "load_hardware": "simulation",
    **dict.fromkeys(("networks", "planning", "simulation"), ""),
}
"""Name -> its module below this package; "" for those that are modules themselves."""


def __getattr__(name: str) -> Any:
    """Imported when it is asked for: pandas and Hydra take a while."""
    if name not in _PLACES:
        raise AttributeError(f"module 'hypar_exp' has no attribute {name!r}")
    place = _PLACES[name]
    return (
        getattr(importlib.import_module(f"hypar_exp.{place}"), name)
        if place
        else importlib.import_module(f"hypar_exp.{name}")
    )


def __dir__() -> list[str]:
    return sorted([*globals(), *_PLACES])
