"""Transaction of a release: the protected file, its certificate, value mapping and rows file, all of them or none.

Everything is written under temporary names in the folder of the files. The protected file is read back once, as text,
its rows are put in the original's order by the rows file, and what is promised is counted in what was read. Only then
the files get their names, the protected one last: it never stands there without its certificate. What fails on the way
leaves every file as it was.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import signal
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems._files import resolved
from sdc_problems._sharing.folders import is_dead, lock, marked
from sdc_problems._tables.formats import markup_format
from sdc_problems.errors import SDCError, SDCFailure
from sdc_problems.parallel._process import ENDING
from sdc_problems.studies.release.csv_text import (
    NOTHING,
    PLAIN,
    Form,
    as_written,
    guarded,
    guarded_table,
    read_text,
    to_bytes,
    unguarded_table,
    with_marked_labels,
    without_decimals,
    without_marked_labels,
    write_bytes,
)
from sdc_problems.studies.release.row_order import RowOrder, rows_file, rows_of
from sdc_problems.studies.store.schema import DATABASE

if TYPE_CHECKING:
    import pandas as pd

    from sdc_problems._tables.spelling import Spelled
    from sdc_problems.graph import ProtectedGraph
    from sdc_problems.studies.release.guarantees import Guarantee

_TEMPORARY = ".sdc-release-"


@dataclass(frozen=True)
class Places:
    """Places of the files of a release.

    Attributes
    ----------
    file
        The protected file.
    certificate
        What was done and what was counted; may be published with it.
    mapping
        What became of each value; for the holder of the data only.
    rows
        Which record of the original each row is; for the holder of the data only.
    links
        Where links between the records of the protected file stand, if it is a table; what a former release left there
        goes if there are none.
    edges
        Whether there are any.
    decision
        The page of the decision record, if one was kept; what a former release left there goes if none was.
    """

    file: Path
    certificate: Path
    mapping: Path
    rows: Path
    links: Path
    edges: bool
    decision: Path

    @classmethod
    def of(cls, out: Path, *, edges: bool = False) -> Places:
        """Place the other files beside the protected one."""
        out = Path(out)
        names = ("certificate.json", "mapping.csv", "rows.csv", "edges.csv", "decision.html")
        certificate, mapping, rows, links, decision = (out.with_name(f"{out.name}.{name}") for name in names)
        return cls(out, certificate, mapping, rows, links, edges, decision)

    @property
    def all(self) -> list[Path]:
        """Every file that is written or goes."""
        return [self.file, self.certificate, self.mapping, self.rows, self.links, self.decision]

    @property
    def markup(self) -> str | None:
        """Format of the protected file, if it already contains the links."""
        return markup_format(self.file)

    @property
    def file_of_links(self) -> Path | None:
        """The file that holds the links, None without any."""
        return None if not self.edges else self.links if self.markup is None else self.file


@dataclass(frozen=True)
class Written:
    """The protected file as it was read back.

    Attributes
    ----------
    text
        Its cells as text, without the formula guard, and its rows in the order of the original.
    guarantees
        What was promised, counted in them.
    sha256
        Of its bytes.
    edges_sha256
        Of those of the file that holds the links; empty if there are none.
    """

    text: pd.DataFrame
    guarantees: tuple[Guarantee, ...]
    sha256: str
    edges_sha256: str = ""


def reserve(out: Path, *, overwrite: bool, inputs: Iterable[Path | None] = (), edges: bool = False) -> Places:
    """Places of a release that may be written to; refused before anything is computed.

    Parameters
    ----------
    out
        The protected file.
    overwrite
        Whether files that exist already may be replaced.
    inputs
        Files that are read: none of them is ever written to.
    edges
        Whether links are released as well.
    """
    found = Places.of(out, edges=edges)
    if not found.file.name:
        raise SDCError(f"{str(out)!r} is a folder: name a file")
    if found.markup is not None and not edges:
        raise SDCError(f"--out {found.file.name!r} would be {found.markup}, which needs links: name a CSV file")
    if found.markup is not None and found.file.suffix.lower() == ".gz":
        raise SDCError(f"--out {found.file.name!r} would be compressed, but releases are not compressed: omit .gz")
    if not found.file.parent.is_dir():
        raise SDCError(f"there is no folder {str(found.file.parent)!r} to write into")
    read = [path for path in inputs if path is not None and Path(path).exists()]
    for path in found.all:
        if path.is_dir():
            raise SDCError(f"{str(path)!r} is a folder: name a file")
        if path.exists() and any(path.samefile(given) for given in read):
            raise SDCError(f"{_option(path, found)} is the original file itself, or another input: nothing is written")
        for folder in resolved(path).parents:
            if (folder / DATABASE).is_file():
                raise SDCError(
                    f"{str(path)!r} is in the run folder {folder.name!r}, which contains no records and is"
                    " often shared:"
                    " choose an --out elsewhere"
                )
        if (path.exists() or path.is_symlink()) and not overwrite:
            raise SDCError(f"{str(path)!r} already exists: choose another --out, or add --overwrite")
    return found


def _option(path: Path, places: Places) -> str:
    return "--out" if path == places.file else f"{path.name!r} beside --out"


def write(
    places: Places,
    frame: pd.DataFrame,
    *,
    rows: RowOrder,
    formula_guard: bool,
    promises: Callable[..., Sequence[Guarantee]],
    papers: Callable[[Written], tuple[dict[str, Any], bytes]],
    notes: dict[Path, str] | None = None,
    form: Form = PLAIN,
    graph: ProtectedGraph | None = None,
    decision: bytes | None = None,
) -> tuple[Written, dict[str, Any]]:
    """Write a protected table, count its promises in the file, and give all its files their names.

    Parameters
    ----------
    places
        From `reserve`.
    frame
        The protected table, in the order of the original.
    rows
        Order in which its rows are written, and what they are in the original.
    formula_guard
        Put an apostrophe before text that a spreadsheet would take for a formula.
    promises
        Counts what is promised in the cells that were read back, in the order of the table again; those of the links
        come second if there are any.
    papers
        Makes the certificate and the value mapping of what was written.
    notes
        Further files to be replaced in the same step, with their new text.
    form
        How the protected file is written.
    graph
        The table as nodes, in the order in which they are written, with their links.
    decision
        Page of the decision record.

    Returns
    -------
    Written
        The file as it was read back.
    dict
        The certificate.
    """
    if len(rows.records) != len(frame):
        raise SDCFailure("the protected table is not the original without its suppressed records: nothing is released")
    places_of = None if rows.seed is None else rows.places(frame)
    shown = with_marked_labels(frame, form)
    markup = None if graph is None else places.markup
    as_read = form.spelled(frame, rows.records)
    renames: list[tuple[Path | None, Path]]
    with _temporaries() as make:
        if graph is None or markup is None:
            how: dict[str, Any] = {"order": places_of, "formula_guard": formula_guard, "form": form, "as_read": as_read}
            temporary, sha256 = make.digested(places.file, lambda put: write_bytes(shown, put, **how))
        else:
            content = _markup(graph, formula_guard, markup)
            temporary, sha256 = make.digested(places.file, lambda put: put(content))
        records = rows_file(rows.records if places_of is None else rows.records[places_of], sha256)
        linked, digest, others = None, "", []
        if graph is None or markup is None:
            read = _read_back(temporary, shown, formula_guard, form, places_of, as_read)
            written = without_marked_labels(read, frame, form)
        else:
            written, edges = _markup_back(temporary, graph, formula_guard, markup)
            digest = sha256
            others.append(edges)
        if places_of is not None:
            order = np.argsort(rows_of(records, places.rows.name, sha256))
            written = written.iloc[order].reset_index(drop=True)
        if graph is not None and places.markup is None:
            pairs_form = form if form.other is None else PLAIN
            pairs = to_bytes(graph.edges, form=pairs_form)
            linked, digest = make(places.links, pairs, private=False), hashlib.sha256(pairs).hexdigest()
            others.append(_read_back(linked, graph.edges, False, pairs_form))
        guarantees = tuple(promises(written, *others))
        refuse_broken(guarantees)
        done = Written(written, guarantees, sha256, digest)
        certificate, mapping = papers(done)
        text = json.dumps(certificate, indent=2, ensure_ascii=True, allow_nan=False, default=str) + "\n"
        renames = [(make(path, note.encode("utf-8"), private=False), path) for path, note in (notes or {}).items()]
        renames.append((make(places.mapping, mapping, private=True), places.mapping))
        # Without a new one the rows file of what is replaced goes: it would pair the wrong rows.
        renames.append((make(places.rows, records, private=True) if rows.private_file else None, places.rows))
        renames.append((make(places.certificate, text.encode("ascii"), private=False), places.certificate))
        renames.append((linked, places.links))  # links of what is replaced go, too
        paper = None if decision is None else make(places.decision, decision, private=False)
        renames.append((paper, places.decision))  # and so does its decision record
        with _without_interruption():
            _rename_all([*renames, (temporary, places.file)])
    return done, certificate


def refuse_broken(guarantees: Iterable[Guarantee]) -> None:
    """Refuse a file that does not meet its guarantees."""
    broken = [g for g in guarantees if not g.holds]
    if broken:
        found = "; ".join(f"{g.name}: {g.found:g} where {g.promised:g} was promised" for g in broken)
        raise SDCFailure(f"the written file does not keep its guarantees ({found}): nothing is released")


def _read_back(
    path: Path,
    frame: pd.DataFrame,
    formula_guard: bool,
    form: Form,
    order: NDArray[np.int64] | None = None,
    as_read: Mapping[int, Spelled] = NOTHING,
) -> pd.DataFrame:
    """Cells of the written file, under the names and with the text that they had before the guard."""
    written = read_text(path, form, like=frame)
    names = list(frame.columns)
    if list(written.columns) != [guarded(name) if formula_guard else name for name in names] or len(written) != len(
        frame
    ):
        raise SDCFailure("the written file is not the same when it is read back: nothing is released")
    written = without_decimals(written.set_axis(names, axis=1), frame, form, order, as_read)
    return unguarded_table(written) if formula_guard else written


def _markup(graph: ProtectedGraph, formula_guard: bool, how: str) -> bytes:
    """Bytes of a file that holds nodes and links."""
    from sdc_problems.graph._write_markup import kinds_of, to_markup

    nodes = guarded_table(graph.nodes) if formula_guard else graph.nodes
    kinds = kinds_of(graph.nodes, graph.edges)
    return to_markup(as_written(nodes), as_written(graph.edges), kinds, graph.directed, how)


def _markup_back(path: Path, graph: ProtectedGraph, formula_guard: bool, how: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Cells of nodes and links in the written file, with the text that they had before the guard."""
    from sdc_problems.graph._markup import read_markup
    from sdc_problems.graph._write_markup import from_markup, kinds_of

    found = read_markup(path, how, as_text=True)
    meant = guarded_table(graph.nodes) if formula_guard else graph.nodes
    nodes, edges = from_markup(found, meant, graph.edges, kinds_of(graph.nodes, graph.edges))
    if found.directed != graph.directed or len(nodes) != len(meant) or len(edges) != len(graph.edges):
        raise SDCFailure("the written file is not the same when it is read back: nothing is released")
    nodes = nodes.set_axis(graph.nodes.columns, axis=1)
    return unguarded_table(nodes) if formula_guard else nodes, edges


