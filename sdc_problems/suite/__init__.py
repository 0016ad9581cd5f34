"""Suite of named benchmark instances, and records of an algorithm's solutions on them.

``instance("pbg-people-k-glm@1")`` has a problem, its front and its standing (proven, bracketed, or the best found), a
reference point and budgets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdc_problems._lazy import attach as _attach

if TYPE_CHECKING:
    from sdc_problems.suite._assess import assess as assess
    from sdc_problems.suite._catalogue import InstanceFolder as InstanceFolder
    from sdc_problems.suite._catalogue import instance as instance
    from sdc_problems.suite._catalogue import instances as instances
    from sdc_problems.suite._catalogue import suites as suites
    from sdc_problems.suite._freeze import freeze as freeze
    from sdc_problems.suite._freeze import prove as prove
    from sdc_problems.suite._indicators import anytime as anytime
    from sdc_problems.suite._indicators import expected_runtimes as expected_runtimes
    from sdc_problems.suite._indicators import runtimes as runtimes
    from sdc_problems.suite._instance import Instance as Instance
    from sdc_problems.suite._record import Record as Record
    from sdc_problems.suite._recorder import BudgetSpent as BudgetSpent
    from sdc_problems.suite._recorder import Recorder as Recorder

__getattr__, __dir__, __all__ = _attach(__name__, __file__)
