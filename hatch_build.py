"""Metadata that only the owner can say, from ``[tool.sdc-problems.owner]`` of pyproject.toml, as far as it is said."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

NAME = "The sdc-problems developers"
URLS = {"homepage": "Homepage", "documentation": "Documentation", "repository": "Repository", "issues": "Issues"}


class OwnerHook(MetadataHookInterface):
    """Authors and URLs of the distribution."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill in what the owner has said."""
        with (Path(self.root) / "pyproject.toml").open("rb") as file:
            owner = tomllib.load(file)["tool"]["sdc-problems"]["owner"]
        metadata["authors"] = [{"name": NAME, **({"email": owner["contact"]} if owner.get("contact") else {})}]
        urls = {label: owner[key] for key, label in URLS.items() if owner.get(key)}
        urls |= {"DOI": f"https://doi.org/{owner['doi']}"} if owner.get("doi") else {}
        metadata["urls"] = urls
