"""hypar_exp: plan and simulate the training of deep networks on accelerator arrays, as recorded experiments.

`hypar_exp.results()` is the recorded runs as a pandas DataFrame.
"""

import importlib
from typing import Any

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name == "results":  # imported when it is asked for: pandas and Hydra take a while
        return importlib.import_module("hypar_exp.experiments.frame").results
    raise AttributeError(f"module 'hypar_exp' has no attribute {name!r}")
