"""Social graphs: persons as records, and the links between them; read, checked once, and written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdc_problems._lazy import attach as _attach

if TYPE_CHECKING:
    from sdc_problems.graph._protected import ProtectedGraph as ProtectedGraph
    from sdc_problems.graph._social_graph import SocialGraph as SocialGraph

__getattr__, __dir__, __all__ = _attach(__name__, __file__)
