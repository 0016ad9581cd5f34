"""Engine for clusters of a graph's nodes, and their exact changes under moves."""

from __future__ import annotations

from sdc_problems.evaluators.node_clusters.engine import MEASURES, NodeClusterEngine
from sdc_problems.evaluators.node_clusters.search import FOLLOWED, NodeClusterSearch
from sdc_problems.evaluators.node_clusters.table import Column

__all__ = ["FOLLOWED", "MEASURES", "Column", "NodeClusterEngine", "NodeClusterSearch"]
