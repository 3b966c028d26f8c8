"""A sweep's runs as a table of everything: axes, how each run ended, all metrics (the main ones first), all params."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hypar_exp.experiments.run_record import HEADLINES
from hypar_exp.reporting.sweep_table import COLUMNS
from hypar_exp.sweeps.outcome import Outcome
from hypar_exp.text_files import csv_text

Cell = str | float | int | None


def table_of(jobs: Sequence[tuple[Mapping[str, str], Outcome]]) -> dict[str, list[Cell]]:
    """Column -> values, a row a run.

    Args:
        jobs: where each run is on the axes, and its outcome.
    """
    rows: list[dict[str, Cell]] = [
        {
            **axes,
            "status": str(outcome.status),
            **{column.key: outcome.metrics[column.key] for column in COLUMNS if column.key in outcome.metrics},
            **outcome.metrics,
            "error": outcome.error,
            "name": outcome.name,
            "run_id": outcome.run_id,
            "config_hash": outcome.config_hash,
            **{key: value for key, value in outcome.params.items() if key not in axes and key not in HEADLINES},
        }
        for axes, outcome in jobs
    ]
    first = list(jobs[0][0]) if jobs else []
    columns = dict.fromkeys([*first, *(key for row in rows for key in row)])
    return {column: _typed([row.get(column) for row in rows]) for column in columns}


def csv_of(table: Mapping[str, Sequence[Cell]]) -> str:
    """The table as CSV."""
    return csv_text([list(table), *zip(*table.values(), strict=True)])


def parquet_of(table: Mapping[str, Sequence[Cell]]) -> bytes:
    """The table as a Parquet file."""
    import pyarrow
    from pyarrow import parquet

    sink = pyarrow.BufferOutputStream()
    parquet.write_table(pyarrow.table({key: pyarrow.array(_storable(values)) for key, values in table.items()}), sink)
    content: bytes = sink.getvalue().to_pybytes()
    return content


LARGEST_INTEGER = 2**63 - 1
"""Of a Parquet column."""


def _storable(values: Sequence[Cell]) -> list[Cell]:
    """A column of one type; whole numbers beyond the largest are text."""
    beyond = any(isinstance(value, int) and abs(value) > LARGEST_INTEGER for value in values)
    mixed = len({isinstance(value, str) for value in values if value is not None}) > 1
    return [str(value) if value is not None and (beyond or mixed) else value for value in values]


def _typed(values: list[Cell]) -> list[Cell]:
    """A column of numbers as numbers, where all of it is; else as it was."""
    for kind in (int, float):
        try:
            return [None if value is None else kind(value) if isinstance(value, str) else value for value in values]
        except ValueError:
            continue
    return values
