"""Links of the built site, checked offline: ``python docs/check.py build/docs``.

Every link to another page, an anchor, a picture or a download must lead to something that is there.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """Anchors and links of one page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect what a tag offers and what it asks for."""
        given = dict(attrs)
        for name in ("id", "name"):
            if given.get(name):
                self.anchors.add(str(given[name]))
        for name in ("href", "src"):
            if given.get(name):
                self.links.append(str(given[name]))


def broken(site: Path) -> list[str]:
    """Links of a site that lead nowhere, each with its page."""
    pages = {
        path.resolve(): Page(path.read_text(encoding="utf-8"))
        for path in site.rglob("*.html")
        if "_static" not in path.parts
    }
    found = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            if target.is_dir():
                target /= "index.html"
            if not target.exists() or (anchor and target in pages and anchor not in pages[target].anchors):
                found.append(f"{path.relative_to(site.resolve())}: {link}")
    return sorted(set(found))


if __name__ == "__main__":
    wrong = broken(Path(sys.argv[1]))
    print("\n".join(wrong) or "every link leads somewhere")
    raise SystemExit(bool(wrong))
