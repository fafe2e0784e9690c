"""`heldout serve`: shows a journal's studies in the browser, with live progress."""

from __future__ import annotations

import errno
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

import click

from heldout.base.errors import OptionError
from heldout.cli.help import GroupedCommand
from heldout.cli.run_options import JOURNAL

HOST, PORT = "127.0.0.1", 8765
_NEEDED = ("starlette", "uvicorn", "jinja2", "matplotlib")


@click.command(cls=GroupedCommand, short_help="A journal's studies in the browser, with live progress.")
@click.argument("journal", type=click.Path(), default=JOURNAL, metavar="[JOURNAL]")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    help="Where to listen; 0 takes any that is free.",
)
@click.option("--open", "opens", is_flag=True, help="Open it in your browser.")
def serve(journal: str, *, port: int, opens: bool) -> None:
    """Show the studies of a journal in the browser: a list, a report for each, and a study that runs as it moves.

    It is read-only, and answers this machine alone. A program that is at work on the journal is not disturbed. JOURNAL
    is .heldout/journal.db unless named. Ctrl-C ends it.

    \b
    Examples:
      heldout serve
      heldout serve genes.db --port 9000
    """
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise OptionError(f"heldout serve needs {' and '.join(missing)}. Install it with pip install 'heldout[web]'.")
    import uvicorn

    from heldout.cli.serving import make_app
    from heldout.journal import JournalReader

    reader = JournalReader(journal)
    reader.contents()  # refuses what is no journal before anybody is sent there
    with _listening(port) as listener:
        taken = int(listener.getsockname()[1])
        address = f"http://{HOST}:{taken}/"
        config = uvicorn.Config(
            make_app(reader, taken),
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=2,
        )
        click.echo(f"{address}  (read-only, for this machine alone; Ctrl-C ends it)")
        sys.stdout.flush()
        if opens:
            click.launch(address)
        with _quiet_end():
            uvicorn.Server(config).run(sockets=[listener])


@contextmanager
def _listening(port: int) -> Iterator[socket.socket]:
    """Open a socket that listens on 127.0.0.1 only, and close it in the end."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        if sys.platform == "win32":  # there, the usual option would let another program take the port over
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
            listener.listen(128)
        except OSError as error:
            why = "is in use" if error.errno == errno.EADDRINUSE else f"cannot be had: {error.strerror}"
            raise OptionError(
                f"Port {port} {why}. Give another one by --port, or --port 0 for any that is free."
            ) from error
        yield listener


@contextmanager
def _quiet_end() -> Iterator[None]:
    """Ignore Ctrl-C after the server has handled it: this is the normal way to stop serving."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda number, frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
