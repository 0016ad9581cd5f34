"""Cases: a command over good inputs, of which something was made bad."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import corpus
from hypothesis import strategies as st

from sdc_problems import SDCError
from sdc_problems.studies.store.seal import seal_baselines, seal_facts, seal_seed

Damage = Callable[[Path], None]


@dataclass(frozen=True)
class Case:
    """A command, and what is done to its folder before."""

    arguments: tuple[str, ...]
    damages: tuple[tuple[Any, ...], ...]

    def prepare(self, folder: Path) -> None:
        """Make the inputs bad."""
        for kind, name, *rest in self.damages:
            path = folder / name / "run.sqlite" if kind in ("sql", "json", "seal") else folder / name
            # What is no plain file of ordinary size any more is as bad as it can be.
            if path.is_file() and not path.is_symlink() and path.stat().st_size < 1 << 30:
                DAMAGES[kind](folder, name, *rest)


CELLS = (
    "", " ", "?", "*", "NA", "nan", "inf", "-inf", "1e308", "1e309", "1e-320", "-0.0", "007", "+5", "1_000",
    "0x10", "9" * 30, "9" * 5000, "1" + "0" * 400, "９１", "1\u00a0234", "1,5", '"1,5"', "1.234.567", '"', '"100"5',
    '""', '"a\nb"', "\r", "\t", ";", "a;b", ",", ",,,", "\0", "\ufeff", "\u202e", "\u2028", "\x1b[31m", "é",
    "🙂", "=1+1", "@x", "true", "2020-01-01", "2020-13-99", "9999999-01-01", "20-29", "[10, 20)", ">5",
    "x" * 100_000, "None", "-", "--help", "../..",
)  # fmt: skip
VALUES = (
    "0", "-1", "1", "2", "3", "1000000", "9223372036854775807", "9223372036854775808", "1" + "0" * 30, "9" * 5000,
    "0.5", "-0.5", "1e308", "-1e308", "1e-320", "nan", "inf", "-inf", "true", '""', '"x"', '"\\u0000"',
    '"' + "x" * 5000 + '"', '"\\n"', '"5"', '"age"', '"wage"', '"town"', '"table.csv"', '"."', '"nothing"',
    '"loop"', '"pipe"', '"/dev/zero"', "[]", "[[]]", "{}", "[1]", "[1, 1]", "[1e19]", "[10, 15]", "[-5]", "[0]",
    '[""]', '["age"]', '["age", "age"]', '["nothing"]', '{a = 1}', "{min = 3}", "{min = 5, max = 1}",
    "{min = nan}", "{intervals = [10]}", "{masking = 99}", "{suppression = true}", "1979-05-27", "07:32:00",
    '"undefined"', '"utf-16"', '"1 d"', '"0 s"', '"1e9 d"', '"error"', '"drop"', '"category"', '"free"',
    '"budget"', '"GA"', '"NSGA3"', '"PBGEA"', '"SPEA2"', '"tcp://127.0.0.1:1"', "not toml", "[", '"""',
)  # fmt: skip
KEYS = (
    "data.name", "data.records", "data.kinds.age", "data.kinds.town", "data.orders.town", "data.missing",
    "data.na_values", "data.delimiter", "data.encoding", "data.decimal", "data.thousands", "data.hierarchies.age",
    "data.hierarchies.wage", "data.hierarchies.town.delimiter", "data.hierarchies.age.origin",
    "data.hierarchies.age.top", "data.hierarchies.town.levels", "data.hierarchies.town.masking", "problem.k",
    "problem.columns", "problem.objectives", "problem.nothing", "problem", "problem.max_suppression",
    "problem.suppression", "problem.evaluation", "problem.measure_original", "algorithm.pop_size",
    "algorithm.crossover_prob", "algorithm.archive", "algorithm.start", "operators.mutation",
    "operators.crossover.name", "archive.epsilon", "termination.evaluations", "termination.time",
    "termination.stalled", "require.k", "require.k.max", "require.il_sse.min", "require.nothing.min",
    "run.workers", "run.scheduler", "run", "title", "data", "",
)  # fmt: skip
STORED = (
    None, 0, -1, 1, 2**62, -(2**63), 1.5, float("inf"), -float("inf"), 1e300, "", "x", "[]", "{}", "null", "5",
    '"x"', "[1, 0]", "[1, 99]", "[9, 0]", '{"a": []}', "{x", "[" * 3000, "9" * 5000, b"", b"\x00\xff",
    b"PK\x03\x04", "finished", "running", "\ud7ff\0",
)  # fmt: skip
COLUMNS = {
    "meta": ("key", "value"),
    "seeds": ("seed", "position", "status", "reason"),
    "generations": ("seed", "generation", "evaluated", "solutions", "rng", "arrays", "chain", "seconds", "measuring",
                    "finished"),
    "states": ("seed", "generation", "arrays", "digest"),
    "baselines": ("name", "arrays"),
    "sessions": ("session", "token", "started", "versions", "workers"),
}  # fmt: skip
METHODS = (
    "mdav", "v-mdav", "mhm", "univariate", "exhaustive", "mondrian", "generalize", "recode-level",
    "recode-intervals", "recode-map", "recode-rare", "top-code", "bottom-code", "rank-swap", "swap-records",
    "add-noise", "rank-shuffle", "pram", "lattice", "local-recoding", "suppress-cells",
    "suppress-cells-wildcard", "none",
)  # fmt: skip


