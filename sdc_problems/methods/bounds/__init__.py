"""Lower bounds on what every k-partition loses, and partitions that come near them."""

from __future__ import annotations
