"""Schedules of pipelines, one a file."""

from hypar_exp.simulation.operations import Kind, Order, Schedule
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
