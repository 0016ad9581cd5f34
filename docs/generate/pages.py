"""Writer of generated pages: a file is touched only if its text changed, so that a second build is quick."""

from __future__ import annotations

from pathlib import Path

from generate import instances, measures, methods, reference, tasks

MAKERS = (reference.pages, tasks.pages, measures.pages, instances.pages)


def write(folder: Path) -> None:
    """Write all pages, and remove those that nothing makes any more."""
    wanted: dict[Path, str] = {}
    made = [maker() for maker in MAKERS]
    (folder / "methods").mkdir(parents=True, exist_ok=True)
    made.append(methods.pages(folder))
    for texts in made:
        wanted.update({folder / name: text for name, text in texts.items()})
    for path, text in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for path in folder.rglob("*"):
        if path.is_file() and path.suffix in (".md", ".rst") and path not in wanted:
            path.unlink()
