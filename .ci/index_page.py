"""
Write the page of the package index: .ci/index_page.py FOLDER URL, with a copy of the tree and its repository on GitHub.

The index shows the README to people without a clone, so the page has whole links and installs from the index. The
README itself does neither: before a release, nobody holds the project's name there.
"""

import re
import sys
import tomllib
from pathlib import Path

PAGE = "index-page.md"
LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?!https?://)(?P<path>[^)\s]+)\)")
FROM_A_CLONE = """`pip install './clone[xdist,report]'`, where `clone` is the clone's folder or a wheel. Without `./`
pip asks the index."""
FROM_THE_INDEX = "`pip install 'pytest-benchgate[xdist,report]'`."
URLS = """
[project.urls]
Source = "{url}"
Documentation = "{url}/tree/{tag}/docs"
Changelog = "{url}/blob/{tag}/CHANGELOG.md"
Issues = "{url}/issues"
"""


def page(readme: str, url: str, tag: str) -> str:
    """Return the README for the index; its links lead to the files of the version's tag."""

    def whole(link: re.Match[str]) -> str:
        # A page that shows the file; for a picture the file itself.
        kind = "blob"
        if link["image"]:
            kind = "raw"
        return f"{link['image']}[{link['text']}]({url}/{kind}/{tag}/{link['path']})"

    if FROM_A_CLONE not in readme:
        raise ValueError("README.md installs in other words than this script knows")
    return LINK.sub(whole, readme.replace(FROM_A_CLONE, FROM_THE_INDEX))


def main(folder: Path, url: str) -> None:
    """Write the page into the folder, and name it and the repository in the metadata."""
    project = folder / "pyproject.toml"
    settings = project.read_text("utf-8")
    tag = f"v{tomllib.loads(settings)['project']['version']}"
    settings = settings.replace('readme = "README.md"', f'readme = "{PAGE}"')
    project.write_text(settings + URLS.format(url=url, tag=tag), "utf-8")
    readme = (folder / "README.md").read_text("utf-8")
    (folder / PAGE).write_text(page(readme, url, tag), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
