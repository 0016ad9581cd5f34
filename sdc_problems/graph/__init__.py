"""Social graphs: people as records, and who is linked to whom; read, checked once, and written again."""

from __future__ import annotations

from sdc_problems.graph._protected import ProtectedGraph
from sdc_problems.graph._social_graph import SocialGraph

__all__ = ["ProtectedGraph", "SocialGraph"]
