"""The progress of a sweep on a terminal: one line, rewritten."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

from tests.conftest import program_environment


def test_a_terminal_has_one_line_of_progress(tmp_path: Path) -> None:
    controller, terminal = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "hypar_exp", "-m", "network=sfc,lenet_c", "strategy=dp,hypar", "tracking=none"],
        cwd=tmp_path, env=program_environment(), stdin=terminal, stdout=terminal, stderr=terminal,
    ) as sweep:  # fmt: skip
        os.close(terminal)
        written = b""
        while True:
            try:
                piece = os.read(controller, 65536)
            except OSError:  # the other end was closed
                break
            if not piece:
                break
            written += piece
        os.close(controller)
        assert sweep.wait(60) == 0
    head = written.decode().partition("network x strategy")[0]
    assert head.count("\n") == 1, "one line that stays, and others that were written over"
    assert head.count("\r\x1b[2K") >= 1
    assert "4 done, 0 failed, 0 left" in head
