"""Page on one protected file: before and after, no script, no cell of a single person, no count of 1 to 4."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from sdc_problems import Microdata, SDCError, protect
from sdc_problems.studies.cli import cli
from sdc_problems.studies.report.file_page import file_page

N = 200


@pytest.fixture
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(6)
    frame = pd.DataFrame({
        "age": rng.integers(20, 70, N),
        "town": rng.choice(["Olot", "Reus", "<b>Vic</b>"], N, p=[0.5, 0.3, 0.2]),
        "ill": rng.choice(["yes", "no"], N),
    })  # fmt: skip
    frame.loc[0, "town"] = "Siurana"  # one person
    frame.loc[1, "age"] = 97
    return frame


@pytest.fixture
def data(frame: pd.DataFrame) -> Microdata:
    return Microdata.from_frame(frame, quasi_identifiers=["age", "town"], sensitive=["ill"])


class Reader(HTMLParser):
    """Tags, and the texts of bars with their counts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data.strip())


def counts(html: str) -> list[int]:
    return [int(found.replace(",", "")) for found in re.findall(r'class="count"[^>]*>([\d,]+)<', html)]


@pytest.mark.parametrize("method", [None, "lattice", "suppress-cells", "local-recoding"])
def test_what_the_page_says(data: Microdata, method: str | None) -> None:
    done = protect(data, k=5, method=method)
    html = file_page(data, done)
    read = Reader(html)
    assert not {"script", "img", "link", "b"} & read.tags
    assert "http" not in html.replace("http-equiv", "")
    for sentence in done.what_was_done:
        assert sentence in read.texts
    assert ("What each method costs" in read.texts) == (method is None)
    originals = [part.split("</figure>")[0] for part in html.split("<figcaption>before</figcaption>")[1:]]
    assert len(originals) == 2
    assert "Siurana" not in "".join(originals)
    assert "97" not in read.texts
    assert min(counts(html)) >= 5
    stars = [(done.frame[name].astype(str) == "*").sum() for name in ("age", "town")]
    for name, count in zip(("age", "town"), stars, strict=True):
        at = read.texts.index(name)
        assert read.texts[at + 1] == (f"{count:,}" if count == 0 or count >= 5 else "fewer than 5")


def test_a_price_has_a_column_of_its_own(data: Microdata) -> None:
    done = protect(data, k=5, suppression_price=0.01)
    assert done.choice is not None
    lattice = next(c for c in done.choice.candidates if c.method == "lattice")
    assert lattice.suppressed > 0
    html = file_page(data, done)
    numbers = "".join(f'<td class="n">{x:.3g}</td>' for x in (lattice.glm_percent, lattice.cost))
    assert f'<td>lattice</td>{numbers}<td class="n">{lattice.k:,}</td><td>' in html
    assert "with price, %" in Reader(html).texts
    assert "with price, %" not in Reader(file_page(data, protect(data, k=5))).texts


def test_risk_before_and_after(data: Microdata, frame: pd.DataFrame) -> None:
    done = protect(data, k=5, method="mondrian")
    text = " ".join(Reader(file_page(data, done)).texts)
    for table, when in ((frame, "the original"), (done.frame, "the file")):
        classes = table.astype(str).groupby(["age", "town"]).ngroups
        assert f"finds the right record in {100 * classes / N:.3g} % of the cases in {when}" in text
    sizes = frame.groupby(["age", "town"])["ill"].transform("size")
    assert f"alone {int((sizes == 1).sum())}" in text


def test_where_records_are_left_out_bars_are_in_fives(data: Microdata) -> None:
    done = protect(data, k=8, method="lattice", max_suppression=0.2)
    assert len(done.frame) < N
    html = file_page(data, done)
    for after in html.split("<figcaption>after</figcaption>")[1:]:
        assert all(count % 5 == 0 for count in counts(after.split("</figure>")[0]))


def test_command_writes_it_and_refuses_first(frame: pd.DataFrame, tmp_path: Path) -> None:
    frame.to_csv(tmp_path / "in.csv", index=False)
    where = ["protect", str(tmp_path / "in.csv"), "--k", "5", "--quasi-identifiers", "age,town", "--sensitive", "ill"]
    where += ["--out", str(tmp_path / "out.csv")]
    (tmp_path / "run").mkdir()
    (tmp_path / "run/run.sqlite").write_bytes(b"a run")
    for name, says in (
        ("in.csv", "is also read"), ("out.csv.mapping.csv", "or written for another"), ("no/x.html", "its folder does"),
        ("run/run.sqlite", "of the run itself"), ("run/study.toml", "of the run itself"),
    ):  # fmt: skip
        refused = CliRunner().invoke(cli, [*where, "--report", str(tmp_path / name)])
        assert isinstance(refused.exception, SDCError)
        assert says in str(refused.exception)
        assert not (tmp_path / "out.csv").exists()
    done = CliRunner().invoke(cli, [*where, "--report", str(tmp_path / "page.html")])
    assert done.exit_code == 0, done.output
    assert "page.html" in done.stdout
    assert "<title>out.csv</title>" in (tmp_path / "page.html").read_text(encoding="utf-8")
    again = CliRunner().invoke(cli, [*where[:-1], str(tmp_path / "b.csv"), "--report", str(tmp_path / "page.html")])
    assert "already exists" in str(again.exception)
