"""Serializer of arrays: npz without pickle, read as untrusted input, and a digest."""

from __future__ import annotations

import hashlib
import io
import math
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems.errors import SDCError

LARGEST = 2**31  # most bytes of one unpacked blob: protects against archives made to exhaust the memory
_KINDS = "biuf"


def pack(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Compress named arrays of numbers into npz bytes.

    Examples
    --------
    >>> unpack(pack({"x": np.arange(3, dtype=np.int16)}))["x"]
    array([0, 1, 2], dtype=int16)
    """
    for name, array in arrays.items():
        if array.dtype.kind not in _KINDS:
            raise SDCError(f"array {name!r} holds {array.dtype}; only numbers are stored")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, _little(array), version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def unpack(blob: bytes, *, largest: int = LARGEST) -> dict[str, NDArray[Any]]:
    """Read the output of ``pack``; anything else (objects, wrong lengths, archives that expand too far) is an SDCError.

    Parameters
    ----------
    blob
        Bytes of an npz file.
    largest
        Most bytes of all arrays together.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(blob)) as archive:
            members = archive.infolist()
            if sum(member.file_size for member in members) > largest:
                raise SDCError(f"stored arrays would unfold to more than {largest} bytes: not read")
            return {m.filename.removesuffix(".npy"): _array(archive.read(m)) for m in members}
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, KeyError) as error:
        raise SDCError(f"stored arrays are damaged: {error}") from None


def _array(data: bytes) -> NDArray[Any]:
    stream = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(stream)
        if version != (1, 0):
            raise ValueError(f"npy version {version}")
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    except (ValueError, SyntaxError, TypeError) as error:
        raise SDCError(f"stored arrays are damaged: {error}") from None
    if dtype.kind not in _KINDS or any(n < 0 for n in shape):
        raise SDCError(f"a stored array holds {dtype} of shape {shape}; only numbers are read")
    start = stream.tell()
    if len(data) - start != math.prod(shape) * dtype.itemsize:
        raise SDCError("stored arrays are damaged: an array's length is not what its header says")
    array = np.frombuffer(data, dtype=dtype, offset=start)
    # frombuffer gives a read-only view; callers get a new array, in this machine's byte order.
    return array.reshape(shape, order="F" if fortran else "C").astype(dtype.newbyteorder("="), order="C")


def digest(arrays: Mapping[str, NDArray[Any]]) -> str:
    """SHA-256 of names, types, shapes and values: the same on every platform, whatever the compression.

    Examples
    --------
    >>> a = np.array([1, 2], dtype=np.int16)
    >>> digest({"a": a}) == digest({"a": a.copy()}), digest({"a": a}) == digest({"a": a.astype(np.int32)})
    (True, False)
    """
    total = hashlib.sha256()
    for name in sorted(arrays):
        array = _little(np.ascontiguousarray(arrays[name]))
        total.update(f"{name}|{array.dtype.str}|{arrays[name].shape}|".encode())
        total.update(array.data)
    return total.hexdigest()


def _little(array: NDArray[Any]) -> NDArray[Any]:
    return array.astype(array.dtype.newbyteorder("<"), copy=False)
