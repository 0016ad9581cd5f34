"""Compilation of functions that only compiled code calls: kept in LLVM's form, because Python cannot call them.

numba makes machine code of each function that a kernel calls, although all of it is compiled again as a part of the
kernel. Here such a function is optimized and becomes machine code only as a part of its callers, which takes a quarter
to a third less time. If its address is requested after all, machine code is made then.
"""

# mypy: disable-error-code="no-untyped-call,import-untyped,attr-defined"

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from llvmlite import binding
from numba.core.codegen import JITCodeLibrary
from numba.core.dispatcher import _FunctionCompiler
from numba.core.environment import lookup_environment

_FOR_PYTHON = "_ZN7cpython", "cfunc."  # beginnings of the names of functions that are called from outside
_ENVIRONMENT = "_ZN08NumbaEnv"
_KIND = "inlined"


class Library(JITCodeLibrary):
    """Library of compiled code that is not emitted as long as only other libraries need it."""

    waits = False

    @property
    def _maker(self) -> Any:
        return self._codegen

    def finalize(self) -> None:
        """Link the called functions; optimize and emit the library if Python calls it."""
        defined = [one.name for one in self._final_module.functions if not one.is_declaration]
        self.waits = self._object_caching_enabled and not any(name.startswith(_FOR_PYTHON) for name in defined)
        super().finalize()
        if not self.waits:
            self._set_environments()

    def _optimize_final_module(self) -> None:
        if not self.waits:
            super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        if self.waits:
            self._finalize_dynamic_globals()
            self._finalized = True
        else:
            super()._finalize_final_module()

    def _set_environments(self) -> None:
        """Give the emitted code the environments of its functions, which were not emitted before."""
        for one in self._final_module.global_variables:
            found = lookup_environment(one.name) if one.name.startswith(_ENVIRONMENT) else None
            if found is not None:
                self._maker.set_env(one.name, found)

    def get_pointer_to_function(self, name: str) -> Any:
        """Address of a function, or 0 if it is not defined here."""
        if self.waits:
            if all(one.name != name or one.is_declaration for one in self._final_module.functions):
                return 0
            self._get_module_for_linking()
            self.waits = False
            self._optimize_final_module()
            self._finalize_final_module()
            self._set_environments()
        return super().get_pointer_to_function(name)

    @property
    def codegen(self) -> Any:
        """Generator of machine code; while nothing is emitted, it has no place for environments."""
        return SimpleNamespace(set_env=lambda *_: None) if self.waits else self._maker

    def serialize_using_object_code(self) -> Any:
        """Content of the cache."""
        if self.waits:
            return self.name, _KIND, self._get_module_for_linking().as_bitcode()
        return super().serialize_using_object_code()

    @classmethod
    def _unserialize(cls, codegen: Any, state: Any) -> Any:
        name, kind, data = state
        if kind != _KIND:
            return super()._unserialize(codegen, state)
        return _loaded(codegen, name, data)


def _loaded(codegen: Any, name: str, bitcode: bytes) -> Library:
    """Library from the cache that is not emitted until it is a part of another."""
    made = Library(codegen, name)
    made.enable_object_caching()
    made._final_module = binding.parse_bitcode(bitcode)
    made.waits = True
    made._finalize_final_module()
    return made


_depth = 0  # under the compiler's lock


def _without_wrapper(self: Any, flags: Any) -> Any:
    flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    return flags


@contextmanager
def inlining(codegen: Any) -> Iterator[None]:
    """While a kernel is compiled, let numba's own functions in it get no wrapper for Python, and delay libraries."""
    global _depth
    usual = _FunctionCompiler._customize_flags
    kind = codegen._library_class
    _depth += 1
    if _depth == 1:
        _FunctionCompiler._customize_flags = _without_wrapper
        codegen._library_class = Library
    try:
        yield
    finally:
        _depth -= 1
        if _depth == 0:
            _FunctionCompiler._customize_flags = usual
            codegen._library_class = kind


def inline_what_it_calls(made: Any) -> None:
    """Make a dispatcher compile the functions that it calls only as a part of itself."""
    compiler, codegen = made._compiler, made.targetctx.codegen()
    core = compiler._compile_core

    def compile_core(args: Any, return_type: Any) -> Any:
        with inlining(codegen):
            return core(args, return_type)

    compiler._customize_flags = lambda flags: flags
    compiler._compile_core = compile_core
