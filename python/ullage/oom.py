"""What the text of an out-of-memory error says: pure, no torch. Several eras of torch, HAMi-core, and our own."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Mapping, Optional

#: Much is reserved and unused, but in no piece that is large enough.
FRAGMENTATION = "FRAGMENTATION"
#: As above, and another process holds enough of the device to be the cause.
FRAGMENTATION_OR_FOREIGN = "FRAGMENTATION_OR_FOREIGN"
#: The process ran into its own limit while the device had room.
OWN_LIMIT = "OWN_LIMIT"
#: The device has no more.
DEVICE_FULL = "DEVICE_FULL"
#: It ran out, and the text does not say why.
UNKNOWN = "UNKNOWN"
#: The text speaks of memory, and nothing failed.
NOT_AN_OOM = "NOT_AN_OOM"

_UNITS = {"bytes": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
          "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}
_AMOUNT = r"([0-9]+(?:\.[0-9]+)?) ?(bytes|[KMGT]iB|[KMG]B|B)\b"


def _pattern(text: str) -> "re.Pattern[str]":
    return re.compile(text.replace("AMOUNT", _AMOUNT))


_OOM = re.compile(r"out of memory|Device \d+ OOM \d+ / \d+|can't allocate memory", re.IGNORECASE)
_HARMLESS = re.compile(r"this is not a failure")
_REQUESTED = _pattern(r"[Tt]ried to allocate AMOUNT")
_TOTAL = _pattern(r"total capaci?ty of AMOUNT")
_TOTAL_OLD = _pattern(r"AMOUNT total capacity")
_FREE = _pattern(r"of which AMOUNT is free")
_FREE_OLD = _pattern(r"AMOUNT free\b")
_ALLOWED = _pattern(r"AMOUNT allowed")
_ALLOCATED = _pattern(r"AMOUNT is allocated by PyTorch")
_ALLOCATED_OLD = _pattern(r"AMOUNT already allocated")
_UNUSED = _pattern(r"AMOUNT is reserved by PyTorch but unallocated")
_CACHED_OLD = _pattern(r"AMOUNT cached\b")
_RESERVED_OLD = _pattern(r"AMOUNT reserved in total by PyTorch")
_POOLS = _pattern(r"AMOUNT allocated in private pools")
_MINE = _pattern(r"this process\s+has AMOUNT memory in use")
_OTHER = _pattern(r"Process (?P<pid>[0-9]+) has AMOUNT memory in use")
_HAMI = re.compile(r"Device \d+ OOM (\d+) / (\d+)")
_OURS = re.compile(r"refused (\d+) bytes: (\d+) allocated, limit (\d+)")


@dataclass(frozen=True)
class OutOfMemory:
    """What is known of one error. Bytes, whole, rounded down; None: the text does not say.

    ``unused_bytes`` is what the allocator reserved and did not use; ``foreign_bytes`` what process ``foreign_pid``
    holds, by the text; ``private_pool_bytes`` what lies in pools of CUDA graphs.
    """

    kind: str
    requested_bytes: Optional[int] = None
    free_bytes: Optional[int] = None
    total_bytes: Optional[int] = None
    allocated_bytes: Optional[int] = None
    unused_bytes: Optional[int] = None
    limit_bytes: Optional[int] = None
    foreign_pid: Optional[int] = None
    foreign_bytes: Optional[int] = None
    private_pool_bytes: Optional[int] = None

    @property
    def reserved_bytes(self) -> Optional[int]:
        """What the allocator had taken from the device."""
        if self.allocated_bytes is None or self.unused_bytes is None:
            return None
        return self.allocated_bytes + self.unused_bytes


def classify(text: str) -> OutOfMemory:
    """Reads an error's text. ``NOT_AN_OOM`` when nothing ran out, or when nothing came of it."""
    if not _OOM.search(text) and not _OURS.search(text) or _HARMLESS.search(text):
        return OutOfMemory(NOT_AN_OOM)
    ours, hami = _OURS.search(text), _HAMI.search(text)
    if ours:
        requested, allocated, limit = (int(part) for part in ours.groups())
        return OutOfMemory(OWN_LIMIT, requested_bytes=requested, allocated_bytes=allocated, limit_bytes=limit)
    if hami:
        return OutOfMemory(OWN_LIMIT, limit_bytes=int(hami.group(2)))
    return _of_torch(text)


def of_error(error: BaseException) -> Optional[OutOfMemory]:
    """What an exception says, or None when it is no out-of-memory error.

    A text is believed of a RuntimeError (torch before 1.13, and what libraries raise) and of a MemoryError; a class
    named ``OutOfMemoryError`` (torch) and a MemoryError are one whatever their text.
    """
    names = {kind.__name__ for kind in type(error).__mro__}
    certain = "OutOfMemoryError" in names or isinstance(error, MemoryError)
    if not certain and not isinstance(error, RuntimeError):
        return None
    found = classify(str(error))
    if found.kind != NOT_AN_OOM:
        return found
    return OutOfMemory(UNKNOWN) if certain else None


def expandable_segments(environ: Optional[Mapping[str, str]] = None) -> bool:
    """Whether torch's allocator was told at its start to keep expandable segments, which fragment least."""
    env = os.environ if environ is None else environ
    settings = env.get("PYTORCH_ALLOC_CONF") or env.get("PYTORCH_CUDA_ALLOC_CONF") or ""
    return "expandable_segments:true" in settings.replace(" ", "").lower()


def _of_torch(text: str) -> OutOfMemory:
    requested = _amount(_REQUESTED, text)
    allocated = _first(_amount(_ALLOCATED, text), _amount(_ALLOCATED_OLD, text))
    unused = _first(_amount(_UNUSED, text), _amount(_CACHED_OLD, text))
    reserved = _amount(_RESERVED_OLD, text)
    if unused is None and reserved is not None and allocated is not None:
        unused = max(0, reserved - allocated)
    free = _first(_amount(_FREE, text), _amount(_FREE_OLD, text))
    other = _OTHER.search(text)
    foreign = None if other is None else _bytes(other.group(2), other.group(3))
    # Alone, it is this process as seen from another pid namespace.
    is_foreign = _MINE.search(text) is not None
    return OutOfMemory(
        kind=_kind(requested, free, unused, foreign if is_foreign else None),
        requested_bytes=requested, free_bytes=free,
        total_bytes=_first(_amount(_TOTAL, text), _amount(_TOTAL_OLD, text)),
        allocated_bytes=allocated, unused_bytes=unused, limit_bytes=_amount(_ALLOWED, text),
        foreign_pid=None if other is None else int(other.group("pid")), foreign_bytes=foreign,
        private_pool_bytes=_amount(_POOLS, text))


def _kind(requested: Optional[int], free: Optional[int], unused: Optional[int], foreign: Optional[int]) -> str:
    if requested is None or free is None:
        return UNKNOWN
    if free >= requested:
        return OWN_LIMIT  # the device had it
    if unused is not None and unused >= requested:
        return FRAGMENTATION_OR_FOREIGN if foreign is not None and foreign >= requested else FRAGMENTATION
    return DEVICE_FULL


def _amount(pattern: "re.Pattern[str]", text: str) -> Optional[int]:
    found = pattern.search(text)
    return None if found is None else _bytes(found.group(1), found.group(2))


def _bytes(number: str, unit: str) -> int:
    return int(float(number) * _UNITS[unit])


def _first(one: Optional[int], other: Optional[int]) -> Optional[int]:
    return other if one is None else one
