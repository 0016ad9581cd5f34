"""Views for notebooks: short tables and texts in escaped HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

MOST_ROWS = 20


def text_view(text: str) -> str:
    """Plain text, or its beginning if it is long.

    Examples
    --------
    >>> text_view("k < 5")
    '<pre>k &lt; 5</pre>'
    """
    lines = text.splitlines()
    more = [f"… {len(lines) - MOST_ROWS} more lines"] if len(lines) > MOST_ROWS else []
    return f"<pre>{escape(chr(10).join([*lines[:MOST_ROWS], *more]))}</pre>"


def table_view(
    caption: str, head: Sequence[object], rows: Sequence[Sequence[object]], *, notes: Iterable[str] = ()
) -> str:
    """Table with a caption above and notes below, or its beginning if it is long.

    Examples
    --------
    >>> table_view("Two", ["a"], [[1], [2]])
    '<table><caption>Two</caption><tr><th>a</th></tr><tr><td>1</td></tr><tr><td>2</td></tr></table>'
    """
    said = [*([f"… {len(rows) - MOST_ROWS:,} more rows"] if len(rows) > MOST_ROWS else []), *notes]
    lines = [_row("th", head), *(_row("td", row) for row in rows[:MOST_ROWS])]
    below = "".join(f"<p>{escape(note)}</p>" for note in said)
    return f"<table><caption>{escape(caption)}</caption>{''.join(lines)}</table>{below}"


def _row(tag: str, cells: Iterable[object]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(_shown(cell))}</{tag}>' for cell in cells)}</tr>"


def _shown(cell: object) -> str:
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)


class TextView:
    """Object that notebooks show as its text."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return text_view(str(self))
