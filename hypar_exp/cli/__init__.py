"""The commands, and how each of them ends."""
