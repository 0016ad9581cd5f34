"""Figures printed in chapter 5 of Marés (2013): information loss and disclosure risk of its best protections."""

from __future__ import annotations

# Original microaggregation, clustered microaggregation, clustered global median.
METHODS = ("plain", "mdav", "global_median")
GERMAN = dict(zip(METHODS, ((18.90, 42.32), (31.90, 31.67), (31.62, 31.42)), strict=True))  # Table 5.2
GERMAN_CLUSTERING = dict(zip(METHODS, ((19.62, 42.55), (30.51, 30.63), (28.71, 28.50)), strict=True))  # Table 5.3
HOUSING = dict(zip(METHODS, ((24.95, 25.13), (25.63, 27.92), (23.48, 22.10)), strict=True))  # Table 5.1
HOUSING_CLUSTERING = dict(zip(METHODS, ((28.20, 39.28), (27.35, 31.15), (12.99, 15.70)), strict=True))  # Table 5.3
