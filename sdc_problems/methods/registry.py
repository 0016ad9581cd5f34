"""Registry of protection methods: each one's name, form, guarantee and parameters, read from its function.

A method is a `Method` in a table beside its function (`methods/_catalogue.py`, `algorithms/_catalogue.py`), or in the
entry point group ``sdc_problems.methods`` of another package. Its options, their defaults and their help are the
function's own: nothing is stated twice, and no function is imported before it is asked for.
"""

from __future__ import annotations

import functools
import importlib
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from sdc_problems._plugins import entries, loaded
from sdc_problems._signature import REQUIRED, Parameter, parameters
from sdc_problems.errors import SDCError, did_you_mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

Form = Literal["partition", "cells", "table"]

CATALOGUES = ("sdc_problems.methods._catalogue", "sdc_problems.algorithms._catalogue")
"""Modules with a tuple ``METHODS``; named as text, for this room imports nothing of the rooms below."""

GROUP = "sdc_problems.methods"
"""Entry point group of other packages' methods; each entry is named as its method and leads to a `Method`."""

GIVEN = (
    "X",
    "x",
    "codes",
    "data",
    "problem",
    "hierarchies",
    "k",
    "l",
    "entropy_l",
    "t",
    "within",
    "max_suppression",
    "suppression_price",
    "importance",
    "weights",
    "seconds",
    "kinds",
    "missing_codes",
    "missing",
    "rng",
    "progress",
)
"""Arguments that whoever calls a method gives it by name; all others are its options.

``missing`` is left at its default: a missing cell stays where it is.
"""

FORMS: tuple[Form, ...] = ("partition", "cells", "table")


class Partitioned(NamedTuple):
    """Groups that a method made, and sentences on them for a person."""

    labels: NDArray[Any]
    """One group number per record."""
    sentences: tuple[str, ...]
    """Sentences that stand beside the sizes of the groups."""


