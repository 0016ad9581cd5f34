"""Sections of a study as pydantic models whose errors are sentences with the place and the nearest known key."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from sdc_problems.errors import SDCError, did_you_mean

FORMERLY = {
    "attributes": "columns",
    "crossover_probability": "crossover_prob",
    "crossover_rate": "crossover_prob",
    "mutation_probability": "mutation_prob",
    "mutation_rate": "mutation_prob",
    "rate": "prob_var",
}
"""Earlier names of options, with the current ones."""

LONGEST = 60  # most characters of a name or value that a message quotes

Model = TypeVar("Model", bound="Section")


class Section(BaseModel):
    """A table of a study file: unknown keys are refused, and numbers in quotes are not numbers."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def validated(model: type[Model], values: Mapping[str, Any], place: str) -> Model:
    """Check a table; the SDCError lists every error with its place.

    Examples
    --------
    >>> class Run(Section):
    ...     workers: int = 1
    >>> validated(Run, {"worker": 2}, "run")
    Traceback (most recent call last):
        ...
    sdc_problems.errors.SDCError: [run] has no key 'worker'; did you mean 'workers'? (known: workers)
    """
    try:
        return model.model_validate(dict(values))
    except ValidationError as error:
        raise SDCError("; ".join(_sentence(model, problem, place) for problem in error.errors())) from None


def shown(value: object) -> str:
    r"""A value from a file in the form that a message may show: short, on one line, without control characters.

    Examples
    --------
    >>> print(shown("two\nlines"), shown(3), len(shown("x" * 1000)))
    'two\nlines' 3 62
    """
    text = value if isinstance(value, str) else repr(value)
    safe = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    if len(safe) > LONGEST:
        safe = safe[: LONGEST - 1] + "…"
    return f"'{safe}'" if isinstance(value, str) else safe


def _sentence(model: type[BaseModel], problem: Any, place: str) -> str:
    path = [*([place] if place else []), *(str(step) for step in problem["loc"])]
    if problem["type"] == "extra_forbidden":
        owner = _owner(model, list(problem["loc"][:-1]))
        known = _keys(owner) if owner is not None else []
        table = f"[{_dotted(path[:-1])}]" if len(path) > 1 else "the study"
        listed = f" (known: {', '.join(known)})" if known else ""
        if (new := FORMERLY.get(path[-1])) in known:
            return f"{_dotted(path)} is now called {new!r}"
        return f"{table} has no key {shown(path[-1])}{did_you_mean(path[-1], known)}{listed}"
    where = _dotted(path)
    if problem["type"] == "missing":
        return f"{where} is missing"
    message = re.sub(r"^(Value error|Assertion failed), ", "", problem["msg"])
    if problem["type"] in ("value_error", "assertion_error"):
        return f"{where}: {message}"
    return f"{where}: {message[0].lower()}{message[1:]}, not {shown(problem['input'])}"


def _dotted(path: list[str]) -> str:
    return ".".join(shown(step)[1:-1] for step in path)


def _owner(model: type[BaseModel], path: list[Any]) -> type[BaseModel] | None:
    """Model to which a nested key belongs, found through dictionaries and optional sections."""
    current: Any = model
    for step in path:
        if not (isinstance(current, type) and issubclass(current, BaseModel)):
            current = _inside(current)
            continue
        field = current.model_fields.get(str(step))
        if field is None:
            return None
        current = field.annotation
    current = current if isinstance(current, type) else _inside(current)
    return current if isinstance(current, type) and issubclass(current, BaseModel) else None


def _inside(annotation: Any) -> Any:
    for argument in getattr(annotation, "__args__", ()):
        if isinstance(argument, type) and issubclass(argument, BaseModel):
            return argument
    return None


def _keys(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]
