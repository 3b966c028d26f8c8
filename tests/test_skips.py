"""What the suite may leave out: what needs a program or a right that the machine has not, never what needs data."""

from __future__ import annotations

import ast

from tests.conftest import ROOT

ALLOWED = {
    "tests/browser.py": "Chromium, and the package that drives it",
    "tests/program/test_launchers.py": "SLURM's programs; the extra that holds ray",
    "tests/program/test_sweep.py": "the launchers' packages",
    "tests/tracking/records.py": "an MLflow whose database this version writes",
    "tests/tracking/test_processes.py": "the right to make a namespace",
    "tests/tracking/test_sqlite_faults.py": "the right to mount a file system",
}
"""File -> what its tests skip without."""
WAYS = {"skip", "skipif", "importorskip", "xfail", "skipTest"}


def test_nothing_is_skipped_for_want_of_data() -> None:
    leaving_out = {
        file.relative_to(ROOT).as_posix()
        for file in (ROOT / "tests").rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in WAYS
    }
    assert leaving_out == ALLOWED.keys()
    outside = [
        file.name
        for file in (ROOT / "tests").rglob("*.py")
        if file.name != "test_skips.py" and "ROOT.parent" in file.read_text(encoding="utf-8")
    ]
    assert not outside, "tests read what is in the checkout"