@dataclass(frozen=True)
class Method:
    """A way to protect a table.

    Parameters
    ----------
    name
        Its name on the command line.
    title
        What it does, in a few words.
    target
        Its function as ``"module:function"``, imported when it is needed.
    form
        What the function returns. ``"partition"``: one group per record, whose members get their centroid; or a
        `Partitioned`, where there is more to tell.
        ``"cells"``: new cells, in the shape of what it was given; a code of -1 is a suppressed cell. ``"table"``: a
        `Recoded`, new cells as text.
    kinds
        Kinds of columns it accepts.
    guarantee
        The promise it keeps, counted again in every file: ``"k"``, ``"k_wildcard"`` (a star matches every value), or
        None.
    search
        Whether it looks for a good solution among many, so that its random numbers change no cell by themselves.
    suppresses
        Whether it may suppress records.
    fixed
        Arguments that the name stands for, as ``{"order": "nearest"}``: no options of this method.
    joint
        Whether it protects several columns together; if not, each on its own.
    steps
        Values of ``k`` or of its options that a recipe tries, from the mildest to the strongest; those of several
        options are crossed, the last one fastest. Without any it is in no recipe.
    step_kinds
        Kinds of columns for which these steps make sense; all that it accepts if not given.
    example
        Options that it can be tried with, if it has some that must be said: shown by its help, and used by the tests.
        Values by column may name the numeric ``age`` and the nominal ``town`` (Olot, Reus).
    most_records
        Records up to which it ends in hours and within 4 GiB, for a table of some ten columns; more are refused before
        anything is computed. None where ten million are.
    formula
        What it computes, as plain text.
    use, avoid
        When it is the right method, and when another one is: a sentence or two, for its page.

    Notes
    -----
    The function takes what it needs of ``GIVEN`` by these names: ``X`` records × columns (values of numeric columns,
    codes of others), ``x`` one column of it, ``codes`` categories only, ``data`` the Microdata, whose quasi-identifiers
    are the columns to protect, ``problem`` the MicroaggregationProblem of the columns, ``hierarchies`` by column,
    ``k``, ``l``, ``entropy_l`` and ``t``, what is asked of the classes of alike records, ``within``, columns whose
    strata are protected each on its own, ``max_suppression``, how many records may be left out (a share in [0, 1), or a
    whole number), ``suppression_price``, what each of them counts, ``importance`` of columns by name, ``weights``, the
    same as a list in the order of the columns, ``seconds`` of a search, ``kinds`` of the columns, ``missing_codes``,
    the code of each one's missing value or None, ``rng``, the generator of a method that draws random numbers, and
    ``progress``, called as ``progress(done, total)`` between slices of the work. Its other parameters are options.

    Examples
    --------
    >>> found = find("v-mdav")
    >>> found.form, found.guarantee, found.random
    ('partition', 'k', False)
    >>> [option.name for option in found.options]
    ['gamma', 'standardize']
    """

    name: str
    title: str
    target: str
    form: Form
    kinds: tuple[str, ...] = ("numeric", "ordinal", "nominal")
    guarantee: str | None = None
    search: bool = False
    suppresses: bool = False
    fixed: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    joint: bool = False
    steps: Mapping[str, tuple[Any, ...]] = field(default_factory=lambda: MappingProxyType({}))
    step_kinds: tuple[str, ...] | None = None
    example: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    most_records: int | None = field(default=None, kw_only=True)
    formula: str = field(default="", kw_only=True)
    use: str = field(default="", kw_only=True)
    avoid: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise SDCError(f"form of method {self.name!r} must be one of {', '.join(FORMS)}, not {self.form!r}")

    @functools.cached_property
    def function(self) -> Callable[..., Any]:
        """The function itself."""
        module, _, name = self.target.partition(":")
        try:
            found: Callable[..., Any] = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError) as error:
            raise SDCError(f"the function of method {self.name!r} cannot be imported: {error}") from error
        return found

    @functools.cached_property
    def signature(self) -> dict[str, Parameter]:
        """All parameters of the function."""
        return parameters(self.function)

    def takes(self, name: str) -> bool:
        """Whether the function takes an argument of that name."""
        return name in self.signature

    @property
    def takes_k(self) -> bool:
        """Whether k has to be said: a problem is made for a k."""
        return self.takes("k") or self.takes("problem")

    @property
    def needs_hierarchies(self) -> bool:
        """Whether it cannot do without hierarchies."""
        return self.takes("hierarchies") and self.signature["hierarchies"].default is REQUIRED

    @property
    def random(self) -> bool:
        """Whether it draws random numbers."""
        return self.takes("rng")

    @property
    def secret_seed(self) -> bool:
        """Whether who knows the seed can undo the protection."""
        return self.random and not self.search

    def refuse_many(self, n_records: int) -> None:
        """Refuse a table, or a stratum, of more records than it can protect in hours and within 4 GiB."""
        if self.most_records is not None and n_records > self.most_records:
            others = [
                m.name
                for m in built_in().values()
                if m.most_records is None and m.guarantee == self.guarantee and not m.one_column
            ]
            raise SDCError(
                f"method {self.name} is for up to {self.most_records:,} records at once, and these are {n_records:,}:"
                f" use {' or '.join(others[:4]) or 'mondrian'}, or columns that make strata of fewer (within)"
            )

    @property
    def promise(self) -> str:
        """The guarantee in a sentence, for help and tables."""
        if self.guarantee == "k":
            return "every record looks like at least k − 1 others in the protected columns, counted in the written file"
        if self.guarantee == "k_wildcard":
            return (
                "every record matches at least k − 1 others (a star matches every value), counted in the written file"
            )
        return "promises no k"

    @property
    def one_column(self) -> bool:
        """Whether it is for a single column."""
        return self.form == "partition" and self.takes("x")

    @property
    def options(self) -> tuple[Parameter, ...]:
        """Parameters that a person may set."""
        return tuple(p for p in self.signature.values() if p.name not in GIVEN and p.name not in self.fixed)

    def arguments(self, chosen: Mapping[str, Any]) -> dict[str, Any]:
        """Check options by name and add what the method's name stands for.

        Examples
        --------
        >>> find("mhm-nearest").arguments({"standardize": False})
        {'order': 'nearest', 'standardize': False}
        >>> find("mdav").arguments({"gamma": 0.3})
        Traceback (most recent call last):
            ...
        sdc_problems.errors.SDCError: method mdav has no option 'gamma' (its options: standardize)
        """
        own = [option.name for option in self.options]
        for name in chosen:
            if name not in own:
                listed = f"its options: {', '.join(own)}" if own else "it has none"
                raise SDCError(f"method {self.name} has no option {name!r}{did_you_mean(str(name), own)} ({listed})")
        for option in self.options:
            if option.default is REQUIRED and option.name not in chosen:
                raise SDCError(f"method {self.name} needs {option.name}: {option.help}")
        return {**self.fixed, **chosen}


@functools.cache
def built_in() -> Mapping[str, Method]:
    """Methods of this package by name."""
    listed = [method for module in CATALOGUES for method in importlib.import_module(module).METHODS]
    return MappingProxyType({method.name: method for method in listed})


def available() -> dict[str, Method]:
    """Every method by name, those of other packages last; one that cannot be loaded is left out with a warning."""
    found = dict(built_in())
    for entry in entries(GROUP, built_in()).values():
        try:
            found[entry.name] = loaded(entry, Method)
        except SDCError as error:
            warnings.warn(str(error), stacklevel=2)
    return found


def find(name: str) -> Method:
    """Find a method by name.

    Examples
    --------
    >>> find("mdva")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    sdc_problems.errors.SDCError: there is no method 'mdva'; did you mean 'mdav'? (known: mdav, v-mdav, ...)
    """
    known = built_in()
    if name in known:
        return known[name]
    others = entries(GROUP, known)
    if name in others:
        return loaded(others[name], Method)
    names = [*known, *others]
    raise SDCError(f"there is no method {name!r}{did_you_mean(str(name), names)} (known: {', '.join(names)})")
