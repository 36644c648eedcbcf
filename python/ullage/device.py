"""The device a rank is counted on, and the framework that uses it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, Mapping, Optional

from ullage.wire import optional_integer


@dataclass(frozen=True)
class Device:
    """The device the worker counts this rank on. ``total_bytes`` is None when the worker does not know it."""

    uuid: Optional[str]
    index: Optional[int]
    name: Optional[str]
    kind: Optional[str]
    total_bytes: Optional[int]
    node: Optional[str]


def device_of(message: Mapping[str, Any]) -> Device:
    """The device of a ``welcome``."""
    return Device(message.get("device"), optional_integer(message, "deviceIndex"), message.get("deviceName"),
                  message.get("deviceKind"), optional_integer(message, "deviceTotalBytes"), message.get("node"))


def framework_loaded(given: Optional[str]) -> Optional[str]:
    """The framework this process has loaded, with its version; nothing is imported to find out."""
    if given is not None:
        return given
    for name in ("torch", "jax", "tensorflow"):
        version = getattr(sys.modules.get(name), "__version__", None)
        if version is not None:
            return f"{name} {version}"
    return None
