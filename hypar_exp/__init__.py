"""hypar_exp: plan and simulate the training of deep networks on accelerator arrays, as recorded experiments."""

__version__ = "0.1.0"
