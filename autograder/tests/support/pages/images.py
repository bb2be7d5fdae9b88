"""Small pictures, as files and as attachments."""

import base64
import zlib


def png(width: int = 1, height: int = 1, filling: int = 0) -> bytes:
    """A PNG file of that size, with at least a valid header."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")
        )

    header = width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\x08\0\0\0\0"
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"teXt", bytes(filling))
        + chunk(b"IDAT", zlib.compress(bytes(2)))
        + chunk(b"IEND", b"")
    )


def base64_of(content: bytes) -> str:
    """Content in the form of an attachment."""
    return base64.b64encode(content).decode("ascii")


DOT = png()
DATA = base64_of(DOT)
