"""Page on one protected file: method, cost, columns and risk before and after; aggregates only."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems._tables.columns import STAR
from sdc_problems._tables.columns import label as cell_label
from sdc_problems.evaluators.graph import degree_risk
from sdc_problems.microdata import Attribute, Kind, Microdata
from sdc_problems.studies.report.small_counts import LEAST, bin_bars, label_bars, nice_edges, rounded
from sdc_problems.studies.report.terminal import plain
from sdc_problems.studies.report.text import number

if TYPE_CHECKING:
    import pandas as pd

    from sdc_problems.studies.release import Protected

SIZES = ((1, 1, "alone"), (2, 4, "2 to 4 alike"), (5, 9, "5 to 9"), (10, 49, "10 to 49"), (50, None, "50 or more"))
"""Numbers of look-alike records by which the risk is shown."""

STYLE = """
:root { color-scheme: light dark; --paper: #fbfaf7; --ink: #1d2329; --muted: #59626c; --rule: #d9d6cd; --bar: #0b5f6e; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #15181b; --ink: #e9e6df; --muted: #a7aeb5; --rule: #3a4046; --bar: #6cc3d0; }
}
html { font: 16px/1.5 system-ui, "Segoe UI", Roboto, Arial, sans-serif; background: var(--paper); color: var(--ink); }
body { max-width: 66rem; margin: 0 auto; padding: 1.5rem; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; }
h2 { font-size: 1.15rem; margin-top: 2rem; border-top: 1px solid var(--rule); padding-top: 1rem; }
h3 { font-size: 1rem; margin: 1.2rem 0 0.3rem; } p, figcaption { max-width: 46rem; }
figcaption, .muted { color: var(--muted); font-size: 0.9rem; }
table { border-collapse: collapse; }
th, td { text-align: left; padding: 0.15rem 1.2rem 0.15rem 0; vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; } tr.chosen { font-weight: 600; }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 0 2rem; } figure { margin: 0; min-width: 0; }
@media (max-width: 46rem) { .pair { grid-template-columns: 1fr; } }
svg { width: 100%; height: auto; display: block; } svg text { fill: var(--ink); font-size: 12px; }
svg rect { fill: var(--bar); } svg .count { fill: var(--muted); }
@media print { html { background: none; color: #000; font-size: 11pt; } h2 { margin-top: 1rem; padding-top: .5rem; } }
"""


def file_page(data: Microdata, done: Protected) -> str:
    """Make the page of a protected file, as self-contained HTML: no script, nothing loaded from elsewhere.

    No bar stands for 1 to 4 records; if records were left out, bars are in multiples of five.

    Parameters
    ----------
    data
        The original.
    done
        Result of the protection.
    """
    name = "the protected table" if done.places is None else done.places.file.name
    body = [
        f"<h1>{safe(name)}</h1>",
        "<h2>What was done</h2>",
        *(f"<p>{safe(sentence, 1000)}</p>" for sentence in done.what_was_done),
        *_costs(done),
        "<h2>What was counted in the file</h2>",
        table(
            ("promise", "found", "promised"),
            [(safe(g.sentence, 300), number(g.found), number(g.promised)) for g in done.guarantees],
        ),
        "<h2>Risk before and after</h2>",
        *_risk(data, done),
        "<h2>What was suppressed</h2>",
        *_suppressed(data, done),
        "<h2>Columns before and after</h2>",
        *(part for name in data.quasi_identifiers for part in _column(data, data.attribute(name), done.records)),
    ]
    return whole_page(name, body)


def whole_page(title: str, body: Iterable[str]) -> str:
    """Page of safe HTML: its content security policy allows its own style, by its digest, and nothing else."""
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{safe(title)}</title><style>{STYLE}</style></head>\n<body><main>\n"
        + "\n".join(body)
        + "\n</main></body></html>\n"
    )


def safe(said: str, longest: int = 80) -> str:
    """Text that is safe between HTML tags."""
    return escape(plain(said, longest))


def table(
    head: Sequence[str], rows: Iterable[Sequence[str]], chosen: int | None = None, *, words: Sequence[int] = (0, 3)
) -> str:
    """Table of safe cells; all columns except those of words hold numbers."""

    def line(tag: str, cells: Sequence[str], mark: str = "") -> str:
        kinds = ["" if i in words else ' class="n"' for i in range(len(cells))]
        inside = "".join(f"<{tag}{kind}>{cell}</{tag}>" for kind, cell in zip(kinds, cells, strict=True))
        return f"<tr{mark}>{inside}</tr>"

    lines = [line("td", row, ' class="chosen"' if i == chosen else "") for i, row in enumerate(rows)]
    return f"<table><thead>{line('th', head)}</thead><tbody>{''.join(lines)}</tbody></table>"


def _costs(done: Protected) -> list[str]:
    """Table of the costs of all methods."""
    if done.choice is None:
        return []
    rows, price = [], done.choice.price is not None
    for candidate in done.choice.candidates:
        costs = [candidate.glm_percent, candidate.cost] if price else [candidate.glm_percent]
        lost = ["–" if candidate.done is None else f"{cost:.3g}" for cost in costs]
        k = "–" if candidate.done is None else f"{candidate.k:,}"
        rows.append((safe(candidate.method), *lost, k, safe(candidate.note, 200)))
    where = done.choice.candidates.index(done.choice.chosen)
    said = " ".join(done.choice.why()[:1])
    head = ("method", "detail lost, %", *(["with price, %"] if price else []), "k", "note")
    return [
        "<h2>What each method costs</h2>",
        f"<p>{safe(said, 300)}</p>",
        table(head, rows, where, words=(0, len(head) - 1)),
    ]


def _risk(data: Microdata, done: Protected) -> list[str]:
    """Shares of records by the number of look-alikes, before and after."""
    frame = done.records
    names = [name for name in data.quasi_identifiers if name in frame.columns]
    before = _class_sizes(data.frame()[list(data.quasi_identifiers)])
    after = _class_sizes(frame[names])
    both = [
        _figure(when, _sizes(sizes, len(after) < len(before)), f"records of {when}")
        for when, sizes in (("the original", before), ("the file", after))
    ]
    said = [
        f"Who knows {', '.join(names)} of a person finds the right record in {100 * _mean(sizes):.3g} % of the cases in"
        f" {when}."
        for when, sizes in (("the original", before), ("the file", after))
    ] + _by_degree(done)
    return [f"<p>{safe(sentence, 500)}</p>" for sentence in said] + [f'<div class="pair">{"".join(both)}</div>']


def _by_degree(done: Protected) -> list[str]:
    """Risk if the number of links is also known, before and after; super-nodes do not show a person's links."""
    if done.links is None or done.links.form != "nodes" or done.certificate is None:
        return []
    graph = done.links.graph
    before = degree_risk(graph.data.codes(done.links.columns.protected), graph.edges, directed=graph.directed)
    after = done.certificate["graph"]["by_attributes_and_degree"]
    return [
        f"Who also knows how many links the person has finds the right one in {100 * share:.3g} % of the cases in"
        f" {when}."
        for when, share in (("the original", before), ("the file", after))
    ]


def _class_sizes(frame: pd.DataFrame) -> NDArray[np.int64]:
    """Number of look-alikes of each record."""
    if not len(frame):
        return np.zeros(0, dtype=np.int64)
    codes = np.column_stack([frame[name].astype(str).factorize()[0] for name in frame.columns])
    _, row, counts = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    sizes: NDArray[np.int64] = counts[row.ravel()]
    return sizes


def _mean(sizes: NDArray[np.int64]) -> float:
    return float((1 / sizes).mean()) if len(sizes) else 0.0


def _sizes(sizes: NDArray[np.int64], coarse: bool) -> dict[str, Any]:
    counts = [int(((sizes >= low) & (sizes <= (high or np.inf))).sum()) for low, high, _ in SIZES]
    bars = label_bars([text for _, _, text in SIZES], counts)
    return rounded(bars) if coarse else bars


def _suppressed(data: Microdata, done: Protected) -> list[str]:
    """Records left out, and starred cells by column."""
    frame = done.records
    out = len(data) - len(frame)
    rows = [
        (safe(name), _few(int((frame[name].astype(str) == STAR).sum())), f"{len(frame):,}")
        for name in data.quasi_identifiers
        if name in frame.columns
    ]
    said = f"{_few(out)} of {len(data):,} records were left out."
    return [f"<p>{said}</p>", table(("column", "cells that show a star", "of"), rows)]


def _few(count: int) -> str:
    return f"fewer than {LEAST}" if 0 < count < LEAST else f"{count:,}"


def _column(data: Microdata, attribute: Attribute, frame: pd.DataFrame) -> list[str]:
    """Bars of a column in the original and in the file."""
    codes = data.codes(attribute.name)[:, 0]
    edges = None
    if attribute.kind is Kind.NUMERIC:
        values = data.values(attribute.name)[:, 0]
        edges = nice_edges(values)
        before = bin_bars(values, edges)
    else:
        before = _labels(attribute.labels, codes, codes, attribute.kind is Kind.NOMINAL)
    after = _after(attribute, frame[attribute.name], edges)
    whole = len(frame) == len(data)
    pair = [
        _figure("before", before, attribute.name),
        _figure("after", after if whole else rounded(after), attribute.name),
    ]
    return [f"<h3>{safe(attribute.name)}</h3>", f'<div class="pair">{"".join(pair)}</div>']


def _after(attribute: Attribute, column: pd.Series[Any], edges: NDArray[np.float64] | None) -> dict[str, Any]:
    import pandas as pd

    if edges is not None and pd.api.types.is_numeric_dtype(column) and column.notna().all():
        return bin_bars(column.to_numpy(dtype=np.float64), edges)
    codes, values = pd.factorize(column, use_na_sentinel=False)
    texts = [cell_label(value) for value in values]
    place = {text: i for i, text in enumerate(attribute.labels)}
    order = np.array([_first(text, place) for text in texts], dtype=np.float64)
    return _labels(texts, codes, order[codes], attribute.kind is Kind.NOMINAL)


def _first(text: str, place: dict[str, int]) -> float:
    """Position of a label among the values: of the first number in it, or of the value itself."""
    if text in place:
        return place[text]
    for part in (text.split("-")[0], text.strip("[]()").split(",")[0], text.split(" ")[0]):
        if part in place:
            return place[part]
    return np.inf


def _labels(texts: Sequence[str], codes: NDArray[Any], where: NDArray[Any], nominal: bool) -> dict[str, Any]:
    """Bars of labels: nominal ones by their counts, others in order."""
    counts = np.bincount(codes, minlength=len(texts))
    if nominal:
        order = np.argsort(-counts, kind="stable")
    else:
        first = np.full(len(texts), np.inf)
        np.minimum.at(first, codes, where.astype(np.float64))
        order = np.argsort(first, kind="stable")
    return label_bars([texts[int(i)] for i in order], counts[order])


def _figure(title: str, bars: dict[str, Any], about: str) -> str:
    """Horizontal bars as a drawing that contains its numbers."""
    if bars["kind"] == "bins":
        ends = [f"{edge:g}" for edge in bars["edges"]]
        labels = ["all"] if not ends else [f"below {ends[0]}", *(f"from {end}" for end in ends)]
    else:
        labels = list(bars["labels"])
    drawn = [(text, count) for text, count in zip(labels, bars["counts"], strict=True) if count is not None]
    most = max([count for _, count in drawn], default=1) or 1
    rows = []
    for i, (text, count) in enumerate(drawn):
        y, width = 20 * i, 210 * count / most
        rows.append(
            f'<text x="168" y="{y + 14}" text-anchor="end">{safe(text, 24)}</text>'
            f'<rect x="176" y="{y + 3}" width="{width:.1f}" height="14" rx="2"/>'
            f'<text class="count" x="{182 + width:.1f}" y="{y + 14}">{count:,}</text>'
        )
    if bars["rest"]:  # not as a bar, which would dwarf the others
        drawn.append(("all others", bars["rest"]))
        y = 20 * len(rows) + 14
        rows.append(
            f'<text x="168" y="{y}" text-anchor="end">all others</text><text class="count" x="182" y="{y}">'
            f"{bars['rest']:,}</text>"
        )
    height = max(20 * len(drawn), 20)
    said = f"{about}, {title}: " + "; ".join(f"{text} {count:,}" for text, count in drawn)
    return (
        f'<figure><figcaption>{safe(title)}</figcaption><svg viewBox="0 0 470 {height}" role="img"'
        f' aria-label="{safe(said, 2000)}">{"".join(rows)}</svg></figure>'
    )