# ------------------------------------------------------------------ what is done to a file


def _cell(folder: Path, name: str, row: int, column: int, text: str) -> None:
    lines = (folder / name).read_text(encoding="utf-8", errors="surrogateescape").split("\n")
    mark = ";" if name == "town.csv" else ","
    cells = lines[row % len(lines)].split(mark)
    cells[column % len(cells)] = text
    lines[row % len(lines)] = mark.join(cells)
    _write(folder / name, "\n".join(lines).encode("utf-8", "surrogateescape"))


def _write(path: Path, content: bytes) -> None:
    path.unlink()
    path.write_bytes(content)


def _lines(folder: Path, name: str, how: str, row: int) -> None:
    lines = (folder / name).read_bytes().split(b"\n")
    row %= len(lines)
    changed = {
        "twice": [*lines[:row], lines[row], *lines[row:]],
        "without": [*lines[:row], *lines[row + 1 :]],
        "head": lines[: row + 1],
        "empty": [*lines[:row], b"", b"", *lines[row:]],
        "long": [*lines[:row], lines[row] + b",1,2,3,4", *lines[row + 1 :]],
        "reversed": [*lines[:1], *lines[:0:-1]],
    }[how]
    _write(folder / name, b"\n".join(changed))


def _bytes(folder: Path, name: str, how: str, place: int, value: int) -> None:
    content = bytearray((folder / name).read_bytes())
    place %= max(1, len(content))
    if how == "cut":
        content = content[:place]
    elif how == "flip" and content:
        content[place] = value
    elif how == "put":
        content[place:place] = bytes([value])
    elif how == "quote":
        content[place:place] = b'"'
    _write(folder / name, bytes(content))


def _whole(folder: Path, name: str, how: str) -> None:
    content = (folder / name).read_bytes()
    text = content.decode(errors="replace")
    changed = {
        "empty": b"",
        "utf-16": text.encode("utf-16"),
        "utf-16-le": text.encode("utf-16-le"),
        "utf-32": text.encode("utf-32"),
        "latin-1": text.replace("Zq", "Zqé").encode("latin-1", "replace"),
        "bom": b"\xef\xbb\xbf" + content,
        "crlf": content.replace(b"\n", b"\r\n"),
        "cr": content.replace(b"\n", b"\r"),
        "semicolons": content.replace(b",", b";"),
        "tabs": content.replace(b",", b"\t"),
        "blanks": content.replace(b",", b" , "),
        "quoted": b"\n".join(b'"' + line.replace(b",", b'","') + b'"' for line in content.split(b"\n")),
        "sep": b"sep=,\n" + content,
        "zeros": bytes(5000),
        "sqlite": b"SQLite format 3\0" + bytes(100),
        "upper": content.upper(),
        "comma": content.replace(b"9", b'"9,5"', 3),
    }[how]
    _write(folder / name, changed)


def _thing(folder: Path, name: str, how: str) -> None:
    path = folder / name
    path.unlink()
    if how == "folder":
        path.mkdir()
    elif how == "loop":
        path.symlink_to(path.name)
    elif how == "pipe":
        os.mkfifo(path)
    elif how == "zero":
        path.symlink_to("/dev/zero")
    elif how == "dangling":
        path.symlink_to("nowhere")
    elif how == "huge":
        with path.open("wb") as stream:
            stream.truncate(17 << 30)


