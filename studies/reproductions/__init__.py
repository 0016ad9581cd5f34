"""Reproductions of papers: one module per paper, each with a function ``reproduce(*, quick, say) -> Report``."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Protocol

from sdc_problems.errors import SDCError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable

    from sdc_problems.studies.reproductions.report import Report

# Name for `sdc reproduce NAME` (the module's name): one line for --help.
REPRODUCTIONS: dict[str, str] = {
    "evolution": "Marés (2013), ch. 3: protected files that evolve cell by cell.",
    "gomm": "Balasch-Masoliver (2010): attribute groups for microaggregation by GOMM and D-GOMM.",
    "microaggregation": "Solanas et al. (2006), Martínez-Ballesté et al. (2007): genetic microaggregation.",
    "pbg": "Dewri et al. (2010): property based generalizations of the Adult file.",
    "pram": "Marés (2013), ch. 4: transition matrices for PRAM, and equations that make them.",
    "precluster": "Marés (2013), ch. 5: clusters of records, each protected on its own.",
    "social": "Marés (2013), ch. 6: social graphs whose attributes are k-anonymous and whose links stay.",
}


class Reproduction(Protocol):
    """Function ``reproduce`` of a reproduction module."""

    def __call__(self, *, quick: bool, say: Callable[[str], None]) -> Report:
        """Compute all tables and pictures through the public API.

        Parameters
        ----------
        quick
            Fewer seeds or smaller data, so that it takes seconds instead of minutes; the report says what was left out.
        say
            Called with one line of progress at a time.
        """
        ...


def find(name: str) -> Reproduction:
    """Import the reproduction with this name."""
    if name not in REPRODUCTIONS:
        known = ", ".join(REPRODUCTIONS)
        raise SDCError(f"there is no reproduction {name!r}{did_you_mean(name, REPRODUCTIONS)} (known: {known})")
    function: Reproduction = importlib.import_module(f"sdc_problems.studies.reproductions.{name}").reproduce
    return function
