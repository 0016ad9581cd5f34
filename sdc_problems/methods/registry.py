"""Registry of protection methods: name, form, guarantee and parameters of each method.

A method is a `Method` in a table beside its function (`methods/_catalogue.py`, `algorithms/_catalogue.py`), or in the
entry point group ``sdc_problems.methods`` of another package. Options, defaults and help are read from the function, so
nothing is stated twice. A function is imported only when it is needed.
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
"""Modules with a tuple ``METHODS``, as text, because this package must not import `algorithms`."""

GROUP = "sdc_problems.methods"
"""Entry point group for methods of other packages; each entry has the name of its method and refers to a `Method`."""

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
"""Arguments that the caller of a method supplies by name; all others are options of the method.

``missing`` is left at its default: a missing cell does not change.
"""

FORMS: tuple[Form, ...] = ("partition", "cells", "table")


class Partitioned(NamedTuple):
    """Groups made by a method, and sentences that describe them."""

    labels: NDArray[Any]
    """One group number per record."""
    sentences: tuple[str, ...]
    """Sentences in addition to the sizes of the groups."""


@dataclass(frozen=True)
class Method:
    """Protection method: description of a function that protects a table.

    Parameters
    ----------
    name
        Name on the command line.
    title
        What the method does, in a few words.
    target
        Function as ``"module:function"``, imported when it is needed.
    form
        Form of the result. ``"partition"``: one group per record, whose members get their centroid, or a `Partitioned`
        with sentences. ``"cells"``: new cells, in the shape of the given ones; a code of -1 is a suppressed cell.
        ``"table"``: a `Recoded`, with new cells as text.
    kinds
        Kinds of columns that the method accepts.
    guarantee
        Guarantee of the method, which is checked in every file: ``"k"``, ``"k_wildcard"`` (a star matches every value),
        or None.
    search
        Whether the method searches for a good solution, so that random numbers do not change cells directly.
    suppresses
        Whether the method may suppress records.
    fixed
        Arguments that the name stands for, such as ``{"order": "nearest"}``; they are not options of this method.
    joint
        Whether the method protects several columns together; if not, it protects each column on its own.
    steps
        Values of ``k`` or of options that a recipe tries, from the mildest to the strongest; values of several options
        are combined, the last one changing fastest. Without steps, the method is not used in recipes.
    step_kinds
        Kinds of columns for which these steps make sense; by default, all accepted kinds.
    example
        Options for an example, if some are required: shown in the help, and used by tests. Values by column may name
        the numeric ``age`` and the nominal ``town`` (Olot, Reus).
    most_records
        Largest number of records for which the method finishes within hours and 4 GiB, for a table of about ten
        columns; more give an error before anything is computed. None if it can protect ten million.
    formula
        Formula of the method, as plain text.
    use, avoid
        When to use the method, and when to use another one: a sentence or two, for its page.

    Notes
    -----
    The function takes those of the following arguments (``GIVEN``) that it needs, by name:

    - ``X``: records × columns (values of numeric columns, codes of others); ``x``: one column of it;
    - ``codes``: records × columns, codes only;
    - ``data``: the Microdata, whose quasi-identifiers are the columns to protect;
    - ``problem``: the MicroaggregationProblem of the columns;
    - ``hierarchies``: hierarchies by column;
    - ``k``, ``l``, ``entropy_l``, ``t``: requirements on classes of records that look alike;
    - ``within``: columns whose strata are protected separately;
    - ``max_suppression``: how many records may be suppressed (a share in [0, 1), or a whole number);
    - ``suppression_price``: loss of a suppressed record;
    - ``importance``: importance of columns by name; ``weights``: the same in the order of the columns;
    - ``seconds``: time limit of a search;
    - ``kinds``: kinds of the columns;
    - ``missing_codes``: code of the missing value of each column, or None;
    - ``rng``: generator of a method that draws random numbers;
    - ``progress``: called as ``progress(done, total)`` between slices of the work.

    All other parameters are options.

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
        """Function of the method, imported here."""
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
        """Whether the function takes an argument of this name."""
        return name in self.signature

    @property
    def takes_k(self) -> bool:
        """Whether k must be given; a problem also needs one."""
        return self.takes("k") or self.takes("problem")

    @property
    def needs_hierarchies(self) -> bool:
        """Whether the method requires hierarchies."""
        return self.takes("hierarchies") and self.signature["hierarchies"].default is REQUIRED

    @property
    def random(self) -> bool:
        """Whether the method draws random numbers."""
        return self.takes("rng")

    @property
    def secret_seed(self) -> bool:
        """Whether the protection can be undone by anyone who knows the seed."""
        return self.random and not self.search

    def refuse_many(self, n_records: int) -> None:
        """Raise an error if a table or stratum has more records than the method can protect in hours and 4 GiB."""
        if self.most_records is not None and n_records > self.most_records:
            others = [
                m.name
                for m in sorted(built_in().values(), key=lambda m: m.random != self.random)
                if m.most_records is None and m.guarantee == self.guarantee and not m.one_column
            ]
            raise SDCError(
                f"method {self.name} is for up to {self.most_records:,} records at once, and these are {n_records:,}:"
                f" use {' or '.join(others[:4]) or 'mondrian'}, or columns that make strata of fewer (within)"
            )

    @property
    def promise(self) -> str:
        """Guarantee as a sentence, for help and tables."""
        if self.guarantee == "k":
            return "every record looks like at least k − 1 others in the protected columns, counted in the written file"
        if self.guarantee == "k_wildcard":
            return (
                "every record matches at least k − 1 others (a star matches every value), counted in the written file"
            )
        return "promises no k"

    @property
    def one_column(self) -> bool:
        """Whether the method partitions the records by a single column."""
        return self.form == "partition" and self.takes("x")

    @property
    def options(self) -> tuple[Parameter, ...]:
        """Parameters that users can set."""
        return tuple(p for p in self.signature.values() if p.name not in GIVEN and p.name not in self.fixed)

    def arguments(self, chosen: Mapping[str, Any]) -> dict[str, Any]:
        """Check options by name, and add the fixed arguments of the method.

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
    """All methods by name, those of other packages last; a method that cannot be loaded is skipped with a warning."""
    found = dict(built_in())
    for entry in entries(GROUP, built_in()).values():
        try:
            found[entry.name] = loaded(entry, Method)
        except SDCError as error:
            warnings.warn(str(error), stacklevel=2)
    return found


def find(name: str) -> Method:
    """Find a method by name.

    Parameters
    ----------
    name
        Name of a method; an unknown name is an error that suggests a similar one.

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
