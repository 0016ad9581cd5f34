from __future__ import annotations

from pathlib import Path

import pytest

from sdc_problems._tables.look import found_delimiter, found_encoding


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1,5;2,5\n3,5;4,5\n", ";"),
        ("a\tb\n1\t2\n", "\t"),
        ('a|b\n"1|2"|3\n', "|"),
        ('a;b\n"x;y";2\n', ";"),
        ("a,b;c\n1,2;3\n", ","),  # as good as the other: the usual one
        ("a\n1\n", None),
        ("a,b\n1;2\n", None),
        ("", None),
        ("sep=|\na;b|c\n1;2|3\n", "|"),
    ],
)
def test_a_delimiter_is_found_where_it_is_plain(text: str, delimiter: str | None, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(text)
    assert found_delimiter(tmp_path / "t.csv") == delimiter
    assert found_delimiter(tmp_path / "none.csv") is None


def test_an_encoding_is_found_by_its_mark_or_by_being_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for encoding, told in (("utf-16", "utf-16"), ("utf-8-sig", "utf-8"), ("utf-8", "utf-8"), ("cp1252", "cp1252")):
        path.write_text("Ort\nKöln\n", encoding=encoding)
        assert found_encoding(path, "cp1252") == told
    assert found_encoding(path) == "utf-8"  # no guess: the reader will say which byte is not
    path.write_bytes(b"a" * (1 << 20) + "ö".encode() + b"b")  # across blocks
    assert found_encoding(path, "latin-1") == "utf-8"
    assert found_encoding(tmp_path / "none.csv", "latin-1") == "latin-1"
