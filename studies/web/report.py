"""Report of a run: one HTML file with its front, its pictures and the page that shows them; no server, no network."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems.errors import SDCError, SDCFailure
from sdc_problems.studies.store.reader import Run
from sdc_problems.studies.store.tables import Solutions
from sdc_problems.studies.web.payload import SHORTLIST, Source, overview, read_shortlist
from sdc_problems.studies.web.pictures import described
from sdc_problems.studies.web.repeated import without_repeats

PAGE = Path(__file__).parent / "dist" / "page.html"
DATA_SLOT = "<!-- data -->"
POLICY_SLOT = "<!-- policy -->"
MOST_BRIEFS = 400
DETAILS, POINTS = 20, 1_500  # by default, so that the report of a large run stays small enough to be sent
_CLOSED = "The data of this run were not at hand when this report was made: pictures and distributions are missing."


def page() -> str:
    """The built page."""
    try:
        return PAGE.read_text(encoding="utf-8")
    except OSError as error:
        raise SDCFailure(
            f"the built page is missing ({error.strerror}): run `npm ci && npm run build` in studies/web"
        ) from None


def policy(html: str, *, connect: str = "'none'") -> str:
    """Content security policy of the page: only its own script and style, by their digests."""
    script, style = (_digests(html, tag) for tag in ("script", "style"))
    return (
        f"default-src 'none'; script-src {script}; style-src {style}; img-src blob: data:; connect-src {connect}; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _digests(html: str, tag: str) -> str:
    blocks = re.findall(rf"<{tag}>(.*?)</{tag}>", html, flags=re.DOTALL)
    found = [base64.b64encode(hashlib.sha256(block.encode()).digest()).decode() for block in blocks]
    return " ".join(f"'sha256-{digest}'" for digest in found)


def escaped_json(document: Any) -> str:
    """JSON that may be put into a script element: no text in it can end the element or the line.

    Examples
    --------
    >>> escaped_json("</script><!--")
    '"\\\\u003c/script\\\\u003e\\\\u003c!--"'
    """
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    # A lone surrogate (from a damaged file) cannot be encoded in UTF-8.
    return text.encode("utf-8", "replace").decode("utf-8")


def render(document: Any) -> str:
    """The page with a document in it."""
    html = page()
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy(html)}">'
    if "details" in document:
        details, parts = without_repeats(document["details"])
        document = {**document, "details": details, "parts": parts}
    data = f'<script type="application/json" id="data">{escaped_json(document)}</script>'
    before, _, after = html.partition(POLICY_SLOT)
    middle, _, end = after.partition(DATA_SLOT)
    return f"{before}{meta}{middle}{data}{end}"


def report(
    sources: Sequence[Source],
    *,
    details: int = DETAILS,
    solutions: Sequence[str] = (),
    points: int = POINTS,
    progress: Callable[[int, int], object] | None = None,
) -> str:
    """Make the report of one run, or of several with the same objectives.

    Parameters
    ----------
    sources
        The runs.
    details
        Number of solutions of each front that get a page with pictures, spread evenly along the front. Baselines,
        shortlisted solutions and those of ``solutions`` are added.
    solutions
        Ids to include.
    points
        Most dominated points on the map.
    progress
        Called as ``progress(done, all)``.
    """
    document = overview(sources, points=points)
    chosen = [_chosen(source, details, solutions) for source in sources]
    total = sum(map(len, chosen))
    pages: dict[str, Any] = {}
    briefs: dict[str, list[int]] = {}
    sentences: dict[str, int] = {}  # most occur in many solutions, so each is written once
    for number, (source, idents) in enumerate(zip(sources, chosen, strict=True)):
        for ident in idents:
            found = source.detail(ident)
            if source.problem is None:
                found["closed"] = _CLOSED  # the reason may name places on this machine
            pages[f"{number}:{ident}"] = found
            if progress is not None:
                progress(len(pages), total)
        for ident, lines in _briefs(source, set(idents)).items():
            briefs[f"{number}:{ident}"] = [sentences.setdefault(line, len(sentences)) for line in lines]
    for run in document["runs"]:
        run["closed"] = _CLOSED if run["closed"] else ""
    return render({**document, "details": pages, "briefs": briefs, "sentences": list(sentences)})


def _chosen(source: Source, details: int, solutions: Sequence[str]) -> list[str]:
    front = source.run.front()
    spread = [front.ids[i] for i in spread_evenly(front, details)]
    listed = [entry["id"] for entry in read_shortlist(source.run) if _known(source.run, entry["id"])]
    wanted = [ident for ident in solutions if _known(source.run, ident)]
    if solutions and not wanted:
        raise SDCError(f"{source.run.name!r} holds none of the solutions {', '.join(solutions)}")
    return list(dict.fromkeys([*wanted, *listed, *source.run.baselines(genomes=False).ids, *spread]))


def _known(run: Run, ident: str) -> bool:
    try:
        run.solution(ident)
    except SDCError:
        return False
    return True


def spread_evenly(front: Solutions, most: int) -> NDArray[np.int64]:
    """Pick members of a front far from each other: the ends first, then always the one farthest from those picked."""
    n = len(front)
    if n <= most:
        return np.arange(n)
    width = front.F.max(axis=0) - front.F.min(axis=0)
    scaled = (front.F - front.F.min(axis=0)) / np.where(width > 0, width, 1.0)
    picked = list(dict.fromkeys(int(i) for i in scaled.argmin(axis=0)))[:most]
    distance = np.full(n, np.inf)
    for i in picked:
        distance = np.minimum(distance, np.linalg.norm(scaled - scaled[i], axis=1))
    while len(picked) < most:
        i = int(distance.argmax())
        picked.append(i)
        distance = np.minimum(distance, np.linalg.norm(scaled - scaled[i], axis=1))
    return np.sort(np.array(picked, dtype=np.int64))


def _briefs(source: Source, known: set[str]) -> dict[str, list[str]]:
    """Sentences on the rest of the front, for tooltips and the card."""
    if source.problem is None:
        return {}
    front = source.run.front(genomes=True)
    found: dict[str, list[str]] = {}
    if front.X is None:  # nothing is measured yet
        return found
    for ident, x in list(zip(front.ids, front.X, strict=True))[:MOST_BRIEFS]:
        if ident not in known:
            found[ident] = [s[:300] for s in described(source.problem, x)][:14]
    return found


__all__ = ["SHORTLIST", "page", "policy", "render", "report"]