def _key(folder: Path, name: str, place: int, key: str | None, value: str) -> None:
    """Another value at a key of a study, or another key with it; or the key left out."""
    lines = (folder / name).read_text(encoding="utf-8", errors="surrogateescape").splitlines() or [""]
    place %= len(lines)
    known = lines[place].partition(" = ")[0] if key is None else key
    if known.startswith("termination.") and value == "1000000":
        value = "100"  # a million generations are no fault, and outlast every limit
    if key is None:
        lines[place] = "" if value == "nothing" else f"{known} = {value}"
    else:
        lines = [line for line in lines if not line.startswith(f"{key} =")]
        lines.append(f"{key} = {value}")
    _write(folder / name, "\n".join(lines).encode("utf-8", "surrogateescape"))


# ------------------------------------------------------------------ what is done to a run


def _sql(folder: Path, run: str, table: str, column: str | None, value: Any, row: int) -> None:
    db = sqlite3.connect(folder / run / "run.sqlite")
    try:
        where = f"WHERE rowid IN (SELECT rowid FROM {table} LIMIT 1 OFFSET {row})"
        if column is None:
            db.execute(f"DELETE FROM {table} {where if row < 5 else ''}")
        else:
            db.execute(f"UPDATE {table} SET {column} = ? {where if row < 5 else ''}", (value,))
        db.commit()
    except (sqlite3.Error, OverflowError, UnicodeEncodeError):
        pass  # what SQLite itself does not take
    finally:
        db.close()


def _json(folder: Path, run: str, key: str, path: tuple[int, ...], value: Any) -> None:
    """Another value somewhere in the facts of a run."""
    db = sqlite3.connect(folder / run / "run.sqlite")
    try:
        row = db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        facts = {"": json.loads(row[0])}
    except (sqlite3.Error, ValueError, TypeError, RecursionError):  # damaged before
        db.close()
        return
    place: Any = facts
    step: Any = ""
    for number in path:
        inner = place[step]
        if not isinstance(inner, dict | list) or not inner:
            break
        place, step = inner, list(inner)[number % len(inner)] if isinstance(inner, dict) else number % len(inner)
    place[step] = value
    db.execute("UPDATE meta SET value = ? WHERE key = ?", (json.dumps(facts[""]), key))
    db.commit()
    db.close()


def _seal(folder: Path, run: str) -> None:
    """Seals made anew: a stranger can, so that what was damaged is looked at behind them, too."""
    db = sqlite3.connect(folder / run / "run.sqlite")
    try:
        with contextlib.suppress(sqlite3.Error, ValueError, TypeError, SDCError):  # what cannot even be read
            seal_facts(db)
            seal_baselines(db)
            for (seed,) in db.execute("SELECT seed FROM seeds").fetchall():
                seal_seed(db, seed)
            db.commit()
    finally:
        db.close()


DAMAGES: dict[str, Callable[..., None]] = {
    "cell": _cell, "lines": _lines, "bytes": _bytes, "whole": _whole, "thing": _thing, "key": _key,
    "sql": _sql, "json": _json, "seal": _seal,
}  # fmt: skip

# ------------------------------------------------------------------ drawing them

small = st.integers(0, 60)
cells = st.one_of(st.sampled_from(CELLS), st.text(max_size=12).filter(lambda t: t.isprintable()))
WHOLE = ("empty", "utf-16", "utf-16-le", "utf-32", "latin-1", "bom", "crlf", "cr", "semicolons", "tabs",
"blanks", "quoted", "sep",
         "zeros", "sqlite", "upper", "comma")  # fmt: skip
THINGS = ("folder", "loop", "pipe", "zero", "dangling", "gone", "huge")


def damaged_file(name: str) -> st.SearchStrategy[tuple[Any, ...]]:
    """Damage of a text file."""
    file = st.just(name)
    return st.one_of(
        st.tuples(st.just("cell"), file, small, small, cells),
        st.tuples(st.just("cell"), file, st.just(0), small, cells),
        st.tuples(st.just("lines"), file, st.sampled_from(("twice", "without", "head", "empty", "long",
        "reversed")), small),
        st.tuples(st.just("bytes"), file, st.sampled_from(("cut", "flip", "put", "quote")), st.integers(0, 900),
                  st.integers(0, 255)),
        st.tuples(st.just("whole"), file, st.sampled_from(WHOLE)),
        st.tuples(st.just("thing"), file, st.sampled_from(THINGS)),
    )  # fmt: skip


