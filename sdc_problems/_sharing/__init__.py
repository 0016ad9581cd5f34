"""Arrays shared between processes: memory-mapped files in private folders, identified by their digest."""

from __future__ import annotations

from sdc_problems._sharing.arrays import SharedArrays, digest_of, pack_strings, sweep, unpack_strings

__all__ = ["SharedArrays", "digest_of", "pack_strings", "sweep", "unpack_strings"]
