"""Counts the bytes of a connection between a client and a server on the loopback interface."""

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

CHUNK = 1 << 16


class Relay:
    """Forwards connections to `address`; `sent` and `received` count the client's bytes."""

    def __init__(self, server: str) -> None:
        self._server = urlsplit(server)
        self.address = ""
        self.sent = self.received = 0

    async def serve(self, ready: threading.Event) -> None:
        """Listen on a free port until `close` is called; set `ready` when the address is known."""
        self._loop, self._closed = asyncio.get_running_loop(), asyncio.Event()
        async with await asyncio.start_server(self._connected, "127.0.0.1", 0) as listening:
            port = listening.sockets[0].getsockname()[1]
            self.address = f"{self._server.scheme}://127.0.0.1:{port}"
            ready.set()
            await self._closed.wait()

    def close(self) -> None:
        """Stop listening; this is called from another thread."""
        self._loop.call_soon_threadsafe(self._closed.set)

    async def _connected(self, reader, writer) -> None:
        theirs = await asyncio.open_connection(self._server.hostname, self._server.port)
        await asyncio.gather(
            self._pass(reader, theirs[1], "sent"), self._pass(theirs[0], writer, "received")
        )

    async def _pass(self, reader, writer, way: str) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(CHUNK):
                setattr(self, way, getattr(self, way) + len(data))
                writer.write(data)
                await writer.drain()
        writer.close()


@contextlib.contextmanager
def relay(server: str) -> Iterator[Relay]:
    """Run a relay to a server, such as "tcp://127.0.0.1:8786", within the block."""
    running, ready = Relay(server), threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(running.serve(ready)))
    thread.start()
    ready.wait()
    try:
        yield running
    finally:
        running.close()
        thread.join()
