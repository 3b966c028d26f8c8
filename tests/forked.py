"""Many runs of the program in a moment each: a process that has imported it is forked for every command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from tests.conftest import ROOT, program_environment

EXIT_OF_TIMEOUT = 124


@dataclass(frozen=True)
class Ended:
    """What a command line came to."""

    returncode: int
    stdout: str
    stderr: str


class Program:
    """Runs command lines one after the other, each in a process of its own that needs no imports."""

    def __init__(self, server: subprocess.Popen[str]) -> None:
        self._server = server

    def __call__(self, *arguments: str, cwd: Path, module: str = "hypar_exp", timeout: float = 60) -> Ended:
        """`python -m MODULE ARGUMENTS` in a folder; exit code 124 where it took longer than `timeout` seconds."""
        asked = {"arguments": arguments, "cwd": str(cwd), "module": module, "timeout": timeout}
        to_server, from_server = _pipes(self._server)
        to_server.write(json.dumps(asked) + "\n")
        to_server.flush()
        return Ended(**json.loads(from_server.readline()))


@contextmanager
def forked_program(*, counted: bool = True, **environment: str) -> Iterator[Program]:
    """The program, imported once.

    Args:
        counted: whether the coverage of the tests counts what it runs, which then takes twice as long.
        environment: variables that it sees.
    """
    if counted and "coverage" in sys.modules and sys.modules["coverage"].Coverage.current() is not None:
        environment |= {
            "COVERAGE_PROCESS_START": str(ROOT / "pyproject.toml"),
            "COVERAGE_FILE": str(ROOT / ".coverage"),
        }
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.forked"],
        cwd=ROOT,
        env=program_environment(**environment),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with server:
        yield Program(server)
        server.kill()


def _pipes(server: subprocess.Popen[str]) -> tuple[IO[str], IO[str]]:
    assert server.stdin is not None
    assert server.stdout is not None
    return server.stdin, server.stdout


def _serve() -> None:
    import hypar_exp.__main__
    import hypar_exp.experiments.evaluation  # noqa: F401

    for line in sys.stdin:
        print(json.dumps(_run(**json.loads(line))), flush=True)


def _run(arguments: Sequence[str], cwd: str, module: str, timeout: float) -> dict[str, Any]:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            os.setsid()
            _become(arguments, cwd, module, out.fileno(), err.fileno())
        code = _wait(child, timeout)
        out.seek(0)
        err.seek(0)
        texts = [file.read().decode(errors="replace") for file in (out, err)]
    return {"returncode": code, "stdout": texts[0], "stderr": texts[1]}


def _become(arguments: Sequence[str], cwd: str, module: str, out: int, err: int) -> None:
    import runpy

    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (out, 1), (err, 2)):
        os.dup2(source, target)
    os.chdir(cwd)
    sys.argv = [module, *arguments]
    code = 1
    try:
        if module == "hypar_exp":
            sys.modules["hypar_exp.__main__"].main()
        else:
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _wait(child: int, timeout: float) -> int:
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return EXIT_OF_TIMEOUT


if __name__ == "__main__":
    _serve()
