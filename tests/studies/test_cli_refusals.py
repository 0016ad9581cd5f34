"""What the system refuses, memory and room on the disk, is one sentence; faults of ours are not hidden behind it."""

from __future__ import annotations

import errno

import pytest

from sdc_problems.studies import cli


def chained() -> BaseException:
    """Error of a library that hides too little memory behind its own."""
    try:
        try:
            raise MemoryError
        except MemoryError:
            raise RuntimeError("module not loaded")  # noqa: B904 -- as such libraries do
    except RuntimeError as error:
        return error


REFUSED = {
    "memory": [
        MemoryError(),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
        ImportError("x.so: failed to map segment from shared object"),
        RuntimeError("can't start new thread"),
        chained(),
    ],
    "disk is full": [OSError(errno.ENOSPC, "No space left on device"), OSError(errno.EFBIG, "File too large")],
}


@pytest.mark.parametrize(("word", "error"), [(word, error) for word in REFUSED for error in REFUSED[word]])
def test_what_the_system_refuses_is_one_sentence(
    word: str, error: BaseException, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(**_: object) -> None:
        raise error

    monkeypatch.setattr(cli.cli, "main", refuse)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == cli.EXIT_FAILURE
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert word in said
    assert len(said.splitlines()) == 1


def test_too_small_a_limit_on_memory_is_refused_at_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    resource = pytest.importorskip("resource")
    monkeypatch.setattr("sys.argv", ["sdc", "demo"])
    monkeypatch.setattr(resource, "getrlimit", lambda _: (260 << 20, resource.RLIM_INFINITY))
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == cli.EXIT_FAILURE
    assert "260 MiB" in capsys.readouterr().err


@pytest.mark.parametrize("error", [ImportError("no module named x"), ValueError("x"), OSError(errno.EIO, "x")])
def test_other_errors_are_raised(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: object) -> None:
        raise error

    monkeypatch.setattr(cli.cli, "main", fail)
    with pytest.raises(type(error)):
        cli.main()
