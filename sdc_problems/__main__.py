"""The ``sdc`` command, which is also ``python -m sdc_problems``."""

import os
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line; Ctrl-C or a polite kill while it is loaded gives one sentence, too."""
    try:
        from sdc_problems.parallel._process import LINEAR_ALGEBRA, end_by_exception

        end_by_exception()
        # Our matrices are small. Threads of these libraries wait for each other by spinning, which on a busy machine
        # makes a search take many times as long; one that has no memory for its threads may never stop to load.
        for name in LINEAR_ALGEBRA:
            os.environ.setdefault(name, "1")
        from sdc_problems.studies.cli import main as command

        command()
    except (KeyboardInterrupt, Exception) as error:
        from sdc_problems.parallel._process import was_interrupted

        if not (isinstance(error, KeyboardInterrupt) or was_interrupted()):
            raise
        sys.stderr.write("interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
