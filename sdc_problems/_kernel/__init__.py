"""Compiled kernels: numba with this package's settings, typed; numba is imported when the first one is called."""

from __future__ import annotations

import functools
import time
import types
from collections.abc import Callable
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])

Progress = Callable[[int, int], object]
"""Called as ``progress(done, total)`` between the slices of a long computation."""

SLICE = 100_000_000
"""Elementary steps (a few per nanosecond at best) after which a kernel returns to Python, where Ctrl-C is heard."""


on_compile: Callable[[], object] | None = None
"""Called once in a process, before the first kernel is compiled rather than loaded."""


Cost = Callable[..., float]
"""Seconds that the plain form of a kernel takes for its arguments, roughly."""


def kernel(
    *, parallel: bool = False, cost: Cost | None = None, plain: Callable[..., Any] | None = None
) -> Callable[[F], F]:
    """Compile a hot loop: cached on disk, without the GIL, and never ``fastmath`` (ties and own distances decide).

    The first call imports numba and compiles what is called, or loads it from the cache.

    Parameters
    ----------
    parallel
        Whether loops over ``prange`` run in threads.
    cost
        Given where small work need not wait for that: estimates the seconds that the plain form takes.
    plain
        The plain form, which gives the same bytes; the function itself, interpreted, if not given.
    """

    def compile_(function: F) -> F:
        if cost is None:
            return cast(F, Kernel(function, parallel=parallel))
        return cast(F, Tiered(function, parallel=parallel, cost=cost, plain=plain))

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


def _interpreted(function: Callable[..., Any], made: dict[Any, Any]) -> Callable[..., Any]:
    """Copy of a kernel's function that calls the functions of other kernels, not their compiled code."""
    if function not in made:
        names = dict(function.__globals__)
        made[function] = types.FunctionType(function.__code__, names, function.__name__, function.__defaults__)
        for name in function.__code__.co_names:
            if isinstance(names.get(name), Kernel):
                names[name] = _interpreted(names[name].py_func, made)
    copy: Callable[..., Any] = made[function]
    return copy


class Tiered(Kernel):
    """A kernel whose small work is done in plain form, until that has taken about as long as compiled code would take.

    ``patience`` holds the seconds of plain work in one process: where the compiled code is there to be loaded, and
    where it must be made first. Both forms give the same bytes, so nobody can tell which one was used.
    """

    patience = (0.4, 1.0)
    spent = 0.0

    def __init__(
        self, function: Callable[..., Any], *, parallel: bool, cost: Cost, plain: Callable[..., Any] | None
    ) -> None:
        super().__init__(function, parallel=parallel)
        self._plain = plain
        self._cost = cost

    @functools.cached_property
    def plain(self) -> Callable[..., Any]:
        """Form that is not compiled."""
        return self._plain or _interpreted(self.py_func, {})

    def __call__(self, *args: Any) -> Any:
        if not self.is_plain_for(*args):
            return self.outer(*args)
        begin = time.thread_time()
        found = self.plain(*args)
        Tiered.spent += time.thread_time() - begin
        return found

    def is_plain_for(self, *args: Any) -> bool:
        """Whether a call with these arguments is left to the plain form."""
        if "outer" in self.__dict__:
            return False
        after = Tiered.spent + self._cost(*args)
        return after <= self.patience[0] or (after <= self.patience[1] and not self._is_compiled)

    @functools.cached_property
    def _is_compiled(self) -> bool:
        from sdc_problems._kernel._cache import is_compiled

        return is_compiled(self.py_func)
