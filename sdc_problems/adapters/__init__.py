"""Adapters to other frameworks: each offers a task in the framework's form, with this package's operators if possible.

``to_…(source, rng)`` takes a problem, or a recorder of one; ``…_nsga2(problem, budget, rng)`` is an algorithm of the
framework, which ``sdc benchmark run --algorithm DEAP-NSGA2`` runs. A framework is imported only when
its adapter is; ``pip install "sdc-problems[adapters]"`` installs all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdc_problems._lazy import attach as _attach

if TYPE_CHECKING:
    from sdc_problems.suite.adapters._base import session as session
    from sdc_problems.suite.adapters.deap import deap_nsga2 as deap_nsga2
    from sdc_problems.suite.adapters.deap import to_deap as to_deap
    from sdc_problems.suite.adapters.jmetal import jmetal_nsga2 as jmetal_nsga2
    from sdc_problems.suite.adapters.jmetal import to_jmetal as to_jmetal
    from sdc_problems.suite.adapters.lines import serve as serve
    from sdc_problems.suite.adapters.nevergrad import nevergrad_nsga2 as nevergrad_nsga2
    from sdc_problems.suite.adapters.nevergrad import to_nevergrad as to_nevergrad
    from sdc_problems.suite.adapters.optuna import optuna_nsga2 as optuna_nsga2
    from sdc_problems.suite.adapters.optuna import to_optuna as to_optuna
    from sdc_problems.suite.adapters.platypus import platypus_nsga2 as platypus_nsga2
    from sdc_problems.suite.adapters.platypus import to_platypus as to_platypus
    from sdc_problems.suite.adapters.pygmo import PygmoNSGA2 as PygmoNSGA2
    from sdc_problems.suite.adapters.pygmo import pygmo_nsga2 as pygmo_nsga2
    from sdc_problems.suite.adapters.pygmo import to_pygmo as to_pygmo

__getattr__, __dir__, __all__ = _attach(__name__, __file__)
