"""Releases: the protected file, its certificate and value mapping, written in one transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdc_problems._lazy import attach as _attach

if TYPE_CHECKING:
    from sdc_problems.studies.release._protect import Protected as Protected
    from sdc_problems.studies.release._protect import protect as protect
    from sdc_problems.studies.release._release import NeedsReason as NeedsReason
    from sdc_problems.studies.release._release import Objections as Objections
    from sdc_problems.studies.release._release import Released as Released
    from sdc_problems.studies.release._release import objections as objections
    from sdc_problems.studies.release._release import release as release

__getattr__, __dir__, __all__ = _attach(__name__, __file__)
