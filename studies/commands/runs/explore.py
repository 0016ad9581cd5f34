"""``sdc explore``: the live page."""

from __future__ import annotations

import ipaddress
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sdc_problems.parallel._process import ENDING, interrupt

if TYPE_CHECKING:
    from sdc_problems.studies.web.site import Site


@click.command(name="explore")
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path))
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port to listen on. Default: a free one.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address of this machine to listen on.")
@click.option("--read-only", is_flag=True, help="Allow no changes: no shortlist and no release.")
@click.option("--open", "open_browser", is_flag=True, help="Open the page in the browser.")
@click.option("--data", type=click.Path(path_type=Path), help="CSV file of the run, if it was moved.")
def command(
    folders: tuple[Path, ...], port: int, host: str, read_only: bool, open_browser: bool, data: Path | None
) -> None:
    """Open the page of the run in FOLDERS, even while it works. Several runs must have the same objectives.

    Without FOLDERS, a start page opens. There you choose a file of this machine, correct the proposed roles, say how
    many records must look alike, and save the protected file or start a search. Only this machine can open it.

    Prints an address that opens the page once; Enter prints another. Whoever opened the page sees objective values and
    aggregates, can edit the shortlist, and can release solutions into a folder beside the run folder. Ctrl-C ends the
    command, after a release that is being written.
    """
    from sdc_problems.errors import SDCError, SDCFailure

    try:
        import uvicorn

        from sdc_problems.studies.web.connections import Connection
        from sdc_problems.studies.web.server import Explorer
        from sdc_problems.studies.web.start import Start
    except ModuleNotFoundError as error:
        if error.name not in ("uvicorn", "starlette"):
            raise
        raise SDCError(f"the live page needs {error.name}: pip install 'sdc-problems[explore]'") from None
    from sdc_problems.studies.web.payload import Source
    from sdc_problems.studies.web.session import Session

    address = _address(host)
    if not folders and not address.is_loopback:
        raise SDCError(
            f"--host {host}: the start page reads files of this machine, so use a loopback address such as 127.0.0.1"
        )
    if not folders and (read_only or data is not None):
        raise SDCError("--read-only and --data are for a run: name its run folder")
    sources = [Source.open(folder, data=data) for folder in folders]
    for source in sources:
        if source.closed:
            click.echo(f"{source.run.name}: without pictures, because {source.closed}", err=True)
    session = Session()
    listening = socket.socket(socket.AF_INET6 if address.version == 6 else socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((str(address), port))
        listening.listen()  # an early request for the printed address waits instead of being refused
    except OSError as error:
        raise SDCFailure(f"cannot listen on {host}, port {port}: {error.strerror}") from None
    port = listening.getsockname()[1]
    name = f"[{address}]" if address.version == 6 else str(address)
    hosts = [f"{name}:{port}", *([f"localhost:{port}"] if address.is_loopback else [])]

    def url() -> str:
        return f"http://{name}:{port}{session.folder}#code={session.code()}"

    with ExitStack() as left:
        # Ctrl-C was handled when it comes here: the server has ended properly, or has not begun.
        left.enter_context(suppress(KeyboardInterrupt))
        served: Site
        if folders:
            served = Explorer(sources, session=session, hosts=hosts, read_only=read_only, data=data)
        else:
            served = beginning = Start(session=session, hosts=hosts, folder=Path.cwd())
            left.callback(beginning.close)
        click.echo(url())
        if not address.is_loopback:
            click.echo("warning: other machines can reach this page, and its traffic is not encrypted", err=True)
        if open_browser:
            import webbrowser

            webbrowser.open(url())
        if sys.stdin is not None and sys.stdin.isatty():
            threading.Thread(target=_more, args=(url,), daemon=True).start()
        config = uvicorn.Config(
            served.app(),
            log_level="warning",
            access_log=False,
            server_header=False,
            lifespan="off",
            http=Connection,
        )
        server = uvicorn.Server(config)
        served.closing = lambda: server.should_exit
        left.enter_context(_ending(server.handle_exit))
        server.run(sockets=[listening])


@contextmanager
def _ending(ask: Callable[[int, Any], object]) -> Iterator[None]:
    """Ask the server to end after a release that is being written, also when the terminal is closed."""
    heeded = [number for number in ENDING if signal.getsignal(number) is interrupt]
    for number in heeded:
        signal.signal(number, ask)
    try:
        yield
    finally:
        for number in heeded:
            signal.signal(number, interrupt)


def _more(url: Callable[[], str]) -> None:
    """Print another address each time Enter is pressed."""
    while sys.stdin.readline():
        click.echo(url())


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    from sdc_problems.errors import SDCError

    try:
        address = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        raise SDCError(f"--host takes an address such as 127.0.0.1, not {host!r}") from None
    if address.is_unspecified:
        raise SDCError(f"--host {host} would listen on all addresses: name one address of this machine")
    return address
