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
"""Elementary steps (a few per nanosecond at best) after which a kernel returns to Python, which then notices Ctrl-C."""


on_compile: Callable[[], object] | None = None
"""Called once per process, before the first kernel that is compiled rather than loaded."""


Cost = Callable[..., float]
"""Seconds that the plain form of a kernel takes for its arguments, approximately."""


def kernel(
    *,
    parallel: bool = False,
    allocates: bool = True,
    cost: Cost | None = None,
    plain: Callable[..., Any] | None = None,
    compiling: float | None = None,
) -> Callable[[F], F]:
    """Compile a hot loop: cached on disk, without the GIL, and never ``fastmath`` (ties and own distances decide).

    The first call imports numba, and compiles the function or loads it from the cache.

    Parameters
    ----------
    parallel
        Whether loops over ``prange`` run in threads.
    allocates
        Whether the function makes arrays. Otherwise references to arrays need not be counted, because the caller holds
        them all, and the function compiles in a tenth less time.
    cost
        Estimates the seconds that the plain form takes; given if small work need not wait for compilation.
    plain
        The plain form, which gives the same bytes; by default the function itself, interpreted.
    compiling
        Seconds that compiling takes, including the functions that are called, if more than one.
    """

    def compile_(function: F) -> F:
        if cost is None:
            return cast(F, Kernel(function, parallel=parallel, allocates=allocates, compiling=compiling))
        made = Tiered(function, parallel=parallel, allocates=allocates, compiling=compiling, cost=cost, plain=plain)
        return cast(F, made)

    return compile_


class Kernel:
    """A function that is compiled when it is first called; ``py_func`` is the function as written.

    Small work may be done by other code in its place. ``patience`` holds the seconds allowed for this in one process:
    if the compiled code is in the cache, and if it must be compiled first. Kernels that take long to compile have a
    separate account. All ways give the same bytes.
    """

    patience = (0.4, 1.0)
    spent = 0.0

    def __init__(
        self, function: Callable[..., Any], *, parallel: bool, allocates: bool = True, compiling: float | None = None
    ) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self.parallel = parallel
        self.allocates = allocates
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
        """Dispatcher for other kernels: it cannot be called from Python, and compiles in a third less time."""
        from sdc_problems._kernel._compiler import dispatcher

        return dispatcher(self, inner=True)

    def spares(self, seconds: float) -> bool:
        """Whether this many seconds of other work in its place take no longer than loading or compiling it."""
        if "outer" in self.__dict__:
            return False
        after, (loading, compiling) = self._account.spent + seconds, self.patience
        return after <= loading or (after <= compiling * self._compiling and not self._is_compiled)

    def spend(self, seconds: float) -> None:
        """Count seconds of work that was done in its place."""
        self._account.spent += seconds

    @functools.cached_property
    def _is_compiled(self) -> bool:
        from sdc_problems._kernel._cache import is_compiled

        return is_compiled(self.py_func)


def _interpreted(function: Callable[..., Any], made: dict[Any, Any]) -> Callable[..., Any]:
    """Copy of a kernel's function that calls the plain functions of other kernels instead of their compiled code."""
    if function not in made:
        names = dict(function.__globals__)
        made[function] = types.FunctionType(function.__code__, names, function.__name__, function.__defaults__)
        for name in function.__code__.co_names:
            if isinstance(names.get(name), Kernel):
                names[name] = _interpreted(names[name].py_func, made)
    copy: Callable[..., Any] = made[function]
    return copy


class Tiered(Kernel):
    """A kernel whose small work is done in plain form, until that has taken as long as loading or compiling it."""

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        parallel: bool,
        cost: Cost,
        allocates: bool = True,
        plain: Callable[..., Any] | None,
        compiling: float | None = None,
    ) -> None:
        super().__init__(function, parallel=parallel, allocates=allocates, compiling=compiling)
        self._plain = plain
        self._cost = cost

    @functools.cached_property
    def plain(self) -> Callable[..., Any]:
        """Form of the kernel that is not compiled."""
        return self._plain or _interpreted(self.py_func, {})

    def __call__(self, *args: Any) -> Any:
        if not self.is_plain_for(*args):
            return self.outer(*args)
        begin = time.thread_time()
        found = self.plain(*args)
        self.spend(time.thread_time() - begin)
        return found

    def is_plain_for(self, *args: Any) -> bool:
        """Whether a call with these arguments is done in plain form."""
        return "outer" not in self.__dict__ and self.spares(self._cost(*args))
