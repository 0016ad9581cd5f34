"""Social graphs: clusters of nodes with common attributes."""

from __future__ import annotations

from sdc_problems.problems.social._problem import NodeClusters, SocialGraphProblem

__all__ = ["NodeClusters", "SocialGraphProblem"]
