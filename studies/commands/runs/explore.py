"""``sdc explore``: the live page."""

from __future__ import annotations

import ipaddress
import secrets
import socket
from pathlib import Path

import click


@click.command(name="explore")
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port; a free one if not given.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address of this machine to listen on.")
@click.option("--read-only", is_flag=True, help="Keep no shortlist and release nothing.")
@click.option("--open", "open_browser", is_flag=True, help="Open the page in the browser.")
@click.option("--data", type=click.Path(path_type=Path), help="The run's CSV file, if it was moved.")
def command(
    folders: tuple[Path, ...], port: int, host: str, read_only: bool, open_browser: bool, data: Path | None
) -> None:
    """Look at the run in FOLDERS (several if they have the same objectives) while it goes on, or long after.

    Prints an address with a random token: whoever has it sees objective values and aggregates, keeps the shortlist, and
    can release solutions into the run folder. Ctrl-C ends it.
    """
    from sdc_problems.errors import SDCError, SDCFailure

    try:
        import uvicorn

        from sdc_problems.studies.web.server import Explorer
    except ModuleNotFoundError as error:
        if error.name not in ("uvicorn", "starlette"):
            raise
        raise SDCError(f"the live page needs {error.name}: pip install 'sdc-problems[explore]'") from None
    from sdc_problems.studies.web.payload import Source

    address = _address(host)
    sources = [Source.open(folder, data=data) for folder in folders]
    for source in sources:
        if source.closed:
            click.echo(f"{source.run.name}: without pictures, for {source.closed}", err=True)
    token = secrets.token_urlsafe(24)
    listening = socket.socket(socket.AF_INET6 if address.version == 6 else socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((str(address), port))
        listening.listen()  # whoever opens the address as soon as it is printed waits instead of being refused
    except OSError as error:
        raise SDCFailure(f"cannot listen on {host}, port {port}: {error.strerror}") from None
    port = listening.getsockname()[1]
    name = f"[{address}]" if address.version == 6 else str(address)
    hosts = [f"{name}:{port}", *([f"localhost:{port}"] if address.is_loopback else [])]
    explorer = Explorer(sources, token=token, hosts=hosts, read_only=read_only, data=data)
    url = f"http://{name}:{port}/#token={token}"
    click.echo(url)
    if not address.is_loopback:
        click.echo("other machines can reach this page; what it sends is not encrypted", err=True)
    if open_browser:
        import webbrowser

        webbrowser.open(url)
    config = uvicorn.Config(
        explorer.app(),
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=1,
        lifespan="off",
    )
    uvicorn.Server(config).run(sockets=[listening])


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    from sdc_problems.errors import SDCError

    try:
        address = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        raise SDCError(f"--host takes an address such as 127.0.0.1, not {host!r}") from None
    if address.is_unspecified:
        raise SDCError(f"--host {host} would listen everywhere: name the one address that the page is opened by")
    return address
