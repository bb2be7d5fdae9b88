"""Asks a PostgreSQL server for the code of its refusal: its words may be in any language.

libpq keeps the code of a query's error, but of a connection that was never made only the words. A
trace of what the server sends has both.
"""

import os
import re
import select
import time
from typing import Any

SECONDS = 10  # for a server to answer
REFUSAL = re.compile(rb'^\S+ \S+\tB\t\d+\tErrorResponse\t [^\n]*? C "(\w{5})"', re.MULTILINE)


def code_of(failed: Any) -> str | None:
    """The code with which the server of a failed connection of psycopg's refuses the same again.

    None if it does not, or not in time, and where nothing can be traced, as anywhere but on Linux.
    """
    from psycopg import Error, conninfo  # an extra; whoever failed has imported it

    try:
        address = conninfo.make_conninfo(
            "",
            **{
                option.keyword.decode(): option.val.decode() for option in failed.info if option.val
            },
        )
        # Never on a disk: where a server asks for an open password, the trace holds it.
        with os.fdopen(os.memfd_create("libpq"), "r+b") as trace:
            _connect(address, trace.fileno())
            trace.seek(0)
            found = REFUSAL.search(trace.read())
    except (Error, OSError, AttributeError):  # no such files but on Linux
        return None
    return found and found[1].decode()


def _connect(address: str, trace: int) -> None:
    """Try to connect, for a while, and leave its trace in a file."""
    from psycopg.pq import PGconn, PollingStatus

    connection, end = PGconn.connect_start(address.encode()), time.monotonic() + SECONDS
    try:
        connection.trace(trace)
        while (wants := connection.connect_poll()) in (
            PollingStatus.READING,
            PollingStatus.WRITING,
        ):
            waiting = [connection.socket]
            reads = wants == PollingStatus.READING
            left = max(0, end - time.monotonic())
            if not any(select.select(waiting * reads, waiting * (not reads), [], left)):
                return
    finally:
        connection.untrace()  # writes out what is left of it
        connection.finish()
