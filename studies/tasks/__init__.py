"""Tasks that a study can name, one folder each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdc_problems._lazy import attach as _attach

if TYPE_CHECKING:
    from sdc_problems.studies.tasks._registry import available_tasks as available_tasks
    from sdc_problems.studies.tasks._registry import find_task as find_task
    from sdc_problems.studies.tasks._task import Task as Task

__getattr__, __dir__, __all__ = _attach(__name__, __file__)
