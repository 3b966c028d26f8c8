from hypar_exp import networks as networks
from hypar_exp import planning as planning
from hypar_exp import simulation as simulation
from hypar_exp.experiments.frame import runs as runs
from hypar_exp.experiments.notebook import run as run
from hypar_exp.simulation import load_hardware as load_hardware

__version__: str
