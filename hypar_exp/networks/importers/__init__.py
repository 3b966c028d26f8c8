"""Readers of other programs' network files, one module each; every one has a `load(path, name)`."""