class _Make:
    """Maker of files beside others, which are gone afterwards where they were not renamed."""

    def __init__(self) -> None:
        self.made: list[Path] = []
        self.held: list[int] = []

    def __call__(self, beside: Path, content: bytes, *, private: bool) -> Path:
        """Make a file."""
        return self.written(beside, lambda put: put(content), private=private)

    def digested(self, beside: Path, write: Callable[[Callable[[bytes], object]], object]) -> tuple[Path, str]:
        """Make a file for everybody, piece after piece, and say the SHA-256 of its bytes."""
        digest = hashlib.sha256()

        def both(put: Callable[[bytes], object]) -> None:
            def piece(content: bytes) -> None:
                digest.update(content)
                put(content)

            write(piece)

        return self.written(beside, both, private=False), digest.hexdigest()

    def written(self, beside: Path, write: Callable[[Callable[[bytes], object]], object], *, private: bool) -> Path:
        """Make a file of the pieces that a function puts into it."""
        try:
            if not self.made:
                _sweep(beside.parent)
            descriptor, name = tempfile.mkstemp(dir=beside.parent, prefix=marked(_TEMPORARY))
        except OSError as error:
            raise SDCFailure(f"cannot write in {str(beside.parent)!r}: {error.strerror}; nothing is released") from None
        self.made.append(Path(name))
        if os.name == "posix":  # elsewhere an open file cannot be renamed
            self.held.append(os.dup(descriptor))  # locked as long as this process lives
            lock(self.held[-1])
        try:
            with os.fdopen(descriptor, "wb") as stream:
                write(stream.write)
                stream.flush()
                os.fsync(stream.fileno())
            if not private:  # as mkstemp makes it; otherwise it gets the permissions of an ordinary new file
                mask = os.umask(0)
                os.umask(mask)
                self.made[-1].chmod(0o666 & ~mask)
        except OSError as error:
            raise SDCFailure(f"cannot write {str(beside)!r}: {error.strerror}; nothing is released") from None
        return self.made[-1]

    def let_go(self) -> None:
        """Give the locks of the files back."""
        while self.held:
            os.close(self.held.pop())


