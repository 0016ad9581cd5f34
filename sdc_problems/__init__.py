"""Statistical disclosure control as multi-objective optimization: every anonymization task is a pymoo Problem."""

from __future__ import annotations

from pathlib import Path as _Path
from typing import TYPE_CHECKING

# Where symlinks are not checked out (Windows), this extra path finds the folders at the top of the repository.
if not (_Path(__file__).parent / "operators").is_dir():
    __path__.append(str(_Path(__file__).resolve().parent.parent))

from sdc_problems._lazy import attach as _attach

__version__ = "0.2.0"

if TYPE_CHECKING:  # the one list of what the package exports: `attach` reads it
    from sdc_problems.algorithms.recipe_transformer import RecipeTransformer as RecipeTransformer
    from sdc_problems.datasets import Dataset as Dataset
    from sdc_problems.datasets import load as load
    from sdc_problems.errors import SDCError as SDCError
    from sdc_problems.errors import SDCFailure as SDCFailure
    from sdc_problems.front import Front as Front
    from sdc_problems.graph import ProtectedGraph as ProtectedGraph
    from sdc_problems.graph import SocialGraph as SocialGraph
    from sdc_problems.hierarchy import Hierarchy as Hierarchy
    from sdc_problems.microdata import Attribute as Attribute
    from sdc_problems.microdata import Kind as Kind
    from sdc_problems.microdata import Microdata as Microdata
    from sdc_problems.microdata import Role as Role
    from sdc_problems.objective import Objective as Objective
    from sdc_problems.problem import SDCProblem as SDCProblem
    from sdc_problems.problems.attribute_grouping import GOMMProblem as GOMMProblem
    from sdc_problems.problems.generalization import PBGProblem as PBGProblem
    from sdc_problems.problems.masking import MaskingProblem as MaskingProblem
    from sdc_problems.problems.microaggregation import MicroaggregationProblem as MicroaggregationProblem
    from sdc_problems.problems.pram import PRAMEquationProblem as PRAMEquationProblem
    from sdc_problems.problems.pram import PRAMProblem as PRAMProblem
    from sdc_problems.problems.precluster import PreclusterProblem as PreclusterProblem
    from sdc_problems.problems.recipe import RecipeProblem as RecipeProblem
    from sdc_problems.problems.social import SocialGraphProblem as SocialGraphProblem
    from sdc_problems.studies.release import protect as protect
    from sdc_problems.studies.release import release as release
    from sdc_problems.studies.store.reader import Run as Run
    from sdc_problems.studies.verdict import verdict as verdict

# The only place above `studies` that names it: nothing is imported here until it is asked for.
__getattr__, __dir__, __all__ = _attach(__name__, __file__)
