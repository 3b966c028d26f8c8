"""A search with Optuna: a space, what is looked for in it, and the study that says what to try next."""