@contextmanager
def _temporaries() -> Iterator[_Make]:
    """Make files beside others; those that were not renamed are gone afterwards."""
    make = _Make()
    try:
        yield make
    finally:
        make.let_go()
        for path in make.made:
            path.unlink(missing_ok=True)


def _sweep(folder: Path) -> None:
    """Remove what processes that were killed left of their releases in a folder, where a lock tells that they were."""
    for path in () if os.name != "posix" else folder.glob(f"{_TEMPORARY}*-*-*"):
        if not path.name.endswith(".former") and path.is_file() and not path.is_symlink() and is_dead(path, _TEMPORARY):
            with suppress(OSError):  # another user's
                path.unlink(missing_ok=True)


@contextmanager
def _without_interruption() -> Iterator[None]:
    """Hold Ctrl-C and the like back until the end of the block, where they count."""
    if threading.current_thread() is not threading.main_thread():  # signals go to the main one
        yield
        return
    held: list[int] = []
    before = {number: signal.signal(number, lambda number, frame: held.append(number)) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if held:
        signal.raise_signal(held[0])


def _rename_all(renames: Sequence[tuple[Path | None, Path]]) -> None:
    """Give files their names, take away those without one; when that fails, all that stood there before come back."""
    former: list[tuple[Path, Path | None]] = []
    try:
        for number, (temporary, path) in enumerate(renames):
            kept = None
            if path.exists() or path.is_symlink():
                kept = path.with_name(f"{_TEMPORARY}{secrets.token_hex(4)}-{number}.former")
                try:
                    os.link(path, kept, follow_symlinks=False)  # the old file keeps its name until the new one has it
                except OSError:  # a file system without links
                    path.rename(kept)
            former.append((path, kept))
            if temporary is None:
                path.unlink(missing_ok=True)
            else:
                temporary.replace(path)
    except BaseException as error:
        for path, kept in reversed(former):
            if kept is None:
                path.unlink(missing_ok=True)
            else:
                kept.replace(path)
                kept.unlink(missing_ok=True)  # renaming one link of a file to another changes nothing
        if isinstance(error, OSError):
            raise SDCFailure(f"cannot write {str(path)!r}: {error.strerror}; nothing is released") from None
        raise
    for _, kept in former:
        if kept is not None:
            kept.unlink(missing_ok=True)
