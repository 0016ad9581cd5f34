"""Certificate of a released file: the entries of every one, whether a solution of a run or a method protected it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdc_problems.studies.release import _columns
from sdc_problems.studies.release.row_order import KEPT, SHUFFLED
from sdc_problems.studies.store.versions import file_digest

if TYPE_CHECKING:
    from sdc_problems.microdata import Microdata
    from sdc_problems.studies.release._columns import Columns, SingledOut
    from sdc_problems.studies.release._transaction import Places, Written
    from sdc_problems.studies.verdict.leaves import Leaves

SCHEMA = "sdc.certificate/1"


def certificate(
    about: Mapping[str, Any],
    further: Mapping[str, Any],
    *,
    written: Written,
    places: Places,
    columns: Columns,
    alone: SingledOut,
    leaves: Mapping[str, Leaves],
    measured: Mapping[str, Any],
    data: Microdata,
    source: str | None,
    file: Path | None,
    content_digest: str,
    suppressed: str,
    formula_guard: bool,
    shuffled: bool,
    secret_seed: bool,
    seed: int | None,
    versions: Mapping[str, Any],
) -> dict[str, Any]:
    """Content of a certificate; no cell of the original is in it.

    Parameters
    ----------
    about, further
        Entries of this way to release a file: what was done and promised, which comes first, and how to repeat it.
    written, places
        The file as it was read back, and where it goes.
    columns, alone, leaves
        Columns that leave, the records singled out by them, and the leaves under the released labels.
    measured
        Measures of the file.
    data, source, file, content_digest
        The original, its name, its file if there is one, and the digest of its content.
    suppressed, formula_guard, shuffled
        As the release was told.
    secret_seed, seed
        Whether who knows the seed can undo the protection: then it is not said. The seed, or None.
    versions
        Of the packages.
    """
    return {
        "schema": SCHEMA,
        **about,
        "guarantees_checked_in_the_file": [g.as_dict() for g in written.guarantees],
        "columns": _columns.payload(columns, alone, data.n_dropped),
        "leaf_counts": {name: counts.payload() for name, counts in leaves.items()},
        "measured_in_the_file": dict(measured),
        "input": {
            "source": source,
            "sha256": None if file is None else file_digest(file),
            "content_digest": content_digest,
            "records": len(data),
            "records_dropped_for_missing_values": data.n_dropped,
        },
        "output": {
            "file": places.file.name,
            "sha256": written.sha256,
            "records": len(written.text),
            "suppressed_records": "starred" if suppressed == "star" else "left out",
            "columns": list(written.text.columns),
            "identifiers_left_out": list(columns.identifiers),
            "formula_guard": formula_guard,
            "row_order": SHUFFLED if shuffled else KEPT,
        },
        **further,
        "seed": "kept with the value mapping: whoever has it can undo the protection" if secret_seed else seed,
        "versions": dict(versions),
    }
