"""Runs in an MLflow SQLite database of the user's own."""
