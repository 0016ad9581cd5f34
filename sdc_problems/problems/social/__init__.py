"""Social graphs: clusters of nodes with common attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdc_problems._lazy import attach as _attach

if TYPE_CHECKING:
    from sdc_problems.problems.social._problem import NodeClusters as NodeClusters
    from sdc_problems.problems.social._problem import SocialGraphProblem as SocialGraphProblem

__getattr__, __dir__, __all__ = _attach(__name__, __file__)