def damaged_study(name: str) -> st.SearchStrategy[tuple[Any, ...]]:
    """Damage of a study file."""
    values = st.sampled_from((*VALUES, "nothing"))
    key = st.one_of(st.none(), st.none(), st.sampled_from(KEYS))
    return st.one_of(*[st.tuples(st.just("key"), st.just(name), small, key, values)] * 3, damaged_file(name))


def damaged_run(name: str) -> st.SearchStrategy[tuple[Any, ...]]:
    """Damage of a run folder."""
    tables = st.sampled_from([(t, c) for t, columns in COLUMNS.items() for c in (*columns, None)])
    sql = tables.flatmap(
        lambda at: st.tuples(
            st.just("sql"), st.just(name), st.just(at[0]), st.just(at[1]), st.sampled_from(STORED), st.integers(0, 6)
        )
    )
    facts = st.tuples(
        st.just("json"), st.just(name), st.sampled_from(("format", "versions", "study", "given", "folder",
        "data", "problem")),
        st.lists(small, max_size=5).map(tuple),
        st.sampled_from((None, -1, 0, 10**30, 1.5, "", "x", "\0", "Zq" * 2, [], {}, [1], {"a": 1}, True)),
    )  # fmt: skip
    return st.one_of(sql, sql, facts, facts, damaged_file(f"{name}/run.sqlite"), damaged_study(f"{name}/study.toml"))


def some(damage: st.SearchStrategy[Any], most: int = 2) -> st.SearchStrategy[tuple[Any, ...]]:
    """One damage, or more of them in different files or places."""
    return st.lists(damage, min_size=1, max_size=most).map(tuple)


@st.composite
def studies(draw: st.DrawFn) -> Case:
    """``sdc run`` of a study."""
    name = draw(st.sampled_from(tuple(corpus.STUDIES)))
    damage = st.one_of(damaged_study(f"{name}.toml"), damaged_file("table.csv"), damaged_file("town.csv"))
    return Case(("run", f"{name}.toml", "--out", "new", "--no-pictures"), draw(some(damage)))


@st.composite
def runs(draw: st.DrawFn) -> Case:
    """A command that reads a run."""
    name = draw(st.sampled_from(corpus.RUNS))
    solution = draw(
        st.sampled_from(("1-0", "1-1", "5-3", "9-0", "1-99", "baseline-x", "", "-", "1-", "٣-1", "1-" + "9" * 5000))
    )
    arguments = draw(st.sampled_from((
        ("status", name), ("status", name, "--json"), ("resume", name, "--no-pictures"), ("plot",
        name, "--format", "png"),
        ("report", name, "--out", "new.html"), ("compare", name, "gomm"), ("compare", name, "pbg", "--json"),
        ("release", name, "--solution", solution, "--out", "new.csv"),
        ("explore", name), ("explore", name, "gomm", "--read-only"), ("explore", name, "--data", "table.csv"),
        ("status", name, "--fingerprint", solution),
        ("release", name, "--solution", "1-0", "--out", "new.csv", "--override", "fuzz", "--suppressed", "star"),
    )))  # fmt: skip
    damages = draw(some(st.one_of(damaged_run(name), damaged_run(name), damaged_file("table.csv"))))
    return Case(arguments, (*damages, *([("seal", name)] if draw(st.integers(0, 3)) else [])))


texts = st.one_of(
    st.sampled_from(("", ",", "age", "wage", "town", "ill", "name", "age,wage", "age,age", "nothing",
    "age=numeric", "age=x", "=",
                     "town=nominal", "town=ordinal", "9" * 5000, "x" * 5000, "\n", "é", "[bold]")),
    st.text(max_size=8).filter(lambda t: "\0" not in t and t.isprintable()),
)  # fmt: skip
numbers = st.sampled_from(
    ("0", "1", "2", "3", "5", "36", "37", "-1", "1.5", "nan", "inf", "1e9", "9" * 30, "9" * 5000, "x", "")
)


