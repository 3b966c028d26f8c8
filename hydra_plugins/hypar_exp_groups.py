"""The package's configuration groups, found wherever a primary configuration is read from."""

from __future__ import annotations

from hydra.core.config_search_path import ConfigSearchPath
from hydra.plugins.search_path_plugin import SearchPathPlugin

from hypar_exp.paths import CONF_DIR


class PackageGroups(SearchPathPlugin):
    """Lets `--config-path` name a folder of a user's own, such as that of a recorded configuration."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Add `conf/` where it is not the main path already."""
        path = f"file://{CONF_DIR}"
        if all(element.path.removeprefix("file://") != str(CONF_DIR) for element in search_path.get_path()):
            search_path.append("hypar_exp", path)
