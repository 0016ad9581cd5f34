"""Statistical disclosure control as multi-objective optimization: every anonymization task is a pymoo Problem."""

from __future__ import annotations

from pathlib import Path as _Path
from typing import TYPE_CHECKING

# Where symlinks are not checked out (Windows), the folders on top of the repository are found by this extra path.
if not (_Path(__file__).parent / "operators").is_dir():
    __path__.append(str(_Path(__file__).resolve().parent.parent))

from sdc_problems._lazy import attach as _attach

__version__ = "0.2.0"

if TYPE_CHECKING:
    from sdc_problems.datasets import Dataset, load
    from sdc_problems.errors import SDCError, SDCFailure
    from sdc_problems.front import Front
    from sdc_problems.graph import ProtectedGraph, SocialGraph
    from sdc_problems.hierarchy import Hierarchy
    from sdc_problems.microdata import Attribute, Kind, Microdata, Role
    from sdc_problems.objective import Objective
    from sdc_problems.problem import SDCProblem
    from sdc_problems.problems.attribute_grouping import GOMMProblem
    from sdc_problems.problems.generalization import PBGProblem
    from sdc_problems.problems.masking import MaskingProblem
    from sdc_problems.problems.microaggregation import MicroaggregationProblem
    from sdc_problems.problems.pram import PRAMEquationProblem, PRAMProblem
    from sdc_problems.problems.social import SocialGraphProblem
    from sdc_problems.studies.release import protect, release
    from sdc_problems.studies.store.reader import Run
    from sdc_problems.studies.verdict import verdict

__all__ = [
    "Attribute",
    "Dataset",
    "Front",
    "GOMMProblem",
    "Hierarchy",
    "Kind",
    "MaskingProblem",
    "MicroaggregationProblem",
    "Microdata",
    "Objective",
    "PBGProblem",
    "PRAMEquationProblem",
    "PRAMProblem",
    "ProtectedGraph",
    "Role",
    "Run",
    "SDCError",
    "SDCFailure",
    "SDCProblem",
    "SocialGraph",
    "SocialGraphProblem",
    "load",
    "protect",
    "release",
    "verdict",
]

# The only place above `studies` that names it: its names are looked up when they are asked for, never imported here.
__getattr__, __dir__ = _attach(
    __name__,
    {
        "Attribute": "microdata",
        "Dataset": "datasets",
        "Front": "front",
        "GOMMProblem": "problems.attribute_grouping",
        "Hierarchy": "hierarchy",
        "Kind": "microdata",
        "MaskingProblem": "problems.masking",
        "MicroaggregationProblem": "problems.microaggregation",
        "Microdata": "microdata",
        "Objective": "objective",
        "PBGProblem": "problems.generalization",
        "PRAMEquationProblem": "problems.pram",
        "PRAMProblem": "problems.pram",
        "ProtectedGraph": "graph",
        "Role": "microdata",
        "Run": "studies.store.reader",
        "SDCError": "errors",
        "SDCFailure": "errors",
        "SDCProblem": "problem",
        "SocialGraph": "graph",
        "SocialGraphProblem": "problems.social",
        "load": "datasets",
        "protect": "studies.release",
        "release": "studies.release",
        "verdict": "studies.verdict",
    },
)