@st.composite
def tables(draw: st.DrawFn) -> Case:
    """``sdc protect`` or ``sdc evaluate``, of bad files or with bad options."""
    options = {"--sensitive": "ill", "--identifiers": "name", "--keep": "town"}
    if draw(st.booleans()):
        arguments = ["protect", "table.csv", "--out", "new.csv"]
        options |= {"--columns": "age,wage", "--k": "3", "--method": draw(st.sampled_from(METHODS))}
        if options["--method"] in ("generalize", "recode-level", "lattice", "local-recoding"):
            options |= {"--columns": "age,town", "--keep": "wage", "--hierarchy": "age={intervals = [10]}"}
            arguments += ["--hierarchy", "town=town.csv"]
        if draw(st.integers(0, 3)) == 0:  # a choice of method
            del options["--method"]
        odd = ("--columns", "--k", "--l", "--t", "--max-risk", "--max-suppression",
        "--suppression-price", "--importance", "--within",
        "--sensitive", "--identifiers", "--keep", "--kinds", "--order",
        "--seed", "--rows-seed", "--delimiter", "--encoding", "--decimal", "--thousands", "--na-values",
               "--hierarchy", "--missing")  # fmt: skip
        files = ("table.csv", "town.csv")
    else:
        arguments = [
            "evaluate",
            "table.csv",
            "protected.csv",
            *draw(st.sampled_from(((), ("--json",), ("--same-rows",), ("--rows", "rows.csv")))),
        ]
        options = {"--quasi-identifiers": "age,town,wage", "--sensitive": "ill", "--identifiers": "name"}
        odd = ("--quasi-identifiers", "--sensitive", "--identifiers", "--kinds", "--encoding",
        "--delimiter", "--decimal",
               "--thousands", "--na-values", "--missing", "--hierarchies", "--linkage-limit", "--rows")  # fmt: skip
        files = ("table.csv", "protected.csv", "protected.csv", *(["rows.csv"] if "rows.csv" in arguments else []))
    broken = draw(st.integers(0, 3))
    damages = draw(some(st.sampled_from(files).flatmap(damaged_file))) if broken else ()
    for _ in range(draw(st.integers(0, 2)) if broken else draw(st.integers(1, 3))):
        option = draw(st.sampled_from(odd))
        hows = st.sampled_from(
            ("age={intervals=[1e19]}", "age={x", "town=town.csv", "age={masking=0}", "x=y", "age=loop")
        )
        codecs = st.sampled_from(("cp1252", "latin-1", "utf-16", "utf-8-sig", "cp500", "undefined", "idna", "hex"))
        weights = st.sampled_from(
            ("age=3,wage=0.1", "age=nan", "age=-1", "agee=2", "age=1e400", "age", "age=1e9,wage=1")
        )
        special = {"--hierarchy": hows, "--encoding": st.one_of(codecs, texts), "--importance": weights}
        options[option] = draw(special.get(option, st.one_of(texts, numbers)))
    given = [part for option, value in options.items() for part in (f"{option}={value}",)]
    return Case((*arguments, *given), damages)


@st.composite
def demos(draw: st.DrawFn) -> Case:
    """``sdc demo`` where its folder is none, or in the way; or the page of what is no run."""
    place = draw(
        st.sampled_from(("table.csv", "gomm", "loop", "pipe", ".", "", "/", "nothing/there", "/dev/null/x", "\0"))
    )
    damages = draw(st.sampled_from(((), (("thing", "table.csv", "loop"),), (("thing", "table.csv", "pipe"),))))
    port = draw(st.sampled_from(("0", "1", "-1", "65536", "x", "9" * 30)))
    host = draw(
        st.sampled_from(("127.0.0.1", "localhost", "0.0.0.0", "::1", "::", "256.1.1.1", "example.org", "", "\u0663"))
    )
    arguments = draw(st.sampled_from((
        ("demo", "--out", place), ("demo", "--out", place, "--json"), ("demo", place),
        ("explore", place), ("explore", "gomm", place), ("explore", "gomm", "--host", host, "--port", port),
        ("explore", "gomm", "--data", place), ("explore", "pbg", "gomm"),
    )))  # fmt: skip
    return Case(arguments, damages)


@st.composite
def others(draw: st.DrawFn) -> Case:
    """Commands with arguments that mean nothing to them."""
    commands = ("demo", "explore", "run", "resume", "status", "compare", "release", "plot", "report", "reproduce",
                "schema", "protect",
                "evaluate", "data", "data show", "nothing", "--version", "run --help")  # fmt: skip
    words = st.one_of(texts, numbers, st.sampled_from((
        "table.csv", "gomm", "gomm.toml", "--json", "--out", "new", "--solution", "1-0", "--example",
        "--help", "pbg", ".", "/", "--k",
        "--quasi-identifiers", "--columns", "age,wage", "--list", "--method", "mdav", "people", "adult",
        "--workers", "--keep",
    )))  # fmt: skip
    arguments = draw(st.lists(words, max_size=5))
    return Case((*draw(st.sampled_from(commands)).split(), *arguments), ())
