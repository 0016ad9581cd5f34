"""Pictures of generated pages, drawn from the embedded data with seed 1."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd

from sdc_problems import Hierarchy, MicroaggregationProblem, Microdata, load
from sdc_problems.errors import SDCError
from sdc_problems.methods._apply import apply, recoded
from sdc_problems.methods.registry import Method

SAYS = "records of the embedded table (12 for `exhaustive`, 40 for `ga`, else 200), seed 1; k = 5 where it takes one"
COLORS = {"before": "#9a9a9a", "after": "#0b6fb3"}


def practice(records: int) -> Microdata:
    """Embedded table with the columns that examples of methods name."""
    frame = load("people").data.frame().head(records)
    towns = ["Olot", "Reus", "Vic", "Girona", "Valls"]
    kinds = frame["birthplace"].astype("category").cat.codes % 7 % 5
    table = pd.DataFrame({"age": frame["age"], "hours": frame["hours"], "town": [towns[code] for code in kinds]})
    return Microdata.from_frame(table, quasi_identifiers=list(table.columns))


def hierarchies(data: Microdata) -> dict[str, Hierarchy]:
    """Bands of numbers, and regions of towns."""
    ages = {name: Hierarchy.intervals(data.categories(name), [10, 20, 40]) for name in ("age", "hours")}
    regions = {"Olot": "north", "Girona": "north", "Vic": "north", "Reus": "south", "Valls": "south"}
    town = Hierarchy.from_levels({value: [region, "*"] for value, region in regions.items()})
    return {**ages, "town": town}


def column(method: Method, folder: Path) -> str | None:
    """Draw what a method does to one column; returns the name of the picture."""
    import matplotlib.pyplot as plt

    data = practice(12 if method.name == "exhaustive" else 40 if method.name == "ga" else 200)
    named = [name for value in method.example.values() if isinstance(value, dict) for name in value]
    columns = named or ["age", "hours"] if "numeric" in method.kinds else ["town"]
    columns = columns[:1] if method.one_column else columns
    roles = data.with_roles(quasi_identifiers=columns)
    options = dict(method.example)
    options |= {"epochs": 50} if method.takes("epochs") else {}
    options |= {"moves": 5000} if method.takes("moves") else {}
    known = hierarchies(data)
    found = apply(
        method,
        roles,
        k=5 if method.takes_k else None,
        hierarchies={name: known[name] for name in columns},
        rng=np.random.default_rng(1),
        problem=lambda: MicroaggregationProblem(roles, 5),
        options=options,
    )
    after = recoded(method, data, found, columns=columns).columns
    name = next(iter(after), None)
    if name is None:
        raise SDCError(f"method {method.name} changes nothing in its picture")
    before = data.frame()[name]
    with mpl.rc_context({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False}):
        figure, axes = plt.subplots(figsize=(6.4, 3.0), layout="constrained")
        numbers = pd.to_numeric(pd.Series(list(after[name])), errors="coerce")
        if pd.api.types.is_numeric_dtype(before) and numbers.notna().all():
            axes.plot([before.min(), before.max()], [before.min(), before.max()], color=COLORS["before"], lw=1)
            axes.scatter(before, numbers, s=14, color=COLORS["after"], alpha=0.6, linewidths=0)
            axes.set(xlabel=f"{name} before", ylabel=f"{name} after")
        else:
            bars(axes, before, pd.Series(list(after[name])).astype(str), name)
        figure.savefig(folder / f"{method.name}.png", dpi=110, metadata={"Software": None})
        plt.close(figure)
    return f"{method.name}.png"


def bars(axes: object, before: pd.Series, after: pd.Series, name: str) -> None:
    """Draw the released labels of a column, each as the range of the values that went out under it."""
    if pd.api.types.is_numeric_dtype(before):
        groups = before.groupby(after.to_numpy()).agg(["min", "max", "size"]).sort_values(["min", "max"])
        every = max(1, -(-len(groups) // 14))
        groups = groups[(np.arange(len(groups)) % every == 0) | (groups.index == "*")]
        place = np.arange(len(groups))
        axes.barh(place, groups["max"] - groups["min"] + 1, left=groups["min"], color=COLORS["after"], height=0.7)
        axes.set_yticks(place, [str(label)[:24] for label in groups.index], fontsize=8)
        axes.set(xlabel=f"{name} before: values released under each label", ylabel=f"{name} after")
        axes.invert_yaxis()
        return
    counts = pd.DataFrame({"before": before.value_counts(), "after": after.value_counts()}).fillna(0)
    place = np.arange(len(counts))
    for shift, which in ((-0.2, "before"), (0.2, "after")):
        axes.bar(place + shift, counts[which], width=0.38, color=COLORS[which], label=which)
    axes.set_xticks(place, [str(label)[:16] for label in counts.index])
    axes.set(ylabel=f"records by {name}")
    axes.legend(frameon=False)
