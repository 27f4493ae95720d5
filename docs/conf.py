"""Sphinx configuration. The build needs no network: no intersphinx, no remote assets."""

from __future__ import annotations

from importlib.metadata import version as installed_version

project = "pytest-benchgate"
author = "The benchgate maintainers"
copyright = "The benchgate maintainers"  # noqa: A001 - the name is Sphinx's
version = release = installed_version("pytest-benchgate")

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build", "examples"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say what a type cannot

html_theme = "furo"
html_title = "pytest-benchgate"
