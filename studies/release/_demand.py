"""Demand on a protected table: k, and the variety of sensitive values in a class, counted in the file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems._tables.columns import STAR
from sdc_problems._validation import number, whole
from sdc_problems.errors import SDCError
from sdc_problems.evaluators._codes import first_records, pair_counts
from sdc_problems.evaluators.anonymity import distinct_l, entropy_l
from sdc_problems.evaluators.wildcards import k_wildcard
from sdc_problems.studies.release.guarantees import Guarantee, at_least, classes_of, smallest_class

if TYPE_CHECKING:
    import pandas as pd

    from sdc_problems.microdata import Microdata

_ROUNDING = 1e-9  # shares add up to one within this


@dataclass(frozen=True)
class Demand:
    """Demand on each class of alike records.

    Attributes
    ----------
    k
        Fewest records.
    l, entropy_l
        Fewest different values of each sensitive column; least entropy ℓ-diversity.
    t
        Largest distance of the shares of sensitive values from those of the whole table.
    """

    k: int | None = None
    l: int | None = None
    entropy_l: float | None = None
    t: float | None = None

    @classmethod
    def of(
        cls,
        k: int | None = None,
        l: int | None = None,
        entropy_l: float | None = None,
        t: float | None = None,
        max_risk: float | None = None,
    ) -> Demand:
        """Demand with the k that a largest risk needs: in a class of k records an intruder is right once in k times.

        Examples
        --------
        >>> Demand.of(max_risk=15)
        Demand(k=7, l=None, entropy_l=None, t=None)
        """
        if max_risk is not None:
            percent = number(max_risk, "max_risk", low=0.0, high=100.0)
            if not 0 < percent <= 50:
                raise SDCError(
                    f"max_risk must be a percentage above 0 and at most 50 (which is k = 2), not {percent:g}"
                )
            needed = math.ceil(100 / percent - _ROUNDING)
            k = needed if k is None else max(whole(k, "k", least=2), needed)
        return cls(k, l, entropy_l, t)

    def checked(self, data: Microdata) -> Demand:
        """Refuse a demand that this table cannot meet."""
        if self.k is not None:
            whole(self.k, "k", least=2)
            if self.k > len(data):
                raise SDCError(f"k = {self.k:,} is more than the {len(data):,} records of the table")
        if self.l is not None:
            whole(self.l, "l", least=2)
        if self.entropy_l is not None:
            number(self.entropy_l, "entropy_l", low=1.0, high=np.inf)
        if self.t is not None:
            number(self.t, "t", low=0.0, high=1.0)
        if self.of_sensitive and not data.sensitive:
            raise SDCError(
                f"{' and '.join(self.of_sensitive)} concerns sensitive values: name the sensitive columns (--sensitive)"
            )
        for name in data.sensitive if self.of_sensitive else ():
            shares = np.bincount(data.codes(name)[:, 0]) / len(data)
            shares = shares[shares > 0]
            mixed = float(np.exp(-(shares * np.log(shares)).sum()))
            if self.l is not None and len(shares) < self.l:
                raise SDCError(f"sensitive column {name!r} has {len(shares)} values: l = {self.l} cannot be reached")
            if self.entropy_l is not None and mixed < self.entropy_l - _ROUNDING:
                raise SDCError(
                    f"the whole of sensitive column {name!r} has entropy ℓ {mixed:.4g}: entropy_l ="
                    f" {self.entropy_l:g} cannot be reached"
                )
        return self

    @property
    def of_sensitive(self) -> dict[str, Any]:
        """Demand on the sensitive columns by name."""
        asked = {"l": self.l, "entropy_l": self.entropy_l, "t": self.t}
        return {name: value for name, value in asked.items() if value is not None}

    @property
    def asked(self) -> dict[str, Any]:
        """The demand as a certificate holds it: k always, the others where they are asked."""
        return {"k": self.k, **self.of_sensitive}

    def said(self) -> str:
        """The demand in a few words, such as ``k = 5, l = 2``."""
        return ", ".join(
            f"{name} = {value:g}" for name, value in {"k": self.k, **self.of_sensitive}.items() if value is not None
        )

    def counted(
        self,
        kept: pd.DataFrame,
        before: pd.DataFrame,
        protected: Sequence[str],
        sensitive: Sequence[str],
        reading: str,
        within: Sequence[str] = (),
    ) -> list[Guarantee]:
        """Count it in the cells of a file.

        Parameters
        ----------
        kept
            The file's cells, without suppressed records.
        before
            The cells of the whole original.
        protected, sensitive
            The columns in which records must be alike; those whose values must differ among them.
        reading
            ``"k"``, or ``"k_wildcard"`` where a star matches every value.
        within
            Columns that make strata: shares are compared with those of the record's stratum.
        """
        found = []
        if self.k is not None and reading == "k":
            alike = "every record looks like at least k − 1 others"
            found.append(at_least("k", protected, self.k, smallest_class(kept, protected), alike))
        elif self.k is not None:
            alike = "every record matches at least k − 1 others, a star matching every value"
            codes = np.column_stack([kept[name].factorize(use_na_sentinel=False)[0] for name in protected])
            matching = k_wildcard(codes, (kept[list(protected)] == STAR).to_numpy()) if len(kept) else 0
            found.append(at_least("k_wildcard", protected, self.k, matching, alike))
        if self.of_sensitive:
            classes = classes_of(kept, protected) if len(kept) else np.zeros(0, dtype=np.int64)
            strata = _strata(before, kept, list(within))
            for name in sensitive:
                found += self._mixed(classes, kept[name], before[name], strata, (*protected, name), name)
        return found

    def _mixed(
        self,
        classes: Any,
        cells: pd.Series[str],
        before: pd.Series[str],
        strata: tuple[NDArray[np.integer], NDArray[np.integer]],
        columns: Sequence[str],
        name: str,
    ) -> list[Guarantee]:
        import pandas as pd

        both = pd.concat([before, cells]).factorize(use_na_sentinel=False)[0]
        whole_table, codes = both[: len(before)], both[len(before) :]
        found = []
        if self.l is not None:
            different = distinct_l(classes, codes) if len(codes) else 0
            said = f"every class has at least l different values of {name}"
            found.append(at_least("l", columns, self.l, different, said))
        if self.entropy_l is not None:
            mixed = entropy_l(classes, codes) if len(codes) else 0.0
            said = f"in every class, {name} is as uncertain as entropy_l equally frequent values"
            holds = mixed >= self.entropy_l - _ROUNDING
            found.append(Guarantee("entropy_l", tuple(columns), self.entropy_l, mixed, holds, said))
        if self.t is not None:
            farthest, n_strata = _farthest(classes, codes, whole_table, strata)
            of_whom = "of the whole table" if n_strata == 1 else "of its stratum"
            said = f"the shares of the values of {name} in a class differ by at most t from those {of_whom}"
            holds = farthest <= self.t + _ROUNDING
            found.append(Guarantee("t", tuple(columns), self.t, farthest, holds, said))
        return found


def _farthest(
    classes: NDArray[np.int64],
    codes: NDArray[np.integer],
    whole_table: NDArray[np.integer],
    strata: tuple[NDArray[np.integer], NDArray[np.integer]],
) -> tuple[float, int]:
    """Largest distance of a class from its stratum, and the number of strata."""
    of_whole, of_kept = strata
    n_values, n_strata = int(max(whole_table.max(), codes.max(initial=0))) + 1, int(of_whole.max()) + 1
    if not len(codes):
        return 0.0, n_strata
    shares = np.zeros((n_strata, n_values))
    stratum, value, n = pair_counts(of_whole, whole_table)
    shares[stratum, value] = n / np.bincount(of_whole)[stratum]
    sizes = np.bincount(classes)
    of_class = of_kept[first_records(classes, len(sizes))]  # a class lies in one stratum
    group, value, n = pair_counts(classes, codes)
    own, expected = n / sizes[group], shares[of_class[group], value]
    apart = 1 + np.bincount(group, np.abs(own - expected) - expected)  # a value that is not there: its share
    return float(apart.max()) / 2, n_strata


def _strata(
    before: pd.DataFrame, kept: pd.DataFrame, within: list[str]
) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
    """Stratum of each record of the original, and of those that are kept."""
    import pandas as pd

    if not within:
        return np.zeros(len(before), dtype=np.int8), np.zeros(len(kept), dtype=np.int8)
    both = pd.concat([before[within], kept[within]])
    found = np.asarray(both.groupby(within, sort=False, dropna=False).ngroup(), dtype=np.int32)
    return found[: len(before)], found[len(before) :]
