"""Text of TOML files: keys and values."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np


def toml_key(name: str) -> str:
    """Key in the syntax of TOML.

    Examples
    --------
    >>> toml_key("age"), toml_key("zip code")
    ('age', '"zip code"')
    """
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml_value(name)


def toml_value(value: Any) -> str:
    """Value in the syntax of TOML, on one line.

    Examples
    --------
    >>> print(toml_value({"levels": [1, 2.5, True, "a b"]}))
    {"levels" = [1, 2.5, true, "a b"]}
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{toml_value(str(name))} = {toml_value(each)}" for name, each in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    text = json.dumps(value.item() if isinstance(value, np.generic) else value, ensure_ascii=False)
    return text.replace("\x7f", "\\u007f")  # which JSON does not escape
