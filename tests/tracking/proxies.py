"""A server between a client and an MLflow server that loses answers, is late, asks for a password, or speaks TLS."""

from __future__ import annotations

import base64
import contextlib
import http.client
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit


@dataclass
class Behaviour:
    """What the proxy does with each request; it can be changed while it runs."""

    loses: Callable[[int], bool] = lambda number: False
    """Whether the answer to a request, counted from 0, is lost after the server made it."""
    late_s: Callable[[int], float] = lambda number: 0.0
    user: str | None = None
    """`name:password` that every request must bring."""
    requests: list[str] = field(default_factory=list)


@contextlib.contextmanager
def proxy(server: str, behaviour: Behaviour, certificate: Path | None = None) -> Iterator[str]:
    """The address of a proxy of a server; with a certificate (and its key in one file) it speaks TLS."""
    to = urlsplit(server)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _forward(self) -> None:
            number = len(behaviour.requests)
            behaviour.requests.append(f"{self.command} {self.path}")
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            wanted = None if behaviour.user is None else base64.b64encode(behaviour.user.encode()).decode()
            if wanted is not None and self.headers.get("Authorization") != f"Basic {wanted}":
                self._answer(401, b"who are you?")
                return
            connection = http.client.HTTPConnection(str(to.hostname), to.port, timeout=60)
            headers = {key: value for key, value in self.headers.items() if key.lower() != "host"}
            connection.request(self.command, self.path, body, headers)
            answer = connection.getresponse()
            content = answer.read()
            connection.close()
            time.sleep(behaviour.late_s(number))
            if behaviour.loses(number):
                self.close_connection = True
                return
            self._answer(answer.status, content, answer.headers.get("Content-Type", "text/plain"))

        do_GET = do_POST = do_PUT = do_PATCH = _forward  # noqa: N815 - names of the library's

        def _answer(self, status: int, content: bytes, kind: str = "text/plain") -> None:
            with contextlib.suppress(OSError):  # the client did not wait
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        def log_message(self, *words: object) -> None:
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listening.daemon_threads = True
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        listening.socket = context.wrap_socket(listening.socket, server_side=True)
    threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield f"{'https' if certificate else 'http'}://127.0.0.1:{listening.server_port}"
    finally:
        listening.shutdown()
        listening.server_close()


def self_signed(folder: Path) -> Path:
    """A certificate of 127.0.0.1 with its key, in one file."""
    key, certificate, both = folder / "key.pem", folder / "certificate.pem", folder / "both.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"),
            *("-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)),
        ],
        check=True,
        capture_output=True,
    )
    both.write_bytes(key.read_bytes() + certificate.read_bytes())
    return both
