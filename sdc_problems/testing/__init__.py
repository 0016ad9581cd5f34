"""Contract suites: inherit one and define its methods, and pytest checks the package's promises for your class.

Examples
--------
A test file for your own problem::

    from sdc_problems.testing import ProblemContract

    class TestMyProblem(ProblemContract):
        def make(self):
            return MyProblem(...)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdc_problems._lazy import attach as _attach

if TYPE_CHECKING:
    from sdc_problems.testing.adapter import AdapterContract as AdapterContract
    from sdc_problems.testing.archive import ArchiveContract as ArchiveContract
    from sdc_problems.testing.backend import BackendContract as BackendContract
    from sdc_problems.testing.instance import InstanceContract as InstanceContract
    from sdc_problems.testing.measure import MeasureContract as MeasureContract
    from sdc_problems.testing.operators import OperatorContract as OperatorContract
    from sdc_problems.testing.problem import ProblemContract as ProblemContract

__getattr__, __dir__, __all__ = _attach(__name__, __file__)
