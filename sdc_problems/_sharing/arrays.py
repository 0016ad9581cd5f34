"""Shared arrays: written once, read by several processes, identified by a path and a SHA-256."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import sys
import weakref
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from sdc_problems._sharing.folders import (
    MANIFEST,
    STATE,
    Array,
    map_array,
    read_manifest,
    remove_own,
    sweep,
    write,
)
from sdc_problems.errors import SDCError, did_you_mean

__all__ = ["Array", "OpenedLate", "SharedArrays", "digest_of", "pack_strings", "sweep", "unpack_strings"]

_PLAIN_KINDS = "biufcmMSU"


class SharedArrays(Mapping[str, Array]):
    """Named read-only arrays that travel between processes as a path and a digest.

    Within one process, nothing is written to disk. The first pickling writes the arrays once, as ``.npy`` files in a
    folder that only this user can read. A pickle holds the folder and the SHA-256 of the content; unpickling maps the
    files into memory after checking that digest (once per process). The files are removed with the object that wrote
    them, or with its process; after a crash, they are removed by the user's next process that shares arrays.

    Parameters
    ----------
    arrays
        Arrays of plain types (booleans, numbers, dates, fixed-width text), not of objects. Convert text with
        `pack_strings`.
    copy
        False if the caller no longer needs the arrays: they are made read-only instead of being copied.
    inline_up_to
        Arrays of at most this many bytes are put into the pickle itself and need no file. Only for
        declared aggregates (hierarchies, tables of costs), never for records.

    Notes
    -----
    Keep the object alive as long as other processes still have to open it. If its files are gone, unpickling gives an
    object that finds its arrays as soon as the same content is in the process (the table was read again); until then,
    reading them raises an error. So a stored front can be read without its data. The digest covers names,
    types, shapes and bytes (little-endian), so it is the same on every platform; it costs one pass over the data and
    is kept.

    Examples
    --------
    >>> import copy, pickle
    >>> import numpy as np
    >>> shared = SharedArrays({"codes": np.arange(50_000, dtype=np.int32)})
    >>> len(pickle.dumps(shared)) < 500
    True
    >>> copy.deepcopy(shared) is shared
    True
    >>> shared["codes"].flags.writeable
    False
    """

    __slots__ = ("__weakref__", "_arrays", "_digest", "_folder", "_inline")

    def __init__(self, arrays: Mapping[str, Array], *, copy: bool = True, inline_up_to: int = 0) -> None:
        self._arrays: dict[str, Array] = {}
        for name, array in arrays.items():
            if not isinstance(name, str):
                raise SDCError(f"shared arrays are named by text, not by {type(name).__name__}")
            self._arrays[name] = _read_only(name, array, copy)
        self._digest: str | None = None
        self._folder: Path | None = None
        self._inline = self.nbytes <= inline_up_to
        _ALL[id(self)] = self

    @classmethod
    def _elsewhere(cls, folder: Path, digest: str) -> SharedArrays:
        """Object for arrays whose files are gone; only the content is missing."""
        made = cls.__new__(cls)
        made._digest, made._folder, made._inline = digest, folder, False
        return made

    def __getattr__(self, name: str) -> Any:
        if name != "_arrays":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        for other in list(_ALL.values()):
            if other.digest == self._digest:
                self._arrays = other._arrays
                return self._arrays
        raise SDCError(
            f"the shared data folder {self._folder} is gone: its process has ended or dropped the data object, or this"
            " is another machine; keep the data object alive while workers use it. To go on measuring with what was"
            " stored, read the same table here first. X and F of a stored result need no data"
        )

    @property
    def at_hand(self) -> bool:
        """Whether the arrays can be read."""
        try:
            return self._arrays is not None
        except SDCError:
            return False

    def __getitem__(self, name: str) -> Array:
        try:
            return self._arrays[name]
        except KeyError:
            raise KeyError(f"no shared array {name!r}{did_you_mean(name, self._arrays)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __repr__(self) -> str:
        return f"SharedArrays({len(self)} arrays, {self.nbytes:,} bytes)" if self.at_hand else "SharedArrays(not here)"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SharedArrays):
            return NotImplemented
        return self is other or self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    @property
    def nbytes(self) -> int:
        """Size of all arrays in bytes."""
        return sum(array.nbytes for array in self._arrays.values())

    @property
    def digest(self) -> str:
        """SHA-256 (hexadecimal) of names, types, shapes and content."""
        if self._digest is None:
            self._digest = digest_of(self._arrays)
        return self._digest

    @property
    def folder(self) -> Path | None:
        """Folder of the files; None if there are none yet."""
        return self._folder

    def __copy__(self) -> SharedArrays:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> SharedArrays:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        if self._inline:
            return _inlined, (dict(self._arrays),)
        if not self.at_hand:
            return _attach, (str(self._folder), self.digest)
        with STATE.lock:
            if self._folder is None or not (self._folder / MANIFEST).is_file():
                folder = STATE.new_folder()
                write(self._arrays, self.digest, folder)
                self._folder = folder
                weakref.finalize(self, remove_own, folder, os.getpid())
            _LIVE[str(self._folder), self.digest] = self
            return _attach, (str(self._folder), self.digest)


def digest_of(arrays: Mapping[str, Array]) -> str:
    """SHA-256 (hexadecimal) of the names, types, shapes and little-endian bytes of arrays, in the order of names.

    Examples
    --------
    >>> import numpy as np
    >>> digest_of({"a": np.array([1, 2])}) == digest_of({"a": np.array([1, 2])})
    True
    >>> digest_of({"a": np.array([1, 2])}) == digest_of({"a": np.array([1.0, 2.0])})
    False
    """
    sha = hashlib.sha256()
    for name in sorted(arrays):
        array = arrays[name]
        little = array.dtype.newbyteorder("<")
        header = json.dumps([name, little.str, list(array.shape)]).encode()
        sha.update(len(header).to_bytes(8, "little"))
        sha.update(header)
        flat = np.ascontiguousarray(array).astype(little, copy=False).reshape(-1)
        sha.update(flat.view(np.uint8).data if flat.nbytes else b"")
    return sha.hexdigest()


def pack_strings(strings: Sequence[str]) -> tuple[Array, Array]:
    """Text as two plain arrays: all UTF-8 bytes, and the start of each string (and the end of the last).

    Examples
    --------
    >>> data, offsets = pack_strings(["a", "", "né"])
    >>> offsets.tolist()
    [0, 1, 1, 4]
    >>> unpack_strings(data, offsets)
    ['a', '', 'né']
    """
    encoded = [text.encode("utf-8", "surrogatepass") for text in strings]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(piece) for piece in encoded], out=offsets[1:])
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets


def unpack_strings(data: Array, offsets: Array) -> list[str]:
    """The strings that `pack_strings` packed."""
    blob = data.tobytes()
    ends = offsets.tolist()
    return [blob[a:b].decode("utf-8", "surrogatepass") for a, b in itertools.pairwise(ends)]


class OpenedLate:
    """Object over shared arrays that reads them when they are first needed, if it could not read them at once."""

    __slots__ = ()
    _late: ClassVar[tuple[str, ...]] = ()
    """Attributes that `_open` sets."""

    def _open(self) -> None:
        """Read the arrays."""
        raise NotImplementedError

    def __getattr__(self, name: str) -> Any:
        if name not in type(self)._late:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self._open()
        return object.__getattribute__(self, name)


def _read_only(name: str, array: Array, copy: bool) -> Array:
    if not isinstance(array, np.ndarray):
        raise SDCError(f"shared array {name!r} must be a numpy array, not {type(array).__name__}")
    # A long double has padding bytes without meaning, which differ from copy to copy.
    if array.dtype.kind not in _PLAIN_KINDS or array.dtype.char in "gG":
        raise SDCError(
            f"shared array {name!r} has type {array.dtype}: only plain types can be shared; pack_strings is for text"
        )
    # A new view: the caller's array keeps its flags, and no subclass (memmap, matrix) is passed on.
    plain = np.array(array, order="C", copy=True) if copy else np.asarray(array, order="C").view(np.ndarray)
    plain.flags.writeable = False
    return plain


def _inlined(arrays: dict[str, Array]) -> SharedArrays:
    return SharedArrays(arrays, copy=False, inline_up_to=sys.maxsize)


# Shared arrays of this process by (folder, digest): unpickling gives the same object if the process has the data.
_LIVE: weakref.WeakValueDictionary[tuple[str, str], SharedArrays] = weakref.WeakValueDictionary()
# All shared arrays of this process, by identity: one may have the content that another, unpickled, lacks.
_ALL: weakref.WeakValueDictionary[int, SharedArrays] = weakref.WeakValueDictionary()
# (folder, digest, file identities) whose content this process has already hashed.
_VERIFIED: set[tuple[Any, ...]] = set()


def _attach(folder: str, digest: str) -> SharedArrays:
    """Shared arrays of a folder; the same live object if this process has it."""
    live = _LIVE.get((folder, digest))
    if live is not None:
        return live
    path = Path(folder)
    if not path.exists() and not path.is_symlink():
        return SharedArrays._elsewhere(path, digest)
    files = read_manifest(path)["files"]
    arrays = {name: map_array(path / file) for name, file in files.items()}
    identity = (
        folder,
        digest,
        *((s.st_ino, s.st_size, s.st_mtime_ns) for s in ((path / f).stat() for f in files.values())),
    )
    if identity not in _VERIFIED:
        if digest_of(arrays) != digest:
            raise SDCError(
                f"the shared data in {folder} is not what was written (SHA-256 differs): share the data again"
            )
        _VERIFIED.add(identity)
    shared = SharedArrays(arrays, copy=False)
    shared._digest = digest
    shared._folder = path
    _LIVE[folder, digest] = shared
    return shared
