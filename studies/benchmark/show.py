"""Tables of benchmarks on the terminal, and as plain values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sdc_problems.studies.benchmark.tables import LEVEL, Entry, assessed, best_of, samples, summary
from sdc_problems.studies.report.terminal import console, plain
from sdc_problems.suite import instance
from sdc_problems.suite._statistics import (
    Pair,
    Samples,
    alike,
    block,
    mean_ranks,
    pairs_by_instance,
    pairs_over_instances,
)

if TYPE_CHECKING:
    import pandas as pd


def table_payload(entries: Sequence[Entry], budget: str | int, indicator: str) -> dict[str, Any]:
    """Plain values of a table: rows, tests on each instance and over all, mean ranks.

    Parameters
    ----------
    entries, budget, indicator
        As for ``assessed`` and ``samples``.
    """
    values = samples(assessed(entries, budget), indicator)
    return payload_of(summary(entries, budget), values, budget, indicator)


def payload_of(table: pd.DataFrame, values: Samples, budget: str | int, indicator: str) -> dict[str, Any]:
    """Plain values of a summary and of the tests that samples allow.

    Parameters
    ----------
    table
        As from ``summary``.
    values
        Values of each seed, as from ``samples``.
    budget, indicator
        What they are of.
    """
    pairs, over = pairs_by_instance(values), pairs_over_instances(values)
    best = best_of(values, pairs)
    rows = rows_of(table)
    for row in rows:
        row["mark"] = best[row["instance"]].get(row["algorithm"], "")
    ranks = mean_ranks(values)
    return {
        "budget": budget,
        "indicator": indicator,
        "rows": rows,
        "pairs": [vars(pair) for pair in pairs],
        "over_instances": [vars(pair) for pair in over],
        "shared": len(block(values)[0]),
        "mean_ranks": {name: _plain(rank) for name, rank in ranks.items()},
        "alike": [list(group) for group in alike(ranks, over)],
    }


def _plain(value: Any) -> Any:
    """JSON has no infinity and no NaN."""
    if isinstance(value, list):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value.item() if hasattr(value, "item") else value


def rows_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Plain values of a summary, and what is known of each instance's front.

    Parameters
    ----------
    frame
        As from ``summary``.
    """
    rows = [{str(k): _plain(v) for k, v in row.items()} for row in frame.to_dict("records")]
    for row in rows:
        row["known"] = instance(row["instance"]).known
    return rows


def print_table(payload: dict[str, Any], *, pairs: bool) -> None:
    """Print a table, what its columns mean, and the tests.

    Parameters
    ----------
    payload
        As from ``table_payload``.
    pairs
        Whether the test of each pair on each instance is printed.
    """
    mark = f"*: best {payload['indicator']}, ~: the tests do not tell it from the best"
    print_rows(payload["rows"], payload["budget"], mark)
    _print_tests(payload, pairs)


def print_rows(rows: Sequence[dict[str, Any]], budget: str | int, mark: str) -> None:
    """Print rows of a table, and what its columns mean.

    Parameters
    ----------
    rows
        As from ``table_payload`` or ``rows_of``.
    budget
        Evaluations after which was looked.
    mark
        Sentence on the marks.
    """
    out = console()
    head = ("algorithm", "gap", "quartiles", "found", "area", "solved", "runtime")
    lines: list[str | tuple[str, ...]] = [head]
    last = ""
    for row in rows:
        title = f"{row['instance']} ({row['known']}), {row['budget']:,} evaluations"
        if title != last:
            lines.append(title)
            last = title
        lines.append(
            (
                f"  {plain(row['algorithm'], 45)} {row['mark']}",
                _gap(row),
                f"{short(row['gap_q1'])} {short(row['gap_q3'])}",
                _share(row["found"]),
                short(row["area"]),
                f"{row['solved']}/{row['seeds']}",
                "" if row["ert_front"] is None else f"{row['ert_front']:,.0f}",
            )
        )
    out.print("\n".join(columns(lines)), soft_wrap=True)
    after = f"{budget:,} evaluations" if isinstance(budget, int) else f"the budget {budget}"
    out.print(
        f"after {after}, medians of the seeds; gap: missing share of the front's hypervolume (where"
        " the front is not proven: compared with the best known, and the largest that the proven bound leaves open);"
        " found: share of the front's points; area: mean gap over the run; solved, runtime: seeds with the whole front,"
        f" expected evaluations to it; {mark}",
        soft_wrap=True,
    )


