"""Sends and receives messages on a stream socket: the length in eight bytes, then JSON."""

import ctypes
import json
import socket
import struct
from typing import Any

LENGTH = struct.Struct(">Q")


class End(ctypes.Structure):
    """How a job ended, in the kernel's format (<sys/wait.h> and <sys/resource.h>)."""

    _fields_ = (
        ("status", ctypes.c_int),
        ("user", 2 * ctypes.c_long),
        ("system", 2 * ctypes.c_long),
        ("others", 14 * ctypes.c_long),
    )

    @property
    def cpu(self) -> float:
        """The CPU seconds of all processes of the job."""
        return round(self.user[0] + self.system[0] + (self.user[1] + self.system[1]) / 1e6, 3)


def send(connection: socket.socket, frame: dict[str, Any]) -> None:
    """Send one message."""
    data = json.dumps(frame).encode()
    connection.sendall(LENGTH.pack(len(data)) + data)


def receive(connection: socket.socket) -> dict[str, Any]:
    """Receive one message; raises EOFError if the stream has ended."""
    (size,) = LENGTH.unpack(_receive_exactly(connection, LENGTH.size))
    return json.loads(_receive_exactly(connection, size))


def _receive_exactly(connection: socket.socket, size: int) -> bytes:
    chunks = []
    while size:
        chunk = connection.recv(min(size, 1 << 20))
        if not chunk:
            raise EOFError("the stream ended")
        chunks.append(chunk)
        size -= len(chunk)
    return b"".join(chunks)
