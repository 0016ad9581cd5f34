"""Code blocks of a page, executed in order in one folder: ``python docs/blocks.py docs/methods.md``.

Python blocks of a page share their names, as in one session. Every line of a ``bash`` block is a command; one that
serves until it is interrupted (``sdc explore``) is interrupted once it has said its address. A block that begins with
``# file: NAME`` is written there and not executed: a later block uses it. Other languages are not executed.
Two comments, which no reader sees, stand before a block:

``<!-- before``, blocks, ``-->``
    what the next blocks need, such as a file that the reader is said to have;
``<!-- not run: REASON -->``
    the next block is not executed. A test limits what may be so.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FENCE = re.compile(
    r"^(?P<indent> *)(?P<mark>`{3,})(?P<language>[\w.+-]+)[^\n]*\n(?P<text>.*?)^(?P=indent)(?P=mark) *$",
    re.MULTILINE | re.DOTALL,
)
NOT_RUN = re.compile(r"<!-- not run: (.+?) -->\s*\Z", re.DOTALL)
FILE = re.compile(r"# file: (\S+)\n")
SERVES = ("sdc explore",)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    line: int
    language: str
    text: str
    not_run: str | None

    @property
    def file(self) -> str | None:
        """Name of the file it is, if it says so."""
        found = FILE.match(self.text)
        return found[1] if found else None


def blocks(text: str) -> list[Block]:
    """All fenced blocks with a language, hidden ones among them; directives of the site (``{toctree}``) are none."""
    found = []
    for fence in FENCE.finditer(text):
        skipped = NOT_RUN.search(text[: fence.start()])
        inner = re.sub(rf"^{fence['indent']}", "", fence["text"], flags=re.M)
        line = text.count("\n", 0, fence.start()) + 1
        found.append(Block(line, fence["language"], inner, skipped[1] if skipped else None))
    return found


def commands(text: str) -> list[str]:
    """Commands of a shell block: continued lines joined, comments and empty lines left out."""
    joined = text.replace("\\\n", " ")
    return [line for line in joined.splitlines() if line.strip() and not line.lstrip().startswith("#")]


def shell(command: str) -> None:
    """Execute one command with this interpreter's ``sdc`` and ``python``; it must end with exit code 0."""
    if command.startswith(SERVES):
        serve(command)
        return
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], env=environment(), capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"exit code {done.returncode}: {command}\n{done.stdout}{done.stderr}")


def serve(command: str) -> None:
    """Start a command that serves, wait for the address it prints, and interrupt it."""
    with subprocess.Popen(
        ["bash", "-c", f"exec {command}"],
        env={**environment(), "BROWSER": "true", "PYTHONUNBUFFERED": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # it may be ignored out here
    ) as served:
        assert served.stdout is not None
        late = threading.Timer(120, served.kill)  # one that says no address is an error, not a wait without end
        late.start()
        said = ""
        for line in served.stdout:
            said += line
            if "http://" in line:
                served.send_signal(signal.SIGINT)
                break
        served.wait(timeout=60)
        late.cancel()
    if "http://" not in said:
        raise RuntimeError(f"no address: {command}\n{said}")


def environment() -> dict[str, str]:
    """Environment in which ``sdc`` and ``python`` are those of this interpreter."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "MPLBACKEND": "Agg", "NO_COLOR": "1"}


def run(page: Path) -> int:
    """Execute all blocks of a page in the current folder; returns how many were executed."""
    if not Path("examples").exists():
        shutil.copytree(ROOT / "examples", "examples")  # a copy: a page may write there
    sys.path.insert(0, os.getcwd())
    names: dict[str, Any] = {"__name__": "__main__"}
    executed = 0
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.not_run:
            continue
        if block.file:
            Path(block.file).parent.mkdir(parents=True, exist_ok=True)
            Path(block.file).write_text(block.text, encoding="utf-8")
            continue
        try:
            if block.language == "python":
                exec(compile(block.text, f"{page.name}:{block.line}", "exec"), names)
            elif block.language == "bash":
                for command in commands(block.text):
                    shell(command)
            else:
                continue
        except Exception as error:  # noqa: BLE001 - whatever a page raises is told with its line
            traceback.print_exc()
            raise SystemExit(f"{page}:{block.line}: {error}") from None
        executed += 1
    return executed


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(f"{name}: {run(Path(name).resolve())} blocks executed")
