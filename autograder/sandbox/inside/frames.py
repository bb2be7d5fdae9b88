"""Messages on a stream socket: eight bytes of length, then JSON."""

import ctypes
import json
import socket
import struct
from typing import Any

LENGTH = struct.Struct(">Q")


class End(ctypes.Structure):
    """How a job ended, as the kernel writes it: <sys/wait.h> and <sys/resource.h>."""

    _fields_ = (
        ("status", ctypes.c_int),
        ("user", 2 * ctypes.c_long),
        ("system", 2 * ctypes.c_long),
        ("others", 14 * ctypes.c_long),
    )

    @property
    def cpu(self) -> float:
        """The seconds of computing of the job's processes."""
        return round(self.user[0] + self.system[0] + (self.user[1] + self.system[1]) / 1e6, 3)


def send(talk: socket.socket, frame: dict[str, Any]) -> None:
    """Send one message."""
    data = json.dumps(frame).encode()
    talk.sendall(LENGTH.pack(len(data)) + data)


def receive(talk: socket.socket) -> dict[str, Any]:
    """Receive one message; raises EOFError where the stream ends."""
    (size,) = LENGTH.unpack(_exactly(talk, LENGTH.size))
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
