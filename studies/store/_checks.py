"""Checks of the contents of a run's database, which may be damaged or come from a stranger.

The digests of the generations show whether the stored results are those that were computed. Before that, each value
must have the right type, so that a damaged folder gives an error message and not a failure elsewhere.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sdc_problems.errors import SDCError

_CLOCK = "BETWEEN 0 AND 1e12"  # seconds; excludes infinity, and NaN is stored as NULL

# For each column, the type that SQLite has stored, and further conditions.
COLUMNS: dict[str, dict[str, tuple[str, str]]] = {
    "meta": {"key": ("text", ""), "value": ("text", "")},
    "seeds": {
        "seed": ("integer", ">= 0"),
        "position": ("integer", ">= 0"),
        "status": ("text", "IN ('waiting', 'running', 'finished')"),
        "reason": ("text", ""),
    },
    "generations": {
        "seed": ("integer", ">= 0"),
        "generation": ("integer", ">= 1"),
        "evaluated": ("integer", ">= 0"),
        "solutions": ("integer", ">= 0"),
        "rng": ("text", ""),
        "arrays": ("blob", ""),
        "chain": ("text", ""),
        "seconds": ("real", _CLOCK),
        "measuring": ("real", _CLOCK),
        "finished": ("text", ""),
    },
    "states": {
        "seed": ("integer", ">= 0"),
        "generation": ("integer", ">= 1"),
        "arrays": ("blob", ""),
        "digest": ("text", ""),
    },
    "baselines": {"name": ("text", ""), "arrays": ("blob", "")},
    "sessions": {
        "session": ("integer", ""),
        "token": ("text", ""),
        "started": ("text", ""),
        "versions": ("text", ""),
        "workers": ("text", ""),
    },
}


def wrong_column(db: sqlite3.Connection) -> str | None:
    """Name of the first column with an invalid value; None if all are valid."""
    for table, columns in COLUMNS.items():
        wrong = [
            f"CASE WHEN typeof({name}) <> '{kind}'{f' OR NOT {name} {more}' if more else ''} THEN '{name}' END"
            for name, (kind, more) in columns.items()
        ]
        (first,) = db.execute(f"SELECT MAX(COALESCE({', '.join(wrong)})) FROM {table}").fetchone()
        if first is not None:
            return f"{table}.{first}"
    return None


def check_facts(meta: Mapping[str, Any]) -> None:
    """Refuse facts of a run (``meta``) if one of them is invalid."""
    for key, kind in _FACTS.items():
        if not kind(meta.get(key)):
            raise SDCError(f"its {key!r} is not valid")


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _text(value: Any) -> bool:
    return isinstance(value, str) and "\0" not in value


def _texts(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())


def _numbers_or_none(value: Any) -> bool:
    return isinstance(value, list) and all(entry is None or _number(entry) for entry in value)


def _study(value: Any) -> bool:
    if not (isinstance(value, dict) and _text(value.get("title", ""))):
        return False
    tables = ("data", "problem", "algorithm", "operators", "archive", "termination", "require", "run")
    if not all(isinstance(value.get(key, {}), dict) for key in tables):
        return False
    bounds = value.get("require", {}).values()
    return (
        _text(value.get("problem", {}).get("task"))
        and _text(value.get("algorithm", {}).get("name"))
        and all(isinstance(bound, dict) and all(map(_number, bound.values())) for bound in bounds)
    )


def _data(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and _text(value.get("digest"))
        and _count(value.get("records"))
        and _count(value.get("columns"))
        and _count(value.get("dropped", 0))
        and all(key in value and (value[key] is None or _text(value[key])) for key in ("file", "sha256"))
    )


def _objective(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and all(_text(value.get(key)) for key in ("name", "label", "unit"))
        and value.get("sense") in ("min", "max")
        and _numbers_or_none(value.get("bounds"))
        and len(value["bounds"]) == 2
    )


def _problem(value: Any) -> bool:
    if not (isinstance(value, dict) and _count(value.get("n_var")) and _text(value.get("dtype"))):
        return False
    try:
        known = np.dtype(value["dtype"]).kind in "biuf"
    except (TypeError, ValueError, SyntaxError):
        return False
    objectives, original = value.get("objectives"), value.get("original")
    if not (known and isinstance(objectives, list) and objectives and all(map(_objective, objectives))):
        return False
    return original is None or (_numbers_or_none(original) and len(original) == len(objectives))


_FACTS: dict[str, Callable[[Any], bool]] = {
    "created": _text,
    "versions": _texts,
    "study": _study,
    "given": lambda value: isinstance(value, dict),
    "folder": _text,
    "data": _data,
    "problem": _problem,
}
