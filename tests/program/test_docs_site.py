"""The documentation site is built with every link and every documented name checked."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT


def test_the_site_builds_and_no_link_leads_nowhere(tmp_path: Path) -> None:
    site = tmp_path / "site"
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(site)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    reference = (site / "api.html").read_text(encoding="utf-8")
    assert "HyPar" in reference
    assert "float64" in reference
    in_the_menu = (site / "index.html").read_text(encoding="utf-8")
    for page in ROOT.glob("docs/*.md"):
        assert f'href="{page.stem}.html"' in in_the_menu, f"{page.name} is in no menu of mkdocs.yml"
