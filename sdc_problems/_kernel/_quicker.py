"""Faster compilation to the same code: fewer signatures, comparisons and garbage collections."""

# mypy: disable-error-code="no-untyped-call,no-untyped-def"

from __future__ import annotations

import gc
from typing import Any

from numba.core import event, types
from numba.core.targetconfig import TargetConfig


def with_fewer_signatures(made: Any) -> Any:
    """Make a dispatcher for other kernels treat every signed integer as one of 64 bits.

    numba otherwise compiles once for each constant in a call, and once for each width.
    """
    template = made.get_call_template

    def of_wide(args: Any, named: Any) -> Any:
        return template(tuple(map(_wide, args)), {name: _wide(one) for name, one in named.items()})

    made.get_call_template = of_wide
    return made


def _wide(one: Any) -> Any:
    one = types.unliteral(one)
    return types.int64 if isinstance(one, types.Integer) and getattr(one, "signed", False) else one


def compare_flags_quickly() -> None:
    """Compare the compilation flags of functions first by those that are set, then by all.

    numba looks up each operation's types by these flags, for every form of the operation: a tenth of the time.
    """
    flags: Any = TargetConfig
    every = flags.__eq__

    def equal(self: Any, other: Any) -> Any:
        if type(self) is type(other) and getattr(self, "_values", 0) == getattr(other, "_values", 1):
            return True
        return every(self, other)

    flags.__eq__ = equal
    flags.__hash__ = lambda self: hash(type(self))


FEW = 1_000
"""Number of objects that may be frozen at the start: Python 3.12 starts with some hundreds."""


class LessGarbage(event.Listener):
    """Listener that collects garbage less often while code is compiled, and ignores objects that existed before."""

    def __init__(self) -> None:
        self._depth = 0  # events arrive under the compiler's lock
        self._usual = gc.get_threshold()
        self._froze = False

    def on_start(self, event: Any) -> None:
        self._depth += 1
        if self._depth == 1:
            self._usual = gc.get_threshold()
            if self._usual[0]:  # it is 0 if the user has switched off collection
                if gc.get_freeze_count() < FEW:  # objects that others froze remain frozen
                    gc.freeze()
                    self._froze = True
                gc.set_threshold(max(10_000, self._usual[0]), *self._usual[1:])

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if self._depth == 0 and self._usual[0]:
            gc.set_threshold(*self._usual)
        if self._depth == 0 and self._froze:
            gc.unfreeze()
            self._froze = False
