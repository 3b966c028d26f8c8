"""The paper's tables and figures: what was published, what our runs say, and pictures and pages of the two."""
