"""Compiled kernels: numba with this package's settings, typed; numba is imported when the first one is called."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])

Progress = Callable[[int, int], object]
"""Called as ``progress(done, total)`` between the slices of a long computation."""

SLICE = 100_000_000
"""Elementary steps (a few per nanosecond at best) after which a kernel returns to Python, where Ctrl-C is heard."""


on_compile: Callable[[], object] | None = None
"""Called once in a process, before the first kernel is compiled rather than loaded."""


def kernel(*, parallel: bool = False) -> Callable[[F], F]:
    """Compile a hot loop: cached on disk, without the GIL, and never ``fastmath`` (ties and own distances decide).

    The first call imports numba and compiles what is called, or loads it from the cache.
    """

    def compile_(function: F) -> F:
        return cast(F, Kernel(function, parallel=parallel))

    return compile_


class Kernel:
    """A function that is compiled when it is first called; ``py_func`` is the function as it is written."""

    def __init__(self, function: Callable[..., Any], *, parallel: bool) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self.parallel = parallel

    def __call__(self, *args: Any) -> Any:
        return self.outer(*args)

    def __reduce__(self) -> str:
        return self.py_func.__qualname__

    @functools.cached_property
    def outer(self) -> Any:
        """Dispatcher that Python calls."""
        from sdc_problems._kernel._compiler import dispatcher

        return dispatcher(self, inner=False)

    @functools.cached_property
    def inner(self) -> Any:
        """Dispatcher for other kernels: it cannot be called from Python, and takes a third less time to compile."""
        from sdc_problems._kernel._compiler import dispatcher

        return dispatcher(self, inner=True)
