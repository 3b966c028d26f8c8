"""Pages to look at a run or a sweep in: one HTML file each, with no server and nothing from elsewhere."""
