"""Location of compiled code, found without loading numba."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sdc_problems._kernel import Kernel


def cache_folder() -> Path:
    """Folder of this user's compiled code, shared by all environments; it contains no data."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "sdc-problems"


def digest(function: Callable[..., Any]) -> str:
    """Digest of the file of a function and, recursively, of the files whose kernels it imports."""
    files: dict[str, bytes] = {}
    waiting = [function]
    while waiting:
        one = waiting.pop()
        if one.__module__ not in files:
            files[one.__module__] = Path(one.__code__.co_filename).read_bytes()
            waiting += [value.py_func for value in one.__globals__.values() if isinstance(value, Kernel)]
    whole = hashlib.sha256()
    for name in sorted(files):
        whole.update(name.encode() + hashlib.sha256(files[name]).digest())
    return whole.hexdigest()


def subfolder(function: Callable[..., Any], stamp: str) -> str:
    """Name of the folder for the code of a function's file, in the state with this digest."""
    return f"{function.__module__}-{stamp[:16]}"


def is_compiled(function: Callable[..., Any]) -> bool:
    """Whether a function's compiled code is probably in the cache."""
    name = f"{Path(function.__code__.co_filename).stem}.{function.__qualname__}-*.nbi"
    own = os.environ.get("NUMBA_CACHE_DIR")
    try:
        if own:
            return any(Path(own).glob(f"*/{name}"))
        return any(cache_folder().glob(f"numba-*/{subfolder(function, digest(function))}/{name}"))
    except (OSError, RuntimeError):
        return False
