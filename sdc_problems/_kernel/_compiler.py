"""Compilation of kernels by numba, and the location of compiled code."""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core import event
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.extending import typeof_impl

from sdc_problems import _kernel
from sdc_problems._kernel import Kernel
from sdc_problems._kernel._cache import cache_folder, digest, subfolder
from sdc_problems._kernel._inlined import inline_what_it_calls, inlining
from sdc_problems._kernel._quicker import LessGarbage, compare_flags_quickly, with_fewer_signatures

_OLD = 30 * 24 * 3600.0  # seconds after which compiled code of another state of a file is removed


def dispatcher(kernel: Kernel, *, inner: bool) -> Any:
    """Compiler of a function, for calls from Python or for calls from other kernels."""
    # _nrt is said even if it is so by default: a function without it would take it from its caller.
    wrappers: Any = {"no_cpython_wrapper": inner, "no_cfunc_wrapper": True, "_nrt": kernel.allocates}
    made: Any = numba.njit(nogil=True, parallel=kernel.parallel, **wrappers)(kernel.py_func)
    if hasattr(made, "_cache"):  # it has none if $NUMBA_DISABLE_JIT is set: it is then the function itself
        inline_what_it_calls(made)
        made._cache = (_InnerCache if inner else _OuterCache)(kernel.py_func)
        if inner:
            with_fewer_signatures(made)
    return made


@typeof_impl.register(Kernel)
def _type(value: Kernel, context: Any) -> Any:
    return typeof_impl(value.inner, context)


class SharedLocator(_CacheLocator):
    """Location of compiled code: a folder for each state of a file and of the files whose kernels it calls.

    Equal sources give equal code, so environments and checkouts share it. numba itself distinguishes processors.
    """

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._line = function.__code__.co_firstlineno
        self._stamp = digest(function)
        self._path = cache_folder() / f"numba-{numba.__version__}" / subfolder(function, self._stamp)

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> SharedLocator | None:
        """Locator of a function, or None if there can be no such folder or others can write to it."""
        try:
            found = cls(py_func, py_file)
            if not found._path.is_dir():
                found._path.mkdir(mode=0o700, parents=True)
                _forget_old(found._path)
            found.ensure_cache_path()
            state = found._path.stat()
        except (OSError, RuntimeError):  # no such file, no home folder, a full or read-only disk
            return None
        private = os.name != "posix" or (state.st_uid == os.getuid() and not state.st_mode & 0o022)
        return found if private else None

    def get_cache_path(self) -> str:
        """Folder of the compiled code."""
        return str(self._path)

    def get_source_stamp(self) -> str:
        """Digest that must match for the code to be used."""
        return self._stamp

    def get_disambiguator(self) -> str:
        """Line of the function, so that two functions with the same name in one file differ."""
        return str(self._line)


def _forget_old(folder: Path) -> None:
    """Remove code that was compiled long ago from other states of the same file."""
    for other in folder.parent.glob(f"{folder.name.rpartition('-')[0]}-*"):
        if other.stat().st_mtime < time.time() - _OLD:
            shutil.rmtree(other, ignore_errors=True)


class _Outer(CompileResultCacheImpl):
    # $NUMBA_CACHE_DIR comes first, numba's other places come last
    _locator_classes = [  # noqa: RUF012
        CompileResultCacheImpl._locator_classes[0], SharedLocator, *CompileResultCacheImpl._locator_classes[1:]
    ]  # fmt: skip


class _Inner(_Outer):
    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        return str(super().get_filename_base(f"{fullname}.inner", abiflags))

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        with inlining(target_context.codegen()):
            return super().rebuild(target_context, payload)


class _OuterCache(FunctionCache):
    _impl_class = _Outer


class _InnerCache(FunctionCache):
    _impl_class = _Inner


class _Notice(event.Listener):
    """Listener that tells the user once that code is being compiled."""

    def on_start(self, event: Any) -> None:
        if _kernel.on_compile is not None:
            tell, _kernel.on_compile = _kernel.on_compile, None
            tell()

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:compile", _Notice())
event.register("numba:compile", LessGarbage())
compare_flags_quickly()