def columns(lines: Sequence[str | tuple[str, ...]]) -> list[str]:
    """Lines of cells under each other, the first of each to the left; a line that is no tuple stands as it is.

    Parameters
    ----------
    lines
        Cells of each line, or a heading.

    Examples
    --------
    >>> columns([("a", "b"), "all", ("long", "10")])
    ['a      b', 'all', 'long  10']
    """
    cells = [line for line in lines if isinstance(line, tuple)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    found = []
    for line in lines:
        if isinstance(line, tuple):
            first, *others = line
            line = "  ".join([first.ljust(widths[0]), *map(str.rjust, others, widths[1:])]).rstrip()
        found.append(line)
    return found


def beside(lines: Sequence[str], notes: Sequence[str], width: int | None) -> list[str]:
    """Lines with a note each: behind it, or all notes below, where not all fit behind.

    Parameters
    ----------
    lines, notes
        As many of each.
    width
        Characters of a line; None if lines have no end.

    Examples
    --------
    >>> beside(["id", "a"], ["objectives", "k"], 80), beside(["id", "a"], ["objectives", "k"], 12)
    (['id  objectives', 'a   k'], ['id', '    objectives', 'a', '    k'])
    """
    first = max(map(len, lines))
    found = [f"{line.ljust(first)}  {note}" for line, note in zip(lines, notes, strict=True)]
    if width is None or max(map(len, found)) <= width:
        return found
    return [part for line, note in zip(lines, notes, strict=True) for part in (line, f"    {note}")]


def _print_tests(payload: dict[str, Any], pairs: bool) -> None:
    out = console()
    if pairs:
        out.print("\nOn each instance (Mann-Whitney, two-sided; Holm over all pairs and instances)")
        for pair in payload["pairs"]:
            out.print(f"{pair['instance']}: {_sentence(Pair(**pair))}", soft_wrap=True)
    if not payload["pairs"]:
        out.print("fewer than three seeds each: too few to test differences")
    if payload["shared"] < 2 or not payload["over_instances"]:
        return
    named = dict.fromkeys(row["algorithm"] for row in payload["rows"])
    few = [plain(name, 40) for name in named if name not in payload["mean_ranks"]]
    without = f", without {', '.join(few)}" if few else ""
    out.print(
        f"\nOver the {payload['shared']} instances that all have run on{without} (Wilcoxon on medians; Holm over all"
        " pairs)",
        soft_wrap=True,
    )
    if payload["shared"] < 6:
        out.print("fewer than six instances: p of this test cannot be below 0.03")
    for pair in payload["over_instances"]:
        out.print(_sentence(Pair(**pair)), soft_wrap=True)
    ranks = sorted(payload["mean_ranks"].items(), key=lambda item: item[1])
    out.print("mean ranks: " + ", ".join(f"{plain(name, 40)} {rank:.2f}" for name, rank in ranks), soft_wrap=True)


def _sentence(pair: Pair) -> str:
    differ = "" if pair.p_holm < LEVEL else ", not told apart"
    return (
        f"{plain(pair.first, 40)} against {plain(pair.second, 40)}: better in {100 * pair.effect:.0f} % (A12 ="
        f" {pair.effect:.2f}), p = {pair.p:.2g}, adjusted {pair.p_holm:.2g}{differ}"
    )


def _gap(row: dict[str, Any]) -> str:
    if row["known"] == "exact":
        return short(row["gap"])
    return f"{short(row['gap'])} …" if row["gap_bound"] is None else f"{short(row['gap'])} … {short(row['gap_bound'])}"


def _share(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.0f} %"


def short(value: float | None) -> str:
    """Number of three digits; tiny ones as powers of ten.

    Parameters
    ----------
    value
        The number; None is empty.

    Examples
    --------
    >>> short(0.0), short(0.12345), short(0.0000123), short(None)
    ('0', '0.123', '1.2e-05', '')
    """
    if value is None:
        return ""
    if value == 0:
        return "0"
    return f"{value:.3f}" if abs(value) >= 0.0005 else f"{value:.1e}"
