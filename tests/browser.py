"""Debian's Chromium, driven by Playwright: pages are tested as a person sees them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


@contextmanager
def browser_page(width: int = 1500, height: int = 1100) -> Iterator[Any]:
    """A page of a new browser, which fails the test where a script of the page does; skips without Chromium."""
    sync_api = pytest.importorskip("playwright.sync_api")
    if not CHROMIUM.exists():
        pytest.skip("needs Debian's chromium")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=list(ARGUMENTS))
        page = browser.new_page(viewport={"width": width, "height": height})
        page.set_default_timeout(60_000)
        errors: list[Any] = []
        page.on("pageerror", lambda error: errors.append(error))  # Playwright marks what it calls, so no method
        yield page
        browser.close()
        assert not errors, errors
