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
    *,
    parallel: bool = False,
    cost: Cost | None = None,
    plain: Callable[..., Any] | None = None,
    compiling: float | None = None,
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
    compiling
        Seconds that compiling takes, with what is called, where that is more than one.
    """

    def compile_(function: F) -> F:
        if cost is None:
            return cast(F, Kernel(function, parallel=parallel, compiling=compiling))
        return cast(F, Tiered(function, parallel=parallel, compiling=compiling, cost=cost, plain=plain))

    return compile_


class Kernel:
    """A function that is compiled when it is first called; ``py_func`` is the function as it is written.

    Other code may do small work in its place: ``patience`` holds the seconds of that in one process, where the compiled
    code is there to be loaded, and where it must be made first. Kernels that take long to compile have an account of
    their own. All ways give the same bytes, so nobody can tell which one was taken.
    """

    patience = (0.4, 1.0)
    spent = 0.0

    def __init__(self, function: Callable[..., Any], *, parallel: bool, compiling: float | None = None) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self.parallel = parallel
        self._compiling = compiling or 1.0
        self._account: Any = Kernel
        if compiling is not None:
            self._account, self.spent = self, 0.0

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

    def spares(self, seconds: float) -> bool:
        """Whether this much other work in its place takes no longer than to load or compile it."""
        if "outer" in self.__dict__:
            return False
        after, (loading, compiling) = self._account.spent + seconds, self.patience
        return after <= loading or (after <= compiling * self._compiling and not self._is_compiled)

    def spend(self, seconds: float) -> None:
        """Count work that was done in its place."""
        self._account.spent += seconds

    @functools.cached_property
    def _is_compiled(self) -> bool:
        from sdc_problems._kernel._cache import is_compiled

        return is_compiled(self.py_func)


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
    """A kernel whose small work is done in plain form, until that takes as long as to load or compile it."""

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        parallel: bool,
        cost: Cost,
        plain: Callable[..., Any] | None,
        compiling: float | None = None,
    ) -> None:
        super().__init__(function, parallel=parallel, compiling=compiling)
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
        self.spend(time.thread_time() - begin)
        return found

    def is_plain_for(self, *args: Any) -> bool:
        """Whether a call with these arguments is left to the plain form."""
        return "outer" not in self.__dict__ and self.spares(self._cost(*args))
