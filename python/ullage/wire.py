"""Lines of the rank protocol (docs/protocol.md, section 1): JSON objects, one a line, at most 64 KiB each."""

from __future__ import annotations

import json
import socket
from typing import Any, Dict, List, Mapping, Optional

from ullage.errors import ProtocolError
from ullage.phases import PHASES
from ullage.state import Order

VERSION = 1
MAX_LINE_BYTES = 64 * 1024
#: A send that neither blocks nor raises SIGPIPE.
SEND_FLAGS = socket.MSG_DONTWAIT | getattr(socket, "MSG_NOSIGNAL", 0)


def encode(message: Mapping[str, Any]) -> bytes:
    """One line, ready to send. Raises ProtocolError when it would be too long."""
    line = json.dumps(message, separators=(",", ":")).encode("utf-8") + b"\n"
    if len(line) > MAX_LINE_BYTES:
        raise ProtocolError(f"a {message.get('type')} line of {len(line)} bytes is too long; most {MAX_LINE_BYTES}")
    return line


def decode(line: bytes) -> Dict[str, Any]:
    """The object of one line. Raises ProtocolError that quotes the start of a line that holds none."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"not JSON: {line[:80]!r} ({error})") from error
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise ProtocolError(f"not an object with a type: {line[:80]!r}")
    return message


def optional_integer(message: Mapping[str, Any], key: str) -> Optional[int]:
    """The integer at ``key``, None when absent or null. Raises ProtocolError for anything else."""
    return None if message.get(key) is None else integer(message, key)


def integer(message: Mapping[str, Any], key: str) -> int:
    """The integer at ``key``. Raises ProtocolError when there is none or something else."""
    value = message.get(key)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ProtocolError(f"{message.get('type', 'limits')}: {key} must be an integer, is {value!r:.80}")
    return value


def order_of(message: Mapping[str, Any]) -> Order:
    """The order a ``limits`` line carries; phases this client does not know are ignored."""
    limits = message.get("limitBytes")
    if not isinstance(limits, dict):
        raise ProtocolError(f"limits: limitBytes must be an object, is {limits!r:.80}")
    try:
        return Order(integer(message, "sequence"), {phase: integer(limits, phase) for phase in PHASES})
    except ValueError as error:
        raise ProtocolError(f"limits: {error}") from error


def overhead_of(message: Mapping[str, Any]) -> Optional[int]:
    """What the worker found the process to use beside its allocator, bytes; None when a ``limits`` line has none."""
    overhead = optional_integer(message, "overheadBytes")
    if overhead is not None and overhead < 0:
        raise ProtocolError(f"limits: overheadBytes must be 0 or more, is {overhead}")
    return overhead


class LineReader:
    """Cuts a stream of bytes into lines; holds at most one unfinished line."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> List[bytes]:
        """The lines that ``data`` completes. Raises ProtocolError once a line is longer than 64 KiB."""
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        for line in lines + [self._rest]:
            if len(line) > MAX_LINE_BYTES:
                raise ProtocolError(f"a line of more than {MAX_LINE_BYTES} bytes")
        return [line for line in lines if line.strip()]
