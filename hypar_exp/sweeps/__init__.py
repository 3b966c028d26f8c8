"""Sweeps: many runs as one experiment, whatever launches them."""
