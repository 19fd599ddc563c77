"""The bytes that a restore is about to write, found whole before the first file is touched."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from cleveragents.infrastructure.sandbox.store.blobs import BlobReader

_KEPT_BYTES = 64 << 20


class KeptBlobs:
    """Blobs read and checked before the first file is touched, kept as far as there is room."""

    def __init__(self, objects: BlobReader, needed: Iterable[str]) -> None:
        self._objects = objects
        self._kept: dict[str, bytearray] = {}
        self._room = _KEPT_BYTES
        objects.copy_many(needed, self._keep)

    def copy(self, object_id: str, write: Callable[[bytes], object]) -> None:
        kept = self._kept.get(object_id)
        if kept is None:
            self._objects.copy(object_id, write)
        else:
            write(bytes(kept))

    def _keep(self, object_id: str) -> Callable[[bytes], object]:
        content = self._kept[object_id] = bytearray()

        def take(chunk: bytes) -> None:
            self._room -= len(chunk)
            if self._room < 0:
                self._kept.pop(object_id, None)
            elif object_id in self._kept:
                content.extend(chunk)

        return take
