"""Masking: a search varies the protected file itself, cell by cell."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdc_problems._sharing.arrays import SharedArrays
from sdc_problems._tables.views import TextView
from sdc_problems._validation import choice, whole
from sdc_problems.errors import SDCError
from sdc_problems.evaluators.attacks import RENAMED, SHIFTED
from sdc_problems.evaluators.cells import CategoricalCells, NumericCells
from sdc_problems.evaluators.cells.numeric import LARGEST, decimals_of
from sdc_problems.evaluators.edits import broken_edits, find_edits, parse_edit
from sdc_problems.evaluators.information_loss.records import SYNTHETIC, dealt_change
from sdc_problems.evaluators.linkage.probabilistic import MOST_ROWS
from sdc_problems.microdata import Kind
from sdc_problems.objective import Objective
from sdc_problems.operators.cells import BlockCrossover, CellBounds, CellMixture, StartFiles
from sdc_problems.problem import SDCProblem
from sdc_problems.problems._columns import as_microdata, left_as_they_are, protected_columns
from sdc_problems.problems._masking_objectives import masking_objectives
from sdc_problems.problems._masking_starts import categorical_starts, numeric_starts

if TYPE_CHECKING:
    import pandas as pd

    from sdc_problems.microdata import Microdata
    from sdc_problems.requirement import Required

STARTS = ("few", "many")
MOST_GROUPED = 50_000
"""Most records for which MDAV makes categorical start files: its time grows with their square."""
MOST_COPIES = 1.0
"""Percent of the records that may repeat an original in a guarded numeric file."""
LINKED = ("prl", "dr_numeric", "dr_categorical", "dr_guarded", "score_mean", "score_max")
"""Measures that include probabilistic linkage."""
UNTOUCHED = "untouched"
ATTACKS = {
    "dbrl": "nearest original",
    "prl": "agreement",
    "dbrl_protected": "nearest released",
    "dbrl_half": "half the columns",
    "rsrl": "ranks",
    "guess": "guessed cells",
    "copies": "copies in any row",
}


@dataclass(frozen=True)
class Mask(TextView):
    """Summary of a protected file: how many cells differ from the original.

    Attributes
    ----------
    changed
        Number of cells changed, per attribute.
    n_records
        Number of records in the table.
    """

    changed: tuple[tuple[str, int], ...]
    n_records: int

    @property
    def share(self) -> float:
        """Share of the cells that are changed, in percent."""
        return 100.0 * sum(count for _, count in self.changed) / max(self.n_records * len(self.changed), 1)

    def __str__(self) -> str:
        parts = ", ".join(f"{name} {count}" for name, count in self.changed)
        return f"{self.share:.1f} % of the cells changed ({parts} of {self.n_records})"


class MaskingProblem(SDCProblem):
    """Change the cells of a table one by one: a solution is the protected file itself.

    A row of X holds all protected cells as codes, record after record: category codes, or, for numbers, whole units
    above the smallest value of their column (a unit is 10^-decimals, so that decimals and negative numbers fit).

    No smallest class is promised: a file may hold records that occur once. The scores that are usually minimized
    also favor files that protect nobody, such as rows shifted against each other or categories renamed; ``guard``
    keeps a search away from them.

    Parameters
    ----------
    data
        The table.
    columns
        Quasi-identifiers to protect, all numeric or all categorical; by default all of them. If the table declares
        none, any columns.
    objectives
        Numeric: any of ``pil``, ``dr_numeric``, ``score_mean``, ``score_max``, ``id_rank``, ``dbrl``, ``prl``,
        ``copies``, ``rsrl``, ``dbrl_protected``, ``dbrl_half``, ``record_change`` and ``regression_change``; by default
        the first two. Categorical: ``il_categorical``, ``dr_guarded``, ``dr_categorical``, the scores, ``ctbil``,
        ``dbil``, ``ebil``, ``id_rank``, ``guess``, ``dbrl``, ``prl``, ``dbrl_protected`` and ``dbrl_half``. Or an
        `Objective` of your own with a function.
    require
        Requirements of a solution, such as ``{"rsrl": 5}``; see `SDCProblem`.
    start
        Files to start from: "few" or "many" files masked by the methods of this package (MDAV only up to 50,000
        categorical records), or a mapping of names to tables of the protected columns (data frames with these columns,
        or arrays).
    guard
        Whether the search is kept from degenerate files: categorical scores use ``dr_guarded``, and numeric files must
        have at most 1 % of ``copies`` (a requirement; ``require={"copies": …}`` sets another bound). ``guard=False`` is
        the problem of the source, for comparison only.
    edits
        Sums to keep in every record, such as ``"total = wages + other"``: the left side is computed and not searched.
    seed
        Seed of the random start files.

    Notes
    -----
    Marés (2013), chapter 3. Here each candidate is measured from scratch; `MaskEvolution` and `CellSearch` follow
    single changes through ``engine.open``.

    Examples
    --------
    >>> import pandas as pd
    >>> from sdc_problems import Microdata
    >>> frame = pd.DataFrame({"sex": list("fmfmffmm"), "town": list("oorrvvoo")})
    >>> data = Microdata.from_frame(frame, quasi_identifiers=["sex", "town"])
    >>> problem = MaskingProblem(data, objectives=("score_max",))
    >>> x = problem.baselines()["untouched"].copy()
    >>> x[0] = 1
    >>> print(problem.decode(x))
    6.2 % of the cells changed (sex 1, town 0 of 8)
    >>> problem.release(x)["sex"].tolist()
    ['m', 'm', 'f', 'm', 'f', 'f', 'm', 'm']
    """

    def __init__(
        self,
        data: Microdata,
        *,
        columns: Sequence[str] | None = None,
        objectives: Sequence[str | Objective] | None = None,
        require: Mapping[str, Required] | None = None,
        start: str | Mapping[str, Any] = "few",
        guard: bool = True,
        edits: Sequence[str] = (),
        seed: int = 0,
    ) -> None:
        data = as_microdata(data, columns)
        self.attributes = _attributes(data, columns)
        self.numeric = data.attribute(self.attributes[0]).kind is Kind.NUMERIC
        if not isinstance(guard, bool):
            raise SDCError(f"guard must be True or False, not {guard!r}")
        self.guard = guard
        self.seed = whole(seed, "seed")
        if isinstance(edits, str):
            raise SDCError(f"edits must be a list of sums: write edits=[{edits!r}]")
        self.edits = tuple(parse_edit(edit, self.attributes) for edit in edits)
        files = {} if isinstance(start, str) else self._given(data, start)
        self.start = choice(start, "start", STARTS) if isinstance(start, str) else None
        self._grid(data, files)
        sums = {edit.left for edit in self.edits}
        self.free = tuple(j for j in range(len(self.attributes)) if j not in sums)
        self.tops = np.array([self._all_tops[j] for j in self.free], dtype=np.int64)
        if objectives is None:
            objectives = ("pil", "dr_numeric") if self.numeric else (
                "il_categorical", "dr_guarded" if guard else "dr_categorical",
            )  # fmt: skip
        if not self._linkable(data):
            self._refuse_linkage(len(data), [o if isinstance(o, str) else o.name for o in objectives], require)
        n_var = len(data) * len(self.free)
        super().__init__(
            data=data,
            objectives=objectives,
            catalogue=masking_objectives(numeric=self.numeric, guard=guard),
            require=require,
            n_var=n_var,
            xl=0,
            xu=np.tile(self.tops, len(data)),
            dtype=np.int16 if self.tops.max(initial=0) <= np.iinfo(np.int16).max else np.int32,
        )
        codes = {name: self.encode(values).astype(self.dtype) for name, values in files.items()}
        self._start_names = tuple(codes)
        self._starts = SharedArrays({f"start{i}": row for i, row in enumerate(codes.values())})

    def _state(self, objectives: Sequence[str | Objective], require: Mapping[str, Required] | None) -> None:
        if self.guard and self.numeric:
            require = {"copies": MOST_COPIES, **(require or {})}
        super()._state(objectives, require)

    def _linkable(self, data: Microdata) -> bool:
        """Whether probabilistic linkage, which compares each distinct record with each, is feasible for every file."""
        different = float(np.prod(self._all_tops + 1.0))  # number of different records that could occur
        return min(len(data), different) <= MOST_ROWS

    def _refuse_linkage(self, n: int, names: Sequence[str], require: Mapping[str, Required] | None) -> None:
        """Refuse measures that need probabilistic linkage, and say what to do instead."""
        linked = [name for name in (*names, *(require or {})) if name in LINKED]
        if linked:
            others = "pil, id_rank, dbrl, rsrl, …" if self.numeric else "il_categorical, id_rank, guess, dbrl, …"
            raise SDCError(
                f"{linked[0]!r} holds probabilistic linkage, which compares each record with each, up to"
                f" {MOST_ROWS:,} different ones, and the {n:,} of this table may all differ: choose objectives without"
                f" it ({others}), fewer columns or a part of the records"
            )

    # -- the data as arrays ---------------------------------------------------------------------------------------

    def _given(self, data: Microdata, start: object) -> dict[str, NDArray[Any]]:
        """Start files that the user gives, as values or codes."""
        if not isinstance(start, Mapping) or not start:
            raise SDCError(f"start must be 'few', 'many' or a mapping of names to tables, not {start!r}")
        files = {}
        for name, table in start.items():
            what = f"start file {name!r}"
            if hasattr(table, "columns"):
                lacking = [a for a in self.attributes if a not in table.columns]
                if lacking:
                    raise SDCError(f"{what} has no column {lacking[0]!r}")
                columns = [table[a].to_numpy() for a in self.attributes]
                if self.numeric:
                    values = np.column_stack([np.asarray(column, dtype=float) for column in columns])
                else:
                    values = np.column_stack(
                        [self._codes_of(data, a, c, what) for a, c in zip(self.attributes, columns, strict=True)]
                    )
            else:
                values = np.asarray(table)
            if values.shape != (len(data), len(self.attributes)):
                raise SDCError(f"{what} must have {len(data)} records and {len(self.attributes)} attributes")
            if values.dtype.kind not in "iuf" or not np.isfinite(values).all():
                raise SDCError(f"{what} must hold finite numbers or codes")
            files[str(name)] = values
        return files

    @staticmethod
    def _codes_of(data: Microdata, attribute: str, cells: NDArray[Any], what: str) -> NDArray[np.int64]:
        known = {label: code for code, label in enumerate(data.attribute(attribute).labels)}
        codes = [known.get(str(cell), -1) for cell in cells]
        if min(codes) < 0:
            raise SDCError(f"{what}: column {attribute!r} holds a category that the original does not have")
        return np.array(codes, dtype=np.int64)

    def _grid(self, data: Microdata, files: Mapping[str, NDArray[Any]]) -> None:
        """Set the lowest unit, the decimals and the largest code of each attribute."""
        p = len(self.attributes)
        self._decimals, self._low = np.zeros(p, dtype=np.int64), np.zeros(p, dtype=np.int64)
        if not self.numeric:
            self._all_tops = np.array([data.attribute(a).n_categories - 1 for a in self.attributes], dtype=np.int64)
            for name, codes in files.items():
                if (codes < 0).any() or (codes > self._all_tops).any():
                    raise SDCError(f"start file {name!r} holds a code that the original does not have")
            return
        X = data.values(self.attributes)
        tables = np.concatenate([X, *files.values()])
        self._decimals[:] = [decimals_of(X[:, j]) for j in range(p)]
        together: dict[int, int] = {}
        for edit in self.edits:
            members = (edit.left, *edit.right)
            if any(j in together for j in members):
                raise SDCError("an attribute stands in two edits: write them as one, or keep one of them")
            together.update(dict.fromkeys(members, edit.left))
            self._decimals[edit.left] = self._decimals[list(members)].max()
            broken = broken_edits(X, [edit])
            if broken:
                raise SDCError(
                    f"edit {edit.text(self.attributes)!r} does not hold in {broken:.4g} % of the original records"
                )
        scale = 10.0**self._decimals
        self._low[:] = np.rint(tables.min(axis=0) * scale).astype(np.int64)
        tops = np.rint(tables.max(axis=0) * scale) - self._low
        if tops.max() > LARGEST:
            j = int(np.argmax(tops))
            raise SDCError(
                f"column {self.attributes[j]!r} spans {tops[j]:.3g} units of 10^-{self._decimals[j]}, more than"
                f" {LARGEST}: round it first"
            )
        self._all_tops = tops.astype(np.int64)

    _most_grouped = MOST_GROUPED
    attacks: Mapping[str, str] = ATTACKS
    """Measures of risk that count an intruder's correct guesses, each with the information the intruder uses."""

    def part(self, records: ArrayLike) -> MaskingProblem:
        """The same task on some of the records, with the codes and the domains of the whole table.

        Parameters
        ----------
        records
            Their numbers. Start files are made again from them, but without MDAV: it would take most of the time
            of a short search, and its files were never the best one where it was tried (people, Adult).
        """
        other = copy.copy(self)
        other.data = self.data.take(records)
        other.start, other._start_names, other._starts = "few", (), SharedArrays({})
        other._most_grouped = 0
        other.n_var = len(other.data) * len(self.free)
        other.xu = np.tile(self.tops, len(other.data)).astype(float)
        other.xl = np.zeros_like(other.xu)
        other._compiled = type(other._compiled)()
        return other

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kind of each attribute."""
        return tuple(self.data.attribute(name).kind.value for name in self.attributes)

    def original(self) -> NDArray[Any]:
        """Protected columns of the original: values, or codes."""
        if self.numeric:
            values: NDArray[np.float64] = self.data.values(self.attributes)
            return values
        codes: NDArray[np.int64] = self.data.codes(self.attributes).astype(np.int64)
        return codes

    def encode(self, values: ArrayLike) -> NDArray[np.int64]:
        """Row of X for a table of the protected columns (values or codes); numbers are rounded to their decimals.

        Sums that are kept (``edits``) are computed, whatever the table holds in these columns.
        """
        table = np.asarray(values)
        if self.numeric:
            table = np.rint(table * 10.0**self._decimals).astype(np.int64) - self._low
        row: NDArray[np.int64] = np.clip(table[:, list(self.free)], 0, self.tops).astype(np.int64).ravel()
        return row

    def cells(self, x: ArrayLike) -> NDArray[np.int64]:
        """Codes of all protected columns, records × attributes, computed sums included."""
        return self._cells(self.genome(x))

    def _cells(self, row: NDArray[Any]) -> NDArray[np.int64]:
        codes = np.empty((len(self.data), len(self.attributes)), dtype=np.int64)
        codes[:, list(self.free)] = row.reshape(len(self.data), -1)
        for left, terms in self.sums().items():
            units = sum(factor * (codes[:, j] + self._low[j]) for j, factor in terms.items())
            codes[:, left] = units - self._low[left]
        return codes

    def sums(self) -> dict[int, dict[int, int]]:
        """Attributes that are computed, each with the attributes it is the sum of and their factors in whole units."""
        return {
            edit.left: {
                j: sign * 10 ** int(self._decimals[edit.left] - self._decimals[j])
                for j, sign in zip(edit.right, edit.signs, strict=True)
            }
            for edit in self.edits
        }

    def protected(self, x: ArrayLike) -> NDArray[Any]:
        """Protected columns of a row of X: values, or codes."""
        codes = self.cells(x)
        if not self.numeric:
            return codes
        values: NDArray[np.float64] = (codes + self._low) / 10.0**self._decimals
        return values

    def units(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Numbers of the protected columns in units of their decimals; whole numbers if they are as released."""
        scaled: NDArray[np.float64] = values * 10.0**self._decimals
        return scaled

    @property
    def unit_range(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Smallest and largest number of each column that a code can stand for, in units of its decimals."""
        return self._low, self._low + self._all_tops

    @property
    def untouched(self) -> NDArray[np.int64]:
        """Row of X that changes nothing."""
        return self.encode(self.original())

    def _tables(self, x: NDArray[Any]) -> Iterable[tuple[NDArray[Any], NDArray[Any]]]:
        released, original = self.protected(x), self.original()
        if not self.numeric:
            yield released, original
            return
        both = [np.unique(np.r_[y, z], return_inverse=True)[1] for y, z in zip(released.T, original.T, strict=True)]
        n = len(original)
        yield np.column_stack([c[:n] for c in both]), np.column_stack([c[n:] for c in both])

    # -- what every problem provides ------------------------------------------------------------------------------

    def _compile(self) -> NumericCells | CategoricalCells:
        if self.numeric:
            return NumericCells(self.original(), low=self._low, decimals=self._decimals)
        sizes = self._all_tops + 1
        return CategoricalCells(self.original(), kinds=self.kinds, n_categories=sizes, guard=self.guard)

    def _measure(self, X: NDArray[Any], names: Sequence[str]) -> NDArray[np.float64]:
        rows = np.stack([self._cells(x) for x in X]).reshape(len(X), -1)
        measured: NDArray[np.float64] = self.engine.measure(rows, names)
        return measured

    def _operators(self) -> dict[str, Any]:
        """Return start files, the exchange of blocks of cells, and changes of a few cells."""
        return {
            "sampling": StartFiles(),
            "crossover": BlockCrossover(),
            "mutation": CellMixture(),
            "repair": CellBounds(),
        }

    def starts(self) -> dict[str, NDArray[Any]]:
        """Start files by name, without the untouched one: the first population of an evolution."""
        if self.start is None:
            return {name: self._starts[f"start{i}"].copy() for i, name in enumerate(self._start_names)}
        rng = np.random.default_rng(self.seed)
        original = self.original()
        files: Mapping[str, NDArray[Any]]
        if self.numeric:
            files = numeric_starts(original, self.attributes, rng, many=self.start == "many")
        else:
            largest_k, most_merged = (19, 5) if self.start == "many" else (5, 3)
            files = categorical_starts(
                original, (self._all_tops + 1).tolist(), self.kinds, rng, most_merged=most_merged,
                largest_k=largest_k if len(original) <= self._most_grouped else 1,
            )  # fmt: skip
        return {name: self.encode(values).astype(self.dtype) for name, values in files.items()}

    def baselines(self) -> dict[str, NDArray[Any]]:
        """The untouched file and the start files."""
        return {UNTOUCHED: self.untouched.astype(self.dtype), **self.starts()}

    def decode(self, x: ArrayLike) -> Mask:
        """Number of changed cells in each attribute."""
        changed = (self.protected(x) != self.original()).sum(axis=0)
        return Mask(tuple(zip(self.attributes, changed.tolist(), strict=True)), len(self.data))

    def figures(self, x: ArrayLike) -> dict[str, float]:
        """Measure the file: every objective, the changed cells, and the records in which a sum of the original breaks.

        They include the attacks that are not part of the scores (``rsrl``, ``dbrl_protected``, ``dbrl_half``).
        """
        row = self.genome(x)
        linkable = self._linkable(self.data)
        names = tuple(name for name in self.catalogue if linkable or name not in LINKED)
        values = self._measure(row[None, :], names)[0]
        found = {**dict(zip(names, map(float, values), strict=True)), **self._own_figures(row)}
        found["cells_changed"] = self.decode(row).share
        if self.numeric:
            found["sums_broken"] = broken_edits(self.protected(row), find_edits(self.original()))
        return found

    def describe(self, x: ArrayLike) -> tuple[str, ...]:
        """Describe the file in plain sentences: what it loses, and how many records an intruder finds."""
        read, figures = self.decode(x), self.figures(x)
        n = len(self.data)
        counts = ", ".join(f"{name} in {count}" for name, count in read.changed)
        sentences = [
            f"{read.share:.1f} % of the cells are changed: {counts} of {n} records.",
            self._kind_of_file(figures),
        ]
        if self.numeric:
            sentences.append(
                f"Statistics of the file lose {figures['pil']:.1f} % (PIL); a value is"
                f" {figures['record_change'] / 100:.2f} standard deviations from the original on average, and"
                f" regressions lose {figures['regression_change']:.1f} % of the variance."
            )
        else:
            sentences.append(
                f"Information loss is {figures['il_categorical']:.1f} %: tables {figures['ctbil']:.1f}, distance"
                f" {figures['dbil']:.1f}, uncertainty {figures['ebil']:.1f}."
            )
        sentences += left_as_they_are(self.data, self.attributes)
        shown = "; ".join(f"{how} {figures[name]:.1f}" for name, how in ATTACKS.items() if name in figures)
        sentences.append(
            f"Percent found again, by attack: {shown}; cells of nearly the same rank {figures['id_rank']:.1f}."
        )
        if "prl" not in figures:
            sentences.append(f"Linkage by agreement is not measured: records differ in more than {MOST_ROWS:,} ways.")
        if self.numeric and figures["copies"] > MOST_COPIES:
            sentences.append(f"{figures['copies']:.1f} % of the records all but repeat an original record, in any row.")
        broken = self._broken(figures)
        if broken:
            sentences.append(broken)
        sentences.append("No smallest class is promised: records may be unique in the released file.")
        if not self.guard:
            sentences.append(
                "The search was not guarded: a score may be low although records can be read off (see"
                f" {'copies' if self.numeric else 'guess'})."
            )
        return tuple(sentences)

    def _kind_of_file(self, figures: Mapping[str, float]) -> str:
        """Sentence on what the changes amount to."""
        if figures["cells_changed"] == 0.0:
            return "It is the original: nothing is protected."
        if self.numeric:
            if figures["copies"] >= SHIFTED:
                return "It publishes original records in other rows: nothing is protected but whose they are."
            if figures["record_change"] >= SYNTHETIC * dealt_change(self.original()):
                return (
                    "It is in effect a synthetic file: statistics of the whole may hold, but a record says nothing"
                    " about the person it came from."
                )
            return "It is a perturbed file: records stay near those they came from."
        if figures["guess"] - figures["id_rank"] >= RENAMED:
            return (
                f"Categories are in effect renamed: {figures['guess']:.1f} % of the cells are right if one guesses the"
                " likeliest original category."
            )
        return "It is a perturbed file: categories stand mostly for themselves."

    def _broken(self, figures: Mapping[str, float]) -> str:
        """Sentence on the sums of the original that no longer hold."""
        if not self.numeric or figures["sums_broken"] == 0.0:
            return ""
        named = "; ".join(edit.text(self.attributes) for edit in find_edits(self.original()))
        return (
            f"A sum that holds in every original record is broken in {figures['sums_broken']:.1f} % ({named}):"
            " edits= keeps it."
        )

    def release(self, x: ArrayLike, *, seed: int | None = None) -> pd.DataFrame:
        """Return the protected table; nothing is random. It promises no smallest class (k)."""
        protected = self.protected(x)
        frame = self._publishable()
        for j, name in enumerate(self.attributes):
            if not self.numeric:
                frame[name] = self.data.attribute(name).cells(protected[:, j])
            elif self._decimals[j] == 0 and frame[name].dtype.kind in "iu":
                frame[name] = protected[:, j].astype(str(frame[name].dtype))
            else:
                frame[name] = protected[:, j]
        return frame

    # -- pickling -------------------------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        """As for every problem, but without the bounds, of which each cell has one: they follow from the columns."""
        state = super().__getstate__()
        del state["xl"], state["xu"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        n = state["n_var"] // max(len(state["tops"]), 1)
        upper = np.tile(state["tops"], n).astype(float)
        super().__setstate__({**state, "xl": np.zeros_like(upper), "xu": upper})


def _attributes(data: Microdata, columns: Sequence[str] | None) -> tuple[str, ...]:
    names = protected_columns(data, columns)
    kinds = {name: data.attribute(name).kind for name in names}
    numeric = [name for name, kind in kinds.items() if kind is Kind.NUMERIC]
    if numeric and len(numeric) < len(names):
        other = next(name for name in names if name not in numeric)
        raise SDCError(
            f"{numeric[0]!r} is numeric and {other!r} is not: protect numeric and categorical attributes apart, or"
            " recode the numbers to intervals"
        )
    for name in numeric:
        if data.attribute(name).has_missing:
            raise SDCError(f"column {name!r} has missing values: fill them, or drop those records")
    return names
