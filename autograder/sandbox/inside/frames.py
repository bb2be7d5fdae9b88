"""Messages on a stream socket: eight bytes of length, then JSON."""

import json
import socket
import struct
from typing import Any

LENGTH = struct.Struct(">Q")


def send(talk: socket.socket, frame: dict[str, Any]) -> None:
    """Send one message."""
    data = json.dumps(frame).encode()
    talk.sendall(LENGTH.pack(len(data)) + data)


def receive(talk: socket.socket) -> dict[str, Any]:
    """Receive one message; raises EOFError where the stream ends."""
    size, = LENGTH.unpack(_exactly(talk, LENGTH.size))
    return json.loads(_exactly(talk, size))


def _exactly(talk: socket.socket, size: int) -> bytes:
    parts = []
    while size:
        part = talk.recv(min(size, 1 << 20))
        if not part:
            raise EOFError("the stream ended")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
