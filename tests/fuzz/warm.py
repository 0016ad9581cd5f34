"""A process that has imported and compiled all, and forks a child with limits for each command it is told.

``python warm.py`` reads lines of JSON (arguments and a folder) and answers each by one: exit code, stdout, stderr.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MEMORY = 3 << 30  # bytes of address space that a command may take besides what the parent has
CPU = 40  # seconds of computing
ESCAPED = 99  # exit code of an exception that nobody caught
PATIENCE = 60  # seconds on the clock in which a command that is at work, on a busy machine too, computes for IDLE
IDLE = 0.2  # seconds; one that waits for something that never comes does not


@dataclass(frozen=True)
class Ended:
    """How a command ended; a negative code is the signal that ended it."""

    code: int
    out: str
    err: str


class Warm:
    """The process, from the other side."""

    def __init__(self, rehearsal: list[list[str]], folder: Path) -> None:
        environment = os.environ | {
            "MPLBACKEND": "Agg", "NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
        }  # fmt: skip
        self._process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self._ask({"rehearse": rehearsal, "folder": str(folder)})

    def __call__(self, arguments: list[str], folder: Path) -> Ended:
        return Ended(**self._ask({"run": arguments, "folder": str(folder)}))

    def _ask(self, question: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def close(self) -> None:
        """End the process."""
        self._process.communicate(timeout=60)


def _sdc(arguments: list[str]) -> int:
    from sdc_problems.studies.cli import main

    sys.argv = ["sdc", *arguments]
    try:
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)


def _looked_at(server: Any, sockets: Any = None) -> None:
    """Stand-in for a server that would wait forever: the page and what it asks for, each looked at once."""
    import asyncio

    app = server.config.app.inner  # behind the guard, which lets in whoever has the token
    for path, query in (("/", ""), ("/api/payload", ""), ("/api/detail", "run=0&id=1-0"), ("/api/detail", "run=x&id=")):
        asyncio.run(_ask(app, path, query.encode()))
    for listening in sockets or ():
        listening.close()


async def _ask(app: Any, path: str, query: bytes) -> None:
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "scheme": "http",
        "path": path, "raw_path": path.encode(), "query_string": query, "headers": [], "server": ("127.0.0.1", 1),
        "client": ("127.0.0.1", 2), "root_path": "",
    }  # fmt: skip

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        assert message.get("status", 200) < 500, f"{path} answers {message['status']}"

    await app(scope, receive, send)


def _child(arguments: list[str], out: int, err: int) -> int:
    os.setsid()
    if arguments[:1] == ["explore"]:
        import uvicorn

        uvicorn.Server.run = _looked_at  # type: ignore[method-assign]
    os.dup2(out, 1)
    os.dup2(err, 2)
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY, taken + MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU, CPU + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
    code = ESCAPED
    try:
        code = _sdc(arguments)
    finally:
        if code == ESCAPED:
            sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def _ends(child: int) -> bool:
    """Whether a process ends, rather than wait for something that never comes: then it computes nothing any more."""
    watched = os.pidfd_open(child)
    try:
        computed = 0.0
        while not select.select([watched], [], [], PATIENCE)[0]:
            before, computed = computed, _computed(child)
            if computed < before + IDLE:
                return False
        return True
    finally:
        os.close(watched)


def _computed(process: int) -> float:
    """Seconds that a process and those it waited for have computed; its limit bounds them."""
    words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, words[11:15])) / os.sysconf("SC_CLK_TCK")


def _fork(arguments: list[str]) -> dict[str, Any]:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            code = ESCAPED
            try:
                code = _child(arguments, out.fileno(), err.fileno())
            finally:
                os._exit(code)
        if not _ends(child):
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        with contextlib.suppress(ProcessLookupError):  # processes that it left behind
            os.killpg(child, signal.SIGKILL)
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read(5_000_000).decode(errors="replace"))
    return {"code": os.waitstatus_to_exitcode(status), "out": texts[0], "err": texts[1]}


def serve() -> None:
    """Answer until there is no more question; Ctrl-C of a terminal is for who asks."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        question = json.loads(line)
        os.chdir(question["folder"])
        if "rehearse" in question:
            with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
                for arguments in question["rehearse"]:
                    code = _sdc(arguments)
                    assert code == 0, f"exit code {code}: {arguments}"
            answer: dict[str, Any] = {}
        else:
            answer = _fork(question["run"])
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    serve()
