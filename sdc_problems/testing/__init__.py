"""Contract suites: inherit one, provide what it asks for, and pytest runs every promise of the package on yours.

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
    from sdc_problems.testing.archive import ArchiveContract
    from sdc_problems.testing.backend import BackendContract
    from sdc_problems.testing.measure import MeasureContract
    from sdc_problems.testing.operators import OperatorContract
    from sdc_problems.testing.problem import ProblemContract

__all__ = ["ArchiveContract", "BackendContract", "MeasureContract", "OperatorContract", "ProblemContract"]

__getattr__, __dir__ = _attach(
    __name__,
    {
        "ArchiveContract": "archive",
        "BackendContract": "backend",
        "MeasureContract": "measure",
        "OperatorContract": "operators",
        "ProblemContract": "problem",
    },
)
