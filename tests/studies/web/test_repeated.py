"""Repeated parts of a report: nothing is lost, and what solutions share is written once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sdc_problems.studies.web.payload import Source
from sdc_problems.studies.web.repeated import NAME, without_repeats

words = st.text(max_size=30).filter(lambda text: text != NAME)
plain = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4),
    max_leaves=12,
)


def put_back(content: Any, parts: list[Any]) -> Any:
    """Twin of the page's reader."""
    made: list[Any] = []

    def whole(value: Any) -> Any:
        if isinstance(value, dict) and list(value) == [NAME]:
            return made[value[NAME]]
        if isinstance(value, dict):
            return {key: whole(inner) for key, inner in value.items()}
        return [whole(inner) for inner in value] if isinstance(value, list) else value

    for part in parts:
        made.append(whole(part))
    return whole(content)


@settings(max_examples=60, deadline=None)
@given(st.lists(plain, max_size=3).map(lambda some: {str(i): [one, [one, some]] for i, one in enumerate(some * 2)}))
def test_what_is_named_is_put_back(content: dict[str, Any]) -> None:
    shorter, parts = without_repeats(content)
    assert put_back(shorter, parts) == content
    texts = [json.dumps(part) for part in parts]
    assert len(set(texts)) == len(texts)


def test_a_report_writes_once_what_its_solutions_share(pbg: Path) -> None:
    source = Source.open(pbg)
    details = {ident: source.detail(ident) for ident in source.run.front().ids[:12]}
    shorter, parts = without_repeats(details)
    assert put_back(shorter, parts) == details
    assert len(json.dumps([shorter, parts])) < 0.7 * len(json.dumps(details))
