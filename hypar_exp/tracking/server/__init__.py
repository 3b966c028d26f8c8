"""Runs on an MLflow tracking server."""
