"""Calls the hooks of the process that judges."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pluggy
    import pytest


class RootHooks:
    """
    The hooks of the plugins and of the root conftest: under xdist the controller loads no other conftest.

    Not through ``session.gethookproxy(rootpath)``: pytest knows the conftests of a folder only once it has collected
    it, and the controller of xdist collects nothing.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._callers: dict[str, pluggy.HookCaller] = {}

    def call(self, hook: str, **arguments: Any) -> Any:
        """Call a hook; first when items run, and no conftest comes after collection."""
        config = self._config
        if hook not in self._callers:
            root = os.path.realpath(config.rootpath)
            below = [
                plugin
                for plugin in config.pluginmanager.get_plugins()
                if (path := getattr(plugin, "__file__", None))
                and os.path.basename(path) == "conftest.py"
                and os.path.realpath(os.path.dirname(path)) != root
            ]
            self._callers[hook] = config.pluginmanager.subset_hook_caller(hook, below)
        return self._callers[hook](config=config, **arguments)
