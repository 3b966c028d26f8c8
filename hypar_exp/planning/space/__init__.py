"""All plans there are: how good they are, and how far a plan is from the best."""
