"""Engine for clusters of the nodes of a graph, and exact changes of their measures under moves."""

from __future__ import annotations

from sdc_problems.evaluators.node_clusters.engine import MEASURES, NodeClusterEngine
from sdc_problems.evaluators.node_clusters.search import FOLLOWED, NodeClusterSearch
from sdc_problems.evaluators.node_clusters.table import Column

__all__ = ["FOLLOWED", "MEASURES", "Column", "NodeClusterEngine", "NodeClusterSearch"]
