"""Schedules of pipelines, one a file.

Each is imported when it is first asked for: most programs need one of them, or none.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from hypar_exp.simulation.operations import Kind, Order, Schedule

if TYPE_CHECKING:
    from hypar_exp.simulation.schedules.chimera import Chimera
    from hypar_exp.simulation.schedules.dualpipe import DualPipe
    from hypar_exp.simulation.schedules.dualpipe_v import DualPipeV
    from hypar_exp.simulation.schedules.gpipe import GPipe
    from hypar_exp.simulation.schedules.inference import Inference
    from hypar_exp.simulation.schedules.interleaved import Interleaved
    from hypar_exp.simulation.schedules.merak import Merak
    from hypar_exp.simulation.schedules.one_f_one_b import OneFOneB
    from hypar_exp.simulation.schedules.v_half import VHalf
    from hypar_exp.simulation.schedules.v_min import VMin
    from hypar_exp.simulation.schedules.zb_h1 import ZeroBubbleH1
    from hypar_exp.simulation.schedules.zb_h2 import ZeroBubbleH2
    from hypar_exp.simulation.schedules.zb_v import ZeroBubbleV

_MODULES = {
    "Chimera": "chimera",
    "DualPipe": "dualpipe",
    "DualPipeV": "dualpipe_v",
    "GPipe": "gpipe",
    "Inference": "inference",
    "Interleaved": "interleaved",
    "Merak": "merak",
    "OneFOneB": "one_f_one_b",
    "VHalf": "v_half",
    "VMin": "v_min",
    "ZeroBubbleH1": "zb_h1",
    "ZeroBubbleH2": "zb_h2",
    "ZeroBubbleV": "zb_v",
}


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return getattr(import_module(f"hypar_exp.simulation.schedules.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'hypar_exp.simulation.schedules' has no attribute {name!r}")


__all__ = [
    "Chimera",
    "DualPipe",
    "DualPipeV",
    "GPipe",
    "Inference",
    "Interleaved",
    "Kind",
    "Merak",
    "OneFOneB",
    "Order",
    "Schedule",
    "VHalf",
    "VMin",
    "ZeroBubbleH1",
    "ZeroBubbleH2",
    "ZeroBubbleV",
]
