"""Finds the charting library where its package keeps it, so that no copy of it is committed or fetched."""

from collections.abc import Iterable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import BaseFinder
from django.core.checks import CheckMessage
from django.core.files.storage import FileSystemStorage, Storage

PREFIX, NAME = "plotly", "plotly.min.js"


def folder() -> Path:
    """Where the installed package has it."""
    return Path(str(files("plotly") / "package_data"))


class PlotlyFinder(BaseFinder):
    """Offers plotly/plotly.min.js and nothing else of that package."""

    def check(self, **kwargs: Any) -> list[CheckMessage]:
        """Nothing to set, nothing to check."""
        return []

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        """The file's place, for the development server; Django's signature."""
        found = str(folder() / NAME)
        if path != f"{PREFIX}/{NAME}":
            return [] if find_all else None
        return [found] if find_all else found

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[tuple[str, Storage]]:
        """The file, for collectstatic."""
        storage = FileSystemStorage(location=folder())
        storage.prefix = PREFIX  # type: ignore[attr-defined]  # collectstatic asks every storage for it
        yield NAME, storage
