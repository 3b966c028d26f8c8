"""Runs in folders, without MLflow."""
