"""Compiled kernels: numba with this package's settings, typed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])

Progress = Callable[[int, int], object]
"""Called as ``progress(done, total)`` between the slices of a long computation."""

SLICE = 100_000_000
"""Elementary steps (a few per nanosecond at best) after which a kernel returns to Python, where Ctrl-C is heard."""


def kernel(*, parallel: bool = False) -> Callable[[F], F]:
    """Compile a hot loop: cached on disk, without the GIL, and never ``fastmath`` (ties and own distances decide).

    A kernel that calls a kernel of another file is not recompiled when that other file changes: keep helpers in
    the file that uses them, unless they never change (``random_kernels``: every result would).
    """

    def compile_(function: F) -> F:
        return cast(F, njit(cache=True, nogil=True, parallel=parallel)(function))

    return compile_
