"""What the exchanges of an array cross: one object for each kind of network between accelerators."""
