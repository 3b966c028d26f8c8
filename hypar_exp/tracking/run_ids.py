"""The ids of runs."""

from __future__ import annotations

import secrets
import time


def new_run_id() -> str:
    """32 hexadecimal digits as MLflow's, but ordered in time (RFC 9562's version 7).

    The keys of every table contain it: new rows go to the ends of their indexes and not to random places, which keeps
    large databases as fast as small ones.
    """
    milliseconds, rest = divmod(time.time_ns(), 1_000_000)
    fraction = rest * 4096 // 1_000_000
    return f"{milliseconds:012x}7{fraction:03x}{8 + secrets.randbits(2):x}{secrets.randbits(60):015x}"
