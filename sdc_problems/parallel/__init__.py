"""Measuring candidates in this process, in several, or on a Dask cluster: the same bytes everywhere."""

from __future__ import annotations
