"""Bytes of a text file as UTF-8, whatever they were: UTF-8, UTF-16 or UTF-32 by their mark, Windows-1252 byte by byte.

A byte that is no UTF-8 is read as Windows-1252 where it stands. Guessing one encoding for the whole file would let a single
record change how all others are read, and then one person could move a count by more than one.
"""

import codecs
import io
import re
from typing import BinaryIO

CHUNK = 1 << 20

MARKS = (  # longest first: the mark of UTF-32-LE begins like that of UTF-16-LE
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_FOREIGN = re.compile("[\udc80-\udcff]")


def detect(start: bytes) -> tuple[str, int]:
    """Encoding and length of its mark, from the first bytes of a file; UTF-16 without a mark shows by its zero bytes."""
    for mark, encoding in MARKS:
        if start.startswith(mark):
            return encoding, len(mark)
    zeros = tuple(byte == 0 for byte in start[:4])
    if zeros == (False, True, False, True):
        return "utf-16-le", 0
    return ("utf-16-be", 0) if zeros == (True, False, True, False) else ("utf-8", 0)


class Utf8(io.RawIOBase):
    """A binary file read as UTF-8 text, followed by `ending`; counts the bytes that were read as Windows-1252."""

    def __init__(self, raw: BinaryIO, encoding: str, *, ending: str = "") -> None:
        errors = "surrogateescape" if encoding == "utf-8" else "replace"
        self._raw = raw
        self._decoder = codecs.getincrementaldecoder(encoding)(errors)
        self._ending = ending
        self._ready = memoryview(b"")
        self._ended = False
        self.foreign = 0

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # typeshed names any writable buffer
        """Fill some of `buffer`; 0 at the end."""
        while not self._ready and not self._ended:
            self._ready = memoryview(self._next())
        taken = self._ready[: len(buffer)]
        buffer[: len(taken)] = taken
        self._ready = self._ready[len(taken) :]
        return len(taken)

    def _next(self) -> bytes:
        chunk = self._raw.read(CHUNK)
        self._ended = not chunk
        text = self._decoder.decode(chunk, final=self._ended) + (self._ending if self._ended else "")
        if not text.isascii():
            text, foreign = _FOREIGN.subn(_windows_1252, text)
            self.foreign += foreign
        return text.encode("utf-8", "replace")


def _windows_1252(match: re.Match[str]) -> str:
    byte = bytes([ord(match.group()) - 0xDC00])
    try:
        return byte.decode("windows-1252")
    except UnicodeDecodeError:  # five bytes have no meaning there; Latin-1 gives each byte one
        return byte.decode("latin-1")
