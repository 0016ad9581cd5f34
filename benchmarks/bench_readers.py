"""Readers of a large file side by side: seconds, processor time and peak memory until each column is codes.

    python benchmarks/bench_readers.py [--records 1000000] [--format csv parquet] [--only ours pyarrow polars duckdb]
                                       [--file FILE]

Each reader works in a process of its own and ends with the same thing: for every column one whole number for each cell
and the different texts (of Parquet the different values). What is not installed is left out by name. Reading by
`ours` also looks for damage (rows of other lengths, text behind a quotation mark, the encoding), which the others do
not. The file is the one of `bench_rows.py`.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import tempfile
from pathlib import Path
from typing import Any

import bench_rows
import numpy as np

READERS = ("ours", "pyarrow", "polars", "duckdb")
MEMORY = "3GB"
"""Limit that DuckDB is told: it takes all there is otherwise."""


def main() -> None:
    """Measure each reader on each file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=10**6)
    parser.add_argument("--format", nargs="+", choices=("csv", "parquet"), default=["csv", "parquet"])
    parser.add_argument("--only", nargs="+", choices=READERS, default=list(READERS))
    parser.add_argument("--file", type=Path, help="A file that is there already, instead of one that is made.")
    parser.add_argument("--inside", choices=READERS, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.inside is not None:
        sizes = globals()[f"by_{chosen.inside}"](chosen.file)
        print(" ".join(map(str, sizes)))
        return
    print(f"{'records':>12} {'format':8} {'reader':9} {'seconds':>8} {'CPU s':>8} {'GiB':>6}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for form in chosen.format if chosen.file is None else [chosen.file.suffix.removeprefix(".")]:
            file = chosen.file
            if file is None:
                file = Path(folder) / f"people.{form}"
                bench_rows.made(file, chosen.records)
            side_by_side(file, chosen.records, form, chosen.only)


def side_by_side(file: Path, records: int, form: str, readers: list[str]) -> None:
    """Print a line for each reader; all must find equally many values in each column."""
    found = set()
    for reader in readers:
        if reader != "ours" and importlib.util.find_spec(reader) is None:
            print(f"{records:12,} {form:8} {reader:9} is not installed", flush=True)
            continue
        inside = [sys.executable, __file__, "--inside", reader, "--file", str(file)]
        with tempfile.TemporaryFile() as out:
            code, seconds, cpu, peak = bench_rows.measured(*inside, out=out)
            out.seek(0)
            found.add(out.read())
        assert code == 0
        print(f"{records:12,} {form:8} {reader:9} {seconds:8.1f} {cpu:8.1f} {peak:6.2f}", flush=True)
    assert len(found) <= 1, f"the readers found other values: {found}"


def by_ours(file: Path) -> list[int]:
    """Number of values of each column."""
    from sdc_problems import Microdata

    data = Microdata.from_file(file)
    return [attribute.n_categories for attribute in data.attributes]


class Growing:
    """A column of codes that grows batch by batch."""

    def __init__(self) -> None:
        self.place: dict[Any, int] = {}
        self.parts: list[np.ndarray] = []

    def add(self, values: list[Any], codes: np.ndarray) -> None:
        """Take the different values of a batch, and the number of each of its cells."""
        numbers = [self.place.setdefault(value, len(self.place)) for value in values]
        self.parts.append(np.array(numbers, dtype=np.int32)[codes])

    def finish(self) -> int:
        """Number of values, once all is one array."""
        np.concatenate(self.parts)
        return len(self.place)


def by_pyarrow(file: Path) -> list[int]:
    """Number of values of each column, by a stream of batches."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.dataset

    if file.suffix == ".csv":
        kind = pa.dictionary(pa.int32(), pa.string())
        options = pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(header(file), kind), strings_can_be_null=False, null_values=[]
        )
        batches = pyarrow.csv.open_csv(
            file, read_options=pyarrow.csv.ReadOptions(block_size=1 << 23), convert_options=options
        )
    else:
        batches = pyarrow.dataset.dataset(file).to_batches(batch_readahead=1)
    growing: list[Growing] = []
    for batch in batches:
        growing = growing or [Growing() for _ in batch.columns]
        for column, cells in zip(growing, batch.columns, strict=True):
            coded = cells if isinstance(cells, pa.DictionaryArray) else cells.dictionary_encode()
            column.add(coded.dictionary.to_pylist(), coded.indices.to_numpy(zero_copy_only=False))
    return [column.finish() for column in growing]


def by_polars(file: Path) -> list[int]:
    """Number of values of each column, by the streaming engine."""
    import polars as pl

    if file.suffix == ".csv":
        lazy = pl.scan_csv(file, schema=dict.fromkeys(header(file), pl.String))
    else:
        lazy = pl.scan_parquet(file)
    growing: list[Growing] = []
    for batch in lazy.collect_batches(chunk_size=1 << 18):
        growing = growing or [Growing() for _ in batch.columns]
        for column, cells in zip(growing, batch.get_columns(), strict=True):
            texts = cells.cast(pl.String)
            different = texts.unique(maintain_order=True)
            column.add(different.to_list(), texts.cast(pl.Enum(different)).to_physical().to_numpy())
    return [column.finish() for column in growing]


def by_duckdb(file: Path) -> list[int]:
    """Number of values of each column, by a table of texts that the engine may put aside."""
    import duckdb

    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as engine:
        engine.execute(f"set memory_limit = '{MEMORY}'; set temp_directory = '{folder}'")
        source = f"read_csv('{file}', all_varchar = true)" if file.suffix == ".csv" else f"read_parquet('{file}')"
        engine.execute(f"create table given as select * from {source}")
        names = [row[0] for row in engine.execute("describe given").fetchall()]
        sizes = []
        for name in names:
            engine.execute(f'create or replace table own as select distinct "{name}"::varchar as cell from given')
            engine.execute("drop type if exists cells; create type cells as enum (select cell from own)")
            codes = engine.execute(f'select enum_code("{name}"::varchar::cells)::int as code from given').fetchnumpy()
            sizes.append(int(codes["code"].max()) + 1)
        return sizes


def header(file: Path) -> list[str]:
    """Names of the columns."""
    with file.open(encoding="utf-8") as stream:
        return stream.readline().strip().split(",")


if __name__ == "__main__":
    main()
