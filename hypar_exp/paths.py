"""Where the configuration groups are, in an installed copy and in a checkout."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent

CONF_DIR = next(
    (folder for folder in (_PACKAGE / "conf", _PACKAGE.parent / "conf") if (folder / "config.yaml").is_file()),
    _PACKAGE / "conf",
)
"""The wheel carries `conf/` inside the package; a checkout has it beside the package."""
