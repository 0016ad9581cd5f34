"""The ``sdc`` command, which is also ``python -m sdc_problems``."""

import os
import sys
from typing import NoReturn

ONE_THREAD = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
"""Settings of libraries of linear algebra, which read them when they are loaded."""


def main() -> NoReturn:
    """Run the command line; Ctrl-C while it is loaded gives one sentence, too."""
    # Our matrices are small. Threads of these libraries wait for each other by spinning, which on a busy machine makes
    # a search take many times as long, and one that finds too little memory for its threads may never stop to load.
    for name in ONE_THREAD:
        os.environ.setdefault(name, "1")
    try:
        from sdc_problems.studies.cli import main as command

        command()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
