"""How a plan is found: one file a method."""
