"""`hydra/sweeper=pipetune`: hyper-parameters and system parameters tuned together."""
