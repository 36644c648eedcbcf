"""Cutting a batch along its first dimension."""

from __future__ import annotations

from typing import Any, Iterator, List, Mapping, Tuple


def rows(batch: Any) -> int:
    """The samples of a batch. Raises ValueError when its parts do not have equally many, or it has no length."""
    lengths = sorted(set(_lengths(batch)))
    if len(lengths) != 1:
        raise ValueError(f"a batch needs parts of one length, has {lengths or 'none'}: {type(batch).__name__}")
    return lengths[0]


def cut(batch: Any, most: int) -> Iterator[Tuple[int, Any]]:
    """Parts of at most ``most`` samples, in order, each with its count and of the batch's own shape."""
    count = rows(batch)
    for start in range(0, count, most):
        end = min(count, start + most)
        yield end - start, _slice(batch, start, end)


def _lengths(batch: Any) -> List[int]:
    if isinstance(batch, Mapping):
        return [length for part in batch.values() for length in _lengths(part)]
    if isinstance(batch, (list, tuple)):
        return [length for part in batch for length in _lengths(part)]
    return [len(batch)]


def _slice(batch: Any, start: int, end: int) -> Any:
    if isinstance(batch, Mapping):
        return {key: _slice(part, start, end) for key, part in batch.items()}
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(_slice(part, start, end) for part in batch))
    if isinstance(batch, (list, tuple)):
        return type(batch)(_slice(part, start, end) for part in batch)
    return batch[start:end]
