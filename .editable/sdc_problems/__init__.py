"""Door of an editable install: only this folder is on ``sys.path``, not ``tests/``, ``docs/`` and the rooms on top.

It puts the real package in its own place, so that ``sdc_problems`` is what it is in a wheel.
"""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

_folder = Path(__file__).resolve().parents[2] / "sdc_problems"
_spec = spec_from_file_location(__name__, _folder / "__init__.py", submodule_search_locations=[str(_folder)])
assert _spec is not None
assert _spec.loader is not None
sys.modules[__name__] = module_from_spec(_spec)
_spec.loader.exec_module(sys.modules[__name__])
